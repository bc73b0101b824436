# SPDX-License-Identifier: MIT
# --each: a histogram for each N records of an input, or for each input.
# shellcheck shell=sh disable=SC2086
unset LC_CTYPE LANG NO_COLOR
c='gpuhist -t u8'
printf 'aabbccddee' >ten
printf 'abcabca' >seven
: >none
# Rows of N records; the last row of an input may hold fewer, and no row spans two inputs
run $c -r 97:102 -b 5 --each=4 ten seven
run $c -r 97:102 -b 5 --each=1e3 ten ten
run $c -r 97:102 -b 5 --each=0x4 -q -T 3 -M 8M ten
shell "cat ten | $c -r 97:102 -b 5 --each=4 seven -"
# A row for each input: also for one without samples, but not for one that -n does not reach
run $c -r 97:102 -b 5 --each=file ten none seven
run $c -r 97:102 -b 5 --each=file -n 10 ten seven
run $c -r 97:102 -b 5 --each=file -n 12 ten none seven
run $c -r 97:102 -b 5 --each=file none
# A name is one field, whatever its characters
cp ten 'a,"b'
run $c -r 97:102 -b 5 --each=file 'a,"b'
run $c -r 97:102 -b 5 --each=file -f tsv 'a,"b'
run $c -r 97:102 -b 5 --each=2 -c 2 --flow --no-header -f tsv ten
# Every kind of bins that is known beforehand
refused $c -b 100 -r 0:200 --each=9 --edges=97,98.5,101 ten
shell "$c --each=4 ten | cut -d, -f 1-5,100-105"
bytes '\000\000\200\077\000\000\300\177\000\000\200\377\000\000\000\100\000\000\040\100' >five
run gpuhist -t f32 -r 0:2.5 -b 5 --flow --each=2 five
bytes '\377\377\377\377\377\377\377\377\005\000\000\000\000\000\000\000' >wide
# Packed types: a record is a sample, not a byte
bytes '\033\000\377' >bits
refused gpuhist -t u2bit -b 4 --each=6 bits
refused gpuhist -t u2bit -b 4 --each=3 -c 2 bits
# The bytes of a header are not records
printf 'P5 3 2 255\nabcdea' >a.pgm
printf 'P6 1 2 255\nabcdea' >a.ppm
run gpuhist -r 97:102 -b 5 --each=file a.pgm a.pgm
run gpuhist -r 97:102 -b 5 --each=1 a.ppm
run gpuhist -r 97:102 -b 5 --each=4 -S 1 -f json a.pgm
# The offset of a row is its offset in the input, whatever is skipped, in tables and pictures; text has no offsets
run $c -r 97:102 -b 5 --each=4 -S 3 a.pgm ten
run $c -r 97:102 -b 5 --each=2 -S 1 --record=3 --offset=1 ten
run $c -r 97:102 -b 5 --each=2 -S 2 -f plot a.pgm ten
run gpuhist -t u16 -r 0:65536 -b 1 --each=2 -S 2 -f plot ten
shell "seq 5 | $c --text --each=2 -r 0:4 -b 2"
# raw and npy: the counters of row after row
shell "$c -r 97:102 -b 5 --each=2 -f raw -c 2 -C u64 ten | od -An -v -tu8 -w40"
run $c -r 97:102 -b 5 --each=4 -C sat8 -o rows.npy ten seven
shell 'head -c 128 rows.npy | tr -d "\n" | tail -c 118; echo; tail -c +129 rows.npy | od -An -v -tu1'
run $c -r 97:102 -b 5 --each=2 -c 2 -C sat8 -o rows.npy ten
shell 'head -c 128 rows.npy | tr -d "\n" | tail -c 118; echo; tail -c +129 rows.npy | od -An -v -tu1 -w5'
run $c -r 97:102 -b 5 --each=file -o rows.npy none
shell 'head -c 128 rows.npy | tr -d "\n" | tail -c 118; echo; tail -c +129 rows.npy | od -An -v -tu4'
run $c -r 97:102 -b 5 --each=4 -o rows.npy none
shell 'head -c 128 rows.npy | tr -d "\n" | tail -c 118; echo; wc -c <rows.npy'
# json: a document on each line; together they add up to the whole
run $c -r 97:102 -b 5 --each=4 -c 2 -f json --stats=50 ten
head -c 7 ten >odd
shell "$c -r 97:100 -b 3 --each=2 -S 1 -c 2 -f json -q odd seven ten -n 8 >rows.json
gpuhist --merge -f json -q rows.json >sum
$c -r 97:100 -b 3 -S 1 -c 2 -f json -q odd seven ten -n 8 | gpuhist --merge -q -f json | cmp - sum
gpuhist --merge rows.json --flow"
shell "tail -1 rows.json | gpuhist --merge -f json | gpuhist --merge"
shell "$c -r 97:102 -b 5 --each=file -q -f json none ten | gpuhist --merge -f json | grep -o '\"inputs\": [0-9]*'"
# --stats: figures of each row instead of its bins
run $c -r 97:100 -b 3 --each=4 --stats=50 ten seven
run $c -r 97:100 -b 3 --each=2 --stats=0,100 -c 2 --no-header ten
run gpuhist -t u64 -r 5:18446744073709551615 -b 1 --closed --stats=50 --each=1 wide
# Figures need no bins, but the plot of wide samples shows their entropy
for t in f32 i64 u16; do
	run gpuhist -t $t --each=1 --stats=0,50,100 --ignore-tail ten
done
run gpuhist -t f32be --each=file --stats=50 --flow -f tsv five none
shell 'gpuhist -t i32 --each=1 --stats=50 -f json -q ten seven --ignore-tail | gpuhist --merge --stats=0,100'
for t in u32 u16; do
	shell "gpuhist -t $t --each=2 --stats --ignore-tail -f svg ten | well_formed | grep -o 'entropy in bits\\|minimum, mean, maximum'"
	run gpuhist -t $t --each=2 --stats --ignore-tail -f plot ten
done
# Counters that saturate, and one that does not
head -c 1000 /dev/zero >zeros
run $c -r 0:2 -b 2 --each=400 -C sat8 zeros ten
run $c -r 1:3 -b 2 --each=400 -C sat8 --flow zeros
run $c -r 0:2 -b 2 --each=1000 -C sat8 --stats=50 zeros
# zstd: records and rows that lie in several frames
if command -v zstd >/dev/null; then
	for n in 3 7; do
		split -b $n ten piece.
		for piece in piece.*; do zstd -qc "$piece"; done >ten.zst
		rm piece.*
		$c -r 97:102 -b 5 --each=4 -c 2 ten.zst | sed s/.zst// >got
		$c -r 97:102 -b 5 --each=4 -c 2 ten | cmp - got
	done
fi
# Pictures: one line for each row, as wide as the terminal; tests/cli/svg has heat maps and curves
awk 'BEGIN { for (i = 0; i < 5000; i++) { x = (x * 1103 + 12345) % 65536; y = (y * 2531 + 4321) % 65536
	printf "%c", 1 + int(i / 50) + int(x * y / 65536 / 65536 * 100) } }' >hill
run env COLUMNS=60 LC_ALL=en_US.UTF-8 gpuhist -t u8 --each=1000 -f plot hill
run env COLUMNS=40 gpuhist -t u8 --each=2000 -f plot --plot=log --title='a title' hill
shell "TERM=xterm gpuhist -t u8 --each=3000 -f plot --color=always hill | tr '\033' ^"
run $c --each=3 -f plot -r 97:102 -b 5 --stats ten none seven
run $c --each=file -f plot -r 97:102 -b 5 ten none seven
run gpuhist -t i16 --each=2 -f plot -r 0:32768 -b 1 -c 2 ten --ignore-tail
# Channels side by side, on as many lines as they need
run env COLUMNS=100 gpuhist -t u8 -c 2 --each=2 -f plot -r 97:102 -b 5 ten
run gpuhist -t u8 -c 5 --each=1 -f plot -r 97:102 -b 5 ten
name=$(printf 'a\033[2J\nb')
cp ten "$name"
shell "$c --each=file -f plot -r 97:102 -b 5 a?*b"
shell "$c -r 97:102 -b 5 --each=4 -f plot ten >/dev/full; echo \$?"
# Names are aligned by the width of their characters on a terminal
for name in 名前 'u\0314\0210' x; do
	cp ten "$(printf %b "$name").w"
done
shell "LC_ALL=C.UTF-8 COLUMNS=50 $c --each=file -f plot --title=直方図直方図直方図直方図直方図直方図直方図直方図 -r 97:102 -b 5 *.w"
# Random bytes are dark from end to end, although 256 bins cannot be divided evenly among 47 cells
perl -e '$x = 1; print pack "C*", map { $x = $x * 16807 % 2147483647; $x >> 8 & 255 } 1..65536' >noise
run env LC_ALL=C.UTF-8 $c --each=64K -f plot noise
# --tee passes the input on; -o gets the text that standard output would get
shell "cat ten | $c -r 97:102 -b 5 --each=4 --tee -o rows.csv; echo; cat rows.csv"
run $c -r 97:102 -b 5 --each=4 --stats=50 -o rows.csv ten
cat rows.csv
# Options that cannot be combined with --each, and the reasons
refuse() {
	refused gpuhist -t u8 -r 97:102 -b 5 "$@" ten
}
refuse --each=4 --every=1s -f json -o rows.json
refuse --each=4 --into=rows.json
refuse --each=4 --part=1/2
refuse --each=4 --device=gpu
refuse --each=file -f npy
refuse --each=4 -f npy -o /dev/stdout
refuse --each=4 --nonzero
refuse --each=4 --stats -f raw
refuse --each
for n in 0 -1 '' 4.5 4x 1e-1 18446744073709551615 18446744073709551616 File files; do
	refuse "--each=$n" | sed 's/: must.*//'
done | paste -s -d ' '
refused gpuhist -t u8 --each=4 --auto ten
refused gpuhist -t u16 --each=4 ten
refused gpuhist -t f32 --each=file -b 5 five
shell 'ls | wc -l'
# A failure in the middle: one worker has written all rows before it; a FILE is not written
printf 'aabb' >pair
run gpuhist -t u16 -r 0:65536 -b 1 --each=4 -T 1 ten seven pair
run gpuhist -t u16 -r 0:65536 -b 1 --each=2 -T 1 ten seven pair
run gpuhist -t u16 -r 0:65536 -b 1 --each=file -T 1 ten seven pair
refused gpuhist -t u16 -r 0:65536 -b 1 --each=1 -o rows ten seven
run gpuhist -t u16 -r 0:65536 -b 1 --each=2 -q --ignore-tail ten seven
refused $c -r 97:102 -b 5 --each=file ten missing seven
run $c -r 97:102 -b 5 --each=4 -S 8 -T 1 ten seven ten
shell "ls rows"
if command -v zstd >/dev/null; then
	# A wrong checksum: no row of that input is written
	zstd -qc ten >bad.zst
	size=$(wc -c <bad.zst)
	{ head -c $((size - 1)) bad.zst; bytes '\000'; } >worse.zst
	mv worse.zst bad.zst
	shell "$c -r 97:102 -b 5 --each=file -T 1 seven bad.zst pair >out 2>err; echo \$?; cat out; grep -c . err"
fi
# A pipe whose writer waits for each row: a row is written when it is complete
mkfifo rows samples
$c -r 97:102 -b 5 --each=4 --no-header -T 2 samples >rows &
exec 9<rows 8>samples
for row in aaaa bbbb cccd; do
	printf %s "$row" >&8
	read -r line <&9
	echo "$line"
done
printf ab >&8
exec 8>&-
cat <&9
exec 9<&-
wait
# The same inside one frame of zstd, made by hand, whose writer ends a block after each row: the first row does not wait for
# later bytes. If a row does not come, timeout ends the wait.
for threads in 1 2 3; do
	timeout 60 "$(command -v gpuhist)" -t u8 -r 97:102 -b 5 --each=4 --no-header -T $threads samples >rows &
	exec 9<rows 8>samples
	bytes '\050\265\057\375\000\120' >&8
	for row in aaaa bbbb cccd; do
		bytes '\040\000\000'$row >&8
		read -r line <&9
		echo "$line"
	done
	bytes '\001\000\000' >&8
	exec 8>&-
	cat <&9
	exec 9<&-
	wait
done
# npy writes its header last, so rows go to a file
mkfifo fifo
within "$c -r 97:102 -b 5 --each=4 -o fifo -f npy ten"
# Any number of threads writes the same rows, from files and pipes, in chunks of any size
seq 100000 160000 | head -c 400000 >text
for each in 100 3001 65536 100000 file; do
	gpuhist -t u8 -r 48:58 -b 10 --flow -q --each=$each -T 1 text ten text >one
	for threads in 2 3 16; do
		gpuhist -t u8 -r 48:58 -b 10 --flow -q --each=$each -T $threads text ten text | cmp - one
	done
	gpuhist -t u8 -r 48:58 -b 10 --flow -q --each=$each text | sed 's/^text/-/' >one
	dd if=text bs=1009 2>/dev/null | gpuhist -t u8 -r 48:58 -b 10 --flow -q --each=$each | cmp - one
done
wc -l <one
# The first input fails at its end, while others hold later rows: all of them end
if command -v zstd >/dev/null; then
	seq 400000 | tr -d '\n' | tail -c 2000001 | zstd -q -o odd.zst
	for i in 1 2 3; do head -c 2000 text | zstd -q -o $i.zst; done
	within "gpuhist -T 2 -t u16 --each=65536 -f json -r full -b 185 odd.zst 1.zst 2.zst 3.zst >odd.json"
fi
# If several inputs are bad, the message names the first, whichever thread fails first
for _ in 1 2 3 4; do cat text; done | head -c 1515251 >long
head -c 998 text >short
for each in file 1000; do
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		gpuhist -q -t u32 --mod -b 64 --each=$each -T 2 -o rows.csv long short
	done
done 2>&1 | sort | uniq -c
# ... and the rows of the inputs before it are written
if command -v zstd >/dev/null; then
	seq 700000 | head -c 4000000 | zstd -q -o big.zst
	seq 370000 | head -c 2400000 >mid
	printf abc >bad
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		gpuhist -q -t u16 -b 8 -r full --each=file -T 7 big.zst mid bad big.zst 2>&1 | wc -l
	done | sort | uniq -c
fi
# An output too large for any disk is refused before the work; if the file system cannot allocate, a limit ends the test
truncate -s 1G sparse.u16
within 'ulimit -f 9999; gpuhist --each=1 -b 1000000 -C u32 -o f.npy sparse.u16'
within 'ulimit -f 9999; gpuhist --each=1 -b 1000000 -r full -f raw -o f.raw sparse.u16'
run gpuhist --each=2 -n 7 -b 9 -f raw -o f.raw sparse.u16
shell 'wc -c <f.raw; ls f.*'
