# SPDX-License-Identifier: MIT
# needs: zstd
# --merge: the histograms of parts add up to the histogram of the whole, in every format; a message names what cannot be
# added.
# shellcheck shell=sh disable=SC2086
seq 1 500 | tr -d '\n' | head -c 1200 >p1
seq 700 2000 | tr -d '\n' | head -c 3600 >p2
printf '\0\0\200\377\1\2\3\4\0\0\200\177\0\0\300\177' >p3
: >p4

# Four inputs counted apart must add up to the same bytes as counted together, in any order of the documents: in every
# format for each kind of bins, and in the formats for numbers for the rest.
every='csv tsv raw npy json plot svg' numbers='csv json'
same() { # FORMATS OPTION...
	formats=$1
	shift
	printf '%s:' "$*"
	for p in p1 p2 p3 p4; do
		gpuhist -q "$@" -f json $p >$p.json
	done
	for f in $formats; do
		as="-f $f"
		case $f in plot | svg) as="$as --title=" ;; esac
		{
			gpuhist -q "$@" $as p1 p2 p3 p4 >whole
			gpuhist -q --merge $as p1.json p2.json p3.json p4.json >sum || echo "status $?"
			cat p4.json p3.json p1.json p2.json | gpuhist -q --merge $as >other
		}
		if cmp whole sum && cmp whole other; then
			printf ' %s' "$f"
		fi
	done
	gpuhist -q "$@" -C u64 --flow --nonzero --no-header p1 p2 p3 p4 >whole
	gpuhist -q --merge -C u64 --flow --nonzero --no-header p1.json p2.json p3.json p4.json >sum
	cmp whole sum && echo ' flow'
}
same "$numbers" -t u8
# The title of several documents is their number
shell 'gpuhist --merge -f plot p1.json | sed -n 1p; gpuhist --merge -f plot p1.json p2.json | sed -n 1p'
shell 'gpuhist --merge -f svg p1.json p2.json p3.json --title=mine | well_formed | sed -n 2p'
same "$every" -t i8 -b 50 -r -100:100
same "$numbers" -t u16 -b 100 -r 0:65536 --clamp
same "$numbers" -t u16be -b 7 -r 0:12345
same "$every" -t i16 --edges=-5,0,12337,20000 --closed
same "$every" -t u8 --mod -b 7
same "$numbers" -t u32 -b 9 --mod
same "$numbers" -t u32
same "$numbers" -t u8 --auto -b 5
same "$numbers" -t i64 --auto -b 30
same "$numbers" -t u64 -b 3 -r 0:18446744073709551616
same "$every" -t f32 --auto -b 30
same "$numbers" -t f64 --auto -b 3
same "$numbers" -t u8 --log=auto -b 5
same "$numbers" -t i64 --log=auto -b 300
same "$numbers" -t u16 --log=auto -b 3
same "$every" -t f32 --log=auto -b 30
same "$every" -t f16 --log=auto -b 3000
same "$numbers" -t f64 --log=auto -b 30
same "$every" -t f16 --log=1e-3:1 -b 50
same "$numbers" -t bf16 --closed -b 64 -r -1:1
same "$numbers" -t f32 --auto -b 30
same "$every" -t u8 -c 2 -b 60
same "$numbers" -t f32 -c 2 --auto -b 9
same "$numbers" -t f32 --log=1e-10:1 -b 50
same "$numbers" -t u16 --record=8 --offset=2 -b 10 -r full
same "$every" -t u8 -n 1000000 -b 10

# Details about the origin of counts are kept if all documents agree
c='gpuhist -t u8 -b 1 -r full'
printf abcd >a
printf ef >b
$c -f json a >a.json
$c -f json b >b.json
shell 'gpuhist --merge a.json b.json'
shell 'gpuhist --merge a.json b.json -f json | sed "s/.*\"samples\"/\"samples\"/"'
shell 'gpuhist -t u8 -b 1 -r full -S 1 -f json b | gpuhist --merge a.json - -f json | sed "s/.*\"samples\"/\"samples\"/"'
shell 'cat a.json b.json | gpuhist --merge -v'
shell 'cat a.json | gpuhist --merge - b.json a.json'
run gpuhist --merge a.json b.json -o sum.npy
run gpuhist -q --merge a.json b.json -o sum.csv
cat sum.csv
# Everything is read before the output is replaced
cp a.json all.json
run gpuhist --merge all.json b.json -o all.json
run gpuhist --merge all.json b.json -o all.json
run gpuhist --merge all.json

# Slices of one whole: all must be given, each once
part() { # K N: print document a.json as part K of N
	sed "s/\"part\": 1, \"parts\": 1/\"part\": $1, \"parts\": $2/" a.json
}
part 1 3 >1.json
part 2 3 >2.json
part 3 3 >3.json
part 1 2 >other.json
shell 'gpuhist --merge 3.json 1.json 2.json -f json | sed "s/.*\"samples\"/\"samples\"/"'
refused gpuhist --merge 3.json 1.json
refused gpuhist --merge 2.json
refused gpuhist --merge 3.json 1.json 2.json 1.json
shell 'cat 1.json 2.json 2.json 3.json | gpuhist --merge'
refused gpuhist --merge 1.json other.json
refused gpuhist --merge 1.json a.json
refused gpuhist --merge a.json 1.json
# The largest number of parts, which must not cost memory or time for each; and many parts, out of order
part 7 4294967295 >other.json
part 4294967295 4294967295 | refused gpuhist --merge - other.json
for first in 3 1 5 2 4; do
	for part in $(seq $first 5 99); do
		part "$part" 99
	done
done | run gpuhist --merge

refused gpuhist --merge=some a.json
# --nonzero: only bins with samples, of many that are empty
shell 'gpuhist -t u8 -b 256 -f json --nonzero a | tee sparse.json | grep -o "\"storage\".*"'
gpuhist -t u8 -b 256 -f json a >dense.json
run gpuhist -q --merge sparse.json dense.json -f json --nonzero -o two.json
shell 'grep -o "\"storage\".*" two.json'
shell 'gpuhist -q --merge sparse.json -f json | cmp - dense.json'
refused gpuhist -t u8 --nonzero -f raw a
refused gpuhist -t u8 --nonzero --flow -f json a
# Indented by a tool, with doubles, in another order, with another member; written by another program
gpuhist -q -t u8 -b 3 -r 0:99.7 -c 2 -f json a >two.json
gpuhist -q -t u8 -b 3 -r 0:99.7 -c 2 -f json --nonzero a | gpuhist -q --merge -f json | cmp - two.json
expand='s/\([][{},]\) */\1\n      /g'
sed "$expand" two.json >indented.json
run gpuhist -q --merge indented.json two.json
gpuhist -q --merge -f json two.json two.json two.json >three.json
if command -v python3 >tool.log; then
	for how in indent=4 sort_keys=True,indent=2 'separators=(",", " : ")'; do
		python3 -c "import json; d = json.load(open('two.json')); print(json.dumps(d, $how))"
	done
else
	cat two.json two.json two.json
fi >tools.json
shell 'gpuhist -q --merge tools.json -f json | cmp - three.json'
sed 's/"inputs": 1/"inputs": 1.0/' a.json >doubles.json
run gpuhist --merge doubles.json
sed 's/\[0,4,0\]/[0,4.0,-0e5]/' a.json >doubles.json
run gpuhist --merge doubles.json
sed 's/\("metadata".*\), \("axes".*\), "storage"/\2, \1, "storage"/' a.json >order.json
run gpuhist --merge order.json
sed 's/"gpuhist": {/"hist": {/' a.json >other.json
refused gpuhist --merge a.json other.json
sed 's/"clamp"/"note": [{"clamp": null}, "\\u00e9\\u0000"], "clamp"/; s/^{/{"part": [], /' a.json >noted.json
run gpuhist --merge noted.json
# A sum by another program, which copied the details of the first document
sed 's/\[0,4,0\]/[0,6,0]/' a.json >sum.json
refused gpuhist --merge sum.json
sed 's/\[0,4,0\]/[0,4,2]/' a.json >sum.json
refused gpuhist --merge sum.json
# Counts of an unfinished run
sed 's/"part": 1/"partial": true, &/' a.json >partial.json
refused gpuhist --merge partial.json
refused gpuhist --merge a.json partial.json
# Parts of inputs that changed, or that were counted otherwise
with_state() { # N: print part N with that state
	sed "s/\"parts\": 3/\"parts\": 3, \"inputs_state\": \"00000000deadbeef\"/" "$1.json"
}
with_state 1 >s1.json
with_state 2 >s2.json
with_state 3 | sed 's/beef/c0de/' >s3.json
refused gpuhist --merge s1.json s2.json s3.json
refused gpuhist --merge 3.json s1.json s2.json
sed 's/--bins=1/--bins=1 --raw/' 2.json >o2.json
refused gpuhist --merge 1.json o2.json 3.json

# A difference is named, nothing is published, and the old file stays
echo old >old.csv
differs() {
	echo "$*"
	gpuhist -q "$@" a -f json >c.json
	refused gpuhist --merge a.json c.json -o old.csv
}
differs -t i8 -b 1 -r full
differs -t u8 -b 2 -r full
differs -t u8 -b 1 -r 0:255
differs -t u8 -b 1 -r full --closed
differs -t u8 -b 1 -r full --clamp
differs -t u8 -b 1 --mod
differs -t u8 -b 1 --auto
differs -t u8 -b 1 -r full -c 2
gpuhist -t u16 --auto -b 5 a -f json >a5.json
gpuhist -t u16 --auto -b 6 a -f json >a6.json
gpuhist -t u16 --log=auto -b 5 a -f json >l5.json
refused gpuhist --merge a5.json a6.json
refused gpuhist --merge a5.json l5.json
refused gpuhist --merge l5.json a5.json
gpuhist -t u8 -b 3 -r 0:256 a -f json >r.json
gpuhist -t u8 --edges=0,85,171,256 a -f json >e.json
refused gpuhist --merge r.json e.json
cat old.csv
# ... also one that is hard to see: in the last edge alone, or below the precision of binary64; equal edges are added
pair() {
	gpuhist -q $1 -f json /dev/null >one.json
	gpuhist -q $2 -f json /dev/null >two.json
	gpuhist -q --merge one.json two.json 2>&1 | tail -n 1
	gpuhist -q --merge two.json one.json 2>&1 | tail -n 1
}
pair '-t f64 -b 3 -r 0:1' '-t f64 -b 3 -r 0:0.9999999999999999'
pair '-t f64 -b 3 -r 0:1' '-t f64 -b 3 -r 5e-324:1'
pair '-t u64 -b 16 -r 0x8000000000000000:0xfffffffffffffff0' '-t u64 -b 16 -r 0x8000000000000001:0xfffffffffffffff1'
pair '-t u64 -b 8 -r 0:64' '-t u64 -b 8 -r 0:64.5'
pair '-t u64 -b 8 -r 0:64' '-t u64be -b 8 -r 0:64'
pair '-t u64 -b 8 -r 0:64' '-t u64 -b 8 -r 0x0:6.4e1'
pair '-t f64 -b 8 -r -0:1' '-t f64 -b 8 -r 0:1.0'
pair '-t u16 -b 9' '-t u16 -b 9 -r 0:9'

# Files large enough for several threads: the sum, and the fault that is reported, are the same as with one
for p in 1 2 3 4; do
	gpuhist -q -t u16 -b 1M -r 0:1048576 -f json p$p >large$p.json
done
gpuhist -q -t u16 -b 1M -r 0:1048576 -f json p1 p2 p3 p4 >whole
for order in '1 2 3 4' '4 3 2 1' '2 - 4 1'; do
	set --
	for p in $order; do
		case $p in
		-) set -- "$@" - ;;
		*) set -- "$@" "large$p.json" ;;
		esac
	done
	timeout 60 gpuhist -q --merge -f json "$@" <large3.json | cmp - whole && echo "$order"
done
cat large1.json large2.json large3.json >three.json
shell 'timeout 60 gpuhist -q --merge three.json large4.json -f json | cmp - whole'
head -c 2000000 large2.json >cut.json
i=0
while [ $i -lt 5 ]; do
	timeout 60 gpuhist --merge large1.json large3.json cut.json a.json missing.json large4.json
	i=$((i + 1))
done 2>&1 | uniq
i=0
while [ $i -lt 5 ]; do
	timeout 60 gpuhist --merge three.json large4.json a.json cut.json large1.json
	i=$((i + 1))
done 2>&1 | uniq
rm large?.json three.json cut.json
# Sums past 2^64 - 1
big() { # COUNT: print a document with that many samples in its bin
	sed "s/\"\(samples\|bytes\)\": 4,/\"\1\": $1,/g; s/\"values\": \[0,4,0\]/\"values\": [0,$1,0]/" a.json
}
for count in inputs bytes skipped tail; do
	sed "s/\"$count\": [0-9]*/\"$count\": 9223372036854775808/" a.json >big.json
	refused gpuhist --merge big.json big.json
done
big 18446744073709551613 >big.json
run gpuhist --merge big.json b.json
refused gpuhist --merge big.json a.json -o old.csv
# Counters
run gpuhist --merge big.json -C sat16
refused gpuhist --merge big.json -C u32 -o none.csv
ls none*
rm none*
refused gpuhist --merge -f json -C sat8 a.json
refused gpuhist --merge -f npy --flow a.json
# No histogram at all
refused gpuhist --merge /dev/null
refused gpuhist --merge a.json /dev/null
shell 'gpuhist --merge </dev/null'
refused gpuhist --merge missing.json
refused gpuhist --merge a.json .
refused gpuhist --merge a.json a
shell 'head -c 50 a.json | gpuhist --merge a.json -'
# Options about counting
for option in -tu8 --log=1:2 --clamp -S1 --rows=1:2 --raw --into=x.json --tee; do
	refused gpuhist --merge $option a.json
done
refused gpuhist -q -tu8 a.json --merge
run gpuhist --mer --nonz --no-progress a.json
# Options that have no effect
run gpuhist --merge -T1 -M1 --device=gpu --progress --nonzero a.json
# Statistics do not affect the counts, so parts may ask for different ones
# shellcheck disable=SC2016 # the inner shell expands them
shell 'for k in 1 2; do gpuhist -q -t u8 --part=$k/2 --stats=${k}0 -f json a 2>/dev/null; done | gpuhist --merge --no-header -f tsv --nonzero - | tail -n 1'

# -b: the sum in fewer bins equals a run with that many, for every kind of bins, and can be added again. A run knows the
# extremes, which bound its quantiles; a sum does not
joins() { # N B OPTION...: documents of N bins, in B
	n=$1 b=$2
	shift 2
	printf '%s -b %s to %s:' "$*" "$n" "$b"
	case $* in *--mod*) stats= ;; *) stats=--stats=9 ;; esac
	for p in p1 p2 p3 p4; do
		gpuhist -q "$@" -b "$n" $stats -f json $p 2>/dev/null >$p.json
	done
	gpuhist -q "$@" -b "$b" --flow p1 p2 p3 p4 >whole
	gpuhist -q --merge -b "$b" --flow p1.json p2.json p3.json p4.json | cmp - whole && printf ' run'
	gpuhist -q --merge -b "$b" -f json p1.json p2.json >some
	gpuhist -q "$@" -b "$b" -f json p3 p4 | gpuhist -q --merge --flow some - | cmp - whole && printf ' added'
	# The same statistics as one run's, whatever the order; six digits of mean and std
	[ "$stats" ] || { echo && return; }
	gpuhist -q "$@" -b "$b" --stats=0,1,50,99,100 -o /dev/null p1 p2 p3 p4 2>whole
	gpuhist -q --merge --stats=0,1,50,99,100 -b "$b" p3.json p1.json p4.json p2.json 2>&1 >/dev/null |
		cmp - whole && printf ' figures'
	echo
}
joins 100 20 -t u32 -r 0:4294967296
joins 12 4 -t i32be -r -8388607:8388608
joins 12 12 -t i32 -r -8388608:8388608
joins 3000 500 -t u64 -r full -c 2
joins 30 7 -t u32 --auto
joins 100 2 -t i64 --auto
joins 100 9 -t f32 --auto
joins 300 3 -t i64 --log=auto
joins 300 30 -t u32 --log=auto
joins 400 9 -t f32 --log=auto
joins 100 9 -t f32 --auto
joins 30 5 -t f64 --log=1e-300:1e300
joins 256 8 -t f64 -r full
joins 30 6 -t u32 --mod
# Samples out of range or clamped have no bounds, and JSON has no number for -inf
gpuhist -q -t u8 -b 12 -r 49:55 -f json p1 >out.json
run gpuhist --merge --stats=10,50,100 -b 3 out.json
shell 'gpuhist -q --merge --stats=10,50,100 -b 3 out.json -f json | grep -o "\"stats.*\"bytes"'
shell 'gpuhist -q -t u8 --clamp -b 12 -r 49:55 -f json p1 | gpuhist --merge --stats=10,50,100 -b 3'
# Neighbouring old edges differ from the edges of a run with fewer bins: the old ones are kept
shell 'gpuhist -q -t f32 -r 0.1:0.7 -b 9 -f json p3 | gpuhist -q --merge -b 3 -f json | tee kept.json | grep -o "\"binning.*\"range\|\"options[^,]*\|\"edges.*over"'
run gpuhist -q --merge kept.json kept.json
# Numbers of bins that are refused
refused gpuhist --merge -b 5 out.json
shell 'gpuhist -q -t i32 --auto -b 10 -f json p1 | gpuhist --merge -b 11'
shell 'gpuhist -q -t i32 --auto -b 10 -f json p1 | gpuhist --merge -b 1'
shell 'gpuhist -q -t i32 --log=auto -b 10 -f json p1 | gpuhist --merge -b 11'
# The bin of zero ends where the nearer neighbour begins; 0.3 had no such bin.
shell "printf '0\n5\n90\n' | gpuhist --text -t i32 --log=auto -b 9 -f json -o near.json"
shell "printf '0\n-7\n40\n' | gpuhist --text -t i32 --log=auto -b 9 -f json -o far.json"
run gpuhist --merge near.json far.json
shell "sed 's/\"zero\": \"[^\"]*\", //' far.json | gpuhist --merge near.json -"
refused gpuhist --merge -b -1 out.json

# --each: the sum of all rows equals the document of the whole run, to the byte, and is not a row
rows() { # OPTION...
	printf '%s:' "$*"
	gpuhist -q "$@" -f json p1 p2 p3 >whole
	for each in 8 1000 1M file; do
		gpuhist -q "$@" --each=$each -f json p1 p2 p3 | gpuhist -q --merge -f json | cmp - whole && printf ' %s' $each
	done
	echo
}
rows -t u8
rows -t i16be --log=1:1e4 -b 9 -S 4 -n 999999
rows -t u8 -c 3 --ignore-tail -n 1100 -b 9 -r 40:60 --clamp
rows -t u2bitbe -c 2 --edges=0,1,3
rows -t f32 -r -1:1 -b 5 --closed -n 700
rows -t u32 --mod -b 10 --record=16 --offset=2 -c 2
rows -t u8 --record=4 --offset=1
rows -t i8 -b 50 -r -100:100 --rows=7:8
gpuhist -q -t u8 --each=100 --stats -f json --nonzero p1 >rows.json
shell 'gpuhist -q --merge --stats -f json rows.json >sum; gpuhist -q -t u8 --stats -f json p1 | cmp - sum'
{ printf 'P5 20 60 255\n' && cat p1; } >p.pgm
shell 'gpuhist --each=file -f json p.pgm p.pgm | gpuhist -q --merge -f json >sum; gpuhist -f json p.pgm p.pgm | cmp - sum'
# An input whose name is not text
mv p3 "$(printf 'p"\\\377\n3')"
shell 'gpuhist -b 9 -r full --each=1 -f json p\"*3 | tee row.json | grep -o "\"row_[^}]*" | sed -n 1,2p'
shell 'gpuhist -q --merge -f json row.json | grep -o "\"bytes[^}]*"'
# The sum of some rows, none of which begins an input, is a histogram that can be added again
shell 'tail -n 2 row.json | gpuhist -q --merge -f json | gpuhist -q --merge -f json | grep -o "\"bytes[^}]*"'
# Digests of rows and runs are joined at the coarser precision, and so are the values of short runs; in any order the
# figures are the same
seq 9000 12000 | tr -d '\n' >p5
seq 90000 120000 | tr -d '\n' >p6
for type in u32 i64 f64be; do
	gpuhist -q -t $type -r 0:1000000 -b 3 --ignore-tail --stats=1 -f json p6 2>/dev/null >fine.json
	gpuhist -q -t $type -r 0:1000000 -b 3 --ignore-tail --each=40 --stats=1 -f json p5 2>/dev/null >rough.json
	cat rough.json fine.json | gpuhist -q --merge --stats=3,50,97 -f json 2>one >both.json
	grep -o '"stats_cells[^,]*' both.json
	gpuhist -q --merge --stats=3,50,97 fine.json rough.json 2>&1 >/dev/null | diff one - && grep % one
	gpuhist -q -t $type -r 0:1000000 -b 3 --ignore-tail --stats=1 -f json p4 2>/dev/null >short.json
	for others in fine.json rough.json 'fine.json rough.json'; do
		gpuhist -q --merge --stats=3,50,97 short.json $others 2>&1 >/dev/null | tail -n 3 >one
		gpuhist -q --merge --stats=3,50,97 $others short.json 2>&1 >/dev/null | tail -n 3 | diff one - && cat one
	done
done
# Samples may come from rows or from runs: the quantiles are the same, also near 0, where a cell is a value
seq -3000 3000 >whole
head -n 2500 whole >begin
tail -n +2501 whole >rest
c='gpuhist -q --text -t i64 -r -4000:4000 -b 8 -f json --stats=1'
$c --each=40 whole >rough.json
{ $c begin && $c --each=40 rest; } >fine_first.json
{ $c --each=40 begin && $c rest; } >fine_last.json
for name in rough fine_first fine_last; do
	gpuhist --merge --stats=1,20,45,49,51,55,80,99 -o /dev/null $name.json 2>&1 | grep % >$name.figures
	cmp rough.figures $name.figures
done
cat rough.figures
# A digest that cannot be right: another sum, cells that do not increase or do not exist, other extremes
gpuhist -q -t f32 -r 0:1 -b 2 --stats=50 --each=file -f json p1 2>/dev/null | sed 's/"stats_digest": "[^"]*/"stats_digest": "DIGEST/' >digest.json
grep -o '"stats_cells.*DIGEST' digest.json
for digest in '' '1 2' '5 1,5 1' '5 1,4 1' '99999999 9' '5 x' '5  1' '5 1,' '-5 -1' '5 18446744073709551616' '5 1x'; do
	shell "sed 's/DIGEST/$digest/' digest.json | gpuhist --merge --stats 2>&1 | tail -n 1 | cut -c 1-150"
done
# Sums that mean and std do not follow from, or only one of them; without both, sums of documents are rounded, and it is said
gpuhist -q -t f32 -r 0:1 -b 2 --stats=50 --each=file -f json p1 2>/dev/null >sums.json
grep -o '"stats_sum.*"stats_cells' sums.json
for change in 's/"stats_sum": "[^"]*/&1/' 's/"stats_square": "/&-/' 's/"stats_sum": "[^"]*", //' 's/"stats_square": "[^"]*", //' 's/\("stats_mean": \)[^,]*/\11e9/' 's/\("stats_std": \)[^,]*/\1-1/'; do
	shell "sed '$change' sums.json | gpuhist --merge --stats 2>&1 | tail -n 1 | cut -c 1-150"
done
sed 's/"stats_s[uq][^,]*, //g' sums.json >older.json
shell "gpuhist --merge --stats=50 older.json 2>&1 >/dev/null | grep -c rounding"
shell "gpuhist --merge --stats=50 older.json sums.json 2>&1 >/dev/null | grep 'mean\|rounding'"
shell "gpuhist --merge --stats=50 -f json -q older.json sums.json | grep -c stats_sum"
# More cells than any type has
{
	sed 's/DIGEST.*//' digest.json
	yes '1 1,' | head -n 4194305
	sed 's/.*DIGEST//' digest.json
} | tr -d '\n' >changed.json
shell 'gpuhist --merge changed.json 2>&1 | tail -n 1 | cut -c 1-150'
# Values tell the sums, too; those that rise no more, have other figures, or are too many are refused
gpuhist -q -t f32 -r 0:1 -b 2 --stats=50 -f json p1 2>/dev/null >values.json
sed 's/"stats_s[uq][^,]*, //g' values.json | gpuhist -q --merge --stats=50 -f json - values.json | grep -o '"stats_sum[^,]*'
for change in 's/"stats_values": "[^"]*/&,1 1/' 's/ 1",/ 2",/' 's/ 1",/ 4097",/' 's/\("stats_values": "\)[^,]*,/\1/' 's/\("stats_values": "\)\([^,]*,\)/\1\2\2/' 's/\("stats_std": \)[^,]*/\11e-9/'; do
	shell "sed '$change' values.json | gpuhist --merge --stats 2>&1 | tail -n 1 | cut -c 1-150"
done
# Without digests, bins of one value give the quantiles that lie in them; the others are left out, by name
bytes '\003\000\000\000\011\000\000\000' >two
shell 'gpuhist -q -b 5 -f json two | gpuhist --merge --stats=50,100 -o /dev/null'
