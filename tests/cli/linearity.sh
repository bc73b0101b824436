# SPDX-License-Identifier: MIT
# --linearity: DNL and INL in columns, the worst on standard error; types without codes are refused.
# shellcheck shell=sh disable=SC2086
printf 'abbbbcdddeeeef' >ramp
printf 'aaaaabbbcccdddddeeeeeeeeee' >sine
run gpuhist -t u8 --linearity=ramp --nonzero ramp
run gpuhist -t u8 --linearity=sine --nonzero sine
# Samples out of range also count for the codes at the ends; a missing code; -q keeps the line, because it was asked for
run gpuhist -t u8 -r 98:102 --linearity=ramp -q --flow ramp
printf 'abbddeef' >missing
run gpuhist -t u8 -r 97:103 --linearity=ramp --no-header missing
printf 'aAbBbCbDcEdF' >two
run gpuhist -t u8 -c 2 -r 65:101 -f tsv --nonzero --linearity=ramp two
# More missing codes than are named; codes below zero; half of the codes, and fewer
printf 'abbz' >gap
run gpuhist -t u8 -r 97:123 --linearity=ramp -q -f npy -o a.npy gap
printf 'abbm' >gap
run gpuhist -t u8 -r 97:110 --linearity=ramp -q -f npy -o a.npy gap
bytes '\374\375\375\377\377\0' >signed
run gpuhist -t i8 -r -4:2 --linearity=ramp -f npy -o a.npy signed
for bins in 97:109 97:110; do
	run gpuhist -t u8 -r $bins --linearity=ramp -f npy -o a.npy ramp
done
# Documents: arrays of all bins, which sums leave out
run gpuhist -t u8 -o a.json ramp
run gpuhist --merge --linearity=ramp --nonzero a.json a.json
arrays() { # FILE
	grep -oE '"[^"]*": \{"uhi_schema|"(dnl|inl)": [^]]*]' "$1"
}
printf 'aabbbbcbdcde' >pairs
for options in '-r 97:103 ramp' '-c 2 -r 97:102 pairs'; do
	run gpuhist -t u8 --linearity=ramp -q --nonzero -o l.json $options
	arrays l.json
	run gpuhist --merge -q --linearity=ramp -f json -o sum.json l.json l.json
	arrays sum.json
	run gpuhist --merge -q --nonzero -f json -o sum.json l.json
	arrays sum.json
done
run gpuhist -t u8 -r 97:103 -q --linearity=ramp --into=into.json -o /dev/null ramp
arrays into.json
run gpuhist -t u8 -f npy -o a.npy --linearity=ramp ramp
shell 'gpuhist -t u8 -r 97:103 -f svg --linearity=ramp ramp | well_formed | grep -E "class=.line|worst|code "'
shell 'gpuhist -t u8 -c 2 -r 65:101 -f svg --linearity=ramp -q two | well_formed | grep -cE "class=.line|worst"'
# A plot shows DNL: bars from the least to the greatest of the codes of a row
run gpuhist -t u8 -r 97:103 -f plot --linearity=ramp ramp
run env COLUMNS=50 gpuhist -t u8 -c 2 -r 65:101 -q -f plot --linearity=ramp two
awk 'BEGIN { for (i = 0; i < 12800; i++) printf "%c", 1 + int(i / 100) }' >steps
run env LC_ALL=C.UTF-8 gpuhist -t u8 -q -f plot --linearity=ramp steps
run gpuhist -t u8 -b 16 -r full -q -o wide.json ramp
# Refusals
refused gpuhist -t u8 --linearity=triangle ramp
refused gpuhist -t u8 -b 16 -r full --linearity=ramp ramp
refused gpuhist -t u8 --mod -b 16 --linearity=ramp ramp
refused gpuhist -t u8 --closed -r 97:102 -b 5 --linearity=ramp ramp
refused gpuhist -t u16 --linearity=ramp ramp
refused gpuhist -t f16 -b 16 --linearity=ramp ramp
refused gpuhist -t u32 -b 16 --linearity=ramp ramp
refused gpuhist -t u8 -c 65 -b 256 --linearity=ramp ramp
refused gpuhist -t u8 --each=2 --linearity=ramp ramp
refused gpuhist -t u8 --every=1s -o a.json --linearity=ramp ramp
refused gpuhist --merge --linearity=ramp wide.json
# The counts are written without what they cannot tell
shell 'printf ab | gpuhist -t u8 --nonzero --linearity=ramp'
shell 'printf "aAbAcA" | gpuhist -t u8 -c 2 --nonzero --linearity=sine'
run gpuhist -t u8 --nonzero --linearity=sine /dev/null
shell "printf '' | gpuhist -t u16 -f json -q | gpuhist --merge --linearity=ramp"
