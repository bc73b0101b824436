# SPDX-License-Identifier: MIT
# The main job, and the parts of text formats that options leave out or add.
# shellcheck shell=sh
bytes '\001\000\000\000\003\000\000\000\003\000\000\000\007\000\000\000' >four
run gpuhist -b 4 four
shell 'cat four | gpuhist -b 4'
shell 'gpuhist -b 4 < four'
run gpuhist -b 4 --nonzero four four
run gpuhist -b 4 --flow -q four
run gpuhist -b 4 --no-header -f tsv four
run gpuhist -b 2 -r 0:8 --clamp four
run gpuhist -b 1 -r 0:7 four
run gpuhist -b 1 -r 0:7 --closed four
run gpuhist -b 3 -r -1:1 -t f32 /dev/null
run gpuhist -b 3 -t u8 four -n 2 -S 4
