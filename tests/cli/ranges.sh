# SPDX-License-Identifier: MIT
# Ranges: edges of each kind, as printed; refusals; warnings about samples out of range. The random jobs check the counts.
# shellcheck shell=sh
bytes '\000\001\002\003\004\005\006\007\010\011\376\377' >u8
run gpuhist -t u8 -b 2 -r 300:400 --flow u8
run gpuhist -t u8 -b 3 -r 0:1e1 -q --nonzero --no-header u8
run gpuhist -t u8 -b 2 -r 0x0:0x10 -q --no-header u8
# 64 bits: 0, 2^63 and 2^64 - 1, which binary64 would round
bytes '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\200\377\377\377\377\377\377\377\377' >u64
# Whole edges are printed as whole numbers, whichever option gives them; older documents had exponents
run gpuhist -t u64 --edges=9223372036854775808,18446744073709549568 --flow -q u64
run gpuhist -t i64 --edges=-1e30,-0.5,1e16 -q u64
shell "gpuhist -t u64 --edges=0.5,18446744073709551616 u64 -q -f json >a.json; grep -o '\"edges\": [^]]*' a.json"
shell 'gpuhist -t u64 --edges=0.5,18446744073709551616 u64 -q -f plot | head -n 1'
bytes '\315\314\314\075\315\314\114\076\232\231\231\076\000\000\000\077\000\000\200\077' >f32
run gpuhist -t f64 -b 2 -r full /dev/null
# Bins so narrow that two edges would be the same number
refused gpuhist -t f64 -b 2 -r 1:1.0000000000000002 /dev/null
run gpuhist -t f64 -b 2 -r 1:1.0000000000000004 -q /dev/null
refused gpuhist -t f64 -b 3 -r 0:1e-323 /dev/null
refused gpuhist -t u8 -b 3 -r 2.25:2.2500000000000004 /dev/null
# ... also if the type is known only when the file is opened, and in a document
head -c 16 u64 >a.f64
refused gpuhist -b 2 -r 1:1.0000000000000002 a.f64
shell 'gpuhist -t f64 -b 2 -r 1:1.0000000000000004 -q -f json /dev/null | sed s/1.0000000000000004/1.0000000000000002/g | gpuhist --merge'
for range in 5:5 nan:1 '' 0:1e400; do
	refused gpuhist -r "$range" u8
done
# STEP gives the number of bins: apart from the options, the documents equal those with -b
shell 'gpuhist -q -t f32 -r 0:1:0.1 f32 | tail -n 2'
run gpuhist -t u8 -r -0x.8:0xf.8p0:4 -q u8
refused gpuhist -t u64 -r 0:18446744073709551616:1e19 u64
# shellcheck disable=SC2016 # of the inner shell
shell 'for bins in 0:1:0.1 "0:1 -b 10"; do gpuhist -q -t f32 -r $bins -f json f32 | sed "s/.options.: [^,]*//"; done | uniq | wc -l'
shell 'gpuhist -q -t f32 -r 0:1:0.1 -f json f32 | grep -o "[^ ]*--range[^,]*"'
# STEP must divide the range, within one part in 10^9; the range that the message names does
for range in 0:1:0.3 0:1:2 -2:-0.9:0.2 20:70:20 0:0.1:0x1p-3 0:1e29:4e28 -1.7e308:1.7e308:1e308; do
	refused gpuhist -t f64 -r "$range" /dev/null
	advice=$(gpuhist -r "$range" u8 2>&1 | sed -n 's/.*range; try \(.*\)/\1/p')
	[ -z "$advice" ] || run gpuhist -t f64 -r "$advice" -q --no-header /dev/null
done
run gpuhist -t f64 -r 0:1:0.50000000004 -q --no-header /dev/null
refused gpuhist -t f64 -r 0:1:0.5000000006 /dev/null
run gpuhist -t u64 -r 9007199254740993:9007199254740995:1 -q --no-header /dev/null
refused gpuhist -t u64 -r 18446744073709551615:18446744073709551616:0.3 /dev/null
for range in 0:1: 0:1:0 0:1:-0.1 0:268435457:1 0:2e-30:1e-30 full:1; do
	run gpuhist -t f64 -r "$range" /dev/null
done
refused gpuhist -r 0:1:0.1 -b 10 u8
refused gpuhist -b 10 -r 0:1:0.1 u8
refused gpuhist -r 0:1:0.1 --log=1:2 u8
refused gpuhist --log=1:2:0.5 u8
refused gpuhist -r 0:1:0.1 --merge u8
shell 'gpuhist -t u8 -r 0:1:0.1 -r 0:8 -b 2 -q -f json u8 | grep -o "[^ ]*--bins[^,]*"'
refused gpuhist -t u8 -r 0:79228162514264337593543950336 u8
for bins in -1 268435457 1.5; do
	refused gpuhist -b "$bins" u8
done
# Values out of range: if codes are counted, the warning names the range and the options that cover it.
# These options are then run, and leave no value out.
bytes '\003\000\005\000\377\017\054\001\377\000\000\000' >twelve
bytes '\375\377\005\000\377\017' >signed
bytes '\000\302\000\105\000\154\000\000' >halves
for options in '-t i16 -r 0:256 twelve' '-t i16 -b 3 -r 0.5:2.5 signed' '-t f16 -r 0:1 -b 2 halves' '-t u8 -r 5:9 -b 4 --closed signed'; do
	# shellcheck disable=SC2086
	run gpuhist --nonzero --no-header $options
	# shellcheck disable=SC2086
	advice=$(gpuhist $options 2>&1 >/dev/null | sed -n 's/.*; \(-[^;]*\) covers them.*/\1/p')
	# shellcheck disable=SC2086
	run gpuhist --nonzero --no-header $options $advice
done
# High bits that may be flags: if samples are far above a range of 2^N, the warning names --mod
bytes '\001\000\002\200\003\000' >flags
for options in '-b 4' '-b 2' '-r 0:4' '-r 0:8 -b 2' '-b 5' '-b 32768' '-t i16 -b 4'; do
	shell "gpuhist -t u16 $options flags 2>&1 >/dev/null"
done
run gpuhist -t u16 --mod -b 4 flags
run gpuhist -t u24 -b 4 flags
# The options that a message names can be typed
for options in '-t u24 -b 4 --stats' '-t i16 -b 4' '-t u16 --mask=0xfff0 -b 4' '-t u12bit -b 4' '--text -t u16 -b 4'; do
	shell "echo 3000 | gpuhist $options --ignore-tail 2>&1 >/dev/null | tail -n 1"
done
# A range of integers has a bin for each of up to 256 values
run gpuhist -t i32 -r -2:1 twelve
run gpuhist -t i32 -r -2:1 --closed -b 2 -q twelve
for range in 0:256 0:257 0:255.5 full; do
	shell "gpuhist -t u16 -r $range -q flags | tail -n 1"
done
shell 'gpuhist -t i2bit -r full flags | tail -n 1'
# Infinities and NaN stay outside
bytes '\000\302\000\174\000\176\000\074' >infinite
run gpuhist -t f16 -r 0:2 -b 2 --nonzero --no-header infinite
run gpuhist -t f16 -r -3:1 --closed -b 2 --nonzero --no-header infinite
bytes '\000\102\000\102' >equal
run gpuhist -t f16 -r 0:1 -b 1 --nonzero equal
# For other types, the values out of range are not known
run gpuhist -b 1 twelve
run gpuhist -b 1 -r 0:1 twelve
run gpuhist -t u32 -b 2 -r 0:400000 twelve
# Bins of --auto are no narrower than the spacing of binary64, in which JSON holds edges; bins of -r may be, but not in JSON
seq 1700000000000000000 1700000000000000900 >long
run gpuhist --text -t i64 --auto -b 1000 long
run gpuhist --text -t i64 --auto -b 2 long
bytes '\0\0\0\0\0\0\0\200' >least
run gpuhist -t i64 --auto -b 4 least
bytes '\377\377\377\377\377\377\377\377' >greatest
run gpuhist -t u64 --auto -b 4 greatest
for range in 1700000000000000000:1700000000000000900 -1700000000000000900:-1700000000000000000; do
	refused gpuhist -q --text -t i64 -r $range -b 900 -f json long
	refused gpuhist -q --text -t i64 -r $range -b 900 --into=long.json long
	refused gpuhist -q --text -t i64 -r $range -b 900 --each=9 -o long.json long
	shell "gpuhist -q --text -t i64 -r $range -b 3 -f json long | gpuhist -q --merge"
	shell "gpuhist -q --text -t i64 -r $range -b 900 --nonzero long | tail -n 1"
done
# Bins of unequal numbers of values, if the widest holds 2 % more than the narrowest
for range in '1:4095' '0:4093' 'full -b 300' 'full -b 1310' 'full -b 1311' '0:100 -b 400' '0.5:9.5 -b 4'; do
	# shellcheck disable=SC2086
	echo "-r $range: $(gpuhist -t u16 -r $range --nonzero --no-header u64 2>&1 >/dev/null | grep 'values each')"
done
shell 'gpuhist -t u8 -r 0:9 -b 4 u8 -q -f json | gpuhist --merge --no-header'
# -t u8 -b 8 for eight bins of all values
printf 'hello\3' >hello
run gpuhist -t u8 -b 8 --nonzero hello
run gpuhist -t i8 -b 8 --nonzero hello
run gpuhist -t u8 -b 8 --nonzero u8
