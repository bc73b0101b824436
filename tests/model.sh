#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model zstd.pml, every state of it, for some numbers of readers, inputs and frames; needs spin and a C
# compiler, about 1 GB and a minute. Ends with "N passed, N failed".
# usage: tests/model.sh [-D...]    with settings: that one alone, and what spin says of a failure
set -u
model=$(realpath "$(dirname "$0")/zstd.pml")
if ! command -v spin >/dev/null; then
	echo 'left out: the model of compressed inputs (spin is not installed)'
	echo '0 passed, 0 failed'
	exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
cp "$model" zstd.pml
passed=0 failed=0

# check SETTING...: no deadlock, no assertion that fails, and nothing left out.
check() {
	if spin -a "$@" zstd.pml >spin.out 2>&1 && ${CC:-cc} -O0 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3500 -o pan pan.c &&
		./pan -w20 -m200000 >pan.out 2>&1 && grep -q 'errors: 0' pan.out &&
		! grep -q -e 'max search depth too small' -e 'Search not completed' pan.out; then
		passed=$((passed + 1))
		printf '%s: %s states\n' "$*" "$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out)"
		return
	fi
	failed=$((failed + 1))
	printf 'FAILED %s\n' "$*"
	grep -h -e '^pan:' -e 'Error' -e 'errors:' spin.out pan.out
}

if [ $# -gt 0 ]; then
	check "$@"
	[ ! -f zstd.pml.trail ] || spin -t -p -g "$@" zstd.pml | tail -n 120
else
	check -DREADERS=2 -DUNITS=4
	check -DREADERS=2 -DUNITS=3 -DLIMIT=4 -DBADS=2
	check -DREADERS=2 -DUNITS=2 -DMEMORY=1 -DSTOP
	check -DREADERS=2 -DINPUTS=2 -DUNITS=2 -DSTREAM=true
	check -DREADERS=2 -DINPUTS=2 -DUNITS=2 -DLIMIT=4 -DBADS=2
	check -DREADERS=3 -DUNITS=2 -DDECODERS=2
	check -DREADERS=3 -DINPUTS=2 -DUNITS=2 -DLIMIT=4 -DSTREAM=true
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
