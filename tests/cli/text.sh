# SPDX-License-Identifier: MIT
# needs: zstd gzip
# --text: numbers in lines, or in columns of lines; refusals and their messages.
# shellcheck shell=sh
b='-r 0:4 -b 4 --no-header --nonzero'
g="gpuhist --text $b --flow"
bytes '0.5\n-0.25\n7\n' >numbers.txt
bytes 'ms,lat,n\n1,0.5,10\n2,3,20\n3,2.5,30\n' >table.csv
run gpuhist --text -r -1:1 -b 4 --flow numbers.txt
shell "cat table.csv | gpuhist --text=lat $b"
shell "gpuhist --text=2 $b -f tsv table.csv - <table.csv"

echo
echo '# Numbers: each is rounded once'
for n in 1 +1 -0 1. .5 1e3 1E-3 007 0x1.8p3 0XFF nan -NaN inf -Infinity 1e400 1e-400 NA null NULL 0.1 9007199254740993 \
	2.00000000000000011102230246251565404236316680908203125 2.00000000000000011102230246251565404236316680908203126; do
	printf '%s: ' "$n"
	echo "$n" | gpuhist --text -q -b 3 --log=auto --flow | sed -n 's/^0,\([^,]*\).*/\1/p; s/^\([a-z]*\),.*,1$/\1/p'
done
shell "printf '255\n1e2\n1.0\n0x10\n2550e-1\n' | $g -t u8 -r full"
shell "printf '1\n258\n' | $g -t u16be -r full -b 65536"
shell "printf '16777217\n16777219\n' | gpuhist --text -t f32 -b 4 --no-header"

echo
echo '# Columns: tab, else semicolon, else comma, else blanks; quotes; empty fields'
shell "printf 'a\tb,c\n1\t2\n' | gpuhist $b --text=2"
shell "printf '1;2\n3;0\n' | gpuhist $b --text=2"
shell "printf '  1   2\n\t3 0  \n' | gpuhist $b --text=2"
shell "printf '\"a, b\",\"lat\"\n\"x, \"\"y\"\"\", \"3\" \n' | gpuhist $b --text=lat"
shell "printf '1,2\n3,\nNA,NA\n' | gpuhist $b --text=2"
shell "printf '1\t\t3\n\t\t\n' | gpuhist $b --text=2"
shell "printf '1\n' | gpuhist $b --text=1"
# A quote inside a field is a character like any other
shell "printf 'Size (\")\tWeight\tPrice\n10\t1\t2\n12\t1\t3\n' | gpuhist $b --text=Weight"
shell "printf '3.5\" bolt\t1\t2\n4\" bolt\t0\t3\n' | gpuhist $b --text=3"
shell "printf 'a \"\t1\nb\t2\n' | gpuhist $b --text=2"
shell "printf -- '- \"a,b;c\" 1\nb \"d\" 2\n' | gpuhist $b --text=3"
shell "printf 'x,\"a \"\"x\"\"\"\n0,3\n' | gpuhist $b --text='a \"x\"'"
# A field that is a quote is not empty
shell "printf '\"\"\"\"\n' | gpuhist --text"
# The first line is a header if the column holds no number there, or a missing one among words
shell "printf ',x\n0,5\n' | gpuhist $b --text=1"
shell "printf ',x\n0,3\n' | gpuhist $b --text=1 -t i32"
shell "printf 'Na,K\n1,2\n' | gpuhist $b --text=1"
shell "printf 'NA,7\n1,2\n' | gpuhist $b --text=1 --flow"
shell "printf 'NA\n1\n' | gpuhist $b --text=1 --flow"
shell "printf 'nan,K\n1,2\n' | gpuhist $b --text=1 --flow"
shell "printf '12ms,K\n1,2\n' | gpuhist $b --text=1"
# The wrong field is quoted, with its number; JSON is for jq; --skip-bad is named once
printf 'a,b\n1,\n2," x y "\n3,%s\n4,5\n' "$(printf 'é%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21)" >field.csv
for option in '--text=b -t u8' '--text=b -t u8 --skip-bad' --text=2; do
	shell "gpuhist -b 0 --stats=50 $option field.csv"
done
shell 'sed 3d field.csv | gpuhist --text=b'
printf '{"at":"x","ms":12}\n{"at":"y","ms":13.5}\n' >lines.json
for option in --text --text=ms --text=2 '--text="two words"' '--text --skip-bad'; do
	shell "gpuhist $option lines.json"
done
# nginx's combined format: the bytes of answers by status; a request is one field
for i in 1 2 3 4; do
	echo "203.0.113.$i - - [28/Nov/2026:06:25:0$i +0000] \"GET /$i HTTP/1.1\" $((200 + i % 2 * 204)) $((i * 100)) \"-\" \"Mozilla/5.0 (X11; Linux)\""
done >access.log
run gpuhist --text=8 --by=7 --stats=50 access.log
shell "printf 'infos,K\n1,2\n' | gpuhist $b --text=1"

echo
echo '# Whole numbers, in any form: bins are 1 wide, and quantiles are whole'
shell 'seq 1000 | gpuhist --text --stats=5,50 --auto -b 2'
shell 'seq 30000 | gpuhist --text --stats=5,50 --auto -b 2 2>&1 | tail -4'
shell "printf '12\n15\n12\n9\n' | gpuhist --text --no-header"
shell "printf 'age,city\n12,a\n,b\n1.5e1,c\n9.0,d\n' | gpuhist --text=age --no-header --nonzero"
shell "printf 'age,city\n12,a\n-1.5,b\n1.5e1,c\n9.0,d\n' | gpuhist --text=age --missing=-1.5 --no-header --nonzero"
shell "printf '1\n2.5\n' | gpuhist --text -b 4 --no-header"
shell "printf '1\ninf\n' | gpuhist --text -b 4 --no-header -q"
shell "printf '9007199254740992\n1\n' | gpuhist --text -b 4 -f json | grep -o whole"
shell "printf '9007199254740994\n1\n' | gpuhist --text -b 4 -f json | grep -o whole"
for t in f16 f32be f64be bf16; do
	shell "printf '1\n5\nNA\n' | gpuhist --text -t $t --no-header --nonzero"
done
# Each row, each channel and the sum of the keys by itself
shell "printf '3\n5\n6\n3\n5.5\n6\n' | gpuhist --text --each=3 -b 1 -r 0:9 --stats=50 | cut -d, -f1-4,12-"
shell "seq 0 0.5 7 | gpuhist --text -c 3 -n 4 --stats=50 -f json -b 4 | grep -o '\"whole\"' | wc -l"
shell "seq 0 0.5 7 | gpuhist --text -c 2 -n 4 --stats=50 -f json -b 4 | grep -o '\"whole\"' | wc -l"
shell "printf 'a 3\nb 5\na 5\n' | gpuhist --text=2 --by=1 --stats=50 | cut -d, -f1,2,11-"
shell "printf 'a 3\nb 5\na 5.5\n' | gpuhist --text=2 --by=1 --stats=50 | cut -d, -f1,2,11-"
# A sum is whole if all are, and has the wider bins
seq 5 | gpuhist --text -o whole.json
seq 3 0.25 4 | gpuhist --text -o parts.json
run gpuhist --merge --no-header whole.json whole.json
run gpuhist --merge --no-header whole.json parts.json
shell 'gpuhist --merge whole.json parts.json -f json | gpuhist --merge --no-header'
shell 'gpuhist --merge whole.json parts.json -f json | grep -c whole'
shell 'seq 4 6 | gpuhist --text --into whole.json; gpuhist --merge whole.json -f json | grep -o ".whole.: true"'

echo
echo '# Several columns'
bytes 'name,price,"q,ty",age\nx,1.5,2,30\ny,2.5,,40\n"z, ""z""",9,4,50\n' >goods.csv
run gpuhist --text='price,"q,ty",age' --stats=50 goods.csv
run gpuhist --text=age,2 --stats=50 --no-header goods.csv
shell "cat goods.csv | gpuhist --text=2,4 -b 4 -r 0:60"
run gpuhist --text=price,age --auto -b 4 goods.csv
run gpuhist --text=price,age -f plot goods.csv
run gpuhist --text=price,age --auto -f plot goods.csv
shell "gpuhist --text=price,age goods.csv -f json | tee once.json | gpuhist --merge -b 0 --stats=50 - once.json"
shell "gpuhist --text=age,price goods.csv -f json | gpuhist --merge -b 0 - once.json"
run gpuhist --text=price,age --each=2 -r 0:60 -b 2 goods.csv
shell "tail -n +2 goods.csv | gpuhist --text=4,2,4 -r 0:60 -b 2"
shell "printf '1 2\n 3  4 5\n' | gpuhist --text=2,1 -t u8 -r 0:6 -b 2"
shell "printf '1,2\n3\n\"5\",x\n7,8\n' | gpuhist --text=1,2 -r 0:10 -b 2 --skip-bad"
shell "printf 'a,b\n1,2\n3,4\n5,6\n' | gpuhist --text=b,a -r 0:10 -b 2 -n 2"
shell "printf 'a\033[31m,b\n1,2\n3,4\n' | gpuhist --text=\"\$(printf 'a\033[31m')\",b -r 0:6 -b 2 -f plot"
refused gpuhist --text=price --text=age goods.csv
refused gpuhist --text=price,price goods.csv
refused gpuhist --text=price, goods.csv
refused gpuhist --text='"price' goods.csv
refused gpuhist --text='"price"x' goods.csv
refused gpuhist --text=price,cost goods.csv
refused gpuhist --text=price,age -c 2 goods.csv
refused gpuhist --text=price,age --by=name goods.csv
refused gpuhist --text=price,age -t i16 goods.csv
refused gpuhist --text="$(seq -s, 65)" goods.csv
shell "printf 'a,b\n1,\"x\ny\"\n' | gpuhist --text=a,b"

echo
echo '# --missing: words and values'
bytes 'ms,city\n12,a\nn/a,b\n-9999,c\n"n/a",n/a\n7,-\n' >gaps.csv
run gpuhist --text=ms --missing=n/a,-9999 --no-header gaps.csv
run gpuhist --text=ms --missing=-9999,none,n/a -b 0 --stats=50 gaps.csv
shell "cut -d, -f1 gaps.csv | tail -n +2 | gpuhist --text --missing=n/a,-9999 --no-header -r 0:20 -b 2 --flow"
shell "gpuhist --text=ms --missing=n/a,-9999 -f json gaps.csv | gpuhist --merge --no-header"
# A first line with such a word is no header, unless it has others
shell "printf 'n/a,3\n1,2\n' | gpuhist --text=1 --missing=n/a -r 0:4 -b 1 --no-header --flow"
shell "printf 'n/a,x\n1,2\n' | gpuhist --text=1 --missing=n/a -r 0:4 -b 1 --no-header --flow"
refused gpuhist --text=ms --missing=-9999 gaps.csv
refused gpuhist --text=ms --missing=n/,-9999 gaps.csv
refused gpuhist --text=ms --missing=n/a, gaps.csv
refused gpuhist --text=ms --missing=n/a -t i16 gaps.csv
mv gaps.csv gaps
refused gpuhist -t f32 --missing=n/a gaps

echo
echo '# Lines: comments, blank ones, CRLF, a byte order mark, no newline at the end, any length'
shell "printf '\357\273\2771\r\n\r\n# 2\n  \n3' | $g"
shell ": | $g"
shell "printf '# nothing\n' | $g"
{
	printf 'text,"lat"\n'
	for n in 1 2 3; do
		printf '"'
		head -c 300000 /dev/zero | tr '\0' ','
		printf '",%s,' $n
		head -c 200000 /dev/zero | tr '\0' x
		echo
	done
} >long.csv
shell "gpuhist --text=lat $b long.csv"

echo
echo '# All else works as for binary samples'
shell "printf '1\n2\n3\n4\n' | $g -r 0:8 -c 2"
shell "printf '1\n2\n3\n' | $g -r 0:8 -c 2"
shell "printf '1\n2\n3\n' | $g -r 0:8 -c 2 --ignore-tail"
shell "{ $g -n 2; cat; } <numbers.txt"
shell "{ $g -n 2; cat; } <table.csv"
# -n ends before a line that is not a number
shell "printf '1\n2\nx\n' | $g -n 2"
shell 'gpuhist --text -r -1:9 -b 2 --each=2 numbers.txt - <numbers.txt'
shell 'gpuhist --text -r -1:9 -b 2 --each=file numbers.txt - <numbers.txt'
shell 'gpuhist --text -r -1:9 -b 2 --tee -o h.csv numbers.txt; cat h.csv'
shell 'gpuhist --text -r -1:9 -b 2 -n 2 --tee -o h.csv <numbers.txt; tail -1 h.csv'
run gpuhist --text -r -1:9 -b 2 -f json numbers.txt
shell "gpuhist --text -v -r -1:9 -b 2 -o h.csv numbers.txt 2>&1 | sed -n '1s/, [0-9.]* s: .*//p'"
# Rows are written before more text comes
mkfifo pipe
{
	exec 3>pipe
	printf '1\n2\n3' >&3
	n=0
	while ! grep -q ,1,1,1 rows 2>/dev/null && [ $n -lt 1000 ]; do sleep 0.01 && n=$((n + 1)); done
	sed 's/^/meanwhile: /' rows
	printf '4\n' >&3
} &
gpuhist --text -t u8 -r 0:100 -b 2 --each=1 --no-header <pipe >rows
wait
cat rows
# A signal may have cut a number
printf '1\n23' >half
(
	exec 3>pipe
	cat half >&3
	kill -s INT "$(cat pid)"
	while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.01; done
) &
sh -c 'echo $$ >pid; exec gpuhist --finish --text -t u8 -r 0:100 -b 2 pipe' 2>&1
wait
# After TERM, a last line that its writer has ended counts; a long line still in the pipe is read to its end
head -c 400000 /dev/zero | tr '\0' , >commas
for signal in INT TERM; do
	: >rows
	(
		exec 3>pipe
		echo 0,1 >&3
		until grep -q . rows; do sleep 0.01; done
		kill -s STOP "$(cat pid)"
		{ cat commas && printf '7\n1,2'; } >&3
		kill -s $signal "$(cat pid)"
		exec 3>&-
		kill -s CONT "$(cat pid)"
	) &
	shell "sh -c 'echo \$\$ >pid; exec gpuhist --finish --text=2 -r 0:4 -b 2 --each=1 --flow --no-header pipe >rows'; cat rows"
	wait
done

echo
echo '# Bad input: nothing is read by its first digits'
run gpuhist --text numbers.txt table.csv
for line in 12ms 1,5 1.234.567,8 '1 2' '1;2' 1_000 0x 1e e5 + . -- '"1' '"1"2' '1"' abc nanx infinite; do
	echo "$line" >line
	run gpuhist --text line
done
bytes 'lat\n1\n2\n' >line
run gpuhist --text line
bytes '1\n2\nesc\033[31m \200 \303\251 123456789 123456789 123456789 123456789 123\303\251\303\251\n' >line
run gpuhist --text line
bytes '1\n2\n1\0002\n' >line
run gpuhist --text line
bytes '\377\3761\0\n\0' >line
run gpuhist --text line
bytes '1\0\n\0' >line
run gpuhist --text line
for text in '1,2\r3,4\r5,6\r' '1,2\r\n3,\r4\r\n' '# 1\r2\n' '1,2\r'; do
	bytes "$text" >line
	run gpuhist --text=1 line
done
bytes '2,5;1\n4,5;3\n' >line
run gpuhist --text=1 line
bytes 'a,b\n1,2\n3,x\n' >line
run gpuhist --text=2 line
run gpuhist --text=b line
run gpuhist --text=c line
run gpuhist --text=3 line
bytes 'a,b\n1,2\n\n3\n' >line
run gpuhist --text=b line
bytes 'a,b\n1,"2\n3",4\n' >line
run gpuhist --text=1 line
run gpuhist --text=2 line
for n in 256 -1 1.5 NA inf nan 1e20 0.1e-30; do
	echo "$n" >line
	run gpuhist --text -t u8 line
done
# A message shows the beginning of a line that is no UTF-8.
{
	head -c 200 /dev/zero | tr '\0' '\200'
	printf '\nnext line\n'
} >line
run gpuhist --text line
head -c 100000 /dev/zero | tr '\0' 1 >line
run gpuhist --text line
run gpuhist --text=2 line
head -c 100000 /dev/zero | tr '\0' '#' >line
run gpuhist --text line
# Long fields, blanks and first fields; a long line is checked to its end, with a newline or without one
head -c 70000 /dev/zero | tr '\0' x >letters
for end in '' '\n'; do
	shell "{ cat letters; printf '$end'; } | gpuhist --text"
	shell "{ printf '7%70000s$end'; } | gpuhist --text"
	shell "{ printf '%70000s7$end'; } | gpuhist --text=1"
	shell "{ cat letters; printf ',lat\n1,2$end'; } | gpuhist --text=lat"
	shell "{ printf '1,2\n'; cat letters; printf '$end'; } | gpuhist --text=2"
	shell "{ printf '1,2\n\"'; cat letters; printf '$end'; } | gpuhist --text=2"
	shell "{ printf '1,2\n'; cat letters; printf ',$end'; } | gpuhist --text=2 $b --flow"
	shell "{ printf '# '; cat letters; printf '$end'; } | gpuhist --text=2"
done
# A line of 16 MiB is none too long, wherever it stands; a longer one is refused, after bad lines before it
for n in 1 30000 150000; do
	{ seq $n && head -c 16777215 /dev/zero | tr '\0' ' ' && echo 7 && seq $n; } >long
	shell "gpuhist --text -r 0:1000000 -b 1 --no-header -T 3 long; cat long | gpuhist --text -r 0:1000000 -b 1 --no-header"
	{ seq $n && head -c 16777216 /dev/zero | tr '\0' ' ' && echo 7; } >long
	shell 'gpuhist --text -T 3 long; cat long | gpuhist --text'
done
{ seq 300000 && echo bad && cat long; } >bad
shell 'gpuhist --text -T 3 bad; cat bad | gpuhist --text'
shell 'gpuhist --text --skip-bad -T 3 bad; cat bad | gpuhist --text --skip-bad'
rm long bad
# A name in the header that is cut by the end of a read
for n in 65535 196605 196606 196607; do
	for last in 'lat\n' '3\n'; do
		head -c $n /dev/zero | tr '\0' ,
		bytes "$last"
	done >cut.csv
	shell "gpuhist --text=lat $b cut.csv"
done
# Lines of 8 bytes: the reads of threads begin with a line. Lines of 7: they begin anywhere.
seq 1000000 1299999 >even
seq 100000 699999 >odd
for threads in 1 4; do
	run gpuhist --text -t u32 -r 1000000:1300000 -b 2 -T $threads --no-header even
	run gpuhist --text -t u32 -r 100000:700000 -b 2 -T $threads --no-header odd
done
gzip -c numbers.txt >numbers.txt.gz
run gpuhist --text numbers.txt.gz
# The rows before it are written
shell "printf '1\n2\nx\n3\n' | gpuhist --text -r 0:4 -b 2 --each=1 --no-header"

echo
echo '# Text inside zstd: frames need not end with a line'
for part in '1,a\n2' '3,x\n' '4,b\n'; do
	bytes "$part" | zstd -qc --check
done >parts.zst
t='gpuhist --text=1 -r 0:100 -b 100 --no-header --nonzero'
run $t parts.zst
shell "cat parts.zst | $t"
run $t -T 3 parts.zst parts.zst parts.zst
run $t -n 2 parts.zst
run gpuhist --text=1 -r 0:100 -b 1 --each=2 parts.zst
run gpuhist --text parts.zst
head -c -3 parts.zst >cut.zst
run $t cut.zst
{ head -c -1 parts.zst && printf x; } >wrong.zst
run $t wrong.zst
run $t --no-check wrong.zst
{ cat parts.zst && echo 5; } >rest.zst
run $t rest.zst
# A frame that lacks a part of its checksum lacks a part of itself, whether it is checked or not
run $t --no-check cut.zst
# Windows of 128 MiB are taken as the memory allows
for n in 1 2 3 4 5 6 7 8; do
	head -c 400000 /dev/zero | tr '\0' '\n' | zstd -qc --long=27 >window$n.zst
	seq 9 | zstd -qc --long=27 >>window$n.zst
done
run $t -M 300M -T 8 window?.zst
# A line that an input of 100 frames holds a part of; empty frames
for n in 1 2 3 4 5 6 7 8 9 0; do
	printf '' | zstd -qc --check
	printf '%s' $n | zstd -qc --check
done >>digits.zst
echo | zstd -qc >>digits.zst
run gpuhist --text -r 1234567890:1234567891 -b 1 --no-header digits.zst
# With --finish, a bad line is reported before its frame ends
{
	exec 3>pipe
	printf '(\265/\375\0\0\060\0\0001\n2\nx\n' >&3
	n=0
	until [ -e reported ] || [ $n -eq 6000 ]; do sleep 0.01 && n=$((n + 1)); done
	[ $n -lt 6000 ] || echo 'not reported'
} &
run gpuhist --finish --text pipe
touch reported
wait

echo
echo '# Bad lines left out; a dash is a missing number'
bytes 'a,b\n1,2\nx,1\n2\n3,1\r,3\n3,-\n' >line
# shellcheck disable=SC2086 # several words
run gpuhist --text=b --skip-bad $b --flow line
# shellcheck disable=SC2086
run gpuhist --text=b --skip-bad -t u8 $b --flow line
# Documents hold the number of bad lines, which can be added.
gpuhist -q --text=b --skip-bad -r 0:9 -b 3 -f json line >bad.json
shell 'grep -o "\"bad_lines\": *[0-9]*" bad.json'
shell 'gpuhist --merge -f json bad.json bad.json | grep -o "\"bad_lines\": *[0-9]*"'
# --skip-bad names the first FILE with a bad line
{ seq 300000 && echo last; } >late
bytes 'early\n1\n' >early
for n in 1 2 3 4 5; do gpuhist --text --skip-bad -r 0:1 -b 1 -T 3 -o out late early early early 2>&1; done | sort | uniq -c | sed 's/ *//; s/^/! /'
bytes 'x\ny\n' >line
run gpuhist --text --skip-bad line
# A first line with an unclosed quote is left out like any other, and the next one decides; a missing column is not.
for column in 2 b c; do
	shell "printf '\"a,b\n# c\na,b\n1,2\n\"3,4\n5,6\n' | gpuhist --text=$column --skip-bad -r 0:9 -b 1"
done
shell "printf '\"1;2\n3;4\n' | gpuhist --text=2 -r 0:9 -b 1"

echo
echo '# Two columns of one name'
bytes 'a,b,"b",a,b\n1,2,3,4,5\n' >line
for columns in --text=b '--text=b --skip-bad' '--text=2 --by=a -r 0:9 -b 1' '--text=2 --by=4 -r 0:9 -b 1 --no-header'; do
	# shellcheck disable=SC2086 # several words
	run gpuhist $columns line
done
run gpuhist --text=z --skip-bad table.csv
run gpuhist --skip-bad table.csv

echo
echo '# Options that cannot be combined'
for option in -S1 --record=8 --rows=1:8 --part=1/2 --raw --zstd -tcf32 -tu4bit -ti4bit '-c last' --merge --tensor=w; do
	shell "gpuhist --text $option numbers.txt"
done
run gpuhist --text=0 numbers.txt
run gpuhist --text= numbers.txt
run gpuhist --text 2
run gpuhist --text none
# Names that promise text
run gpuhist -r -1:9 -b 2 numbers.txt
run gpuhist -t i64 -r 0:9 -b 1 numbers.txt
run gpuhist table.csv
run gpuhist -S1 numbers.txt
run gpuhist --raw -t u8 -b 1 -r full -S1 numbers.txt
echo >b.f32
run gpuhist numbers.txt b.f32
run gpuhist b.wav numbers.txt
cp parts.zst parts.LOG.zst
run gpuhist --skip-bad -r 0:9 -b 1 parts.LOG.zst
# shellcheck disable=SC2094 # the file has the name of the command
seq 1000 >seq
run gpuhist seq
run gpuhist --finish --text numbers.txt
# A field that is no number: what to type next
for field in latency=4.5 21.6ms 91.8% 452,33 n/a 'x y' 2024-01-02 1e5x7 -; do
	printf 'k;v\n1;%s\n' "$field" >field.csv
	# shellcheck disable=SC2086
	gpuhist $b --text=v field.csv 2>&1
done
shell "printf 'k,v\n1,\"3,5\"\n' | gpuhist $b --text=v"
shell "printf '10.0.0.1 - \"GET /\" 200\n' | gpuhist $b --text"
