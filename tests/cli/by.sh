# SPDX-License-Identifier: MIT
# needs: zstd
# A histogram for each key. The random jobs check the counts.
# shellcheck shell=sh disable=SC2016,SC2086
# 300 events: key k % 3 * 2 as u16 at byte 2, a sample of k % 100 as u8 at byte 0
seq 0 299 | awk '{ printf "\\%03oa\\%03o\\000", $1 % 100, $1 % 3 * 2 }' >escapes
bytes "$(cat escapes)" >events
by='--record=4 -t u8 --by=u16@2'
run gpuhist $by -r 0:100 -b 4 events
run gpuhist $by -r 0:50 -b 2 --flow -C sat8 -q -f tsv --no-header events
run gpuhist $by --stats=50,99 events
run gpuhist $by --stats -r 0:100 -b 4 events
run gpuhist $by -b 4 --mod -n 10 events
run gpuhist $by -f plot -b 100 -n 100 events
shell "gpuhist $by -b 100 -f svg events | well_formed | grep -o '3 keys.*'"
shell "gpuhist $by -r 0:100 -b 2 -f npy -o k.npy events && tail -c 80 k.npy | od -An -v -t u8"
run gpuhist --record=4 -t u8 --by=u32be@0 -b 2 -n 2 -q events
shell "zstd -q <events | gpuhist $by -S 4 -r 0:100 -b 4"
run gpuhist $by -r 0:100 -b 4 /dev/null
# Tables of their own for the keys, and shared tables for all: the same counts
for memory in 250K 1G; do gpuhist --record=4 -t u8 --by=u16@0 -M $memory -T 1 -r 0:100 -b 100 events | cksum; done
# Text: names and numbers of columns, quotes, UTF-8, empty fields
printf 'name,ms\n"a, b",1\nµ,2\n,3\n"say ""hi""",4\nplain,5\n"plain",6\n' >keys.csv
run gpuhist --text=ms --by=name -r 0:8 -b 2 keys.csv
run gpuhist --text=2 --by=1 --stats=50 keys.csv
run gpuhist --text=ms --by=name -t u16 -r 0:8 -b 2 -f tsv -T 1 keys.csv
shell 'printf "x 7\ny 8\nx 9\n" | gpuhist --text=2 --by=1 -r 0:10 -b 1'
shell 'printf "x 7\n8\n" | gpuhist --text=2 --by=1 -r 0:10 -b 1'
shell 'printf "1 x\n8\n" | gpuhist --text=1 --by=2 --skip-bad -r 0:10 -b 1'
# A key with a NUL byte is a bad line, with quotes and without, whichever key is first
shell 'printf "a 1\na\0b 2\n" | gpuhist --text=2 --by=1 -r 0:4 -b 1'
shell 'printf "\"\0\",1\n,2\n\"a\"\"\0\",3\n" | gpuhist --text=2 --by=1 --skip-bad -r 0:4 -b 1'
# The largest number of keys, and one more
shell 'seq 65536 | awk "{ print \$1, 1 }" | gpuhist --text=2 --by=1 -r 0:2 -b 2 | tail -n 1'
shell 'seq 65537 | awk "{ print \$1, 1 }" | gpuhist --text=2 --by=1 -r 0:2 -b 2'
shell 'seq 300 | awk "{ print \$1, 1 }" | gpuhist --text=2 --by=1 -r 0:1 -b 1000000'
shell 'seq 3000 | awk "{ print \$1, 1 }" | gpuhist --text=2 --by=1 --stats -M 8M -T 1 2>&1 | sed "s/[0-9][0-9]*/N/g"'
# A block holds thousands of new keys, and several threads find them: only figures that fit in -M are made.
seq 100000 199999 >many
shell 'gpuhist --raw --record=7 -t u24 --by=u32@2 --stats -M 8M -T 4 many many 2>&1 | sed "s/need 2[0-9]\{6\} /need 2N /; s/first [0-9]*/first N/"'
# The texts of keys
shell 'seq 3000 | awk "{ printf \"%04000d 1\\n\", \$1 }" | gpuhist --text=2 --by=1 -r 0:4 -b 1 -M 16M 2>&1 | sed "s/than [0-9]* keys/than N keys/"'
for key in '%04096d' '"%04095d"""' '%04097d' '"%04096d"""'; do
	shell "printf '$key 1\n2 2\n' 7 | gpuhist --text=2 --by=1 --skip-bad --no-header -r 0:4 -b 1 | tail -c 8"
done
# Options that cannot be combined with keys
# Without bins: figures, as with --stats; a document of --into gives its own
shell 'gpuhist --record=4 -t u16 --by=u16@2 events >figures.csv; gpuhist --record=4 -t u16 --by=u16@2 --stats events | cmp - figures.csv; head -n 2 figures.csv'
run gpuhist --text=ms --by=name -t i16 --skip-bad -q keys.csv
shell 'gpuhist --record=4 -t u8 --by=u16@2 -f json events | gpuhist --merge | cut -c 1-60 | head -n 2'
refused gpuhist --record=4 -t u16 --by=u16@2 -f npy -o k.npy events
refused gpuhist --record=4 -t u16 --by=u16@2 --auto events
# The entropy of 16-bit keys is that of their codes, whatever the bins; of f16 that of the bins
run gpuhist --record=4 -t u16 --by=u16@2 --stats -b 4 -q -f plot events
shell 'gpuhist --record=4 -t u16 --by=u16@2 --stats -b 4 -q -f svg events | well_formed | grep -A 4 "entropy in"'
run gpuhist --record=4 -t u16 --by=u16@2 --stats -f plot events
run gpuhist --record=4 -t bf16 --by=u16@2 --stats -r 0:1 -b 4 -q -f plot events
run gpuhist --record=4 -t f16 --by=u16@2 --stats -r 0:1 -b 4 -q -f plot events
# --plot draws bins
refused gpuhist --record=4 -t u16 --by=u16@2 -p events
refused gpuhist --record=4 -t u16 --by=u16@2 --stats -p events
refused gpuhist --text=ms --by=name --stats -p keys.csv
refused gpuhist --record=4 -t u8 --by=u16@3 events
refused gpuhist --record=4 -t u8 --by=i16@2 events
refused gpuhist --record=4 -t u8 --by=u16 events
refused gpuhist -t u8 --by=u16@2 events
refused gpuhist --text --by=1 -r 0:1 -b 1 keys.csv
refused gpuhist --text=1 --by=0 -r 0:1 -b 1 keys.csv
refused gpuhist --text=ms --by=nobody -r 0:1 -b 1 keys.csv
refused gpuhist --text=ms --by=name -r 0:1 -b 1 -f npy -o k.npy keys.csv
for option in -c2 --each=2 --auto --log=auto -fraw --nonzero --device=gpu; do
	refused gpuhist $by $option events
done
refused gpuhist --text=ms --by=name --part=1/2 keys.csv
# Only the keys tell that npy cannot hold them, so the counts are saved
run gpuhist --record=4 -t u8 -q --by=u32be@0 -b 2 -f npy -o big.npy events
shell 'test ! -e big.npy && gpuhist --merge -q big.npy.rescue.json | head -n 2'
refused gpuhist --merge -q -o sum.npy big.npy.rescue.json
shell 'cat sum.npy.rescue.json | cmp - big.npy.rescue.json'
# Figures of samples of one bit are read back
shell 'printf "\\1\\7\\0\\7\\1\\7" | gpuhist -q --record=2 -t i8 --mask=1 --by=u8@1 --stats=50 -r full -b 2 -f json | gpuhist --merge --stats=50 -q -f csv'
# A table with room for one quantile shows the median
run gpuhist --record=4 -t u16 --by=u16@2 -b 0 -f plot events
