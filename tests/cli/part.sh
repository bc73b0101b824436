# SPDX-License-Identifier: MIT
# --part: K of N; options that cannot be combined with it.
# shellcheck shell=sh disable=SC2086
: >e
c='gpuhist -b 1 -r full'
which="grep -o 'part\": [0-9]*, .parts\": [0-9]*'"

# The part in a document
for part in 1/1 1/2 2/2 03/10 2147483648/2147483648; do
	shell "$c -f json --part=$part e | $which"
done
# The document holds the options of the whole run
shell "$c -f json --part=2/3 e | grep -c -e --part"
for part in 0/4 5/4 4 a/b 1/0 1/2147483649 99999999999999999999/3 '' 1/ /1 ' 1/2' 1/2/3 0x1/2 4:8; do
	refused gpuhist --part "$part" e
done
refused gpuhist --part
refused gpuhist --part=1/0 --part=1/2 e

# Messages name the part
refused $c --part=2/3 none
head -c 36 /dev/zero >long
for part in 1 10; do
	shell "$c --part=$part/10 -v long 2>&1 >/dev/null | grep record"
done
refused $c --part=1/10 -n 9 long
refused $c --part=1/10 -n 9 long long
rm long

# The shell can compute the numbers, so there is no --part=auto
refused gpuhist --part=auto e
refused $c --part=1/2 e -o part.%K.json
run $c e -o 5%.%K.csv
shell 'ls; rm 5*'
run $c --part=1/2 e -o 5%.%N.csv
refused $c --part=1/2 e -o part.gz
ls

# Options that cannot be combined with it
refused gpuhist --merge --part=1/2 e
shell "$c --part=1/2 -f json e | gpuhist --part=1/2 --merge"
refused $c --part=1/2 --into=sum.json e
refused $c --part=1/2 --tee e -o one.csv
ls
