# SPDX-License-Identifier: MIT
# The first bytes of an input: formats that are refused, text, and frames that are skipped before the samples.
# shellcheck shell=sh disable=SC2002,SC2016,SC2059,SC2086
c='gpuhist --nonzero --no-header -q'

# open BYTES: write them to a pipe, whose writer then holds it open.
mkfifo fifo
open() {
	(printf "$1" && exec sleep 60) >fifo &
	writer=$!
}
shut() {
	kill "$writer"
	wait "$writer" 2>/dev/null
}
# A program that waits sleeps: it is not woken again and again
open P
gpuhist -q -t u8 -b 256 -n 2 <fifo >.out &
pid=$!
sleep 1
waits=$(cat /proc/$pid/task/*/status | awk '/^voluntary/ { n += $2 } END { print n }')
[ "$waits" -lt 100 ] && echo 'it sleeps'
shut
wait $pid
rm .out

# Formats that are not read: compressed ones are refused even with -t, others only without it
for begin in 'fLaC\0\0\0\042' 'OggS\0\2\0\0' 'PK\3\4abcd' '\037\213\010\000' 'BZh91AY&SY' '\3757zXZ\0\0\4' '\004\042\115\030abcd'; do
	printf "$begin" >format
	$c -t i16 format 2>&1
done
shell "cat format | $c"
shell "zstd -qc format | $c"
run $c --raw -t u8 -r full -b 1 format
for begin in 'P2\n2 2' 'P3 2 2' 'P7\nWIDTH 2' NRRD0004 FORM1234AIFFCOMM FORM1234AIFCFVER '.snd\0\0\0\030' 'riff\056\221\317\021\245\326' 'caff\0\1\0\0' \
	'\211HDF\r\n\032\n' 'MATLAB 7.3 MAT-file' 'MATLAB 5.0 MAT-file' 'CDF\1' 'CDF\2' 'CDF\5' LASF 'root\0' PAR1 ARROW1 'II*\0' 'MM\0*' \
	'II+\0' 'MM\0+' '\211PNG\r\n\032\n' '\377\330\377\340' 'SIMPLE  =  T' 'SQLite format 3\0'; do
	printf "$begin" >format.u8
	$c format.u8 2>&1
done
shell "cat format.u8 | $c; zstd -qc format.u8 | $c; zstd -qc format.u8 | $c -t u8 -r full -b 1"
# A tar archive is recognised after 262 bytes, but the program does not wait for them
{ printf 'a\0\0\0' && head -c 253 /dev/zero && printf 'ustar\0\0\0' && head -c 1000 /dev/zero; } >tar
shell "$c tar; cat tar | $c; zstd -qc tar | $c; cp tar tar.u8; $c tar.u8; $c -S 262 <tar.u8; $c -t i8 -r full -b 1 tar"
shell "head -c 261 tar | $c --ignore-tail -r full -b 1"
shell "(head -c 100 && sleep 0.1 && head -c 162) <tar | $c --every=1s -o json"
shell "printf PQRSTUVWXYZ0123456789 | { $c -t u8 -b 256 --raw -n 1; cat; echo; }"
# ... and safetensors after 10; its tensors are listed
tensors() {
	length=$(printf '{%s}' "$1" | wc -c)
	printf "\\$(printf %o $((length & 255)))\\$(printf %o $((length >> 8)))\0\0\0\0\0\0{%s}" "$1"
}
tensor() {
	printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$@"
}
tensors "\"__metadata__\":{\"a\":\"}\\\"{,\"},$(tensor a F8_E4M3 2,2 0,4), $(tensor b BF16 3 ' 4 , 10 '),$(tensor 'c\n' BOOL '' 10,11),$(
	tensor d F4 2 11,12),$(tensor e C64 2 12,28)" >model
run $c model
shell "(cat model | $c; zstd -qc model | $c; zstd -qc model | cat | $c) 2>&1 | grep -c '^gpuhist:   '"
many=$(tensor t0 U8 1 0,1)
for i in 1 2 3 4 5 6 7 8 9; do many="$many,$(tensor t$i U8 1 $i,$((i + 1)))"; done
tensors "$many" >ten
tensors "$many,$(tensor t10 U8 1 10,11)" >eleven
for input in ten eleven; do $c $input 2>&1 | tail -n 1; done
shell "cat eleven | $c -n 2 2>&1 | tail -n 1; zstd -qc eleven | $c -n 50 2>&1 | tail -n 1; head -c 150 eleven | $c"
printf '\0\0\0\0\0\0\0\0{"' >none
shell "$c none; $c -t u8 -r full -b 1 none model"
# Inputs that only begin like such a format
for begin in 'FORM1234ILBM' 'rifF\056\221\317\021' 'caff\0\2\0\0' 'riff1234WAVE'; do
	printf "$begin" >format
	$c -t u8 -r full -b 1 format
done

# Text, if nothing tells the type
seq 1 10 >short
seq 1 10000 >long
printf '{"a": [1, 2, 3],\r\n\t"b": "\303\244\342\202\254\360\237\230\200"}\n' >utf8
printf '<svg xmlns="http://www.w3.org/2000/svg"/>' >svg
for file in short long utf8 svg; do
	refused gpuhist $file
done
# ... of at least sixteen bytes: fewer may be samples
printf abcdefghijklmnop >least
printf abcdefghijkl >few
for file in least few; do
	shell "gpuhist -r full -b 1 --no-header $file; cat $file | gpuhist -r full -b 1 --no-header"
	shell "zstd -qc $file | gpuhist -r full -b 1 --no-header"
done
for file in short long; do
	zstd -qf $file
	cat $file | refused gpuhist
	refused gpuhist <$file
	refused gpuhist $file.zst
	cat $file.zst | refused gpuhist
done
shell 'gpuhist -t u8 short | cksum; gpuhist --raw --ignore-tail -q short | cksum'
shell 'gpuhist -S 4 -n 1 short; gpuhist --part=1/2 long; gpuhist --tee -o none <short | tail -n 1; ls none'
head -c 64 /dev/zero >mixed
# Whatever -n says
shell 'cat long | gpuhist -n 1; gpuhist -n 1 long'
shell '(while read -r line; do echo "$line"; done) <short | gpuhist'
shell 'gpuhist mixed short; cat short | gpuhist mixed -'
# Not text: a byte that is not printed, UTF-8 that is cut or wrong, bytes in other encodings
for byte in '\177' '\033' '\200' '\355\240\200' '\344'; do
	{ printf 'some text, and' && printf "$byte" && head -c 5000 long; } | head -c 4000 >mixed
	gpuhist -r full -b 1 --no-header mixed 2>&1
done
shell 'cat mixed | gpuhist -r full -b 1 --no-header; zstd -qc mixed | gpuhist -r full -b 1 --no-header'
printf 'abcdefg\303' >mixed
shell 'gpuhist -r full -b 1 --no-header mixed; cat mixed | gpuhist -r full -b 1 --no-header'
: >mixed
shell 'gpuhist -q -r full -b 1 --no-header mixed; cat mixed | gpuhist -q -r full -b 1 --no-header'
# The program looks at the first 4096 bytes, and cuts no character there
for bytes in 4095 4096; do
	{ head -c $bytes long && head -c $((8192 - bytes)) /dev/zero; } >mixed
	{ gpuhist -r full -b 1 --no-header mixed; cat mixed | gpuhist -r full -b 1 --no-header; zstd -qc mixed | gpuhist -r full -b 1 --no-header; } 2>&1
done
{ head -c 4095 long && printf '\303\244\0'; } >mixed
shell 'gpuhist mixed; cat mixed | gpuhist; zstd -qc mixed | gpuhist'
# For a histogram in JSON, the message names --merge
gpuhist -q -t u8 -f json -o h.json short
gpuhist -q -t u8 -c 3 -f json -o channels.json short
zstd -q h.json
for file in h.json channels.json h.json.zst; do
	refused gpuhist $file
done
cat h.json | refused gpuhist

# Skippable frames before the samples, of any length: 4 MB, 2 MiB of empty ones, empty frames of data
array() {
	printf '\223NUMPY\001\000\166\000'
	printf '%-117s\n' "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }"
	bytes '\1\0\2\0\1\0'
}
array | zstd -qc >a.zst
{ bytes '\120\052\115\030\000\011\075\000' && head -c 4000000 /dev/zero; } >large
bytes '\120\052\115\030\0\0\0\0' >empty
: | zstd -qc >nothing
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
	cat empty empty >twice
	mv twice empty
	[ $i -gt 16 ] || { cat nothing nothing >twice && mv twice nothing; }
done
for before in large empty nothing; do
	cat $before a.zst >skipped.zst
	$c -T 1 skipped.zst
	$c <skipped.zst
	cat skipped.zst | $c
	cat skipped.zst | $c -n 1
done | sort | uniq -c
# ... with nothing after them; cut inside one; followed by something wrong
shell "cat large | $c -t u8; $c -t u8 large"
shell "head -c 3000000 large | $c -t u8; head -c 3000000 large >cut; $c -t u8 cut"
shell "head -c 2000005 empty | $c -t u8"
{ cat large && bytes '\050\265\057\375\040\004\007\000\000'; } >wrong
shell "$c wrong; cat wrong | $c"
shell 'cat large a.zst | gpuhist -v 2>&1 | grep -o "decoded from 400"'
rm large empty nothing skipped.zst wrong cut
# Text is counted if the type is known, with a warning if its samples are not bytes
seq 1000 1999 >lines
cp lines lines.f32
for job in '-t f64 lines' '-t u16 lines lines.f32' 'lines.f32' '-t u8 lines' '-t f64 --raw lines' '-t f64 -S 4984 lines' \
	'-t u16 -n 4 lines'; do
	shell "gpuhist -b 1 -r 0:1 -o /dev/null $job 2>&1 | grep text"
done
shell 'cat lines | gpuhist -t f64 -b 1 -r 0:1 2>&1 | grep text; zstd -qc lines | gpuhist -t f64 -b 1 -r 0:1 2>&1 | grep text'
# Names that promise a format: another format, or nothing
npy() { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }" && printf abcd; }
npy >a.npy
cp a.npy a.wav
cp lines lines.pgm
printf '\001\002\003\004' | tee b.wav b.zst b.NPY.zst >b.safetensors
zstd -qf a.npy -o c.npy.zst
zstd -qf b.wav -o d.npy.zst
zstd -qf a.npy -o a.ppm
: | tee e.wav e.npy e.pgm e.ppm e.safetensors e.zst e.npy.zst >e.u8
zstd -qc e.u8 >f.zst
cp f.zst f.npy.zst
for name in a.npy a.wav b.wav b.zst b.NPY.zst b.safetensors c.npy.zst d.npy.zst a.ppm e.* f.*; do
	gpuhist -t u8 -r full -b 1 --no-header $name 2>&1
done
run gpuhist -t u16 -r full -b 1 --no-header lines.pgm b.wav b.zst
run gpuhist -t u8 -r full -b 1 --no-header --raw b.wav b.zst e.npy
mkfifo g.npy
within ': >g.npy & gpuhist -t u8 -r full -b 1 g.npy'
within 'printf 1 >g.npy & gpuhist -t u8 -r full -b 1 --no-header -n 1 g.npy'
