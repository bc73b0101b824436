# SPDX-License-Identifier: MIT
# Formats and counters, and their combinations.
# shellcheck shell=sh
i=0
while [ $i -lt 300 ]; do
	printf '\001'
	i=$((i + 1))
done >ones
printf '\003' >>ones
run gpuhist -t u8 -b 3 ones
run gpuhist -t u8 -b 3 -f json ones
run gpuhist -t i8 -b 3 -r -2:4 -f json --closed --clamp ones
shell 'gpuhist -t u8 -b 3 -f raw -q ones | od -An -tx1'
run gpuhist -t u8 -b 3 -C sat8 ones
run gpuhist -t u8 -b 1 -C sat8 --flow --clamp ones
# The rows of --flow saturate too, and the warning names them if they are written
printf '\377' | cat ones ones - >both
tr '\001' '\002' <ones >>both
shell 'gpuhist -t i8 -r 2:3 -b 1 -C sat8 --flow both 2>&1 | grep -v "out of range"'
shell 'gpuhist -t u8 -r 1:2 -b 1 -C sat8 --flow both 2>&1 | grep -v "out of range"'
shell 'gpuhist -t i8 -r 3:4 -b 1 -C sat16 --flow both both both 2>&1 | grep saturated'
shell 'gpuhist -t i8 -r 3:4 -b 1 -C sat8 --flow both 2>&1 | grep saturated'
for name in h.tsv h.bin h.npy dir.raw/h .tsv h.; do
	mkdir -p dir.raw
	run gpuhist -t u8 -b 2 -q ones -o $name
	echo "$name:"
	case $name in
	*/*) cat "$name" ;;
	*.raw | *.bin | *.npy) od -An -tx1 "$name" ;;
	*) cat "$name" ;;
	esac
done
run gpuhist -t u8 -b 2 -q ones -f tsv -o h.csv
# A suffix in either case; a suffix that names no format is refused, and no file is created
for name in H.TSV h.Json; do
	run gpuhist -t u8 -b 2 -q ones -o $name
	od -An -c "$name" | head -n 1
done
for name in h.SVG h.csv.gz dir.raw/h.1 .h.npz; do
	run gpuhist -t u8 ones -o $name
	[ ! -e $name ] || echo "$name was made"
done
refused gpuhist -f xml ones
refused gpuhist -f CSV ones
refused gpuhist -C u16 ones
refused gpuhist -t u8 -f raw --flow ones
refused gpuhist -t u8 -f raw --nonzero ones
refused gpuhist -t u8 -f json --no-header ones
refused gpuhist -t u8 -f json -C sat8 ones
# No samples: all bins are printed, empty
run gpuhist -b 2 /dev/null
run gpuhist -b 2 -f json /dev/null
# A document names the words of the command line, but not the inputs; npy has no rows
run gpuhist -qt u8 "-b2" ones --output=- -f json ones
cp ones "it's"
run gpuhist -q -b 1 -t u8 -f json -- "it's"
refused gpuhist -t u8 -f npy --flow ones
shell 'gpuhist -t u8 -b 3 -f npy -C sat8 -q ones | od -An -c'
# json: an axis is regular only if readers get its edges to the bit from LO, HI and N, with and
# without fused multiply-adds. The second is right by no way of computing them, the third and the
# fourth by all but one; the products of the fifth are rounded.
axis() { shell "gpuhist -q -f json $* | sed 's/.*\"axes\"/\"axes\"/'"; }
for range in 0:3 0.1:0.2 -0.9:-0.8 -0.8:-0.4; do
	axis -t f64 -r $range -b 3 /dev/null
done
axis -t i64 -r -3887099832871283:7647609953243771 -b 4 /dev/null
axis -t u8 -b 49 /dev/null
# Listed edges stay listed, residues wrap around, and 2^1024 is written as the largest number
bytes '\377\377\377\377\377\377\357\177\000\000\000\000\000\000\000\000' >largest
axis -t u8 --edges=0,1,2,3 ones
axis -t u8 --mod -b 3 ones
axis -t f64 -b 4 largest
axis -t f64 -b 4 /dev/null
# Channels: in json each is a histogram, with samples of its own; in npy each is a row
bytes '\001\002\001\003\000\002' >pairs
run gpuhist -q -t u8 -c 2 -b 3 -f json pairs
shell 'gpuhist -q -t u8 -c 2 -b 3 -f npy -C sat16 pairs | od -An -c'
