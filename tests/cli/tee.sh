# SPDX-License-Identifier: MIT
# --tee: the input's bytes go on to standard output, unchanged, whatever becomes of the counting.
# shellcheck shell=sh disable=SC2086
head -c 3000000 /dev/zero | tr '\0' 'ab' >big
for i in 1 2 3 4 5 6 7 8 9; do printf 'line %d\n' $i; done >small
cat small big >both
c='gpuhist --tee -t u8 -r 0:256 -b 4 --no-header --nonzero'
# Files, pipes, a redirected file at an offset, several inputs, nothing at all
shell "$c -o h small; cat h"
shell "cat both | $c -o h | cmp - both; cat h"
shell "$c -o h small big | cmp - both; cat h"
shell "cat big | $c -o h small - | cmp - both; cat h"
shell "(read line; $c -o h -) <small | head -n 2; cat h"
shell "$c -o h </dev/null; cat h"
# To a file, to the end of a file, to a device
shell "$c -o h small big >copy; cmp copy both"
shell "$c -o h small >>copy; cat both small | cmp - copy"
shell "$c -o h both >/dev/null; cat h"
# The histogram is the one without --tee
shell "gpuhist -t u8 -r 0:256 -b 4 --no-header --nonzero -f csv both | cmp - h"
# All of the input passes, even if counting ends before: -n, -S, --ignore-tail
shell "$c -n 10 -o h small big | cmp - both; cat h"
shell "$c -n 0 -o h small big | cmp - both"
shell "cat both | $c -S 5 -n 3 -o h | cmp - both; cat h"
shell "gpuhist --tee -q --ignore-tail -t u32 -b 4 -o h small | cmp - small"
# Headers and compressed bytes pass unchanged
{
	printf 'P5\n3 2\n255\nabcdef'
} >picture.pgm
shell "gpuhist --tee -o h --nonzero --no-header picture.pgm | cmp - picture.pgm; cat h"
# A frame of zstd with "abcdabcd" as a raw block
bytes '\050\265\057\375\040\010\101\000\000abcdabcd' >frame.zst
shell "gpuhist --tee -t u8 --nonzero --no-header -o h frame.zst | cmp - frame.zst; cat h"
shell "cat frame.zst frame.zst | gpuhist --tee -t u8 --nonzero --no-header -o h | wc -c; cat h"
# FIFOs
mkfifo fifo
shell "cat both >fifo & $c -o h fifo | cmp - both; wait; cat h"
# Bad data does not stop the passing; nothing is published
rm -f h
head -c 12 frame.zst >cut.zst
shell "gpuhist --tee -t u8 -o h cut.zst small >copy; echo \$?; cat cut.zst small | cmp - copy; test ! -e h"
shell "gpuhist --tee -t u64 -o h small big >copy; echo \$?; cmp copy both; test ! -e h"
shell "gpuhist --tee -t u16 -o h picture.pgm >copy; echo \$?; cmp copy picture.pgm; test ! -e h"
shell "gpuhist --tee -t u32 -b 300000 -M 4K -o h small 2>/dev/null >copy; echo \$?; cmp copy small; test ! -e h"
# A failure is reported while the input goes on
# shellcheck disable=SC2094
{
	cat frame.zst
	printf 'garbage'
	i=0
	while [ $i -lt 2000 ] && ! grep -q warning err 2>/dev/null; do
		sleep 0.01
		i=$((i + 1))
	done
	printf 'more'
} | gpuhist --tee -t u8 -o h 2>err | wc -c
cat err
# At an input that cannot be opened or read, the passing ends
shell "$c -o h small none big >copy; echo \$?; cmp copy small; test ! -e h"
shell "$c -o h small . big >copy; echo \$?; cmp copy small; test ! -e h"
# Standard output that cannot be written
shell "$c -o h both >/dev/full; echo \$?; test ! -e h"
shell "cat both | $c -o h >/dev/full; echo \$?; test ! -e h"
shell "$c -o h small >&-; echo \$?; test ! -e h"
shell "$c -o h small 1<small; echo \$?; test ! -e h"
# The reader leaves: the program is killed by SIGPIPE, and publishes nothing; if the signal is ignored, it reports an error
leave() {
	printf 'old\n' >h
	sh -c "$1"' gpuhist --tee -t u8 -o h big big big; echo "status $?" >status' 2>err | head -c 1000000 | wc -c
	sed 's/^/! /' err
	cat status h
	find . -name '.h.*'
}
leave ''
leave 'trap "" PIPE;'
# The histogram's output must be given, and must not be standard output
rm -f h
refused $c small
refused $c -f json small
refused $c -o - small
refused $c -o /dev/stdout small
refused $c -o /dev/fd/1 small
shell "$c -o h small >h; ls h"
shell "$c -o x small >>small"
shell "$c -o x - <big >>big"
refused $c -o small small
refused gpuhist --tee --merge -o h small
