# SPDX-License-Identifier: MIT
# HdrHistogram's table of percentiles, from digests. tests/hgrm_check.py compares it with HdrHistogram's own.
# shellcheck shell=sh
bytes '\001\002\003\003\004\007\377\001' >eight
run gpuhist -t u8 -f hgrm -q eight
# Bins and the order of adding do not matter; channels have a table each
for part in 1 2; do
	run gpuhist -t u8 --part=$part/2 --stats -q -b 2 -o $part.json eight
done
shell 'gpuhist --merge 2.json 1.json -q -o sum.HGRM && gpuhist -t u8 -f hgrm -q -b 3 eight | cmp - sum.HGRM'
shell 'gpuhist -t u32 -c 2 -f hgrm -q eight'
# Zero is 0, not the last value of the cell that begins with it; infinities and NaN are in no cell
bytes '\000\000\200\077\000\000\000\000\000\000\300\177\000\000\000\000\000\000\200\177' >five
run gpuhist -t f32 -r 0:2 -b 2 -f hgrm five
bytes '\000\074\000\000\000\176\000\174' >four
run gpuhist -t f16 -f hgrm -q four
# -0 is 0
bytes '\000\200\000\000\000\200\000\074' >zeros
run gpuhist -t f16 -f hgrm -q zeros
shell 'tail -c 4 zeros | gpuhist -t f16 -f hgrm -q'
run gpuhist -t u64 -f hgrm -q /dev/null
# Levels stop when binary64 has no number between the last one and 100 percent
printf '1\n2\n' | gpuhist --text -t u32 -r 0:4 -b 4 --stats -f json -q |
	sed 's/\[0,0,1,1,0,0\]/[0,0,1152921504606846976,1,0,0]/; s/"stats_digest": "1 1,/"stats_digest": "1 1152921504606846976,/
		s/"\(samples\|stats_count\)": 2/"\1": 1152921504606846977/g' >many.json
shell 'gpuhist --merge -f hgrm many.json | tail -n 5'
refused gpuhist -t i8 -f hgrm -q eight
bytes '\000\000\200\277' | refused gpuhist -t f32 -f hgrm -q
bytes '\000\000\200\377' | refused gpuhist -t f32 -f hgrm -q
gpuhist -t u32 -r full -b 2 -q -o plain.json eight
refused gpuhist --merge -f hgrm plain.json
refused gpuhist -t u8 -c 65 -b 1 -r full -f hgrm eight
refused gpuhist -t u8 --mod -b 2 -f hgrm eight
refused gpuhist -t u8 --every=1 -o x.hgrm eight
refused gpuhist -t u8 --each=1 -o x.hgrm eight
refused gpuhist -t u8 --title=x -o x.hgrm eight
refused gpuhist -t u8 -C sat8 -o x.hgrm eight
