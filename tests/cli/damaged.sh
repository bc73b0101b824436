# SPDX-License-Identifier: MIT
# --each and damaged frames without a declared size: all whole rows before such a frame are written, and none after it, with
# any number of threads.
# needs: zstd
# shellcheck shell=sh disable=SC2016
c='gpuhist -t u8'
seq 300000 | zstd -19 -qc | head -c 80000 >noise
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	seq "${i}00000" "${i}30000"
	cat noise
done | split -b 290000 --filter='zstd -1 -qc >$FILE.zst' - part
cat parta?.zst >frames.zst
$c -b 16 -q --each=10000 frames.zst >good.csv
size=$(stat -c %s partae.zst)
for at in $((size - 4)) $((size / 2)); do
	cp partae.zst damaged.zst
	head -c 4 /dev/zero | dd of=damaged.zst bs=1 seek=$at conv=notrunc 2>/dev/null
	cat parta[a-d].zst damaged.zst parta[f-m].zst >frames.zst
	for threads in 1 2 3 4 8 2 3 4; do
		$c -b 16 -q --each=10000 -T $threads frames.zst >found.csv 2>err || echo $?
		head -n "$(wc -l <found.csv)" good.csv | cmp - found.csv && wc -l <found.csv
	done
done | sort -n | uniq -c
# The end of -S and -n is past 2^64: the damage is reported as without them
shell 'head -c 20000 partaa.zst | gpuhist -t u8 -n 1 -S 18446744073709551615'
