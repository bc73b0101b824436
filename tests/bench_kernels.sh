#!/bin/sh
# SPDX-License-Identifier: MIT
# The benchmark of the kernels, as a trial on the simulated driver: all rows end, and their counts are the CPU's.
# usage: tests/bench_kernels.sh BENCH_KERNELS
set -u
passed=0 failed=0
check() {
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED $*"; fi
}
table=$("$1" 0)
check [ $? -eq 0 ]
check [ "$(echo "$table" | grep -c '^| [uf]')" -eq 15 ]
check [ "$(echo "$table" | grep -c '!')" -eq 0 ]
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
