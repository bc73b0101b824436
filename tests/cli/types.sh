# SPDX-License-Identifier: MIT
# Types: at the end of a FILE's name, packed, 8-bit floats; test_sample checks their names.
# shellcheck shell=sh
bytes '\001\000\000\002' >two
run gpuhist -t '>u2' -b 3 --nonzero --no-header -q two
refused gpuhist -t u12 two
refused gpuhist -t '' two
# Names that other tools use; complex ones mean two channels, unless -c is given
bytes '\300\102\000\000\000\000\300\102\000\000\200\077\077\200\000\000' >sixteen
for type in pcm_f64be cs8; do
	run gpuhist -t "$type" --auto -b 2 --no-header -q sixteen
done
run gpuhist -t cu8 -c 1 -r full -b 2 --no-header sixteen
run gpuhist -c 4 -t cu8 -r full -b 2 --no-header sixteen
run gpuhist -t cu8 -t u8 -r full -b 2 --no-header sixteen
run gpuhist -t ci16 -n 1 -o a.json sixteen
run grep -o '"options": "[^"]*"' a.json
# Names with two meanings
for type in i2 S24_LE; do
	refused gpuhist -t "$type" two
done
# The type in a FILE's name, if neither -t nor a header gives it: all names must agree, and have one meaning
mkdir a.f64
for name in a.u16be a.s16 a.CU8 a.rf16_be a.complex64 a.cfile .i8 a.f64/a a.c8 a.dat; do
	cp two "$name"
	run gpuhist -r full -b 4 --nonzero -q "$name"
done
zstd -q -f two -o a.u8.zst
run gpuhist -r full -b 4 --nonzero -q a.u8.zst
run gpuhist -r full -b 4 --nonzero -q --raw a.s16
run gpuhist -c 1 -r full -b 4 --nonzero -q a.CU8
run gpuhist -t u8 -r full -b 4 --nonzero -q a.s16 a.dat
{
	printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }"
	cat two
} >said.f32
run gpuhist -r full -b 4 --nonzero -q said.f32
refused gpuhist a.s16 a.u16be
# ... -t contradicts the name, which gives a warning, unless --raw is given; a pair and its halves are of one type
run gpuhist -t u16 -r full -b 4 --nonzero a.s16
run gpuhist -t i8 -r full -b 1 a.u8.zst two a.s16 a.dat
run gpuhist -t u8 -r full -b 4 --nonzero a.CU8
run gpuhist -t ci16 -r full -b 2 a.CU8
run gpuhist -t ci8 --abs -r 0:9 -b 1 a.CU8 a.u8.zst
run gpuhist -t u8 -r full -b 4 --nonzero --raw a.s16
run gpuhist -b 1 -r full --no-header a.s16 two
refused gpuhist a.CU8 a.u8.zst
run gpuhist -b 1 -r full --no-header two a.s16 a.dat
refused gpuhist two a.s16 a.u16be
# Samples of 1, 2 and 4 bits: the first of a byte is in its lowest bits, with be in its highest
bytes '\033\377\000\200\033\344' >six
run gpuhist -t i2bit -r -1:1 -b 2 --flow --no-header -q six
run gpuhist -t u2bit -b 3 --no-header six
shell "gpuhist -t u1bit -c 2 --part=2/3 -v -o a.csv six 2>&1 | grep -o 'counted .*'"
cp six six.u2bitbe
run gpuhist -c 4 -n 8 --no-header six.u2bitbe
# Samples that do not end at a byte
refused gpuhist -t u2bit -n 7 six
refused gpuhist -t u1bit -c 2 -n 0x3 six
refused gpuhist -t u1bit -c 3 six
refused gpuhist -t i4bit -c 5 six
refused gpuhist -t u2bit -c 3 six
refused gpuhist -t u2bit --rows=6:3 six
refused gpuhist -t u4bit -c 4 --record=1 six
refused gpuhist -t u1bit --record=2 six
# Samples of 10, 12 and 14 bits: GenICam's order, with be the highest bits first
bytes '\001\042\060\376\317\253' >dozen
for type in u12bit u12bitbe i12bit Mono12p; do
	run gpuhist -t "$type" --auto -b 4096 --nonzero --no-header dozen
done
bytes '\001\010\060\000\301' >ten
run gpuhist -t u10bit --auto -b 1024 --nonzero --no-header ten
run gpuhist -t mono10p -c 4 -r 0:1024 -b 2 --no-header ten
run gpuhist -t i10bitbe --auto -b 1024 --nonzero --no-header ten
bytes '\001\200\000\060\000\020\000' >dozen.u14bit
run gpuhist -b 16384 --nonzero --no-header dozen.u14bit
run gpuhist -t u12bit --mod -b 2 --no-header dozen
run gpuhist -t u12bit -r 0:100 -b 1 --clamp --no-header -q dozen
run gpuhist -t u12bit --rows=2:6 --auto -b 4096 --nonzero --no-header dozen
run gpuhist -t u12bit -b 4096 --each=2 --stats=50 dozen
shell "zstd -q -c dozen | gpuhist -t u12bit -b 4096 --nonzero --no-header"
run gpuhist -t u12bit -n 2 -r full -b 1 --no-header dozen
for part in 1 2; do
	run gpuhist -t u12bit -b 4096 --part=$part/2 -o part$part.json dozen
done
run gpuhist --merge --nonzero --no-header part1.json part2.json
# ... whose last samples end inside a group, in a padded byte
head -c 5 dozen >odd
run gpuhist -t u12bit --auto -b 4096 --nonzero --no-header odd
run gpuhist -t u12bitbe -c 3 --auto -b 4096 --nonzero --no-header odd
shell "zstd -q -c odd | gpuhist -t u12bit -b 4096 --nonzero --no-header"
run gpuhist -t u12bit -n 4 -r full -b 1 --no-header odd odd
shell "gpuhist -t u12bit -r full -b 1 -v -f json odd odd 2>&1 >odd.json | sed 's/, [0-9.]* s: .*//; q'"
shell "gpuhist --merge -f json odd.json | sed 's/, \"version.*//; s/.*\"samples/samples/'"
shell "cat odd | gpuhist -t u12bit -r full -b 1 --each=2 --no-header"
run gpuhist -t u12bit -c 2 odd
shell "head -c 4 odd | gpuhist -t u12bit -r full -b 1 --no-header --ignore-tail"
# ... which do not end at a byte, or which only the CPU counts
refused gpuhist -t u12bit -n 3 dozen
refused gpuhist -t u10bit -b 4 --each=6 dozen
refused gpuhist -t u12bit -c 2 --record=6 --offset=3 dozen
refused gpuhist -t u14bit --rows=6:12 dozen
refused gpuhist -t u10bit dozen
refused gpuhist -t u12bit --device=gpu dozen
refused gpuhist -t u24 --stats --device=gpu dozen
shell 'gpuhist -v -t f32 -n 1 -r 0:1 -b 1 --stats -o /dev/null /dev/zero 2>&1 | grep "GPU not used"'
for type in u14 raw10 raw12 Mono12Packed; do
	refused gpuhist -t "$type" dozen
done
cp dozen dozen.raw12
refused gpuhist dozen.raw12
# The header gives u8, which is another type, and one channel, which is no pair
{
	printf 'P5 3 2 255\n'
	cat six
} >six.pgm
refused gpuhist -t u4bit six.pgm
refused gpuhist -t cu8 six.pgm
run gpuhist -t cu8 -c 1 --nonzero --no-header six.pgm
refused gpuhist -c 3 six.u2bitbe
# Parts and sums of documents
for part in 1 2 3; do
	run gpuhist -t u2bitbe -c 2 --part=$part/3 -o part$part.json six
done
run gpuhist --merge --no-header part1.json part2.json part3.json
run gpuhist -t u2bit -c 2 -o other.json six
run gpuhist -t u2bitbe -c 2 -o all.json six
refused gpuhist --merge all.json other.json
run gpuhist -t f8e5m2 --auto -b 9 -o one.json six
run gpuhist --merge -q --no-header one.json one.json
# Floats of 8 bits: f8e4m3 has no infinities
bytes '\000\200\176\177\170\070\270\174\001\377' >eights
for type in f8e4m3 f8e5m2; do
	run gpuhist -t $type -r full -b 2 --flow --no-header -q eights
done
run gpuhist -t F8_E5M2 --log=1e-5:1 -b 2 --flow --no-header -q eights
refused gpuhist -t f8e4m3 --mod -b 2 eights
# SigMF: the type is in another file
cp six rec.sigmf-data
refused gpuhist rec.sigmf-data
refused gpuhist six rec.sigmf-data
run gpuhist -t cu8 -b 1 -r full -q rec.sigmf-data
