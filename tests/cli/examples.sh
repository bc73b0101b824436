# SPDX-License-Identifier: MIT
# needs: zstd
# Every command of the manual and of README's table, run as printed, on small inputs. The transcript holds the number of
# lines that each writes and the sum of their counts; for other files, the number of bytes.
# shellcheck shell=sh
root=$1/../..
# numbers N LIMIT BYTES [be]: print N numbers below LIMIT, in BYTES bytes each, big-endian with "be"; always the same ones.
numbers() {
	# shellcheck disable=SC2059
	printf "$(awk -v n="$1" -v limit="$2" -v bytes="$3" -v be="${4:-}" 'BEGIN {
		for (x = 1; n > 0; n--) {
			x = x * 16807 % 2147483647
			v = x % limit
			for (text = ""; length(text) < 4 * bytes; v = int(v / 256))
				text = be ? sprintf("\\%03o", v % 256) text : text sprintf("\\%03o", v % 256)
			printf "%s", text
		}
	}')"
}
# floats N: print 0.5, -0.25, 0.001, 2 and NaN N times, as floats of four bytes.
floats() {
	for _ in $(seq "$1"); do
		printf '\0\0\0\77\0\0\200\276\157\22\203\72\0\0\0\100\0\0\300\177'
	done
}
zeros() {
	head -c "$1" /dev/zero
}
numbers 900 1500 4 >data.bin
cp data.bin samples.u32
numbers 300 100000 8 >ids.u64
floats 60 >power.f32
cp ids.u64 latency.u64
cp power.f32 a.f32
numbers 770 65536 2 >recording.bin
numbers 40 65536 2 >ev.bin
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 75), }" && cat power.f32; } >act.npy
zstd -q a.f32
cp power.f32 b.f32
cp power.f32 temperature.f32
cp power.f32 big.f32
cp power.f32 iq.sigmf-data
printf '{"global": {"core:datatype": "cf32_le"}}' >iq.sigmf-meta
{ zeros 512 && numbers 400 65536 2 be; } >rec.dat
{ printf 'RIFF\104\3\0\0WAVEfmt \20\0\0\0\1\0\2\0\104\254\0\0\20\261\2\0\4\0\20\0data\40\3\0\0' && numbers 400 65536 2; } >a.wav
{
	printf '\210\0\0\0\0\0\0\0{"wte.weight":{"dtype":"F32","shape":[6,50],"data_offsets":[0,1200]},'
	printf '"bias":{"dtype":"BF16","shape":[400],"data_offsets":[1200,2000]}}  ' && floats 60 && numbers 400 65536 2
} >model.safetensors
printf '0.5\n-1e3\n7\n' >latency.txt
cp latency.txt latencies.txt
printf 'host,latency,amplitude\na,0.5,0.25\n"b, c",70,0.5\nd,71,0.75\n' >hits.csv
cp hits.csv log.csv
zstd -q hits.csv
for _ in 1 2 3; do numbers 1000 256 1 && zeros 24; done >photo.raw
for _ in 1 2 3 4 5; do zeros 8 && printf '\0\0\0\77' && zeros 52; done >log.bin
numbers 400 65536 2 >hour.i16
cp hour.i16 rec.s16
gpuhist -q -t i16 -r full -b 4096 --stats=50,99 -o good.json hour.i16
cp hour.i16 capture.ci16
printf 'ms,bytes\n45,2048\n491,977\n' >access.csv
numbers 400 4096 2 >adc.bin
numbers 300 256 1 >adc.u12bit
numbers 400 256 1 >capture.bin
numbers 9000 256 1 >firmware.bin
for i in 1 2; do { printf 'P5 9 %d 255\n' $i && numbers $((9 * i)) 256 1; } >$i.pgm; done
numbers 500 4294967296 4 >a.u32
numbers 333 4294967296 4 >b.u32
{ zeros 4194304 && numbers 100 4294967296 4; } | zstd -q -o a.u32.zst
numbers 1000 256 1 | zstd -q -o photo.zst
gpuhist -q -t i16 -r full -b 4 hour.i16 -o monday.json
cp monday.json tuesday.json
mkdir folder
: >folder/.a.csv.gpuhist-12345-0.tmp
# Stand-ins for rtl_sdr, which may not be installed, and ps.
mkdir .bin
printf '#!/bin/sh\ncat capture.bin\n' >.bin/rtl_sdr
printf '#!/bin/sh\nprintf "  RSS\\n 3000\\n   70\\n    0\\n"\n' >.bin/ps
chmod +x .bin/rtl_sdr .bin/ps
PATH=$PWD/.bin:$PATH

# The commands: the manual's displays and its .Dl lines, and the second column of README's table.
{
	sed -n '/^\.Bd -literal$/,/^\.Ed/{ /^[a-z]/p; }; s/^\.Dl //p' "$root"/man/gpuhist*
	# shellcheck disable=SC2016 # the backquotes are README's
	sed -n '/^| I have/,/^$/s/^.*| `\(.*\)` |$/\1/p' "$root/README.md" | sed 's/\\|/|/g'
} >.commands

summary() {
	case $1 in
	*.json) sed 's/.*"samples": \([0-9]*\),.*"metadata": {"type": "\([^"]*\)", "binning": "\([^"]*\)".*/\2, \3, \1 samples/' "$1" ;;
	*.zst) zstd -dqc "$1" | wc -c | sed 's/$/ bytes, decoded/' ;;
	*.csv) awk -F, 'NR > 1 { for (i = 4; i <= NF; i++) sum += $i } END { print NR " lines, the sum of counts is " sum }' "$1" ;;
	*) wc -c <"$1" | sed 's/$/ bytes/' ;;
	esac
}
wrong=0 done=0
while IFS= read -r command; do
	printf '$ %s\n' "$command"
	touch .before && sleep 0.01
	sh -c "$command" >.stdout 2>.err </dev/null
	status=$?
	done=$((done + 1))
	[ $status -eq 0 ] || wrong=$((wrong + 1))
	case $(head -c 200 .stdout | tr -d '\0') in
	bin,*) mv .stdout .out.csv && printf 'stdout: ' && summary .out.csv ;;
	'') ;;
	*) sed 's/^/stdout: /' .stdout ;;
	esac
	for file in $(find . -type f -newer .before ! -name '.*' | LC_ALL=C sort); do
		printf '%s: ' "${file#./}"
		summary "$file"
	done
	grep '^gpuhist: ' .err | sed 's/^/! /'
	[ $status -eq 0 ] || printf '= %d\n' $status
	rm -f .stdout .err .out.*
done <.commands
echo "$done commands, $wrong failed"
rm -rf .bin .commands .before
