#!/bin/sh
# SPDX-License-Identifier: MIT
# Write the seeds of every harness: DIR/options, DIR/number ... a few dozen small files each.
# usage: tests/fuzz/corpus.sh DIR
set -eu
dir=$1
rm -rf "$dir"
mkdir -p "$dir/options" "$dir/number" "$dir/text" "$dir/edges" "$dir/edges_arg" "$dir/source" "$dir/write" "$dir/block" \
	"$dir/header" "$dir/tensors" "$dir/document"

# seed HARNESS: write standard input to the next file.
seed() {
	into=$dir/$1
	set -- "$into"/*
	[ -e "$1" ] || shift
	cat >"$into/$(printf %03d $#)"
}

# bytes NUMBER...: print bytes.
bytes() {
	for byte; do
		# shellcheck disable=SC2059 # the format is the byte
		printf "\\$(printf %o "$byte")"
	done
}

# One word a line.
options() { printf '%s\n' "$@" | seed options; }
printf '0 1 2.5 1e3\n' | seed edges_arg
printf -- '-1,-0.5, 0 ,0x10' | seed edges_arg
printf '# a comment\n1\n2 # another\n\n3,\n4\n' | seed edges_arg
printf '3 2 1' | seed edges_arg
printf '1e400 nan' | seed edges_arg
options -b1024
options -b 64K -S 0x200 -n 1m -M 10MB -T 0 -v -q
options -t float -b 3
options cf32 s16le PCM_S16BE rf32_le complex64 '>u16' f4 d uint8_t U8
options -t u2bitbe -c 2 -n 8 --stats
options -t i4bit --rows=64:40 -c 4 -r full a.u1bit
options -t float8_e4m3fn --log=1:448 -t U1BIT -b 2 -n 7
options -q -v -o h.CSV.gz
options --part=3/8 -o 3.json -b 4
options --each=64K -t u8 -f plot -p
options --each=file -o rows.npy -r 0:1:0.1 -t f32 --flow
options -t u2bit --each 1e3 --stats
options -t f32 --each 1e3 --stats
options -t u32 -c 100 --stats=50
options -t u16 --record=8 --by=u8@2 --stats
options --part=auto -o part.%K.json --part 2147483648/2147483648
options --no --c --raw=1 --bogus -xq
options -t u16be -b 65536 --range full
options -t f32 -r -1:1 -b 1000 -o a.json --closed
options --merge -fnpy -Cu64 -v a.json
options -b9 --into=sum.json -ocounts.csv --flow
options -tu8 --stats=0,.5,50.0001,100
options -tf64 -r-1e300:1e300 -b7 --stats --flow --nonzero --no-header
options -t i64 -r -9223372036854775808:9223372036854775808 -b 268435456
options -t u64 -r 0:18446744073709551616 -b 3
options -t i8 --range=-0.5:127.5 --clamp
options -t f32 --raw -r 0:1:0.1 -r -0x.8:1.75:0x.4 --closed
options --type='<u2' --type='|i1' --type='>f8' --range=0:0x1p10
options -t bfloat16 --range=full -C u32
options -S 64KiB -n 1000 --ignore-tail --raw --no-check a b -
options -S 18446744073709551615 -n18446744073709551615
options -f raw -o - -C sat8
options -f tsv -C sat16 -M 1G -T 4096 -q
options -f json -C sat32
options -o out.npy
options -o out.raw -v -v -- -file --range
options --device=gpu:13 -T1
options --device gpu:all -M16MB
options --device=cpu -r 1:0
options -t u32 -b 20000 -T 4096 -r 0:99999
options -t i24 -b 60000 -T 1
options -t i16 --log=1:1e4 -b 50
options -t f32 --log 1e-30:1 -b20 -c2
options --edges=-1,0,0.5,1e3 -t f64 --closed
options -t u16 --edges '0 3 7 1000' --clamp
options -t i8 --mod -b 10
options -t f64 --auto -b 33 --rows=3:32
options -t u64 --log=auto -b 500 --clamp
options --auto -t i16be --record=7 --offset=1 -c 3
options -q -v
options -o /proc/self/exe /proc/self/exe
options -h
options --vers
options -Z
options --bins
options --coun=7 --skip=1T
options -b 268435457
options -r 79228162514264337593543950335:79228162514264337593543950336
options -t f16 -r 5e-324:1e-323 -b 3
options -t u32 -r 1e-5:4294967296.5 -b 100000
for type in u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 f64; do
	options -t "${type}be" -b 12 -r -3:97 --closed some samples, as they come
done

for format in csv tsv raw npy json; do
	for counter in u64 u32 sat8 sat16 sat32; do
		options "--counter=$counter" -f "$format" -o -
	done
	for flag in --flow --nonzero --no-header; do
		options $flag -f $format -o-
	done
done

# The first byte tells where the text is cut.
for text in 0 -0 12 +12 1e6 12.50e1 .5 5. 1e-400 1e400 0x10 0x1p3 -0xA.8p1 0xffffffffffffffff 0x1p-1074 \
	79228162514264337593543950335 79228162514264337593543950336 9007199254740993 1e23 5e-324 \
	2.2250738585072014e-308 1.7976931348623157e308 0.1 0.30000000000000004 4503599627370496.5 \
	4096 64KiB 10MB 1G 7TiB 18014398509481983K 16777216T 18446744073709551615 18446744073709551616 \
	12:34 1e 0x - nan inf 123456789012345678901234567890123456789e-20; do
	printf '\377%s' "$text" | seed number
	printf '\003%s' "$text" | seed number
done
# Type, columns, pieces, room; the text, in which 1 stands for a long word.
for type in 0 1 2 3 4 5 6; do
	{ bytes $type 0 1 0 0 3 && printf '1\n 2.5e1\r\n# no\n\n-7\n"0x1.8p4"\n1e400\n25500e-2'; } | seed text
	{ bytes $type 1 0 9 && printf '\357\273\277a,b\n1,"2, ""x"""\n3,\nNA,4\n'; } | seed text
	{ bytes $type 2 1 7 0 3 && printf 'x;1;"\001;"\n2;9007199254740993;\001\n;;\n'; } | seed text
	{ bytes $type 3 0 2 && printf ' 1 2  3\n4\t5 6 7\n\001 x 18446744073709551615\n'; } | seed text
	{ bytes $type 4 1 99 0 1 && printf 'u\t"v"\tw\n\t\t\n\001\001\001\t1.0\t\n1\t2,5\t\n'; } | seed text
	{ bytes $type 11 0 9 && printf '1,"a, b"\n2,\n3,"x""y"\n4, plain\r\n5,"plain"\n'; } | seed text
	{ bytes $type 11 0 9 && printf '1,"\0a"\n2,\n3,\0"\n4,\n'; } | seed text # keys with NUL bytes
	{ bytes $type 24 1 40 0 2 && printf 'k;v\n\001;1\n\001y;2\n;3\nshort;4\n'; } | seed text
	{ bytes $type 104 1 9 0 2 && printf 'x,"v",u,w\n1,2,3,4\n,"5",\001,6\n7,,8\n'; } | seed text
	{ bytes $type 227 1 9 0 2 && printf '1;x;NA\n;2;3\n"4";5;6;\r\n7;8\n'; } | seed text
	{ bytes $type 4 1 0 0 1 && printf '"v\0\0",v\n1,2\n'; } | seed text # NUL bytes after a name
done
# A shift and a divisor, then a numerator or a binary64.
for b in 0 1 31 63 96 127; do
	bytes "$b" 3 0 0 0 1 255 255 255 255 255 255 255 255 1 2 3 4 5 6 7 8 | seed number
done

# Type, flags; bins (how, which); two numbers (how, digits); then edges and samples.
for type in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 134 137 139 140 141; do
	bytes $type 2 1 | seed edges
	bytes $type 8 0 100 0 3 0 250 1 0 0 0 1 2 3 4 5 6 7 8 | seed edges
	bytes $type 9 41 6 253 1 5 2 7 0 0 0 9 8 7 6 5 4 3 2 1 | seed edges
	bytes $type 9 2 231 3 4 128 255 255 255 2 4 7 7 7 7 3 | seed edges
	bytes $type 8 113 5 0 0 0 0 0 0 240 191 5 51 51 51 51 51 51 211 63 | seed edges
	bytes $type 9 3 255 255 255 7 5 0 0 0 0 0 0 239 255 5 0 0 0 0 0 0 239 127 9 9 | seed edges
	bytes $type 9 3 255 255 0 0 5 1 0 0 0 0 0 240 63 193 0 7 0 0 0 9 9 9 9 9 9 9 63 | seed edges
	bytes $type 8 2 250 0 1 7 192 99 55 7 3 0 0 1 2 3 4 5 6 7 65 | seed edges
	bytes $type 9 0 7 5 0 0 0 0 0 0 0 128 5 9 0 0 0 0 0 0 0 | seed edges
done

# 64 bytes that draw a job; then what its first input may hold: frames, whole and cut, and other formats.
for draws in 1 21; do
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		bytes $((i * draws % 256)) $((draws + i / 3)) $((i * i * draws % 251)) $((7 * i % 4))
	done >"$dir/draws"
	job() { cat "$dir/draws" - | seed source; }
	printf '' | job
	printf '\050\265\057\375\040\004\041\000\000abcd\050\265\057\375\000\130\131\000\000 eleven byt' | job
	printf '\050\265\057\375\040\200\003\004\000x\123\052\115\030\003\000\000\000abc' | job
	printf '\050\265\057\375\040\000\000\000\000\001\000\000\001\030\003\000\000\000abc' | job # an empty frame
	printf '\037\213\010 and so on' | job
	if command -v zstd >/dev/null; then
		for level in 1 19; do
			{
				seq 200 | zstd -q -$level
				printf '\121\052\115\030\004\000\000\000skip'
				head -c 9000 /dev/zero | zstd -q --no-check -$level
			} | job
			seq 300 | zstd -q --check -$level | head -c 200 | job # cut
		done
	fi
done
rm "$dir/draws"

# The kind of frame, and the number of changes; its contents; the changes.
for kind in 0 1 2 3; do
	for changes in 0 1 2 5; do
		for data in 0 1 2 3 4 5 6 7; do
			{
				bytes $((kind + 4 * changes)) $((8 * data + data)) 99 $((100 + 20 * data)) 1 2 3 $data
				bytes $((3 * data + changes)) 3 130 133 0 150 0 0 160 129 $((7 * data)) $data 2 77 9 1 3 200 11
			} | seed block
		done
	done
done
if command -v zstd >/dev/null; then
	for level in 1 3 19; do
		{ bytes 0 && seq 400 | zstd -q --no-check -$level; } | seed block
	done
fi

# Flags, bins, two binary64, range digits, type; then counts.
flags=0
for type in 0 1 2 3 4 5 6 7 8; do
	for high in 0 1 2 3 4; do
		bytes $((flags % 256)) $high 5 0 0 0 0 0 0 240 191 51 51 51 51 51 51 211 63 9 255 3 7 $type \
			192 255 160 1 2 3 4 5 6 7 8 100 44 1 200 201 224 225 232 233 240 | seed write
		flags=$((flags + 41))
	done
done

# Flags, skip, limit; then an input with a header.
for flags in 0 1 2 4 8 9 12 16 18 24 25 28; do
	{
		bytes $flags 4 3
		printf '\223NUMPY\001\000\060\000%-47s\n' "{'descr':'<i2','fortran_order':False,'shape':(2,3)}" && printf 'abcdefghijkl'
	} | seed header
	{
		bytes $flags 4 3
		printf '\223NUMPY\002\000\070\000\000\000%-55s\n' "{'descr':'>c16','fortran_order':True,'shape':(1L,)}"
		printf '0123456789abcdef'
	} | seed header
	{
		bytes $flags 5 2
		printf 'RIFF\377\000\000\000WAVELIST\003\000\000\000abc\000fmt \020\000\000\000\001\000\002\000\104\254\000\000'
		printf '\020\261\002\000\004\000\020\000data\010\000\000\000abcdefghid3 \002\000\000\000data'
	} | seed header
	{
		bytes $flags 1 7
		printf 'RIFX\000\000\000\377WAVEfmt \000\000\000\050\377\376\000\001\000\000\254\104\000\002\261\020\000\003\000\030'
		printf '\000\026\000\024\000\000\000\004\000\000\000\001\000\000\000\020\200\000\000\252\000\070\233\161'
		printf 'data\000\000\000\003abc\000'
	} | seed header
	{
		bytes $flags 2 2
		printf 'RF64\377\377\377\377WAVEds64\034\000\000\000\100\000\000\000\000\000\000\000\010\000\000\000\000\000\000\000'
		printf '\000\000\000\000\000\000\000\000\000\000\000\000fmt \020\000\000\000\003\000\001\000\104\254\000\000'
		printf '\020\261\002\000\004\000\040\000data\377\377\377\377abcdefghdata\002\000\000\000xy'
	} | seed header
	{
		bytes $flags 2 2
		printf 'RIFF\000\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\104\254\000\000'
		printf '\104\254\000\000\001\000\010\000data\000\000\000\000abcdefgh'
	} | seed header
	{ bytes $flags 3 9 && printf 'P5\n# a comment\n4 2\n255\nabcdefgh'; } | seed header
	{ bytes $flags 3 9 && printf 'P6 1 2 999\nabcdefghijkl'; } | seed header
	{
		bytes $flags 3 9 75 0 0 0 0 0 0 0
		printf '{"__metadata__":{"a":"b"},"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}abcd'
	} | seed header
	{ bytes $flags 3 200 65 && head -c 256 /dev/zero && printf 'ustar\0abcdef'; } | seed header
done

# histogram TYPE BINNING RANGE OTHERS CHANNELS CHANNEL AXIS VALUES SAMPLES OVER COUNTED: print a document that can be read.
histogram() {
	printf '{"uhi_schema": 1, "writer_info": {"gpuhist": {"samples": %s, "under": 0, "over": %s, "nan": 0, ' "$9" "${10}"
	printf '%s"bytes": %s, "skipped": 0, "tail": 0, ' "${11-}" $(($9 * $5 * (${1#?} / 8)))
	printf '"inputs": 1, "part": 1, "parts": 2, "version": "0"}}, '
	printf '"metadata": {"type": "%s", "binning": "%s", "range": "%s", %s"closed": false, ' "$1" "$2" "$3" "$4"
	printf '"clamp": false, "counter": "u64", "channel": %d, "channels": %d, ' "$6" "$5"
	printf '"options": "--type=%s", "version": "0"}, ' "$1"
	printf '"axes": [{%s}], "storage": {"type": "int", "values": [%s]}}\n' "$7" "$8"
}
flow='"underflow": true, "overflow": true, "circular": false'
regular() { printf '"type": "regular", "lower": %s, "upper": %s, "bins": %s, %s' "$1" "$2" "$3" "$flow"; }
variable() { printf '"type": "variable", "edges": [%s], %s' "$1" "$flow"; }
{
	histogram u32 range 0:4 '' 1 0 "$(regular 0 4 4)" 0,1,2,3,4,5 15 5
	histogram f32 range -1:1 '' 1 0 "$(variable -1,-0.5,0,0.5,1)" 0,1,2305843009213693946,0,0,4 2305843009213693951 4
} | seed document
histogram i64 range -9223372036854775808:9223372036854775808 '' 1 0 \
	"$(regular -9223372036854775808 9.2233720368547758e18 2)" 0,1,2,3 6 3 | seed document
histogram u16 mod 0:3 '' 1 0 '"type": "regular", "lower": 0, "upper": 3, "bins": 3, "underflow": false, "overflow": true, "circular": true' \
	7,8,9,0 24 0 | seed document
histogram f64 auto 1.7976931348623157e+308:1.7976931348623157e+308 '"most": 4, ' 1 0 \
	"$(variable 1.7976931348623157e+308,1.7976931348623157e+308)" 0,2,1 3 1 | seed document
histogram f64 auto -0.75:0.5 '"most": 8, ' 1 0 "$(variable -0.75,-0.5,-0.25,0,0.25,0.5)" '0, 1, 0, 0, 0, 2, 0' 3 0 |
	seed document
histogram u8 auto 8:16 '"most": 1, ' 1 0 "$(regular 8 16 1)" 0,9,0 9 0 |
	sed 's/"parts": 2/"parts": 2, "partial": true/' | seed document
histogram f32 auto '' '"most": 2, ' 1 0 "$(regular 0 0 '0, "writer_info": {"boost-histogram": {"orig_type": "Integer"}}')" 0,0 0 0 | seed document
histogram f32 edges -1:7 '' 1 0 "$(variable -1,2.5e-1,7)" 0,1,1,0 2 0 '"stats_x": 1e5, "stats_y": -0.25, ' | seed document
histogram f64 log 1:100 '' 1 0 "$(variable 1,10,100)" 0,3,4,0 7 0 | seed document
{
	printf '{"channel0": ' && histogram i16 range 0:2 '' 2 0 "$(regular 0 2 2)" 0,1,2,3 6 3
	printf ', "channel1": ' && histogram i16 range 0:2 '' 2 1 "$(regular 0 2 2)" 0,6,0,0 6 0 && printf '}'
} | seed document
histogram u32 range 0:100 '' 1 0 "$(regular 0 100 100)" 7,8,5 20 5 |
	sed 's/"values"/"index": [[1,50,101]], "values"/' | seed document
histogram u8 range 0:4 '' 1 0 "$(regular 0 4 4)" 0,1,2,3,4,5 15 5 |
	sed 's/"parts": 2/"parts": 5, "inputs_state": "0123456789abcdef"/' | seed document
histogram i16 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,1,2,3 6 3 |
	sed 's/"inputs": 1, "part": 1, "parts": 2/"inputs": 0, "part": 1, "parts": 1, "row_of": "a\\ufffd", "row_first": 6, "row_records": 6/' |
	seed document
histogram u64 log=auto 0:8 '"most": 4, "zero": "0:1", ' 1 0 "$(variable 0,1,2,4,8)" 0,1,0,2,4,0 7 0 | seed document
histogram f64 log=auto -1.7976931348623157e+308:1.7976931348623157e+308 '"most": 3, "zero": "0:5e-324", ' 1 0 "$(variable -1.7976931348623157e+308,0,5e-324,1.7976931348623157e+308)" 0,1,0,2,0 3 0 |
	seed document
histogram f16 log=auto 1:2 '"most": 3, "zero": "none", ' 1 0 "$(variable 1,1.5,2)" 0,1,2,0 3 0 | seed document
histogram f32 auto 8:24 '"most": 2, ' 1 0 "$(regular 8 24 2)" 0,3,4,0 7 0 | seed document
# Keys, the first without any sample; bytes that are not UTF-8; none at all.
keyed() { sed "s/\"channel\": [0-9]*, \"channels\": 1/\"key\": \"$1\", \"keys\": \"$2\"/; s/\"parts\": 2/\"parts\": 1/; s/\"bytes\": [0-9]*/\"bytes\": 12/"; }
for kind in numbers text; do
	{
		printf '{"key=7": ' && histogram i16 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,0,0,0 0 0 | keyed u16@2 $kind
		printf ', "key=30": ' && histogram i16 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,6,0,0 6 0 | keyed u16@2 $kind && printf '}'
	} | seed document
done
{
	printf '{"key=a\\udce9\\n": ' && histogram f64 log 1:100 '' 1 0 "$(variable 1,10,100)" 0,3,4,0 7 0 | keyed name text
	printf ', "key=": ' && histogram f64 log 1:100 '' 1 0 "$(variable 1,10,100)" 0,3,4,0 7 0 | keyed name text && printf '}'
} | seed document
figures='"stats_count": 6, "stats_zeros": 3, "stats_minimum": 0, "stats_maximum": 1, "stats_mean": 0.5, "stats_std": 0.5, "stats_cells": 32768, "stats_digest": "0 3,1 3", '
sums='"stats_sum": "0x3p+0", "stats_square": "0x3p+0", '
few='"stats_count": 6, "stats_minus_inf": 0, "stats_plus_inf": 0, "stats_zeros": 3, "stats_minimum": 0, "stats_maximum": 1, "stats_mean": 0.5, "stats_std": 0.5, '
histogram i32 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,3,3,0 6 0 "$few$sums"'"stats_values": "0 3,1 3", ' | seed document
histogram f64 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,6,0,0 6 0 "$few$sums"'"stats_values": "0 3,1 3", ' | seed document
histogram f32 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,6,0,0 6 0 "$few$sums"'"stats_cells": 128, "stats_digest": "0 3,16256 3", ' | seed document
figures=${figures%\"stats_cells*}$sums'"stats_cells": 32768, "stats_digest": "0 3,1 3", '
{
	for key in 3 1 2 0; do
		[ $key = 3 ] && printf '{' || printf ', '
		printf '"key=%d": ' $key
		histogram i16 range 0:2 '' 1 0 "$(regular 0 2 2)" 0,3,3,0 6 0 "$figures" | keyed u8@9 numbers
	done
	printf '}'
} | seed document
{ printf '{"key": ' && histogram u8 range 0:4 '' 1 0 "$(regular 0 4 4)" 0,0,0,0,0,0 0 0 | keyed u8@0 numbers && printf '}'; } | seed document
# Indented, as by a tool.
histogram u8 range 0:4 '' 1 0 "$(regular 0.0 4.0 4)" 0,1,2,3,4,5 15 5 | sed 's/[{[,]/&\
        /g' | seed document
for header in '{}' '{"a":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}}  ' \
	'{"__metadata__":{"a":"}\\\"{"},"b\u00e9":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"c":{"dtype":"F4","shape":[0],"data_offsets":[0,0]}}' \
	'{"a":{"data_offsets":[0,8],"shape":[1,2],"dtype":"BF16"},"b":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}}'; do
	printf '%s' "$header" | seed tensors
done
