# SPDX-License-Identifier: MIT
# needs: zstd
# Inputs with headers: NumPy's .npy, WAVE, PGM and PPM, from files and pipes; headers that are refused.
# shellcheck shell=sh disable=SC2002,SC2059,SC2086

# le32 NUMBER, le16 NUMBER: print four or two bytes, little endian.
le32() {
	bytes "$(printf '\\%o\\%o\\%o\\%o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)))"
}
le16() {
	bytes "$(printf '\\%o\\%o' $(($1 & 255)) $(($1 >> 8 & 255)))"
}
# array DESCR SHAPE: print the header of a .npy, as NumPy pads it.
array() {
	text="{'descr': $1, 'fortran_order': False, 'shape': $2, }"
	printf '\223NUMPY\001\000' && le16 118 && printf '%-117s\n' "$text"
}
# fmt TAG CHANNELS BYTES BITS, data SIZE: print the format chunk of a WAVE, and the head of its data chunk.
fmt() {
	printf 'fmt ' && le32 16 && le16 "$1" && le16 "$2" && le32 44100 && le32 $((44100 * $2 * $3))
	le16 $(($2 * $3)) && le16 "$4"
}
data() {
	printf 'data' && le32 "$1"
}
wave() {
	printf 'RIFF' && le32 "${2:-99}" && printf 'WAVE%s' "${1:-}"
}

{ array "'<i2'" '(2, 3)' && bytes '\1\0\2\0\1\0\377\377\1\0\7\0'; } >a.npy
{ array "'>f4'" '(2,)' && bytes '\77\200\0\0\300\0\0\0'; } >f.npy
{ array "'<c8'" '()' && bytes '\0\0\200\77\0\0\0\300'; } >c.npy
# Chunks before and after the samples, of odd lengths, with bytes like samples.
{
	wave && printf 'LIST' && le32 5 && printf 'data\1\0' && fmt 1 2 2 16 && data 8
	bytes '\1\0\2\0\1\0\377\377' && printf 'id3 ' && le32 3 && bytes '\1\0\1\0'
} >a.wav
{ printf 'P5\n# a comment\n4 2\n255\n' && printf 'abcabcab'; } >a.pgm
{ printf 'P6 2 1 1000\n' && bytes '\0\1\0\2\0\3\0\1\0\2\3\347'; } >a.ppm
# Comments, as Netpbm reads them: before and after each number; the newline of the last ends the header
for header in '#c\n4 2 255\n' ' 4#c\n2 255\n' ' 4 2#c\r255\n' ' 4 2 255#c\n' '# 1\n#\n4#2 #\n# 3\n2 #\n#\n255#4\n'; do
	printf "P5${header}abcabcab" | gpuhist --nonzero --no-header | tr '\n' ' '
done
# ... but after white space, "#" is a sample
shell "printf 'P5 4 2 255 #c\nabcab' | gpuhist --nonzero --no-header"
c='gpuhist --nonzero --no-header -b 8 -r -1:7 --clamp'
for file in a.npy f.npy a.wav; do
	run $c -v -T 1 --device=cpu $file
done 2>&1 | grep -v ' GB/s$\|CPU: \|bottleneck'
run $c c.npy
run gpuhist --nonzero --no-header -b 8 -r 97:105 a.pgm
run gpuhist --nonzero --no-header -b 1000 a.ppm
for file in a.npy a.wav a.pgm a.ppm; do
	zstd -q "$file"
	gpuhist -q -b 1000 -T 8 $file | cksum
	cat $file.zst | gpuhist -q -b 1000 -T 8 - | cksum
done
for name in a.wav a.wav.zst; do
	gpuhist -q -b 1000 -T 1 <$name | cksum
	mkfifo fifo
	cat $name >fifo &
	gpuhist -q -b 1000 fifo | cksum
	rm fifo
done
# From here on, the number of samples is enough
c='gpuhist --nonzero --no-header -b 1 -r full'
# Only --raw counts the header
shell 'gpuhist --raw -t u8 -b 256 a.pgm | cksum; gpuhist -t u8 -b 256 < a.pgm | cksum; cat a.pgm | gpuhist -t u8 --raw -b 256 | cksum'
refused $c --zstd a.npy
run $c -S 4 -n 2 a.npy
run $c -S 12 a.npy
refused $c -S 13 a.npy
refused $c -S 13 a.npy.zst
# -n 0 counts nothing, in the same bins as -n 1
for file in a.wav a.npy; do
	gpuhist -q -b 4 -r full -n 1 $file | cut -d , -f 1-3 >one
	gpuhist -q -b 4 -r full -n 0 $file | cut -d , -f 1-3 | cmp - one
done
run gpuhist -q -b 4 -r full -n 0 a.wav
cat a.wav | refused $c -S 9
# The bytes that -n leaves in a pipe, or in a redirected file
shell "{ $c -n 2; echo --; $c -t i16; } < a.npy"
shell "{ gpuhist --nonzero --no-header -n 8; echo --; cat; } < a.pgm"
# A WAVE is read to its end, even after the samples, so the writer finishes
shell "{ cat a.wav; head -c 3000000 /dev/zero && echo written >&2; } | $c"
shell "{ $c; cat; } < a.wav"
# The input's header gives the type, and --type must agree
run $c -t i16 a.npy
refused $c -c 3 a.wav
refused $c -c 3 <a.wav
refused $c -t u16 a.npy
refused $c -t i16be a.npy a.wav
cat a.wav | refused $c -t u16
run $c -t u8 a.pgm
run $c -t u8be a.pgm
run gpuhist --nonzero f.npy
refused gpuhist -r 3:1 a.npy
refused gpuhist -t i16 -r 3:1 a.npy none
# Several inputs
run $c a.npy a.npy.zst
refused $c a.npy f.npy
refused $c a.npy a.wav
printf '\1\0\2\0' >plain
run $c a.npy plain
run $c plain a.npy
zstd -qc plain >plain.zst
run $c plain.zst plain a.npy
cp plain plain.u16
cp plain plain.i16
run $c plain.i16 plain a.npy
run $c a.npy plain.i16
refused $c plain.u16 a.npy
refused $c a.npy plain.u16
refused $c plain a.npy plain.u16
refused $c plain a.npy a.wav
run $c -c 2 plain a.npy
# If a name promises a header, that header must be present
cp a.npy header
refused $c plain header
run $c plain.i16 header
run $c -t i16 plain a.npy
run $c -t i16 a.npy plain
refused $c -t i16 plain f.npy
# Fewer or more samples than the header gives
head -c 139 a.npy >short.npy
refused $c short.npy
run $c -n 5 short.npy
run $c --ignore-tail short.npy
cat short.npy | refused $c
shell "zstd -qc short.npy | $c --ignore-tail"
cat a.npy plain | refused $c
shell "cat a.npy plain > long.npy; $c long.npy; $c -n 6 long.npy"
cat a.npy plain | zstd -qc | refused $c
# Bytes behind the samples: one total; with -n none are looked at, and only the last slice has them
run $c long.npy a.npy long.npy
for k in 1 2; do
	shell "gpuhist -b 4 -r full -f json --part=$k/2 long.npy a.npy long.npy >part$k.json"
done
shell "gpuhist --merge -f json part2.json part1.json >sum.json; gpuhist -b 4 -r full -q -f json long.npy a.npy long.npy | cmp - sum.json"
{ zstd -qc long.npy && printf 'garbage'; } >damaged.npy.zst
refused $c damaged.npy.zst
run $c -n 6 damaged.npy.zst
{ cat long.npy && head -c 3000000 /dev/zero; } | zstd -qc >much.npy.zst
run $c -T 4 much.npy.zst
shell "{ cat a.npy plain; echo written >&2; } | $c"
head -c 66 a.wav >short.wav
run $c short.wav
# A size that is no multiple of a sample
{ wave && fmt 1 1 2 16 && data 5 && printf 'abcdef' && printf 'id3 ' && le32 2 && printf 'xy'; } >odd.wav
refused $c odd.wav
run $c --ignore-tail odd.wav
shell "cat odd.wav | $c --ignore-tail"
{ cat odd.wav && data 2 && bytes '\1\0'; } >odd2.wav
refused $c --ignore-tail odd2.wav
# Sizes left by writers to a pipe
for size in 0 2147479552; do
	{ wave '' 4294967295 && fmt 1 1 2 16 && data $size && bytes '\1\0\2\0\1\0'; } >stream.wav
	$c stream.wav
	cat stream.wav | $c
	zstd -qc stream.wav | $c
done | sort | uniq -c
shell "$c -v stream.wav 2>&1 | grep length; cat stream.wav | $c -v - stream.wav 2>&1 | grep length"
{ wave && fmt 1 1 2 16 && data 2147479550 && bytes '\1\0'; } >stream.wav
refused $c stream.wav
{ wave && fmt 1 1 2 16 && data 0; } >none.wav
run $c none.wav
shell "cat none.wav | $c"
{ wave && fmt 1 1 2 16 && data 4 && bytes '\1\0\2\0' && data 2 && bytes '\1\0'; } >two.wav
refused $c two.wav
cat two.wav | refused $c
zstd -qc two.wav | refused $c
run $c -n 2 two.wav
# Chunks behind the samples, within the size of the file, then bytes behind it; a size that leaves out the padding
{ wave '' 59 && fmt 1 1 1 8 && data 5 && printf 'abcde\0LIST' && le32 9 && printf 'INFOsome \0'; } >list.wav
run $c list.wav
shell "zstd -qc list.wav | $c"
{ cat list.wav && printf 'x'; } >list2.wav
run $c list2.wav
shell "cat list2.wav | $c"
shell "zstd -qc list2.wav | $c"
# Two files in a row: the second one is behind the size of the first, in 32 and in 64 bits, with and without padding
twice() {
	for file; do
		cat "$file" "$file" >two
		zstd -qf two
		refused $c two
		refused $c -T 8 two.zst
	done
	cat two | refused $c
	zstd -qc $file >one.zst
	cat one.zst one.zst | refused $c
	run $c --raw -q -t i16 --count=3 two
	run $c -n 2 two
}
{ wave '' 44 && fmt 1 1 2 16 && data 8 && bytes '\1\0\2\0\3\0\4\0'; } >sized.wav
{ wave '' 43 && fmt 1 1 1 8 && data 7 && bytes '\1\0\2\0\3\0\4'; } >unpadded.wav
{ wave '' 43 && fmt 1 1 1 8 && data 7 && bytes '\1\0\2\0\3\0\4\0'; } >padded.wav
{
	wave '' 100054 && fmt 1 1 2 16 && data 8 && bytes '\1\0\2\0\3\0\4\0' && printf 'id3 ' && le32 100001
	head -c 100002 /dev/zero
} >picture.wav
{
	printf 'RF64' && le32 4294967295 && printf 'WAVEds64' && le32 28 && le32 80 && le32 0 && le32 8 && le32 0 && le32 4
	le32 0 && le32 0 && fmt 1 1 2 16 && data 4294967295 && bytes '\1\0\2\0\3\0\4\0'
} >large.wav
twice unpadded.wav picture.wav large.wav a.npy a.pgm
for file in a.npy a.pgm; do cat sized.wav $file | refused $c; done
# ... if the size of the first is not known, or no header follows
{ wave '' 4294967295 && fmt 1 1 2 16 && data 4294967295 && bytes '\1\0\2\0\1\0'; } >open.wav
shell "cat open.wav open.wav | $c"
shell "{ cat unpadded.wav; printf 'RIFE of another kind'; } | $c"
# A fault of zstd is reported, not a missing header
printf '\050\265\057\375\000\210\001\000\000' >large.zst
refused $c -M 60M --device=cpu a.npy large.zst
printf '\050\265\057\375\040\004\007\000\000' >corrupt.zst
refused $c a.npy corrupt.zst
# ... also if the fault is inside the header
head -c 20 sized.wav >begin && zstd -q begin
shell "{ cat begin.zst; tail -c +21 sized.wav | zstd -qc; } | $c -M 1M 2>&1"
cat begin.zst corrupt.zst | refused $c
# Headers that are wrong
{ wave && fmt 6 1 1 8 && data 1 && printf 'a'; } >alaw.wav
refused gpuhist alaw.wav
{ array "[('x', '<f4')]" '(2,)' && printf 12345678; } >fields.npy
refused gpuhist fields.npy
run gpuhist --raw -t f32 -S 128 -r full -b 1 fields.npy
{ array "[('n', '<u2'), ('x', '<f4'), ('name', '<U2')]" '(1,)' && printf 12345678901234; } >three.npy
refused gpuhist three.npy
run gpuhist --raw -S 128 --record=14 --offset=2 -t f32 -r full -b 1 three.npy
{ array "[('x', '<f4', (3,)), ('n', '<u2')]" '(1,)' && printf 12345678901234; } >nested.npy
refused gpuhist nested.npy
# Booleans are counted as 0 and 1
{ array "'|b1'" '(3,)' && bytes '\1\0\1'; } >truth.npy
shell 'cat truth.npy | gpuhist --nonzero; gpuhist -t u8 -c last -b 2 --no-header truth.npy; gpuhist -t i8 truth.npy'
{ array "'|V2'" '(2,)' && printf 1234; } | zstd -q >bf.npy.zst
refused gpuhist bf.npy.zst
run gpuhist -t bf16 --nonzero -b 4 -r -1:1 bf.npy.zst
refused gpuhist -t u16 bf.npy.zst
refused gpuhist --auto bf.npy.zst bf.npy.zst
{ array "'>V2'" '(2,)' && printf 1234; } >big.npy
refused gpuhist -t bf16be big.npy
# A header does not mistake its type: a warning proposes only another range
{ array "'<u2'" '(3,)' && printf 123456; } >high.npy
run gpuhist -r 0:4000 -b 2 high.npy
run gpuhist -b 2 high.npy
{ array "'<f4'" '(2,)' && bytes '\0\0\200\077\0\0\0\100'; } >wide.npy
run gpuhist -r 0:0.5 -b 1 wide.npy
run gpuhist -r 0:0.5 -b 1 --each=1 wide.npy
head -c 100 a.npy >cut.npy
refused gpuhist cut.npy
zstd -qc cut.npy | refused gpuhist
printf 'P5 3 x' >bad.pgm
refused gpuhist bad.pgm
printf 'P5 99999999999 99999999999 255\n' >large.pgm
refused gpuhist large.pgm
# Nearly 2^64 bytes of samples: no input holds that many, and none is counted to its end instead
far() {
	printf 'abcdabcd' >>far
	$c far 2>&1
	shell "cat far | $c -q --ignore-tail; zstd -qc far | $c"
	refused gpuhist --part=1/2 -o none far
}
array "'<u2'" '(9223372036854775807,)' >far && far
array "'|u1'" '(18446744073709551536,)' >far && far
printf 'P5 18446744073709551614 1 255\n' >far && far
# Inputs that only look like a header
printf 'RIFFabcdAVI LIST' >a.avi
run gpuhist -t u8 --nonzero --no-header -r 65:67 -b 2 -q a.avi
printf 'P5' >p5
run gpuhist -t u8 --nonzero --no-header -q -b 256 p5
shell 'printf P | gpuhist -t u8 --nonzero --no-header -n 1 -b 256'
