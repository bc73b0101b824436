# SPDX-License-Identifier: MIT
# needs: terminals
# Pictures of text: -f plot and -p.
# shellcheck shell=sh
unset LC_CTYPE LANG NO_COLOR
# 4096 values from 0 to 255, most of them near 100: sums of two bytes of a sequence that repeats.
awk 'BEGIN { for (i = 0; i < 4096; i++) { x = (x * 1103 + 12345) % 65536; y = (y * 2531 + 4321) % 65536
	printf "%c", 1 + int(x / 700) + int(y / 620) % 128 } }' >hill
run gpuhist -t u8 -f plot hill
gpuhist -t u8 -f plot hill >one
run env LC_ALL=en_US.UTF-8 gpuhist -t u8 -f plot --plot=log -b 128 hill
# As wide as COLUMNS says, from 40 to 200; what is longer than a line goes on in the next
run env COLUMNS=40 gpuhist -t u8 -r 90:130 -b 40 -f plot --title='a hill of many samples, of which few are shown' hill
for columns in 1 40 93 200 201 0 many; do
	shell "COLUMNS=$columns LINES=5 gpuhist -t u8 -f plot hill | wc -L"
done
# The name of the first FILE, a title, none; neither can say anything to a terminal
run gpuhist -t u8 -b 1 -r full -f plot ./hill one
shell 'gpuhist -t u8 -b 1 -r full -f plot <hill'
shell "gpuhist -t u8 -b 1 -r full -f plot --title= hill; gpuhist -t u8 -b 1 -r full -qp --title='a  title' hill"
name=$(printf 'a\033[2J\nb\302\233\377')
cp hill "$name"
shell 'gpuhist -t u8 -b 1 -r full -f plot a?*b*'
run gpuhist -t u8 --title=none hill
run gpuhist -t u8 --title=none -o hill.json hill
# Rows hold equally many bins from the first one on; where the last holds fewer it is said
awk 'BEGIN { for (i = -307; i < 308; i++) printf "%c%c", i % 256 + 256 * (i < 0), i < 0 ? 254 + (i >= -256) : int(i / 256) }' >flat
run gpuhist -t i16 --auto -b 160 -f plot flat
run gpuhist -t u8 -r 100:104 -b 4 -qf plot hill
# What is in no bin has rows, NaN too; the counts are exact and need no -C
bytes '\000\000\200\077\000\000\300\177\000\000\200\377\000\000\000\100\000\000\040\100' >five
run gpuhist -t f32 -r 0:2.5 -b 5 -f plot five
run gpuhist -t f32 -f plot five
# Ends that are empty are left out, and said
printf 'ccccccdddddddde' >few
run gpuhist -t u8 -f plot few
run gpuhist -t u8 --mod -b 5 -f plot few
run gpuhist -t u8 --edges=0,99.5,99.75,100.25,101 -f plot few
run gpuhist -t u8 --log=1:1000 -b 100 -f plot few
# Nothing
run gpuhist -t u8 -f plot /dev/null
run gpuhist -t f32 -f plot /dev/null
run gpuhist -t u8 -b 5 -qf plot few
# Channels, one after another over the same rows
run gpuhist -t u8 -c 3 -f plot few
# -p: beside any output, on standard error, under -q too; the output is what it is without
run gpuhist -t u8 -b 103 -r 99:102 -b 3 -p few
run gpuhist -t u8 -r 99:102 -b 3 -q --plot=log few -o few.csv
cat few.csv
run gpuhist -t u8 -r 99:102 -b 3 -qp -f plot few
run gpuhist -t u8 -r 99:102 -b 3 -qp -f plot few -o few.txt
cat few.txt
run gpuhist -t u8 -b 3 -q -p -f raw -C sat8 few -o /dev/null
run gpuhist -t u8 -r 99:102 -b 3 --plot=wide few
# The value of -p with =, and after a blank, where it is a FILE
run gpuhist -t u8 -r 99:102 -b 3 -q -p=log few
run gpuhist -t u8 -r 99:102 -b 3 -p log few
cp few log
run gpuhist -t u8 -r 99:102 -b 3 -q -p log few
rm log
shell 'gpuhist -t u8 -r 99:102 -b 3 -p few 2>&-; echo $?'
shell 'gpuhist -t u8 -r 99:102 -b 3 -p few 2>/dev/full; echo $?'
shell 'gpuhist -t u8 -r 99:102 -b 3 -f plot few >/dev/full; echo $?'
# Extremes are those of --stats alone: the edges of bins are not
run gpuhist -t f32 --auto -b 4 --stats -qp -o /dev/null five
# Formats with rows have their options; a picture has none of them
run gpuhist -t u8 -f plot --flow few
run gpuhist -t u8 -f plot --nonzero few
run gpuhist -t u8 -f plot -C sat8 few
# The same bytes by any number of threads, from a pipe and from a file
for threads in 1 2 3; do
	gpuhist -T $threads -t u8 -f plot <hill | cmp - one
done
# On a terminal: colour unless it is not wanted
on_terminal() {
	printf '$ %s\n' "$*"
	env "$1" script -qec "$2" /dev/null </dev/null | tr -d '\r' | tr '\033' '^'
}
on_terminal TERM=xterm 'gpuhist -t u8 -r 99:102 -b 3 -f plot few'
on_terminal TERM=dumb 'gpuhist -t u8 -r 99:102 -b 3 -f plot few'
TERM=xterm on_terminal NO_COLOR=1 'gpuhist -t u8 -r 99:102 -b 3 -p few'
on_terminal TERM=xterm 'gpuhist -t u8 -r 99:102 -b 3 -p -f plot few >out; cat out'
# Ranks: zero begins a row, and many empty rows are one
perl -e 'print pack "f<*", map {($_ % 2 ? -1 : 1) * exp($_ % 41 / 4)} 1..999; print pack "f<*", 0, 1e30' >signs
run gpuhist -t f32 --log=auto -b 4096 -f plot signs
run gpuhist -t f32 --log=auto -b 40 -f plot --title= signs
perl -e 'print pack "L<*", map {int exp($_ % 200 / 10)} 1..999' >whole
run gpuhist --log=auto -f plot whole
# Labels above 10^7 have no more digits than those below it
perl -e 'print pack "d<*", map {1.5 * 3 ** $_} 0..39' >powers
shell 'gpuhist -t f64 --log=1.1:1e19 -b 19 -f plot powers | sed -n "s/ *\([^ ]*\) |.*/\1/p" | grep -c ".\{8\}"'
