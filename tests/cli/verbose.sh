# SPDX-License-Identifier: MIT
# -v: the figures differ from run to run, the sentences do not.
# shellcheck shell=sh
head -c 65536 /dev/zero >zeros
figures='s/[0-9][0-9.]* s:/N s:/; s/[0-9.]* [kMG]B/N GB/g; s/[0-9][0-9.]*%/N%/g; s/up to [0-9.]* times/up to N times/; s/used, [a-z0-9]* loops/used, FAST loops/; s/[0-9.]* MiB/N MiB/'
# The writer is slow
shell "(sleep 1; cat zeros) | gpuhist -v -T 1 --device=cpu -t u16 -b 1 2>&1 | sed '$figures'"
# A file: the program never waits
shell "gpuhist -v -T 1 --device=cpu -t u16 -b 1 zeros 2>&1 | sed '$figures; s/: \\(counting\\|reading\\) took .*/: .../'"
