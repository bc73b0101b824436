# SPDX-License-Identifier: MIT
# --linearity: DNL and INL in columns, the worst on standard error; types without codes are refused.
# shellcheck shell=sh
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
# Documents
run gpuhist -t u8 -o a.json ramp
run gpuhist --merge --linearity=ramp --nonzero a.json a.json
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
