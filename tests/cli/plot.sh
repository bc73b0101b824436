# SPDX-License-Identifier: MIT
# Pictures of text: -f plot and -p. tests/test_picture.c has all widths and numbers of bins.
# shellcheck shell=sh
unset LC_CTYPE LANG NO_COLOR
# 4096 values from 0 to 255, most of them near 100: sums of two bytes of a sequence that repeats.
awk 'BEGIN { for (i = 0; i < 4096; i++) { x = (x * 1103 + 12345) % 65536; y = (y * 2531 + 4321) % 65536
	printf "%c", 1 + int(x / 700) + int(y / 620) % 128 } }' >hill
printf 'ccccccdddddddde' >few
run gpuhist -t u8 -f plot hill
run env LC_ALL=en_US.UTF-8 gpuhist -t u8 -f plot --plot=log -b 128 hill
# Channels side by side, with one scale; the narrowest, in several blocks
run gpuhist -t u8 -c 2 -f plot hill
run env COLUMNS=40 LC_ALL=C.UTF-8 gpuhist -t u8 -c 16 -f plot hill
# The scale fits the rows in range; longer bars end in an arrow. Lines that are too long are cut
run env COLUMNS=50 gpuhist -t u8 -r 100:104 -b 4 -qf plot --title='a hill of which little is shown' hill
run env COLUMNS=50 gpuhist -t u8 -r 100:104 -b 4 -qf plot --title='a hill of which very little is shown, if anything' hill
cp hill hill.2
shell 'gpuhist -t u8 -f plot hill hill.2 | head -n 1; seq 9 | gpuhist --text -f plot | head -n 1'
for columns in 1 40 93 201 many; do
	shell "COLUMNS=$columns LINES=5 gpuhist -t u8 -f plot hill | wc -L"
done
# Equal shares are equally long bars: rows of --auto begin at multiples of eight bins
for rating in 1 2 3 4 5; do yes $rating | head -n 20; done >ratings
shell 'gpuhist -q --text -f plot ratings | grep "#"'
# The last of many rows has fewer bins, and is marked
run env COLUMNS=60 gpuhist -qf plot -t u8 -b 101 hill
awk 'BEGIN { for (i = -307; i < 308; i++) printf "%c%c", i % 256 + 256 * (i < 0), i < 0 ? 254 + (i >= -256) : int(i / 256) }' >flat
run gpuhist -t i16 --auto -b 160 -f plot flat
# NaN; residues; widths of listed edges; nothing
bytes '\000\000\200\077\000\000\300\177\000\000\200\377\000\000\000\100\000\000\040\100' >five
run gpuhist -t f32 -r 0:2.5 -b 5 -qf plot five
run gpuhist -t u8 --mod -b 5 -f plot few
run gpuhist -t u8 --edges=0,99.5,99.75,100.25,101 -qf plot few
run gpuhist -t f32 -qf plot /dev/null
run gpuhist -t u8 -b 5 -qf plot few
# --log=auto: zero is in the middle of a row, which includes its empty neighbours
perl -e 'print pack "f<*", map {($_ % 2 ? -1 : 1) * exp($_ % 41 / 4)} 1..999; print pack "f<*", 0' >signs
run gpuhist -t f32 --log=auto -b 4096 -f plot signs
# Rows of --log=LO:HI are whole octaves, if these are among the edges of the bins
perl -e 'print pack "f<*", map {exp($_ % 61 / 9)} 1..999' >falling
run gpuhist -q -t f32 --log=1:1024 -b 60 -f plot falling
shell 'gpuhist -q -t f32 --log=1:1000 -b 60 -f plot falling | sed -n "1p;3p"'
# Labels above 10^7 have as many digits as the others
bytes '\000\000\000\000\000\000\360\077\000\000\000\000\243\341\301\101' >far
run gpuhist -t f64 -r 0.5:7e8 -b 6 -f plot far
# Every row with samples has a bar, however different the widths; only the edge 0 is labelled 0
perl -e 'print pack("N", $_ & 0xffffff) =~ s/^.//sr for -500 .. -1, 1 .. 499' >signed.i24be
for log in '' --plot=log; do
	run gpuhist -q -t i24be --edges=-1e308,0,5e-324,1000,3.4e38 -f plot $log signed.i24be
done
bytes '\021\352\055\201\231\227\161\075\173\024\256\107\341\172\204\077' >small
run gpuhist -q -t f64 --edges=1e-12,1e-2,1 -f plot small
run gpuhist -q -t f64 --log=1e-300:1e10 -b 5 -f plot small
# For integers, -1 and 0 have bars of their own
perl -e 'print pack "l<*", (-1) x 50, (0) x 30, (1) x 20, 5, -9' >ones
run env COLUMNS=60 gpuhist -t i32 --log=auto -f plot ones
shell 'head -c 320 ones | gpuhist -t i32 --log=auto -f plot'
shell 'gpuhist -t i32 --log=auto -f svg ones | well_formed | grep -o "class=.bins. d=[^/]*"'
# Hints: --log=auto and -r if one row has nearly all samples, -b for a comb
perl -e 'print pack "L<*", 4e9, map {$_ % 100} 1..1000' >spike
shell 'gpuhist -f plot spike 2>&1 | tail -n 4'
run gpuhist -b 4 --nonzero --auto spike
shell 'gpuhist -t u8 -r 0:256 -b 100 -f plot hill 2>&1 | tail -1'
shell 'gpuhist -t u8 -r 0:256 -b 64 -f plot hill 2>&1 | tail -1'
shell 'head -c 1000 /dev/zero | cat - hill | gpuhist -t u8 -f plot -n 1002 2>&1 | tail -1'
# -p: on standard error, even with -q, without a change of the output. --plot=log draws the output, if it is a picture
run gpuhist -t u8 -b 103 -r 99:102 -b 3 -p few
run gpuhist -t u8 -r 99:102 -b 3 -q --plot=log few -o few.csv
cat few.csv
shell "gpuhist -t u8 -r 99:102 -b 3 -qp -f plot --title='a  title' few 2>&1 | sort | uniq -c"
run gpuhist -t u8 -r 99:102 -b 3 -q --plot=log -o few.svg few
refused gpuhist -t u8 -r 99:102 -b 3 --plot=wide few
refused gpuhist -t u8 -r 99:102 -b 3 -p log few
shell 'gpuhist -t u8 -r 99:102 -b 3 -p few 2>&- >one; echo $?; wc -l <one'
shell 'gpuhist -t u8 -r 99:102 -b 3 -p few 2>/dev/full >one; echo $?; wc -l <one'
shell 'gpuhist -t u8 -r 99:102 -b 3 -f plot few >/dev/full; echo $?'
# Names are data
name=$(printf 'a\033[2J\nb\302\233\377')
cp hill "$name"
shell 'gpuhist -t u8 -b 1 -r full -f plot a?*b*'
# Options that do not apply to a picture
refused gpuhist -t u8 --title=none -o hill.json hill
for option in --flow --nonzero '-C sat8' --color --color=red; do
	# shellcheck disable=SC2086 # two words
	refused gpuhist -t u8 -f plot $option few
done
# Escapes only if --color=always asks for them
for color in auto always never; do
	shell "TERM=xterm gpuhist -t u8 -r 99:102 -b 3 --color=$color -f plot few | tr '\\033' ^ | tail -2"
done
# Any number of threads draws the same bytes, from a pipe and from a file
gpuhist -t u8 -f plot hill >one
for threads in 1 2 3; do
	gpuhist -T $threads -t u8 -f plot --title=hill <hill | cmp - one
done
