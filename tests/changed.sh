#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that change while they are read, at each moment: before its Nth read of a file a thread waits until the others
# sleep, and then the file is changed (TORTURE_STEP). No run may hang, and each must report lost samples.
# usage: tests/changed.sh GPUHIST TORTURE_PRELOAD
set -u
gpuhist=$(realpath "$1") preload=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

# changed WHEN COMMAND ARGUMENT...: gpuhist ARGUMENT..., with COMMAND before its read number WHEN; sets status.
changed() {
	TORTURE_STEP=$1:$2
	shift 2
	TORTURE_STEP=$TORTURE_STEP LD_PRELOAD=$preload timeout -s KILL 60 "$gpuhist" "$@" >out 2>err
	status=$?
}

# check MESSAGE CONDITION...
check() {
	message=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: status %d\n' "$message" "$status"
		sed 's/^/! /' err
	fi
}

# Rows: the other workers have counted, and wait to submit more, when one finds that its part of the file is gone.
rows() {
	lost=0
	for when in 1 2 3 4 5 6 7 8 9 10 11 12; do
		truncate -s 8M samples
		changed $when 'truncate -s 5001 samples' --raw -t u16 -r full -b 2 --device=cpu "$@" samples
		case $status in
		0) check "$*, read $when: a warning" test ! -s err -o "$(grep -c 'became shorter' err)" -eq 1 ;;
		*) check "$*, read $when: bad input" test "$status" -eq 3 -a "$(grep -c 'became shorter' err)" -eq 1 ;;
		esac
		lost=$((lost + $(grep -c 'became shorter' err)))
	done
	check "$*: $lost of 12 runs lost samples" test "$lost" -ge 6
}
for threads in 2 3; do
	rows -T $threads --each=1000
	rows -T $threads --each=1000 --ignore-tail
	rows -T $threads --each=400000
	rows -T $threads --each=1000 -n 3e6 --ignore-tail samples
done

# One long frame, which all threads decode. Its first block, which is stored, is overwritten, and a later one is damaged. So
# libzstd starts the frame again, and decodes other bytes than were counted: the program must report that.
twice() {
	again=0
	head -c 131072 /dev/urandom >noise
	{
		cat noise
		cat noise noise noise noise | head -c 500000
		head -c 6000000 /dev/urandom | LC_ALL=C tr '\000-\377' 'a-zA-Z0-9'
	} >samples
	zstd -qcf "$@" samples >frame
	# shellcheck disable=SC2016 # another shell expands it later
	change='head -c 9 /dev/zero | dd of=changing bs=1 seek=1000 conv=notrunc 2>/dev/null
head -c 4000 noise | dd of=changing bs=1 seek=2000000 conv=notrunc 2>/dev/null'
	for when in 30 45 55 60 70 80 100; do
		cp frame changing
		changed $when "$change" -t u8 -r full -b 1 -T 3 --device=cpu changing
		case $status in
		0) check "twice, read $when: right" grep -q '^0,0,256,6631072$' out ;;
		*)
			check "twice, read $when: bad input" test "$status" -eq 3 -a "$(wc -l <err)" -eq 1
			again=$((again + $(grep -c 'changed while it was read' err)))
			;;
		esac
	done
	check "$again of 7 runs decoded twice" test $again -gt 0
}
if command -v zstd >/dev/null; then
	twice
	twice --no-check
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
