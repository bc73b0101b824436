# SPDX-License-Identifier: MIT
# Documents of --by: written, added by name, compared. The random jobs check the counts.
# shellcheck shell=sh disable=SC2016,SC2059,SC2086
# 300 events: key k % 3 * 2 as u16 at byte 2, a sample of k % 100 as u8 at byte 0; then others, with key 9 for 4
seq 0 299 | awk '{ printf "\\%03oa\\%03o\\000", $1 % 100, $1 % 3 * 2 }' >escapes
bytes "$(cat escapes)" >events
seq 0 99 | awk '{ printf "\\%03oa\\%03o\\000", $1 % 50, $1 % 3 == 2 ? 9 : $1 % 3 * 2 }' >escapes
bytes "$(cat escapes)" >others
by='--record=4 -t u8 --by=u16@2' bins='-r 0:100 -b 4'
run gpuhist $by $bins -n 2 -f json events
run gpuhist $by $bins -n 0 -f json --nonzero events
for k in 1 2 3 4; do gpuhist $by $bins --stats --part=$k/4 -o part$k.json -q events; done
gpuhist $by $bins --stats -o all.json -q events
shell 'gpuhist --merge --stats -q -f json part3.json part1.json part4.json part2.json >sum && for f in sum all.json; do sed "s/\"stats_\(mean\|std\)[^,]*, //g; s/\"version\": \"[^\"]*\"//g" $f | cksum; done'
refused gpuhist --merge part1.json part2.json
run gpuhist --merge --stats=50 -f csv all.json all.json
gpuhist $by $bins -o others.json others
for format in csv tsv json prom plot; do shell "gpuhist --merge all.json others.json -b 2 -f $format | cut -c 1-150"; done
shell 'gpuhist --merge all.json others.json -f svg | well_formed | grep -o "4 keys[^<]*"'
shell 'gpuhist --merge all.json others.json -o k.npy && tail -c 320 k.npy | od -An -v -t u8 | uniq'
# No key at all: an empty part, an empty run
gpuhist $by $bins --stats -o none.json -q /dev/null
shell 'gpuhist --merge --stats=50 -f csv none.json all.json none.json'
run gpuhist --merge --stats none.json
# --into takes the bins of the file, and adds keys that it lacks
run gpuhist $by $bins --into sum.json others
run gpuhist $by --into sum.json -n 100 events
run gpuhist --merge sum.json
run gpuhist --record=4 -t u8 --by=u8@2 --into sum.json events
run gpuhist --record=4 -t u8 --into sum.json events
run gpuhist $by -b 5 --into sum.json events
# Text: quotes, UTF-8, bytes that are not, empty fields
printf 'name,ms\n"a, b",1\nµ,2\n,3\n"say ""hi""\\",4\nca\351,5\nca\350,5\n' >keys.csv
run gpuhist --text=ms --by=name -r 0:8 -b 1 --into names.json keys.csv
run gpuhist --text=ms --by=name --into names.json keys.csv
shell 'gpuhist --merge names.json -f json | tee again.json | grep -o "\"key[^:]*\": {\"uhi"'
shell 'cmp again.json names.json'
run gpuhist --merge names.json
run gpuhist --merge again.json all.json
for format in raw npy; do refused gpuhist --merge names.json -f $format; done
refused gpuhist --merge names.json --nonzero
# prom names the label as the column
for column in host le quantile 2x a-b; do
	printf 'ms,%s\n1,a\n' "$column" | gpuhist --text=ms --by="$column" -r 0:4 -b 1 -f prom -q | sed -n 's/gpuhist_samples_count//p'
done
# Labels of prom are UTF-8: keys must not become equal, next to each other or not
labels() { printf "$1" | gpuhist --text=2 --by=1 -t u8 -r 0:1 -b 1 -f prom -q - >.labels 2>&1; printf '%d ' $?; grep -a -v '_sum\|_bucket\|^#' .labels | sed 's, saved in .*, saved in FILE,'; rm -f ./*.rescue.json; }
labels 'ca\351,0\nca\350,0\n'
labels 'a\350b,0\na\350c,0\na\351b,0\n'
labels 'a\357\277\275,0\na\377,0\n'
labels 'a\377,0\na\377\377,0\na,0\n\377a,0\na\303\244,0\na\303,0\nb,0\n'
labels 'a\377,0\na\303\244,0\na,0\n"",0\nab,0\n'
refused gpuhist --merge all.json --linearity=ramp
# --compare: by name; a key of one side alone
run gpuhist $by --compare=all.json -n 100 -o c.csv events
run gpuhist $by --compare=all.json --alarm=0.9 -q -o c.csv others
run gpuhist --merge all.json --compare=others.json --alarm=0.9 -o c.csv
shell 'gpuhist --merge all.json --compare=others.json -q -f json | grep -o "\"compare_ks\": [0-9.]*"'
run gpuhist --merge all.json --compare=names.json
refused gpuhist $by $bins --compare=none.json events
# Figures alone have one bin for all samples
gpuhist $by -q --stats -b 1 -r full -o figures.json events
refused gpuhist $by --stats --compare=figures.json --alarm=0.1 others
refused gpuhist --merge --compare=figures.json all.json
gpuhist --text=ms --by=name --stats -q -o figures.json keys.csv
refused gpuhist --text=ms --by=name --stats --compare=figures.json keys.csv
for one in '-r 0:2 -b 1 --clamp' '--mod -b 1' '-r 0:255 -b 1' '-r 0:255 -b 1 --closed' '-r 1:257 -b 1'; do
	gpuhist -t u8 -q $one -o one.json events
	refused gpuhist --merge --compare=one.json -f csv -o /dev/null one.json
done
for one in '-t i64 -r full' '-t u64 -r full' '-t f32 -r full' '-t f64 -r full' '-t f32 -r 0:1'; do
	gpuhist -q $one -b 1 -o one.json events
	refused gpuhist --merge --compare=one.json -f csv -o /dev/null one.json
done
# No key in common: the output is written without the comparison
gpuhist --record=4 -t u8 --by=u8@1 $bins -q -o other.json events
shell 'sed "s/u16@2/u8@1/g" all.json >same.json; gpuhist --merge -q other.json --compare=same.json -f csv'
# A column whose name is no UTF-8
printf 'v,\351<\n1,a\n2,b\n' >latin.csv
shell 'for n in 1 2; do gpuhist --text=v --by="$(printf "\351<")" -r 0:4 -b 2 --into latin.json latin.csv; done; gpuhist --merge latin.json'
# Documents that are refused
keyed() { refused sh -c "gpuhist $by $bins -n 2 -f json events | sed '$1' | gpuhist --merge"; }
keyed 's/"key=0"/"channel0"/'
keyed 's/"key=0"/"key=2"/'
keyed 's/"key=0"/"key=02"/'
keyed 's/"key=0"/"key=4294967296"/'
keyed 's/"key=0"/"key"/'
keyed 's/"key=0"/"key=\\u0000"/'
keyed 's/"key": "u16@2", //'
keyed 's/"key": "u16@2"/"key": "u16@4"/'
keyed 's/"binning": "range"/"binning": "auto"/g; s/"counter"/"most": 256, "counter"/g'
keyed 's/"samples": 1/"samples": 2/'
keyed 's/.*"key=2": //; s/}$//'
# Too many keys together
seq 32769 | awk '{ print $1, 1 }' | gpuhist --text=2 --by=1 -r 0:2 -b 2 -o low.json -
seq 32769 65537 | awk '{ print $1, 1 }' | gpuhist --text=2 --by=1 -r 0:2 -b 2 -o high.json -
run gpuhist --merge low.json high.json
# Many lines of figures
shell 'seq 100 | awk "{ print 100 + \$1, \$1 }" | gpuhist --text=2 --by=1 --stats=50 -o many.json 2>&1 | tail -n 3'
# A merge of thousands of keys with figures
shell 'seq 3000 | awk "{ print \$1, \$1 }" | gpuhist --text=2 --by=1 --stats -M 1G -q -o more.json'
shell 'gpuhist --merge --stats=50 -f csv more.json more.json | tail -n 1'
