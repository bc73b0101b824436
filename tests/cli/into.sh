# SPDX-License-Identifier: MIT
# --into: runs add up in a file, which is always the old one or the new one; no failure loses counts.
# shellcheck shell=sh
# shellcheck disable=SC2086,SC2010,SC2012 # options are words; the names are the test's own
printf abcd >a
printf ef >b
c='gpuhist -t u8 -b 1 -r full'
umask 027
# The file is made, then added to: as if one run had counted everything
run $c --into=f.json a
stat -c %a f.json
run $c --into=f.json b
run $c --into f.json b a
$c -f json a b b a >whole.json
cmp f.json whole.json && echo the same
# The mode is kept, a link stays a link, and a link to nothing names the file to make
chmod 604 f.json
ln -s f.json link.json
ln -s made.json dangling.json
run $c --into=link.json b
stat -c %a f.json
test -h link.json && gpuhist --merge f.json
run $c --into=dangling.json b
gpuhist --merge made.json
# With -o or -f, that output holds only this run
run $c --into=f.json -f csv b
run $c --into=f.json -o - b
run $c --into=f.json -o run.npy b
od -An -tu8 -j 128 run.npy
shell "$c --into=f.json -v b 2>&1 | grep now"
gpuhist --merge f.json
# With --stats each time, FILE holds the statistics of all runs; a run without --stats ends that
shell "$c --into=s.json --stats b 2>&1 | sed -n 1,4p"
shell "$c --into=s.json --stats=50 -q b 2>/dev/null; grep -o '\"stats_[cmq][^,]*' s.json"
shell "$c --into=s.json b; grep -c mean s.json"
# Every kind of bins; --auto as for the whole
for options in '-t u8' '-t u32 -b 90' '-t f32 --auto -b 7' '-t i16 --auto -b 7' '-t f32 -r -1:1' '-t u8 -c 2 --mod' \
	'-t u16 --log=1:9999' '-t i32 --edges=-4,9,100000' '-t u16 -r 5:9 --clamp --closed'; do
	seq 1 500 | tr -d '\n' | head -c 1200 >p1
	seq 700 2000 | tr -d '\n' | head -c 3600 >p2
	rm -f t.json
	for p in p1 p2 p1; do
		gpuhist -q $options --into=t.json $p
	done
	gpuhist -q $options -f json p1 p2 p1 >whole.json
	cmp t.json whole.json && echo "$options: the same"
done
# Twenty at once
rm -f t.json
i=0
while [ $i -lt 20 ]; do
	$c --into=t.json a &
	i=$((i + 1))
done
wait
gpuhist --merge t.json
ls -A | grep -c tmp
# While another run holds the lock, this one waits, and a signal ends it
rm -f t.json
(
	flock 9
	$c --into=t.json a 9>&- &
	waits=$!
	sleep 0.3
	# The thread sanitizer holds a signal back while its thread waits in flock.
	case $(readlink -f "$(command -v gpuhist)") in
	*/san-thread/*) stop=KILL ;;
	*) stop=TERM ;;
	esac
	kill -s $stop $waits
	wait $waits
	echo "ended by the signal: $(($? > 128))"
	$c --into=t.json b 9>&- &
	sleep 0.1
	test -e t.json && echo early
	exec 9<&-
	wait
) 9<. 2>/dev/null
gpuhist --merge t.json
# Found out before the work: the program reads nothing from a pipe that never ends
mkfifo fifo
: >empty.json
echo '{}' >other.json
cat f.json f.json >two.json
printf '\377\376' >c
mkdir folder.json
for name in empty.json other.json two.json c.json fifo.json folder.json none/f.json ''; do
	[ "$name" = c.json ] && mv c c.json
	[ "$name" = fifo.json ] && mv fifo fifo.json
	refused $c --into="$name" a
done
rm -f empty.json other.json two.json c.json fifo.json
# Histograms that do not fit; merge.sh tries all kinds
for options in '-t i8 -b 1 -r full' '-t u8 -b 1 -r full -c 2'; do
	refused gpuhist $options --into=f.json a
done
gpuhist -t u16 --auto -b 5 --into=auto.json a
refused gpuhist -t u16 --auto -b 6 --into=auto.json a
refused gpuhist -t u16 --auto -b 5 --closed --into=auto.json a
sed 's/"part": 1, "parts": 1/"part": 1, "parts": 2/' f.json >part.json
refused $c --into=part.json a
# Names
for name in f.csv f - /dev/stdout; do
	refused $c --into=$name a
done
run $c --into=.json a
rm -f .json
refused $c --into=f.json f.json
refused $c --into=f.json -o f.json a
refused $c --into=f.json -o ./f.json a
refused $c --into=new.json -o new.json a
refused $c --into=f.json -o link.json a
# ... of a file that does not exist yet, by a link to it, through a link to its directory, as standard output
ln -s new.json nothing.json
ln -s . here
refused $c --into=new.json -o ./new.json a
refused $c --into=new.json -o nothing.json a
refused $c --into=nothing.json -o new.json a
refused $c --into=here/new.json -o new.json a
shell "$c --into=f.json -f json a >>f.json"
ls new.json
rm nothing.json here
refused $c --into=f.json --flow a
refused $c --into=f.json -C sat8 a
shell "$c --into=f.json a < f.json"
shell "$c --into=f.json < f.json"
# A run that fails adds nothing
cp f.json before.json
refused $c --into=f.json a missing
refused gpuhist -t u8 -b 1 -r full -f csv --into=f.json -o /dev/full a
refused $c --into=f.json -o none/h a
cmp f.json before.json && echo as before
# Adding fails: this run's histogram is saved, and the file keeps the earlier runs
big() {
	sed 's/"\(samples\|bytes\)": 4,/"\1": 18446744073709551615,/g; s/"values": \[0,4,0\]/"values": [0,18446744073709551615,0]/'
}
$c -f json a | big >t.json
cp t.json before.json
refused $c --into=t.json a
chmod 600 t.json
refused $c --into=t.json b
stat -c '%A %n' -- *.rescue.json
cmp t.json before.json && echo as before
run gpuhist --merge t.json.rescue.json
run gpuhist --merge t.json.2.rescue.json
rm t.json*
# A file size limit: the sum is too long, the histogram of this run is not
{
	gpuhist -t u8 -b 64 -r full -f json /dev/null |
		sed 's/"\(samples\|bytes\)": 0,/"\1": 6400000000000000000,/g; s/"values": .*/"values": [0/' | tr -d '\n'
	i=0
	while [ $i -lt 64 ]; do
		printf ',100000000000000000'
		i=$((i + 1))
	done
	echo ',0]}}'
} >t.json
cp t.json before.json
shell 'ulimit -f 2; gpuhist -t u8 -b 64 -r full --into=t.json a'
cmp t.json before.json && echo as before
run gpuhist --merge --nonzero t.json.rescue.json
# Only bins with samples; another program's histogram
$c -f json a >f.json
run $c --nonzero --into=n.json a
run $c --nonzero --into=n.json a
grep -o '"storage".*' n.json
run $c --into=n.json a
grep -o '"storage".*' n.json
printf '{"uhi_schema": 1, "axes": [{"type": "variable", "edges": [0, 1], "underflow": true, "overflow": true, ' >o.json
printf '"circular": false}], "storage": {"type": "int", "values": [0, 1, 0]}}\n' >>o.json
refused gpuhist -t f64 --edges=0,1 --into=o.json /dev/null
# The name is so long that no other fits next to it, and no other directory is tried: the rescue file has a name of its own
long=$(printf '%245s' '' | tr ' ' x).json
$c -f json a | big >"$long"
shell "$c --into=\$(ls | grep xxx) a 2>&1 | sed 's|/[^ ]*/|/.../|; s/xxx*/xxx/'"
gpuhist --merge gpuhist-*.rescue.json
rm gpuhist-*.rescue.json
ls -A | grep -v -e json -e '^.$' -e '^p[12]$'

echo
echo '# The file supplies the options that are not given'
seq 1 400 | tr -d '\n' | head -c 1088 >digits
cp digits digits.i16
for o in '-t i16 -c 2 -r 0:20000 -b 50' '-t u8' '-t f32 --auto -b 30' '-t u16 --mask=0xfff -b 100 -r 0:100 --closed' \
	'-t f64 --edges=-1,0,1e5,1e9' '-t u32 --log=auto -b 20' '-t u32 --mod -b 7' '-t i32 --log=1:1e6 -b 9' \
	'-t u64 -b 12 --clamp' '-t u16 -r full -b 256'; do
	rm -f like.json
	# shellcheck disable=SC2086 # several words
	gpuhist -q $o --raw --into=like.json digits && gpuhist -q --raw --into=like.json digits && gpuhist -q $o --raw digits -o one.json
	gpuhist -q --merge one.json one.json -o both.csv
	gpuhist -q --merge like.json -o like.csv
	cmp both.csv like.csv && echo "$o: the same"
	gpuhist --raw --compare=like.json --alarm=0 -o again.csv digits 2>&1 | grep -c 'KS  *0'
	gpuhist -q --raw -o one.csv --compare=one.json digits 2>/dev/null; cmp one.csv again.csv
done
gpuhist -q -t i16 -c 2 -r 0:20000 -b 50 -o like.json digits
refused gpuhist --compare=like.json digits -t u8
refused gpuhist --compare=like.json -b 4 digits.i16
refused gpuhist --compare=like.json -c 1 digits.i16
run gpuhist --compare=like.json digits.i16 -q -o again.csv
# So it does beside --closed and --clamp, which must agree
gpuhist -q --raw -t u8 -r 48:52 -b 2 --closed --into=closed.json digits
gpuhist -q --raw -t u8 -r 48:52 -b 2 --clamp --into=clamp.json digits
for option in --closed --clamp; do
	refused gpuhist -q --raw $option --into=closed.json digits
	refused gpuhist -q --raw $option --into=clamp.json digits
	refused gpuhist -q --raw $option --compare=clamp.json -f csv -o /dev/null digits
done
# A picture shows the reference
shell 'printf "\\1\\1\\1\\2\\2\\3" | gpuhist -t u8 -b 5 -o ref.json'
shell 'printf "\\1\\2\\2\\2" | LC_ALL=C gpuhist --compare=ref.json -f plot'
shell 'printf "\\1\\2\\2\\2" | gpuhist -q --compare=ref.json -f svg 2>/dev/null | well_formed | grep -A1 "class=.reference.*d="'
# The last bin may end at 2^1024; all samples are in range
compared() { # NUMBERS of the reference and of the run
	printf '%b' "$1" | gpuhist -q --text --log=auto -b 9 -o far.json
	shell "printf '$2' | gpuhist -q --text --log=auto -b 9 --compare=far.json -f csv -o /dev/null"
}
compared '1\n1.7e308\n1.79e308\n' '1\n1\n1.79e308\n'
compared '0\n-1.79e308\n1.79e308\n' '0\n1.79e308\n1.79e308\n'
# A logarithmic scale has room for a reference that is less than all bars
{ head -c 8000 /dev/zero && bytes '\001\001\002'; } >rare
gpuhist -t u8 -r 0:3 -q -o rare.json rare
shell 'printf "\\0\\0\\1\\1\\2" | gpuhist -q --compare=rare.json --plot=log -f plot 2>/dev/null'
shell 'printf "\\0\\0\\1\\1\\2" | gpuhist -q --compare=rare.json --plot=log -f svg 2>/dev/null | well_formed | grep "class=.reference.*d="'
# An empty reference is refused; an empty run writes its output without the comparison, and saves nothing else
printf '' | gpuhist -t u8 -q -b 5 -o nothing.json
refused gpuhist -t u8 --compare=nothing.json digits
refused gpuhist --merge --compare=nothing.json ref.json
shell 'printf "" | gpuhist -q --compare=ref.json --alarm=0.1 -f json -o empty.json --into=all.json'
shell 'ls | grep -c "empty.*rescue\|all.*rescue"; grep -c compare_ks empty.json all.json; gpuhist --merge empty.json all.json --nonzero -q'
shell 'gpuhist -q --merge nothing.json --compare=ref.json --nonzero'
bytes '\000\000\300\177' | run gpuhist -q -t f32 -r 0:1 -b 1 -o nan.json
shell 'printf "\\0\\0\\0\\0" | gpuhist -q -t f32 --compare=nan.json'
# The reference's counts in a picture are memory of -M
gpuhist --raw -t u32 -r full -b 1M -q --nonzero -f json -o many.json digits
refused gpuhist --raw -M 2M --compare=many.json -f svg digits
shell 'gpuhist --raw -q -M 2M --compare=many.json --nonzero digits 2>/dev/null | head -n 2'
