# SPDX-License-Identifier: MIT
# Prometheus' text format: buckets, names, sums, and warnings. tests/prom_check.py reads it.
# shellcheck shell=sh
bytes '\001\002\003\003\004\007\377\001' >eight
run gpuhist -t u8 -b 5 -f prom -q eight
run gpuhist -t u8 -r 0:4 -b 2 -c 2 -f prom -q --title=adc:samples eight
# --stats is implied, and its table is printed only if it was given
run gpuhist -t u8 -r 0:256 -b 2 -o h.prom eight --stats=50
run cat h.prom
# Samples below the range are in every bucket; a bin without a whole number has none; --clamp has samples over the last edge
run gpuhist -t u8 -r 3:5 -b 4 -f prom -q eight
run gpuhist -t u8 -r 3:5 --clamp -f prom -q eight
run gpuhist -t u8 -r 3:7 --closed -f prom -q eight
# Listed edges and edges of equal ratio: the largest whole number below an edge, or on a closed one
run gpuhist -t u8 --edges=1,2.5,4,7 -f prom -q eight
run gpuhist -t u8 --edges=1,2.5,4,7 --closed -f prom -q eight
shell 'gpuhist -t u16 --log=1:1000 -b 4 -f prom -q eight | grep bucket'
shell 'gpuhist -t i8 --log=auto -b 9 -f prom -q eight | grep bucket'
# Infinities have no sum, NaN is not counted, and no samples sum to 0
bytes '\000\000\200\077\000\000\200\177\000\000\300\177\000\000\200\277' >four
run gpuhist -t f32 -r -1:1 -b 2 -f prom -q four
run gpuhist -t f32 -f prom /dev/null
shell 'printf "5e-324\n0\n0\n1e-323\n" | gpuhist --text -t f64 -b 2 -r 0:1 -f prom -q | grep sum'
shell 'printf "%s\n" -9223372036854775808 1 -9223372036854775808 | gpuhist --text -t i64 -b 2 -r 0:2 -f prom -q | grep sum'
# Documents without statistics have no sum, unless their bins tell it
run gpuhist -q -t u32 -r 0:4 -b 2 -o plain.json four
run gpuhist --merge -f prom plain.json plain.json
run gpuhist -q -t u8 -r full -b 256 -o values.json eight
shell 'gpuhist --merge -f prom values.json | grep -v bucket'
run gpuhist -q -t u32 --stats -r 0:4 -b 2 -o figures.json four
shell 'gpuhist --merge -f prom figures.json figures.json | grep -v bucket'
shell 'gpuhist -t u16 -b 4096 -f prom eight | wc -l'
for name in 9a 'a b' a-b '' a.b; do
	refused gpuhist -t u8 -f prom --title="$name" eight
done
refused gpuhist -t u8 -f prom --mod -b 3 eight
refused gpuhist -t u8 -f prom --each=2 eight
refused gpuhist -t u8 -f prom --flow eight
refused gpuhist -t u8 -f prom -C sat8 eight
refused gpuhist -t u8 -f prom --every=1 eight
# Partial counts are marked as such
mkfifo pipe
gpuhist -t u8 -b 5 -q --every=0.1 -o every.prom pipe &
exec 3>pipe
cat eight >&3
tries=0
until grep -q 'count 8' every.prom 2>/dev/null || [ $tries -eq 1000 ]; do
	tries=$((tries + 1))
	sleep 0.01
done
grep -v bucket every.prom
exec 3>&-
wait
grep -v bucket every.prom
