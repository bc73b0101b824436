# SPDX-License-Identifier: MIT
# needs: zstd
# Channels, records and rows: tails, messages, and options that cannot be combined. The random jobs check the counts.
# shellcheck shell=sh
bytes '\000\001\002\003\004\005\006\007\000\011\002\013' >twelve
# Channels: one column each, flow rows too
run gpuhist -t u8 -c 3 -r 0:8 -b 4 --flow twelve
shell 'head -c 1000 /dev/zero | gpuhist -t u8 -c 2 -r 0:2 -b 2 -C sat8 --no-header'
# Runs of 1 to 20 bytes, each copied by other code, up to the last byte of a buffer: each channel has one letter
yes '@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_' | tr -d '\n' | head -c 262144 >letters
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	gpuhist -t u8 -c $n --record=32 --offset=$((32 - n)) --nonzero --no-header letters |
		awk -F , -v n=$n '{ good += $1 == 95 - n + NR && $(NR + 3) == 8192 && gsub(/8192/, "") == 1 } END { printf "%d of %d, ", good, NR }'
done
echo
# A partial record
refused gpuhist -t u8 -c 5 -r 0:12 -b 1 twelve
run gpuhist -t u8 -c 5 -r 0:12 -b 1 --ignore-tail twelve
refused gpuhist -t u8 --rows=4:8 -r 0:12 -b 1 twelve
run gpuhist -t u8 --rows=4:8 -r 0:12 -b 1 --ignore-tail twelve
run gpuhist -t u8 --record=16M -r 0:12 -b 1 --ignore-tail twelve
shell 'gpuhist -t u8 --record=1M -r 0:12 -b 1 <twelve'
shell 'cat twelve twelve | gpuhist -t u8 -c 7 -r 0:12 -b 1 --no-header --ignore-tail'
# The same from compressed input, whose frames end inside records
# shellcheck disable=SC2016
shell 'for n in 5 10; do tail -c +$((n - 4)) twelve | head -c 5 | zstd -q; done >z; tail -c 2 twelve | zstd -q >>z'
run gpuhist -t u8 -c 5 -r 0:12 -b 1 --ignore-tail --no-header z
# From a course: 8 bits of saturation over padded rows, here of 3 samples in 5 bytes
# shellcheck disable=SC2016
shell 'i=0; while [ $i -lt 300 ]; do printf "\001\002\001pp"; i=$((i + 1)); done >rows'
run gpuhist -t u8 --rows=3:5 -C sat8 --nonzero -b 256 rows
# Reports count the samples of all channels, and records
shell 'gpuhist -v -t u8 -c 3 -r 0:12 -b 1 --no-header twelve 2>&1 | sed -n "s/, [0-9.]* s: .*//; 1,2p"'
shell 'gpuhist -v -t u8 --rows=3:4 -r 0:12 -b 1 --no-header twelve 2>&1 | sed -n "s/, [0-9.]* s: .*//; 1,2p"'
# Memory: a worker holds a record; the amount that the message names is enough
refused gpuhist -t u8 --record=16M -M 8M -r 0:12 -b 1 --ignore-tail twelve
# ... but a file that no number of records fills is refused before memory is needed
for input in twelve '--raw twelve' '- <twelve'; do
	shell "gpuhist -t u8 --record=16M -M 8M -r 0:12 -b 1 $input"
done
refused gpuhist -t u8 --record=5 -M 8M --by=u8@0 twelve
refused gpuhist -t u8 --record=5 -S 1 -r 0:12 -b 1 twelve
run gpuhist -t u8 --record=5 -n 2 -r 0:12 -b 1 twelve
run gpuhist -t u8 --record=5 -S 2 -r 0:12 -b 1 twelve
shell 'cat z | gpuhist -t u8 --record=16M -M 8M -r 0:12 -b 1'
refused gpuhist -t u8 --device=cpu --record=16M -M 49420K -r 0:12 -b 1 --ignore-tail --no-header z
run gpuhist -t u8 --device=cpu --record=16M -M 65M -r 0:12 -b 1 --ignore-tail --no-header z
run gpuhist -t u8 --record=16M -M 17M -r 0:12 -b 1 --ignore-tail --no-header twelve
# 16-bit samples that are binned at once: the message names no range, because it is not known
bytes '\350\003\350\003\350\003\350\003\352\003' >five
run gpuhist -t u16 -c 4 -n 1 -r 0:100 -b 2 five
run gpuhist -t u16 -c 5 -r 0:100 -b 2 five
# Options that cannot be combined
for option in -c65537 --record=0 --record=16777217 --offset=1 --rows=4 --rows=0:4 --rows=4:17M; do
	refused gpuhist -t u8 $option twelve
done
refused gpuhist -t u16 --record=1 twelve
refused gpuhist -t u16 --record=4 --offset=3 twelve
refused gpuhist -t u16 --record=7 --offset=2 -c 3 twelve
refused gpuhist -t u16 --rows=4:7 twelve
refused gpuhist -t u8 -c 3 --rows=4:9 twelve
refused gpuhist -t u8 --rows=4:9 --record=9 twelve
refused gpuhist -t u32 -c 64 -b 256M twelve
