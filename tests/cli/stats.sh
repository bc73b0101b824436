# SPDX-License-Identifier: MIT
# --stats: number, extremes, mean, deviation, quantiles.
# shellcheck shell=sh
bytes '\001\002\003\377' >four
run gpuhist -t i8 -b 4 --stats --nonzero four
# Quiet leaves what was asked for
run gpuhist -t u8 --stats -q --nonzero four
run gpuhist -t u8 -f json --stats -q -o four.json four
grep -o '"stats_[^}]*' four.json
# Values of small types, bins of wide ones: the largest u64, and samples in no bin
bytes '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000' >wide
run gpuhist -t u64 -b 2 --stats -q wide
run gpuhist -t u64 -r 1:6 -b 1 --closed --stats -q wide
# The nearest to 0.1 as binary32 ten times, and infinities and NaN beside them
i=0
while [ $i -lt 10 ]; do
	bytes '\315\314\314\075'
	i=$((i + 1))
done >tenths
bytes '\000\000\200\177\000\000\200\377\000\000\300\177\000\000\000\200' >odd
run gpuhist -t f32 -r 0:1 -b 2 --stats -q tenths odd
run gpuhist -t f32 -r 0:1 -b 2 --stats -q -f json tenths odd
# Nothing finite
run gpuhist -t u16 -b 1 --stats /dev/null
run gpuhist -t f64 -r 0:1 -b 1 --stats -f json /dev/null
head -c 12 odd >odd3
run gpuhist -t f32 -r 0:1 -b 1 --stats -q odd3
run gpuhist -t f16 -r 0:1 -b 1 --stats -q odd3
# The same from any number of threads, from a file and from a pipe
seq 100000 500000 | head -c 2400000 >text
for type in u16 f32; do
	gpuhist -t $type -r -1000:1000 -b 9 --stats -q -T 1 text >one 2>&1
	gpuhist -t $type -r -1000:1000 -b 9 --stats -q -T 2 text >two 2>&1
	dd if=text bs=10007 2>/dev/null | gpuhist -t $type -r -1000:1000 -b 9 --stats -q >piped 2>&1
	cmp one two && cmp one piped && echo "$type:" && grep -e 'm[aei]' -e dev one
done
# A report that was asked for and cannot be written: what was published stays, and nothing is added
c='gpuhist -t u8 -b 1 -r full odd'
shell "$c --stats 2>/dev/full"
shell "$c --stats 2>&-"
shell "$c -v 2>/dev/full"
shell "$c -q 2>/dev/full"
shell "$c --stats --into=f.json 2>/dev/full; ls f.json"
