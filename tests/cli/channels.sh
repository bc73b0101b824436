# SPDX-License-Identifier: MIT
# More than 64 channels: a line for each. The random jobs check the counts.
# shellcheck shell=sh disable=SC2086
# Record k of 10 has 66 samples, 66 k + channel; the last channel is dead.
seq 0 659 | awk '{ print NR % 66 ? $1 : 0 }' >numbers
awk '{ printf "\\%03o\\%03o", $1 % 256, $1 / 256 }' numbers >escapes
bytes "$(cat escapes)" >probe.i16
shell 'gpuhist -c 66 -r 0:660 -b 4 probe.i16 | sed -n "1,3p; 66,67p"'
shell 'gpuhist -c 66 -r 0:100 -b 4 --flow -C sat8 -q --no-header probe.i16 | sed -n "2p; 66p"'
shell 'gpuhist --text=1 -t i16 -c 66 -r 0:660 -b 4 numbers | sed -n "1,3p; 66,67p"'
# Bins found from the samples, the same in every channel, for 16 bits and for more
for type in i16 i32 f16 f64; do
	gpuhist -q --text -t $type -c 66 -b 5 numbers | sed -n '1p; 67p'
	gpuhist -q --text -t $type -c 66 --log=auto -b 7 -f tsv numbers | sed -n '1p; 67p'
done
# Statistics replace the bins and need none; quantiles only if they are named
shell 'gpuhist -c 66 --stats=50,99 probe.i16 | sed -n "1,3p; 66,67p"'
shell 'gpuhist -c 66 --stats -r 0:660 -b 4 probe.i16 | sed -n "1,3p; 67p"'
shell 'gpuhist -t u8 -c 66 --stats probe.i16 | sed -n "1,3p; 66,67p"'
shell 'gpuhist --text -c 66 --stats numbers | sed -n "1,3p; 66,67p"'
shell 'gpuhist -c 66 --stats -n 9 -o a.npy -r 0:660 -b 2 probe.i16 2>&1 | sed -n "1,3p; 66,67p"'
shell 'head -c 12800 /dev/zero | gpuhist -t u8 -c 128 --stats -f npy -o /dev/null 2>&1 | sed -n "1,2p; 65,66p"'
shell 'gpuhist -q -c 66 --alarm=p50:327 -r 0:660 -b 4 -o /dev/null -f csv probe.i16'
shell 'gpuhist -q -c 66 --stats=50 -f json probe.i16 | gpuhist --merge --stats=50 - | sed -n "1,2p; 67p"'
shell 'gpuhist -q -c 66 --stats -f json probe.i16 | gpuhist --merge --stats=50 - | sed -n "1,2p"'
shell 'gpuhist -q -c 66 --stats -f json probe.i16 | gpuhist --merge --alarm=p50:1 -o /dev/null -f csv -'
awk '{ print $1 "e" NR % 10 * 30 }' numbers >wide
refused gpuhist --text -c 66 --stats=50 -M 5M -T 1 wide
# Pictures have a row for each channel
shell 'gpuhist -c 66 -f plot -r 0:660 -b 33 probe.i16 | sed -n "1,4p; 68p"'
shell 'gpuhist -c 66 -f plot --stats probe.i16 | sed -n "1,4p; 68p"'
shell 'gpuhist -c 66 -p -r 0:660 -b 33 -o a.csv probe.i16 2>&1 | sed -n "1,3p"'
shell 'gpuhist -c 66 -f svg -r 0:660 -b 33 probe.i16 | well_formed | grep -c "<image"'
shell 'gpuhist -c 66 -f svg --stats -r 0:660 -b 33 probe.i16 | well_formed | grep -o "66 channels.*"'
shell 'gpuhist --text -c 66 -f plot </dev/null'
# Documents add up
shell 'for n in 1 2; do gpuhist -q -c 66 --stats -r 0:660 -b 4 --into sum.json probe.i16 2>/dev/null; done'
shell 'gpuhist --merge sum.json | sed -n "1,2p; 67p"'
shell 'gpuhist -q -c 66 --stats -r 0:660 -b 4 -f json probe.i16 >one.json; gpuhist --merge --stats one.json one.json sum.json | sed -n "1,2p; 67p"'
shell 'gpuhist --merge --stats -f json -q one.json | cmp - one.json'
# One with figures and a digest, one with figures alone
gpuhist -q -t u8 -c 66 -f json probe.i16 | gpuhist --merge -b 128 --stats -q -f json >with.json
gpuhist -q -t u8 -c 66 -r 0:256 -b 128 --stats -f json probe.i16 | sed 's/"stats_cells": 65536, "stats_digest": "[^"]*", //g' >without.json
for files in 'with.json without.json' 'without.json with.json'; do
	shell "gpuhist --merge --stats $files | sed -n '1,2p; 67p'"
done
# Bytes: the documents tell all figures of the values, whatever the bins
for options in '' '-r 0:256 -b 128' '-r 3:99 -b 2' '-t i8 --stats --auto -b 3'; do
	gpuhist -q -t u8 -c 66 --stats $options probe.i16 >run.csv
	gpuhist -q -t u8 -c 66 --stats $options -f json probe.i16 >run.json
	shell 'gpuhist --merge --stats run.json | cmp - run.csv; gpuhist --merge --stats run.json -f json -q | cmp - run.json'
	shell 'gpuhist --merge --stats run.json run.json | sed -n "2p; 67p"'
done
# Of bins alone, there is a count
shell 'gpuhist -q -t u8 -c 66 -b 100 -f json probe.i16 | gpuhist --merge -b 25 --stats -q -f json | gpuhist --merge --stats - | sed -n "1,2p"'
refused gpuhist --merge --nonzero -f csv sum.json
shell 'gpuhist --merge --nonzero -f json sum.json | gpuhist --merge | cksum; gpuhist --merge sum.json | cksum'
refused gpuhist --into sum.json -c 65 -q --stats -r 0:660 -b 4 -n 1 probe.i16
# Options that cannot be combined with so many channels
refused gpuhist -c 66 --device=gpu probe.i16
refused gpuhist -c 66 --each=2 -r 0:660 probe.i16
refused gpuhist -c 66 --nonzero probe.i16
refused gpuhist -c 66 -b 4067204 probe.i16
refused gpuhist -c 65536 -b 4096 -t u8 probe.i16
refused gpuhist -c 65536 -t f64 --stats -M 64M -T 1 probe.i16
# Channels of complex samples are I and Q, everywhere but in the columns of bins
bytes '\001\002\003\004\005\006\007\010\011\012\013\014' >pairs
run gpuhist -t ci8 -r 0:12 -b 2 --stats=50 pairs
run gpuhist -t ci8 -r 0:12 -b 2 --each=3 pairs
run gpuhist -t ci8 -c 4 -r 0:12 -b 2 --each=3 --stats=50 pairs
run gpuhist -t ci8 -c 3 -r 0:12 -b 2 --each=2 pairs
run gpuhist -t ci8 -c 1 -r 0:12 -b 2 pairs
shell 'gpuhist -q -t ci8 -r 0:12 -b 2 -f prom pairs | grep -v "^#"'
run gpuhist -t ci8 -r 0:12 -b 2 -f plot pairs
run gpuhist -t ci8 -r 0:12 -b 2 --each=3 -f plot pairs
shell 'gpuhist -t ci8 -r 0:12 -b 2 -f svg pairs | well_formed | grep note'
shell 'head -c 132 /dev/zero | gpuhist -t ci8 -c 66 --stats | sed -n "1,3p; 67p"'
# Documents have the names, which must agree; those of older versions have none
gpuhist -q -t ci8 -r 0:12 -b 2 -o pairs.json pairs
sed 's/"name": "[IQ]", //g' pairs.json >old.json
sed 's/"name": "I", //g' pairs.json >half.json
sed 's/"name": "I"/"name": "left"/' pairs.json >left.json
shell 'grep -o ".name.: ...." pairs.json'
# shellcheck disable=SC2016 # the shell of the command expands it
shell 'for files in "pairs.json old.json" "old.json pairs.json"; do gpuhist -q --merge -f prom $files | grep count; done'
run gpuhist -t ci8 -r 0:12 -b 2 --compare pairs.json --alarm=p50:3 pairs
refused gpuhist --merge pairs.json left.json
refused gpuhist -t ci8 -r 0:12 -b 2 --compare left.json pairs
refused gpuhist --merge half.json
shell 'gpuhist -q --into pairs.json -f prom pairs | grep bucket'
# Columns of text, which are named in csv, too; names as they may come
sed 's/"name": "I"/"column": "pr<i,c\\"e"/; s/"name": "Q"/"column": "age2024"/' pairs.json >columns.json
for format in csv tsv plot; do run gpuhist --merge -q -f $format columns.json columns.json; done
shell 'gpuhist --merge -q -f svg columns.json | well_formed | grep -E "note|samples of"'
shell 'gpuhist --merge -q -f prom columns.json | grep -v "^#" | sed -n 1p'
shell 'gpuhist --merge -q -f json columns.json | cmp - columns.json'
run gpuhist --merge -q --compare=columns.json --alarm=out:1% columns.json -o /dev/null
refused gpuhist --merge left.json columns.json
# A long name loses its middle, at whole characters
long=$(printf '%060d' 0 | sed 's/0/\xc3\xa4/g')
sed "s/age2024/$long/" columns.json >long.json
shell 'gpuhist --merge -q -f svg long.json | well_formed | grep -o "column .*most"'
shell 'gpuhist --merge -q --compare=long.json -o /dev/null long.json 2>&1 | sed -n 1p'
