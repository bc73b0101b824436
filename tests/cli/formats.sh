# Formats, counters, and which of them go together.
# shellcheck shell=sh
i=0
while [ $i -lt 300 ]; do
	printf '\001'
	i=$((i + 1))
done >ones
printf '\003' >>ones
run gpuhist -t u8 -b 3 ones
run gpuhist -t u8 -b 3 -f tsv --flow ones
run gpuhist -t u8 -b 3 -f json ones
run gpuhist -t i8 -b 3 -r -2:4 -f json --closed --clamp ones
shell 'gpuhist -t u8 -b 3 -f raw -q ones | od -An -tx1'
shell 'gpuhist -t u8 -b 3 -f raw -C u64 -q ones | od -An -tx1'
shell 'gpuhist -t u8 -b 3 -f raw -C u32 -q ones | od -An -tx1'
shell 'gpuhist -t u8 -b 3 -f raw -C sat8 -q ones | od -An -tx1'
shell 'gpuhist -t u8 -b 3 -f raw -C sat16 -q ones | od -An -tx1'
shell 'gpuhist -t u8 -b 3 -f raw -C sat32 -q ones | od -An -tx1'
run gpuhist -t u8 -b 3 -C sat8 ones
run gpuhist -t u8 -b 3 -C u32 -f csv -q ones
run gpuhist -t u8 -b 1 -C sat8 --flow --clamp ones
for name in h.csv h.tsv h.raw h.bin h.json h.txt h dir.raw/h .tsv; do
	mkdir -p dir.raw
	run gpuhist -t u8 -b 2 -q ones -o $name
	echo "$name:"
	case $name in
	*/*) cat "$name" ;;
	*.raw | *.bin) od -An -tx1 "$name" ;;
	*) cat "$name" ;;
	esac
done
run gpuhist -t u8 -b 2 -q ones -f tsv -o h.csv
cat h.csv
for name in h.npy h.svg; do
	run gpuhist -t u8 ones -o $name
	[ ! -e $name ] || echo "$name was made"
done
run gpuhist -t u8 -b 2 -q ones -f csv -o h.npy
cat h.npy
run gpuhist -f xml ones
run gpuhist -f npy ones
run gpuhist -f CSV ones
run gpuhist -C u16 ones
run gpuhist -C '' ones
run gpuhist -t u8 -f raw --flow ones
run gpuhist -t u8 -f raw --nonzero ones
run gpuhist -t u8 -f json --no-header ones
run gpuhist -t u8 -f json -C sat8 ones
# Nothing read: all bins are there, and empty
run gpuhist -b 2 /dev/null
run gpuhist -b 2 --nonzero /dev/null
run gpuhist -b 2 -f json /dev/null
