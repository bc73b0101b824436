# SPDX-License-Identifier: MIT
# --missing: what it takes and refuses, where missing samples are counted; numpy_check and the random jobs compare counts.
# shellcheck shell=sh
bytes '\1\2\377\5' >four
run gpuhist -t i8 --missing=-1 --stats=50 --nonzero four
run gpuhist -t u8 --missing=255,1 --flow -r 0:6 -b 2 four
run gpuhist -t u8 --missing=255 -r 0:6 -b 3 -f plot four
run gpuhist -t u8 --missing=255 --each=2 -r 0:6 -b 2 --flow four
run gpuhist -t u16be --missing=258 --each=1 --stats=50 four
run gpuhist -t u4bit --missing=15 --nonzero four
run gpuhist -t u12bit -n 2 --missing=0x201 --nonzero four
# After --mask and before --abs: -1 is missing, 1 is not
run gpuhist -t u8 --mask=0xf --missing=15 --nonzero four
run gpuhist -t i8 --missing=-1 --abs --nonzero four
run gpuhist -t ci8 --missing=5 --abs -r 0:300 -b 2 --stats=50 four
# Floats: rounded once; both zeros; infinities
bytes '\0\0\0\200\315\314\314\75\0\0\200\177\0\0\200\77' >f32
run gpuhist -t f32 --missing=0.1,0,inf -r 0:2 -b 2 --stats=50 f32
shell 'printf "%s\n" -9999 1.5 1e20 | gpuhist --text --missing=-9999,1e20 -r 0:2 -b 2'
for missing in 256 -1 1.5 x '' '1,' na; do
	refused gpuhist -t u8 "--missing=$missing" four
done
refused gpuhist -t f32 "--missing=$(seq -s , 17)" f32
refused gpuhist -t i32 --missing=1 four
refused gpuhist --text -t i16 --missing=1 four
refused gpuhist -t u8 -c 70 --missing=1 four
refused gpuhist -t f32 --missing=1 --device=gpu f32
# By key: integers, masked ones, absolute values, floats, text; a key may have only missing samples
bytes '\1\1\2\1\377\2\5\2\377\3' >keys
keys() { "$@" --record=2 --by=u8@1 keys; }
run keys gpuhist -t u8 --missing=255,2 -b 2 -r 0:6 --flow
run keys gpuhist -t i8 --missing=-1 --stats=50
run keys gpuhist -t i8 --missing=-1 --abs --stats=50
run keys gpuhist -t u8 --mask=0x6 --missing=1 -b 4 -r 0:4 --flow
run keys gpuhist -t f8e4m3 --missing=0x1p-9 -r full -b 1 --flow
shell 'printf "%s\n" k,v a,1 b,NA b,-9999 b,3 | gpuhist --text=v --by=k --missing=-9999 --stats=50'
shell 'gpuhist -q -t u8 --record=2 --by=u8@1 --missing=255 -b 2 -r 0:6 --stats -f json keys >keys.json; gpuhist --merge keys.json keys.json --flow; gpuhist --merge keys.json -b 0 --stats=50'
# shellcheck disable=SC2016 # the inner shell expands it
shell 'for by in "" --by=u8@1; do gpuhist -q -t u8 --record=2 $by --missing=255 -r full -b 1 --stats -f json keys keys | gpuhist --merge --stats=50 -b 1 -q -f json | grep -o "\"stats_entropy\": [^,]*"; done'
# Documents carry it, and must agree
shell 'gpuhist -t i8 --missing=-1,5 --stats -q -f json four >a.json; gpuhist -t i8 --missing=5,-1 --stats -q -f json four >b.json; gpuhist -t i8 -q -f json four >c.json'
run grep -o '"missing": "[^"]*"' a.json
run gpuhist --merge --nonzero --stats=50 a.json b.json
refused gpuhist --merge a.json c.json
refused gpuhist --merge c.json a.json
shell 'gpuhist --into=a.json -q four; gpuhist --merge -q --nonzero a.json; gpuhist --merge -q -b 64 -f json a.json | gpuhist --merge -q --nonzero'
shell 'sed "s/5,-1/5,-200/" b.json | gpuhist --merge'
shell 'gpuhist -t f32 --missing=0.1,-0 -r 0:2 -b 2 --stats -q -f json f32 | tee f.json | grep -o "\"missing\": \"[^\"]*\""; gpuhist --merge -q f.json f.json'
