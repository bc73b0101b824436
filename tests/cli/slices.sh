# SPDX-License-Identifier: MIT
# needs: zstd
# --part=K/N: slices of each input, their sum, and inputs that cannot be cut into slices.
# shellcheck shell=sh
bytes '\000\001\002\003\004\005\006\007\010\011' >ten
bytes '\002\002\002' >three
: >none

shell 'gpuhist -t u8 -b 10 --part=1/2 none | tail -n 1'

# All slices, merged, equal the whole: bytes, skipped and left-over bytes, and inputs.
slices() {
	shell "for k in 4 2 3 1; do gpuhist $* --part=\$k/4 -f json; done >parts.json"
	shell "gpuhist $* -f json >whole.json"
	shell 'gpuhist --merge -f json parts.json | cmp - whole.json'
}
slices -t u8 -b 10 three none ten
slices -t u16 -b 4096 --ignore-tail -q three none ten three
slices -t u8 --auto -b 4 ten three
slices -t u10bit -r full -b 4 three none ten three
slices -t u8 -b 10 -S 2 three ten three
# Headers, skipped bytes and left-over bytes, of several inputs.
for n in 5 0 1; do
	{ bytes '\223NUMPY\1\0\166\0' &&
		printf '%-117s\n' "{'descr': '<u2', 'fortran_order': False, 'shape': ($n,), }" && head -c $((2 * n)) ten; } >$n.npy
done
slices --auto -b 16 5.npy 0.npy 1.npy 5.npy
slices --auto -b 16 -S 2 5.npy 1.npy 5.npy
slices -q --raw -t u8 -b 256 5.npy ten 0.npy
head -c 135 5.npy >cut.npy
slices -t u16 --auto -b 16 --ignore-tail -q 5.npy cut.npy three 0.npy ten
refused gpuhist --part=1/2 5.npy cut.npy
rm ./*.npy

# More inputs than there may be open files.
# shellcheck disable=SC2016 # the shell that runs it expands i
shell 'i=0; while [ $i -lt 300 ]; do head -c $((i % 4)) ten >$i.u8; i=$((i + 1)); done'
# shellcheck disable=SC2016 # ... and k
shell 'ulimit -n 60; for k in 1 2 3; do gpuhist -t u8 -b 10 --part=$k/3 -f json -T 2 [0-9]*.u8; done >parts.json'
shell 'gpuhist --merge --nonzero --no-header -v parts.json 2>&1; rm ./*.u8'

# The state of the inputs, on which all slices must agree: sizes and times, in their order.
state() {
	gpuhist -q -t u8 -b 10 -f json "$@" | grep -o '"inputs_state": "[^"]*"'
}
touch -d @1000000000 ten three
whole=$(state --part=1/2 three ten)
agrees() { # WHAT ARGUMENT...
	printf '%s: ' "$1" && shift
	[ "$(state "$@")" = "$whole" ] && echo agrees || echo differs
}
agrees 'the same' --part=1/2 three ten
agrees 'another slice' --part=2/2 three ten
agrees 'another order' --part=1/2 ten three
touch -d @1000000001 ten
agrees 'another time' --part=1/2 three ten
bytes '\003' >>three
touch -d @1000000000 ten three
agrees 'another size' --part=1/2 three ten
bytes '\002\002\002' >three

# Slices of version 0.4, which cut all inputs together, do not fit: this is its part 1 of 2.
cat >part1.json <<'END'
{"uhi_schema": 1, "writer_info": {"gpuhist": {"samples": 6, "under": 0, "over": 0, "nan": 0, "bytes": 6, "skipped": 0, "tail": 0, "inputs": 2, "part": 1, "parts": 2, "inputs_state": "3b6d0dd0474e63bc", "version": "0.4.0"}}, "metadata": {"type": "u8", "binning": "range", "range": "0:10", "closed": false, "clamp": false, "counter": "u64", "channel": 0, "channels": 1, "options": "--type=u8 --bins=10", "version": "0.4.0"}, "axes": [{"type": "regular", "lower": 0, "upper": 10, "bins": 10, "underflow": true, "overflow": true, "circular": false}], "storage": {"type": "int", "values": [0,1,1,4,0,0,0,0,0,0,0,0]}}
END
touch -d @1000000000 three ten
gpuhist -t u8 -b 10 --part=2/2 -f json three ten >part2.json
refused gpuhist --merge part1.json part2.json
refused gpuhist --merge part2.json part1.json

# Standard input that is a file: it is sliced from its offset on, which does not change.
# shellcheck disable=SC2016 # the shell that runs it expands k
shell '{ dd bs=1 count=2 of=/dev/null 2>/dev/null; for k in 1 2; do gpuhist -t u8 -b 10 --part=$k/2 --nonzero --no-header; done; } <ten'

# -v: the records and bytes of the slice, and the inputs that it was read from.
shell 'gpuhist -t u8 -b 10 --part=2/3 -v -f json three none ten 2>&1 >/dev/null | sed "s/, [0-9.]* s: .*//; 2q"'
shell 'gpuhist -t u8 -b 10 --part=1/4 -v -f json three 2>&1 >/dev/null | head -n 1'

# Inputs that cannot be cut.
shell 'gpuhist -t u8 --part=1/2 <ten - three | head -n 1'
shell 'cat ten | gpuhist -t u8 --part=1/2'
shell 'mkfifo fifo && gpuhist -t u8 --part=1/2 ten fifo'
refused gpuhist -t u8 --part=1/2 /dev/null
refused gpuhist -t u8 --part=1/2 ten missing three
refused gpuhist -t u8 --part=1/2 ten .
shell 'gpuhist -t u8 --part=1/2 - - <ten'
shell 'zstd -q ten; gpuhist -t u8 --part=2/2 ten ten.zst; gpuhist -t u8 --part=1/2 - <ten.zst'
# Every slice reports a fault of any input.
refused gpuhist -t u16 -b 10 --part=1/2 ten three
refused gpuhist -t u16 -b 10 --part=2/2 three ten
refused gpuhist -t u8 -b 10 -S 4 --part=1/2 ten three
run gpuhist -t u16 -b 10 --part=1/2 --ignore-tail --nonzero three ten three
run gpuhist -t u16 -b 10 --part=2/2 --ignore-tail --nonzero three ten three
