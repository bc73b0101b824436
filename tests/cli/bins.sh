# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Ways to bin: explicit edges and their errors, equal ratios, residues, ranges that come from the samples, defaults
bytes '\000\001\002\003\007\010\100\377' >u8
bytes '\000\000\200\277\000\000\000\200\000\000\200\077\000\000\040\101\000\000\200\177\000\000\300\177' >f32
bytes '\375\377\377\377\000\000\000\000\005\000\000\000\377\377\377\177\000\000\000\200' >i32
run gpuhist -t f32 --edges='-1 -0.5, 1' --closed --flow -q f32
printf '# octaves\n-1, 0 # below\n\n1\t2\r\n10\n' >edges
run gpuhist -t f32 --edges=@edges -q --flow f32
refused gpuhist -t u8 --edges=@edges -b 5 u8
for list in '' 1 '1,,2' '1 2 x' '1,inf' '0,-0'; do
	refused gpuhist -t u8 --edges="$list" u8
done
printf '1\n2 3\n# 4\n2.5\n' >falls
printf '1 2\n3\nthree\n' >words
for file in falls words nothing; do
	refused gpuhist -t u8 --edges=@$file u8
done
for log in 0:1 1:1 1:x; do
	refused gpuhist --log=$log u8
done
refused gpuhist --log=1:1.0000000000000004 -b 3 u8
refused gpuhist --log=1:2 -b 1048577 u8
refused gpuhist -t f32 --mod f32
refused gpuhist --mod --closed u8
refused gpuhist --mod --clamp u8
refused gpuhist -t f32 -b 8 --clamp f32
run gpuhist -t f32 --auto --flow /dev/null
refused gpuhist -t i32 --auto -b 1 i32
refused gpuhist --auto --closed i32
refused gpuhist --closed i32
refused gpuhist --auto --mod i32
refused gpuhist -r 0:1 --log=1:2 -r 0:2 u8
# An outlier leaves nearly all samples in two bins: a note says so, unless bins are single numbers, or there are only two
perl -e 'print pack "f<*", map {$_ % 7 - 3} 1..200; print pack "f<*", 1e30, 1e29' >outlier
shell 'gpuhist -t f32 outlier --nonzero'
shell 'head -c 796 outlier | gpuhist -t f32 -b 6 | wc -l; gpuhist -t f32 -b 2 outlier | wc -l'
shell '(head -c 800 /dev/zero; printf "\3\1\0\0") | gpuhist --nonzero; (head -c 800 /dev/zero; printf "\3\0\0\0") | gpuhist --nonzero'
shell '(head -c 396 /dev/zero; printf "\3\1\0\0") | gpuhist --nonzero; (head -c 392 /dev/zero; printf "\3\1\0\0\2\1\0\0\0\2\0\0") | gpuhist --nonzero -q'
# The same for bins of ranks: zeros of both signs, both signs, infinities; small and packed types; refusals
refused gpuhist -t f32 --log=auto -b 8 --clamp f32
run gpuhist -t u2bit --log auto -b 3 u8
run gpuhist -t f32 --log=auto --flow /dev/null
refused gpuhist -t i32 --log=auto -b 1 i32
refused gpuhist -t u32 --log=auto -b 1 i32
run gpuhist -t u32 --log=auto -b 2 i32
refused gpuhist --log=auto --closed i32
refused gpuhist --log=auto --auto i32
run gpuhist --log=auto --log=1:8 -b 3 -q -t u8 u8
refused gpuhist --log=Auto i32
refused gpuhist --each=2 --log=auto i32
# Whole edges: 0 and 2^64 - 1 in one histogram, and 8 bins for a power of two that has as many numbers
bytes '\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\200' >u64
run gpuhist -t u64 --log=auto -b 500 --nonzero u64
run gpuhist -t i64 --log=auto -b 500 --nonzero u64
# No options
# shellcheck disable=SC2016
shell 'gpuhist -t u8 u8 | wc -l; gpuhist -t i8 u8 | sed -n "2p;\$p"'
run gpuhist --nonzero i32
# Exercises of courses: letters in bins of four; a counter that saturates
printf 'the quick brown fox jumps over the lazy dog' >text
shell 'gpuhist -t u8 -r 97:125 -b 7 -q text | head -n 3'
shell 'head -c 4K /dev/zero | gpuhist -t u8 -C sat8 --nonzero'
printf abcd >flags
run gpuhist -t u8 --mod -b 3 --flow flags
run gpuhist -q -t u8 --mod -b 3 --flow flags
