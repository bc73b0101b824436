# SPDX-License-Identifier: MIT
# --abs: what it takes and refuses, and what documents say; numpy_check and the random jobs compare the counts.
# shellcheck shell=sh
bytes '\377\200\001\002' >four
run gpuhist -t i8 --abs --nonzero four
run gpuhist -t i16be --abs -r full -b 2 --stats=50 four
run gpuhist -t ci8 --abs -b 2 four
run gpuhist -t cu8 --abs -c 2 --edges=0,127.5,128.5 four
run gpuhist -t i8 --mask=0x7 --abs -b 8 --nonzero four
for type in u8 u16 i24 i32 i4bit i12bit; do
	refused gpuhist -t "$type" --abs four
done
bytes '\0\0\200\277\0\0\0\200' >f32
run gpuhist -t f32 --abs -r 0:2 -b 2 --stats=50 f32
refused gpuhist -t f32 --abs --device=gpu f32
# The suffix and headers say that samples are complex
cp f32 pair.cf32
run gpuhist --abs -r 0:2 -b 2 pair.cf32
printf '{"global": {"core:datatype": "ci8", "core:version": "1.0.0"}}' >four.sigmf-meta
cp four four.sigmf-data
run gpuhist --abs -r 0:256 -b 2 four.sigmf-data
run gpuhist --abs -c 1 -t ci8 -r 0:256 -b 2 four.sigmf-data
# Text
shell 'printf "%s\n" -1.5 2 -0 | gpuhist --text --abs -r 0:3 -b 3'
shell 'printf "%s\n" -32768 2 | gpuhist --text --abs -t i16 --nonzero -b 65536'
# Documents carry it, and must agree
shell 'gpuhist -t i8 --abs -f json four >abs.json; gpuhist -t i8 -f json four >plain.json; gpuhist -t u8 -f json four >u8.json'
run grep -o '"type": "[^"]*"' abs.json
run gpuhist --merge --nonzero abs.json abs.json
refused gpuhist --merge abs.json plain.json
refused gpuhist --merge abs.json u8.json
shell 'gpuhist --into=abs.json four && gpuhist --into=abs.json --abs four && gpuhist --merge --nonzero abs.json'
refused gpuhist -t i8 --into=abs.json four
shell 'gpuhist -t ci8 --abs -r 0:256 -b 2 --into=pair.json four && gpuhist --into=pair.json four && gpuhist --merge pair.json'
shell 'sed "s/|i8|/|u8|/" abs.json | gpuhist --merge'
# Rows
run gpuhist -t i16be --abs --each=1 -r 0:1024 -b 2 --flow four
run gpuhist -t ci8 --abs --each=1 --stats=50 four
# A pair and its halves differ
cp four four.ci8
run gpuhist -t i8 --abs --nonzero four.ci8
run gpuhist -t i8 -c 2 --abs --nonzero four.ci8
