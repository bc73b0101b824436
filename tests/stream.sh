#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/stream.cu and the program: the same bytes for files and pipes of many sizes, bins and counters; and the
# input that it refuses. Without a GPU, only its messages.
# usage: tests/stream.sh GPUHIST STREAM
set -u
gpuhist=$(realpath "$1") stream=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

check() {
	name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n' "$name"
		head -n 3 err
	fi
}
# refused STATUS MESSAGE ARGUMENTS...: of stream, for the bytes on standard input
refused() {
	want=$1 message=$2
	shift 2
	"$stream" "$@" >out 2>err
	check "stream $*: status $want" [ $? -eq "$want" ]
	check "stream $*: its message" grep -q "^stream: $message" err
	check "stream $*: no output" [ ! -s out ]
}
for arguments in '' '8' '9 16' '8 0' '16 -3' '8 16 0' '32 65536 65537'; do
	# shellcheck disable=SC2086 # words
	refused 2 'usage: stream 8|16|32 BINS' $arguments </dev/null
done
(export CUDA_VISIBLE_DEVICES= && refused 4 'no GPU: ' 8 16 </dev/null && echo "$passed $failed" >counts)
read -r passed failed <counts

"$stream" 8 1 </dev/null >out 2>err
if [ $? -eq 4 ] && grep -q '^stream: no GPU' err; then
	echo 'left out: stream.cu compared with the program (no GPU)'
else
	refused 2 'BINS is too large' 8 1000000 </dev/null
	printf abc | refused 3 'the last 3 bytes' 8 16
	# A slice of the program's own bytes, some of them in the bins, and a few values that saturate.
	cat "$gpuhist" "$gpuhist" >bytes
	while read -r bytes; do
		head -c "$bytes" bytes >part
		while read -r bits counter bins width; do
			"$gpuhist" --device=cpu -q -C "$counter" -f csv -t u32 -r "0:$((bins * width))" -b "$bins" part >want 2>err
			"$stream" "$bits" "$bins" "$width" <part >got 2>err
			check "$bytes bytes, $bits $bins $width" cmp got want
			# shellcheck disable=SC2002 # a pipe
			cat part | "$stream" "$bits" "$bins" "$width" >got 2>err
			check "$bytes bytes by a pipe, $bits $bins $width" cmp got want
		done <<-'END'
			8 sat8 1024 1
			16 sat16 256 1
			32 sat32 1000 4194304
			32 sat32 50000 85899
		END
	done <<-'END'
		4
		4000
		4194300
		4194304
		4194308
		8388608
	END
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
