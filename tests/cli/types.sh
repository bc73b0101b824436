# SPDX-License-Identifier: MIT
# Every type and byte order reads the same numbers; NumPy's spellings too.
# shellcheck shell=sh
for type in u8 i8 u16 u16be i16 u24 u24be i24be u32 u32be i32 u64 u64be i64be; do
	case $type in
	*8) n=1 ;; *16*) n=2 ;; *24*) n=3 ;; *32*) n=4 ;; *64*) n=8 ;;
	esac
	# 1 and 2 in n bytes, then all bits set
	zeros=$(printf '%*s' $((n - 1)) '' | sed 's/ /\\000/g')
	ones=$(printf '%*s' "$n" '' | sed 's/ /\\377/g')
	case $type in
	*be) bytes "$zeros\\001$zeros\\002$ones" >samples ;;
	*) bytes "\\001$zeros\\002$zeros$ones" >samples ;;
	esac
	run gpuhist -t $type -b 3 --nonzero --no-header --flow -q samples
done
# 1, -0.5, NaN, inf, -inf
bytes '\000\074\000\270\000\176\000\174\000\374' >f16
run gpuhist -t f16 -r -1:2 -b 3 --flow f16
bytes '\200\077\000\277\300\177\200\177\200\377' >bf16
run gpuhist -t bf16 -r -1:2 -b 3 --flow -q --nonzero bf16
bytes '\077\200\000\000\277\000\000\000\177\300\000\001\177\200\000\000\377\200\000\000' >f32be
run gpuhist -t f32be -r -1:2 -b 3 --flow -q --nonzero f32be
run gpuhist -t '>f4' -r -1:2 -b 3 --flow -q --nonzero f32be
bytes '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\340\277\001\000\000\000\000\000\360\377' >f64
run gpuhist -t f64 -r -1:2 -b 3 --flow -q --nonzero f64
run gpuhist -t float64 -r -1:2 -b 3 --flow -q --nonzero f64
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
run gpuhist -t U8 two
# The names of other tools
for type in float s16 f4 '>u16' cf32 S16_LE complex128 'unsigned short' 'long long'; do
	run gpuhist -t "$type" two
done
# The type in a FILE's name, where neither -t nor a header says it: all must agree
mkdir a.f64
for name in a.u16be a.s16 a.CU8 a.u8.zst .i8 a.f64/a a.c8 a.txt; do
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
