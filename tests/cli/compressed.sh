# SPDX-License-Identifier: MIT
# Compressed inputs are refused by name; --raw counts them as they are.
# shellcheck shell=sh
bytes '\050\265\057\375and more of it' >z.zst
bytes '\037\213\010and more of it' >z.gz
bytes '\3757zXZ\000and more of it' >z.xz
bytes 'BZh91AY&SYand more' >z.bz2
bytes '\004\042\115\030and more of it' >z.lz4
bytes 'PK\003\004and more of it' >z.npz
for z in z.zst z.gz z.xz z.bz2 z.lz4 z.npz; do
	refused gpuhist -t u8 -o h $z
	[ ! -e h ] || echo "h was made"
done
shell 'cat z.gz | gpuhist -t u8'
shell 'gpuhist -t u8 < z.gz'
run gpuhist -t u8 -b 1 -r full --raw z.gz
run gpuhist -t u8 -b 1 -r full --raw z.zst
# Only the first bytes decide, and all of them
bytes 'x\050\265\057\375' >inside
run gpuhist -t u8 -b 1 -r full inside
bytes 'BZh9 is a word' >word
run gpuhist -t u8 -b 1 -r full word
bytes '\050\265\057' >short
run gpuhist -t u8 -b 1 -r full short
# Whatever -S and -n are
refused gpuhist -t u8 -S 2 z.zst
shell 'cat z.zst | gpuhist -t u8 -S 4'
refused gpuhist -t u8 -n 1 z.zst
shell 'cat z.zst | gpuhist -t u8 -b 1 -r full -S 2'
# A zstd stream that begins with a skippable frame is recognised too.
bytes '\120\052\115\030\004\000\000\000xxxx' >skippable
run gpuhist -t u8 -b 1 skippable
