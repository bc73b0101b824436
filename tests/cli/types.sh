# SPDX-License-Identifier: MIT
# Names of types: ours, NumPy's, those of other tools, and those at the end of a FILE's name.
# shellcheck shell=sh
bytes '\001\000\000\002' >two
run gpuhist -t '<u2' -b 2 --nonzero --no-header -q two
run gpuhist -t '>u2' -b 3 --nonzero --no-header -q two
run gpuhist -t uint16 -b 2 --nonzero --no-header -q two
run gpuhist -t '|u1' -b 3 --nonzero --no-header two
run gpuhist -t u16le -b 2 --nonzero --no-header -q two
run gpuhist --type=i8be -b 3 --nonzero --no-header two
run gpuhist -t u12 two
run gpuhist -t '' two
run gpuhist -t '<u16' two
run gpuhist -t '<U2' two
# The names of other tools; those of complex numbers are two channels, unless -c is given
bytes '\300\102\000\000\000\000\300\102\000\000\200\077\077\200\000\000' >sixteen
for type in U8 s16be S16_LE rf32_be float double_be pcm_f64be '>u4' int16_t cf32_le cs8 '<c8' complex128; do
	run gpuhist -t "$type" -r -8:8 -b 2 --flow --no-header -q sixteen
done
run gpuhist -t cu8 -c 1 -r full -b 2 --no-header sixteen
run gpuhist -c 4 -t cu8 -r full -b 2 --no-header sixteen
run gpuhist -t cu8 -t u8 -r full -b 2 --no-header sixteen
run gpuhist -t ci16 -n 1 -o a.json sixteen
run grep -o '"options": "[^"]*"' a.json
# Two readings
for type in i2 u4 f8be c16 long S24_LE; do
	run gpuhist -t "$type" two
done
# The type in a FILE's name, where neither -t nor a header says it: all must agree
mkdir a.f64
for name in a.u16be a.s16 a.CU8 a.rf16_be a.complex64 a.u8.zst .i8 a.f64/a a.c8 a.txt; do
	cp two "$name"
	run gpuhist -r full -b 4 --nonzero -q "$name"
done
zstd -q -f two -o a.u8.zst
run gpuhist -r full -b 4 --nonzero -q a.u8.zst
run gpuhist -r full -b 4 --nonzero -q --raw a.s16
run gpuhist -c 1 -r full -b 4 --nonzero -q a.CU8
run gpuhist -t u8 -r full -b 4 --nonzero -q a.s16 a.txt
{
	printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }"
	cat two
} >said.f32
run gpuhist -r full -b 4 --nonzero -q said.f32
run gpuhist a.s16 a.u16be
run gpuhist a.s16 two
run gpuhist a.CU8 a.u8.zst
run gpuhist - a.s16
