#!/bin/sh
# SPDX-License-Identifier: MIT
# A handful of jobs under valgrind: no byte is used that was not written, and no memory is lost. Without valgrind, this test
# reports that and counts nothing.
# usage: tests/valgrind.sh GPUHIST
# Valgrind hides instruction sets that it does not know, so the loops are AVX2's or the base's.
set -u
gpuhist=$(realpath "$1")
passed=0 failed=0
if ! command -v valgrind >/dev/null; then
	echo 'left out: valgrind is not installed'
	echo '0 passed, 0 failed'
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Bytes that are neither text nor equal, more than a block of them: the program itself.
head -c 400000 "$gpuhist" >data
head -c 4003 data >odd
# As floats, text holds everything but NaN: valgrind 3.19 takes the ordered "not equal" of vectors
# (vcmpneq_oq) for the unordered one, and would count NaN as over.
"$gpuhist" -h >text
cat text text text text text text text text >floats

# ends STATUS COMMAND: run it with data as standard input; status 99 means that valgrind found errors.
ends() {
	expected=$1
	shift
	timeout 300 valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
		"$gpuhist" "$@" <data >out 2>err
	status=$?
	if [ "$status" -eq "$expected" ] && [ "$expected" -ne 0 ] && [ ! -s out ]; then
		passed=$((passed + 1))
	elif [ "$status" -eq 0 ] && [ "$expected" -eq 0 ] && "$gpuhist" "$@" <data 2>/dev/null | cmp -s - out; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: status %d\n' "$*" "$status"
		sed 's/^/  ! /' err
	fi
}

ends 0 -q -b 1000 -r full -T 1 data
ends 0 -q -b 1000 -T 4 data data
ends 0 -q -t u24 -n 100001 -S 3 -b 33 -r full
ends 0 -q -t f32 -r -1:1e20 -b 77 --flow floats
ends 0 -q -t f64be -r -1:1e250 -b 77 --closed --flow -n 1000 floats
ends 0 -q -b 300000 -r full -M 200K -f json data
ends 0 -q -t i16be -b 100 -r -3000:3000 -f raw -C sat8 data
ends 0 -q -t u8 -r full -b 7
ends 3 -q -b 9 odd
ends 3 -q -S 1M -b 9 data
ends 1 -q -b 9 data missing
ends 1 -q -b 9 -o missing/h data
ends 2 --no-such-option
ends 5 -q -b 100000 -M 4K data
# A pipe, whose reader's buffer fills in pieces.
mkfifo pipe
(cat data; sleep 0.1; cat odd odd odd odd) >pipe &
timeout 300 valgrind -q --error-exitcode=99 --leak-check=full "$gpuhist" -q -T 2 -b 50 --flow pipe >out 2>err
status=$?
wait
cat data odd odd odd odd >whole
if [ $status -eq 0 ] && "$gpuhist" -q -b 50 --flow whole | cmp -s - out; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	printf 'FAILED pipe: status %d\n' "$status"
	sed 's/^/  ! /' err
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
