# SPDX-License-Identifier: MIT
# What a document says of the options: those that decide what is counted, as they were given, in one order.
# shellcheck shell=sh
bytes '\001\002\003\004\005\006\007\010\011\012\013\014' >twelve
options() {
	run gpuhist "$@" -q -o out.json twelve
	grep -o '"most": [^,]*\|"options": "[^"]*"' out.json
}
options -t '<u2' -b 1K -T 2
options --bins=0x400 --device=cpu -tu16 -C u64
options -S 2 -n 1e3 -t i8 --mod -b 7
options -S 2 -n 1k -t i8 --mod -b7 --ignore-tail --raw
options --edges '0 1,2 3' -t f32 --closed
options --record=6 -c 2 --offset=2 -t u8 -r full --clamp
options --rows=2:4 --auto -t u16
options
