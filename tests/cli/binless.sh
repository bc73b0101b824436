# SPDX-License-Identifier: MIT
# -b 0: figures without bins, in the format that was asked for. The random jobs compare them with the oracle's.
# shellcheck shell=sh disable=SC2086
seq 1000 | sed 's/^\(.*7\)$/\1,/; s/^\(.*[0-6]\)$/\1,even/; s/^\(.*[89]\)$/\1,high/' | sed '1i ms,kind' >log.csv
seq 1000 >ms.txt
for format in csv tsv json plot prom; do
	shell "gpuhist -b 0 --stats=50,99 --text -q -f $format ms.txt | cut -c 1-480"
done
# A line for each series: channels, keys, rows, tensors
run gpuhist -b 0 -c 2 --text --stats=50 ms.txt
run gpuhist -b 0 -c 2 --text --stats=50 -q -f prom ms.txt
run gpuhist -b 0 --text=ms --by=kind --stats=50 log.csv
run gpuhist --text=ms --by=kind -f prom log.csv
run gpuhist -b 0 --text --each=400 --stats=50 ms.txt
run gpuhist -b 0 --text --each=file -f plot ms.txt ms.txt
shell 'seq 66 | gpuhist -b 0 --text -c 66 | tail -n 2'
shell 'seq 66 | gpuhist -b 0 --text -c 66 -f svg | well_formed >/dev/null && echo curves'
shell 'seq 66 | gpuhist -b 0 --text -c 2 -f svg | well_formed | grep -o "2 channels[^<]*"'
printf '\110\000\000\000\000\000\000\000%-72s\001\002\004' '{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}' >t.safetensors
run gpuhist --each=tensor -b 0 t.safetensors
run gpuhist --tensor=a -b 0 --stats=50 t.safetensors
# Missing and absolute values; infinities are in no figure but inf
printf '%s\n' 1 -9999 -3 inf nan 2 >odd.txt
run gpuhist -b 0 --text --missing=-9999 --abs --stats=50 odd.txt
run gpuhist -b 0 -t u8 --stats=50 ms.txt --raw
run gpuhist -b 0 -t u8 /dev/null
# The table of --stats is for formats that lack its figures
run gpuhist -b 0 -t u8 --stats=50 -f json -o /dev/null --raw ms.txt
run gpuhist -b 0 -t u8 --stats=50 -o /dev/null -f tsv --raw ms.txt
head -c 3000 ms.txt >numbers
# Sums of any bins are those of one run without bins
for bins in '-b 0' '-r 0:100 --stats' '-b 64 --stats' '--auto -b 40 --stats' '--log=auto --stats'; do
	for format in csv json prom; do
		for part in 1 2; do gpuhist -q -t i24 $bins --raw --part=$part/2 -o $part.json numbers; done
		gpuhist -q -t i24 -b 0 --raw -f $format numbers | sed 's/"options": "[^"]*"//' >whole
		gpuhist -q --merge -b 0 -f $format 1.json 2.json | sed 's/"options": "[^"]*"//' | cmp - whole
	done
done
run gpuhist --merge -b 0 -q --stats=50 1.json 2.json
# Documents without figures tell little
gpuhist -q -t u32 -r 0:8000 -b 80 -f json -o plain.json numbers
run gpuhist --merge -b 0 --stats=50 plain.json
# --into: a running sum of figures
gpuhist -q -t u8 -b 0 --raw --into sum.json ms.txt
gpuhist -q -t u8 -b 0 --raw --into sum.json ms.txt
run gpuhist --merge -b 0 --stats=50 -f tsv sum.json
# Limits of quantiles need no bins
run gpuhist -q -b 0 -t u8 --raw --alarm=p50:40 ms.txt
run gpuhist -q -b 0 -t u8 --raw --compare=sum.json --alarm=p50:0.5x ms.txt
# Refused before the first byte
for option in -r0:1 --log=1:2 --auto --edges=1,2 --mod --clamp --closed --linearity=ramp -p -Csat8 --flow --nonzero \
	--compare=sum.json '--compare=sum.json --alarm=0.1,p99:2x' --alarm=0.1 --every=1 '--every=1 -f plot -o x' '-f npy' \
	'-f raw' '-f svg' '--by=u8@1 --record=4 -f npy' '--each=2 -f npy' '--each=2 -f prom'; do
	refused gpuhist -t u8 -b 0 $option none
done
refused gpuhist --merge -b 0 -f npy none
refused gpuhist --merge -b 0 -f svg sum.json
