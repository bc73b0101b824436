# SPDX-License-Identifier: MIT
# needs: zstd
# An error ends the run even while another thread waits for an input that gives nothing; inputs that come late.
# shellcheck shell=sh
# 12 MB in frames of their own: the first one's checksum is wrong.
i=0
while [ $i -lt 3000 ]; do
	printf '%04d, a line of samples that is repeated again and again' $i
	i=$((i + 1))
done >text
cat text text text text text text text text text text text text text text text text text text text text >large
cat large large large large >samples
zstd -q -1 --check samples -o good.zst
head -c "$(($(wc -c <good.zst) - 1))" good.zst >bad.zst
printf 'X' >>bad.zst
cat good.zst >>bad.zst
mkfifo fifo

for threads in 1 2 8; do
	c="gpuhist -q -t u8 --device=cpu -T $threads"
	within "$c bad.zst fifo"
	within "sleep 60 >fifo & $c bad.zst - <fifo; status=\$?; kill \$!; exit \$status"
	# A read error of a file, EIO.
	within "$c --raw /proc/self/mem fifo"
done
# The program waits for a writer that comes late.
for threads in 1 2 8; do
	within "(sleep 0.3; cat good.zst >fifo) & gpuhist -q -t u8 --device=cpu -T $threads good.zst fifo | cksum"
	within "(sleep 0.3; cat samples >fifo) & gpuhist -q -t u8 --device=cpu -T $threads good.zst fifo | cksum"
done
