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

# A file of 64 bytes gets another length before its samples are read: appended ones are read, too; a file that became shorter
# is bad input, or counted up to its new end.
moved() { # LENGTH SAMPLES WARNING ARGUMENT...: WARNING: a word of it
	to=$1 samples=$2 warning=$3
	shift 3
	for tail in '' --ignore-tail; do
		head -c 64 /dev/zero >moving
		# shellcheck disable=SC2086 # none or one
		changed 2 "truncate -s $to moving" -b 1 -r full -T 1 --no-header $tail "$@" moving
		if [ -n "$warning" ] && [ -z "$tail" ]; then
			check "to $to, $*: bad input" test "$status" -eq 3 -a "$(grep -c "moving $warning" err)" -eq 1
		else
			check "to $to, $* $tail: $samples samples" grep -q "^0,.*,$samples\$" out
		fi
	done
}
shorter='became shorter' partial='ends inside a'
moved 64 16 '' -t u32
moved 256 64 '' -t u32
moved 258 64 "$partial" -t u32
moved 32 8 "$shorter" -t u32
moved 33 8 "$shorter" -t u32
moved 18 4 "$shorter" -t u32
moved 0 0 "$shorter" -t u32
moved 32 8 '' -t u32 -n 8
moved 32 8 "$shorter" -t u32 -n 9
moved 64 42 "$partial" -t u12bit
moved 65 43 '' -t u12bit
moved 65 43 '' -t u12bit -n 44
moved 257 171 '' -t u12bit
moved 32 21 "$shorter" -t u12bit
moved 34 22 "$shorter" -t u12bit

# Text: a number at the end of the file, whose other digits are appended, is counted whole, unless that is after the end was
# seen. Two pieces of 256 KiB, less a byte, hold 74,898 numbers and a digit. A file that becomes shorter is bad input.
appended() { # THREADS
	whole=0
	for when in 2 3 4 5 6; do
		seq 100000 200000 | head -c 524287 >growing
		changed $when 'echo 74898 >>growing' --text -r 0:200000 -b 2 --no-header -T "$1" growing
		[ "$(wc -c <growing)" -gt 524287 ] || continue
		whole=$((whole + 1))
		check "appended text, read $when, $1 threads: whole numbers" test "$(cat out)" = "0,0,100000,0
1,100000,200000,74899"
	done
	check "appended text, $1 threads: $whole of 5 runs" test $whole -gt 0
}
cut_off() { # THREADS
	lost=0
	for when in 2 3 4 5 6; do
		seq 100000 500000 >shrinking
		changed $when 'truncate -s 600000 shrinking' --text -r 0:500001 -b 1 --no-header -T "$1" shrinking
		case $status in
		0) check "cut text, read $when, $1 threads: right" grep -q '^0,0,500001,400001$' out ;;
		*) check "cut text, read $when, $1 threads: bad input" test "$status" -eq 3 -a "$(grep -c 'became shorter' err)" -eq 1 ;;
		esac
		lost=$((lost + (status == 3)))
	done
	check "cut text, $1 threads: $lost of 5 runs are bad input" test $lost -gt 1
}
for threads in 1 3; do
	appended $threads
	cut_off $threads
done

# A slice: a file that has changed by the time its samples are read is bad input. What is open by then stays as it is, unless
# the slice's own samples are cut off.
slice() {
	for part in 1 2; do
		for when in 1 2; do
			head -c 2M /dev/zero >samples
			changed $when "$2" -t u8 -r full -b 1 -T 2 --device=cpu --ignore-tail --part=$part/2 samples
			if [ $when -eq 1 ] || [ "$part $1" = '2 cut' ]; then
				check "part $part, $1, read $when: bad input" test "$status" -eq 3 -a "$(grep -c 'samples has changed' err)" -eq 1
			else
				check "part $part, $1, read $when: right" grep -q '^0,0,256,1048576$' out
			fi
		done
	done
}
slice cut 'truncate -s 1500000 samples'
slice longer 'echo more >>samples'
slice touched 'touch -d @1000 samples'
slice replaced 'echo abcd >other; mv other samples'

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
	change='head -c 9 /dev/zero | dd of=changing bs=1 seek=1000 conv=notrunc 2>/dev/null; head -c 4000 noise | dd of=changing bs=1 seek=2000000 conv=notrunc 2>/dev/null'
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

# Frames of $samples bytes that are cut off, where one ends or elsewhere: bad input, unless nothing was behind the cut.
frames() { # SIZE ARGUMENT...
	lost=0 size=$1
	shift
	for when in 1 3 8 21; do
		cp frames changing
		changed $when "truncate -s $size changing" -t u8 -r full -b 1 --device=cpu --ignore-tail "$@" changing
		case $status in
		0) check "frames to $size $*, read $when: right" grep -q "^0,0,256,$samples\$" out ;;
		*) check "frames to $size $*, read $when: bad input" test "$status" -eq 3 -a "$(wc -l <err)" -eq 1 ;;
		esac
		lost=$((lost + (status == 3)))
	done
	check "frames to $size $*: $lost of 4 runs are bad input" test $lost -gt 1
}
if command -v zstd >/dev/null; then
	twice
	twice --no-check
	samples=5000000
	head -c $samples /dev/urandom | LC_ALL=C tr '\000-\377' 'a-zA-Z0-9' >decoded
	zstd -qc decoded >frames
	frames 2000000 -T 1
	frames 3700000 -T 4
	for piece in 100000 2000003; do
		split -b $piece --filter='zstd -qc' decoded >frames # they declare no sizes
		frames 100 -T 3
		frames "$(head -c $piece decoded | zstd -qc | wc -c)" -T 2
	done
	# The next frame is looked for when this one, which is too long for that, is decoded.
	samples=16800100
	head -c 16800000 /dev/urandom | zstd -qc >frames
	size=$(wc -c <frames)
	head -c 100 decoded | zstd -qc >>frames
	frames "$size" -T 1
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
