# SPDX-License-Identifier: MIT
# --stats: count, extremes, mean, std, entropy, quantiles.
# shellcheck shell=sh
bytes '\001\002\003\377' >four
run gpuhist -t i8 -b 4 --stats --nonzero -o /dev/null four
# -q keeps the table, because it was asked for
run gpuhist -t u8 -f json --stats=50 -q -o four.json four
grep -o '"stats_[^}]*' four.json
# Quantiles do not depend on the bins: the largest u64, and samples outside all bins
bytes '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000' >wide
shell 'gpuhist -t u64 -b 2 --stats=33,50 -q -o /dev/null wide'
shell 'gpuhist -t u64 -r 1:6 -b 1 --closed --stats=33,50,99 -q wide 2>&1 | tail -3'
# Ten times the binary32 number nearest to 0.1, then with infinities and NaN
i=0
while [ $i -lt 10 ]; do
	bytes '\315\314\314\075'
	i=$((i + 1))
done >tenths
bytes '\000\000\200\177\000\000\200\377\000\000\300\177\000\000\000\200' >odd
run gpuhist -t f32 -r 0:1 -b 2 --stats=50 -q -o /dev/null tenths odd
shell "gpuhist -t f32 -r 0:1 -b 2 --stats=50 -q -f json tenths odd 2>&1 | grep -o '\"stats_[^}]*'"
# Other quantiles, from the least sample to the greatest
shell 'gpuhist -t i8 -b 4 --stats=0,25,25.0001,99.9,100 -q four 2>&1 | tail -5'
shell 'gpuhist -t u32 -b 4 --stats=.5,50,100 --stats=1 -q /dev/null 2>&1 | tail -n 1'
# In any order, each once
shell 'gpuhist -t u8 --stats=99,50,99.0,0 -o /dev/null four 2>&1 | grep %'
run gpuhist -t u8 --each=2 --stats=99,50 four
# The list follows an equals sign; a separate word is a file
run gpuhist -t u8 --stats 50,99 four
cp four 50,99
shell 'gpuhist -t u8 --stats 50,99 four -o /dev/null 2>&1 | grep count'
run gpuhist -t u8 --stats= four
for quantiles in ',' -1 100.0001 101 99.99999 1e1 0x10 nan '2,50,' '2 50'; do
	gpuhist -t u8 "--stats=$quantiles" four 2>&1 | cut -d: -f2
done
# shellcheck disable=SC2016 # the inner shell expands it
shell 'gpuhist -t u8 --stats=$(seq -s, 1 0.5 65) four 2>&1 | sed "s/1.0,.*,65.0/129 of them/"'
# shellcheck disable=SC2016
shell 'gpuhist -t u8 --stats=$(seq -s, 1 0.5 64.5) four 2>&1 | tail -1'
run gpuhist --merge --nonzero --stats=5 four.json
largest=-3.4028234663852886e38,0,3.4028234663852886e38
# A document tells infinities from other samples out of range if its bins hold all finite ones
bytes '\000\000\200\377\000\000\300\300\000\000\200\077\000\000\000\100\000\000\200\177\000\000\300\177' >infinite
for bins in "-r full -b 2" --edges=-3.4e38,0,3.4e38 --edges=-4e38,0,4e38 "--edges=$largest" "--edges=$largest --closed" "--auto -b 2"; do
	shell "gpuhist -qt f32 $bins --stats=50 -o /dev/null infinite 2>&1 | grep -e count -e inf"
	shell "gpuhist -qt f32 $bins -f json infinite | gpuhist -q --merge --stats=50 -o /dev/null 2>&1 | grep -e count -e inf"
done
# Clipping, in each channel
bytes '\377\177\000\200\377\177\000\200\001\000\000\000' >clipped
run gpuhist -t i16 -c 2 -r full -b 2 --stats=50 -q -o /dev/null clipped
shell 'gpuhist -t i32 -r 0:4 -b 4 --clamp --stats=1,50,99 -q clipped 2>&1 | tail -n 3'
# Zeros share a cell with the smallest numbers, and come before them
for _ in $(seq 1000); do printf '0\n-0\n0\n4e-324\n1e-320\n1\n'; done >tiny.txt
shell "head -n 6 tiny.txt | gpuhist --text --stats=1,50,51,80 -r 0:2 -b 1 -o /dev/null 2>&1 | grep %"
shell "gpuhist --text --stats=1,50,51,80 -r 0:2 -b 1 tiny.txt -o /dev/null 2>&1 | grep %"
# Both zeros are one value
bytes '\000\200\000\000\000\200' >zeros
run gpuhist -t f16 -r 0:1 -b 1 --stats=50 -q -o /dev/null zeros
# Zeros of wide types, of either sign and in any byte order; values that no sample has, in the order of values
bytes '\000\000\000\000\000\000\000\200\000\000\000\001\000\000\000\000' >mixed
for type in f32 f32be i32 u24 f64 i64be; do
	shell "head -c 15 mixed | gpuhist -t $type --ignore-tail --stats=50 -b 9 --auto 2>&1 | grep zeros"
done
bytes '\002\000\001\200\003\000\003\200' >around
for type in u16 i16 f16 bf16be u4bit; do
	shell "gpuhist -t $type --stats=50 -b 9 --auto around 2>&1 | grep 'never hit'"
done
# Integers of up to 11 bits are exact; others have four digits, or more if four would leave the cell
bytes '\000\000\000\000\001\000\000\000\002\000\000\000\013\000\000\000' >spread
shell 'gpuhist -r 0:16 -b 2 --stats=0,10,50,75,75.0001,100 spread 2>&1 | grep %'
shell 'gpuhist -t u64 -b 2 --auto --stats=0,50,100 wide 2>&1 | grep %'
bytes '\232\231\231\231\231\231\271\077\315\314\314\314\314\314\334\277' >long
bytes '\146\056\000\000\000\074\146\056\000\174\000\176' >halves
seq 1000 | head -c 400 >many
# The middle of a cell, but not beyond the extremes
run gpuhist -t f64 --auto -b 4 --stats=50 -q -o /dev/null long
shell 'gpuhist -t f64 -r 0.1:0.1000004 -b 4 --stats=100 -q -o /dev/null long 2>&1 | tail -n 1'
# A column for each channel; a channel may lack some figures
run gpuhist -t f16 -c 3 -r 0:1 -b 2 --stats=50 -q -o /dev/null halves
shell 'gpuhist -t f16 -c 20 -r 0:1 -b 2 --stats=50 -q -o /dev/null many 2>&1 | grep -e channel -e 50%'
# The largest numbers, whose cell ends at 2^1024: the middle of it, but of a few samples the value
bytes '\377\377\377\377\377\377\357\377\377\377\377\377\377\377\357\177' >both
shell "gpuhist -t f64 --stats=1,99 -b 2 -q -f json both | grep -o '\"stats_q.*\"bytes'"
cp both largest
i=0
while [ $i -lt 12 ]; do
	cat largest largest >double && mv double largest
	i=$((i + 1))
done
shell "gpuhist -t f64 --stats=1,99 -b 2 -q -f json largest | grep -o '\"stats_q.*\"stats_cells'"
shell "gpuhist -t f64 --stats=1,99 -b 2 -r 0:1 -q -f json largest | grep -o '\"stats_q.*\"stats_cells'"
# Powers of two, and an entropy halfway between two texts: 2 - 1/128; three times as many
letters=abcdefghi n=1 counted=
i=0
while [ $i -lt 9 ]; do
	counted=$counted$(printf "%${n}s" '' | tr ' ' "$(echo $letters | cut -c$((i + 1)))")
	[ $i -eq 0 ] || n=$((2 * n))
	i=$((i + 1))
done
printf %s "$counted" >dyadic
sed 's/./&\x0\x0\x0/g' dyadic >wide
for type in 'u8 dyadic dyadic dyadic' 'u32 wide' 'u32 wide wide wide'; do
	shell "gpuhist --stats=50 -q -b 128 -t $type 2>&1 | grep entropy"
done
# Nothing finite
run gpuhist -t u16 -b 1 --stats -o /dev/null /dev/null
shell "gpuhist -t f64 -r 0:1 -b 1 --stats -f json -q /dev/null 2>&1 | grep -o '\"stats_.*bytes'"
head -c 12 odd >odd3
run gpuhist -t f32 -r 0:1 -b 1 --stats -q -o /dev/null odd3
# The same digits with any number of threads, any -M, from a file or a pipe, and with any instruction set: text; floats of
# few magnitudes, and of all, with NaN and infinities
seq 100000 500000 | head -c 2400000 >text
seq 100000 300000 | sed 's/^.\(..\)\(.\)\(..\)$/\1\x80\x3f\2\3\xbf/; 5~100s/.*/\x00\x00\xc0\x7f\x00\x00\x80\xff/' |
	tr -d '\n' | head -c 480000 >few
seq 100000 500000 | gzip -n | head -c 480000 >all
figures() {
	gpuhist --raw -r -1000:1000 -b 9 --stats=50 -q -f json "$@" 2>/dev/null | grep -o '"stats_count.*, "inputs'
}
for type in u16 i24 u32 i64be f32 f32be f64; do
	for input in text few all; do
		figures -t $type -T 1 --device=cpu $input >one
		for options in '-T 2' '-T 2 -M 3M' --device=auto; do
			# shellcheck disable=SC2086 # words
			figures -t $type $options $input | cmp one || echo "$type $options $input"
		done
		for isa in base avx2; do
			GPUHIST_ISA=$isa gpuhist /dev/null >/dev/null 2>&1 || continue
			GPUHIST_ISA=$isa figures -t $type $input | cmp one || echo "$type $isa $input"
		done
		dd if=$input bs=10007 2>/dev/null | figures -t $type | cmp one || echo "$type, a pipe, $input"
		[ $input = all ] || grep -o '"stats_mean.*std": [^,]*' one | sed "s/^/$type $input /"
	done
done
# A report that was asked for and cannot be written: published output stays, and nothing is added
c='gpuhist -t u8 -b 1 -r full odd'
shell "$c --stats 2>/dev/full"
shell "$c --stats 2>&-"
shell "$c -v 2>/dev/full"
shell "$c -q 2>/dev/full"
shell "$c --stats --into=f.json 2>/dev/full; ls f.json"
# -q: no table if the JSON holds the figures
printf 'aab' >aab
run gpuhist -t u8 -r 97:99 -q --stats=50 -f csv aab
shell 'gpuhist -t u8 -r 97:99 -q --stats=50 -f json aab | grep -o "\"50%\": [0-9]*"; gpuhist -t u8 -r 97:99 -q --stats=50 --into=aab.json aab'
# -M counts the digests. Workers whose digests are too large add them to the totals early; totals that are too large fail
cat all all all all all all all >seven
shell "gpuhist -t f64 -r 0:1 -b 1 --stats -q --raw -M 4M -T 1 all"
figures -t f64 -T 1 seven >one
figures -t f64 -T 4 -M 140M seven | cmp one -
