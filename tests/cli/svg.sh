# SPDX-License-Identifier: MIT
# -f svg: the picture as a file.
# shellcheck shell=sh
bytes '\000\001\001\001\002\007' >six
run gpuhist -t u8 -b 4 -q -f svg six
# The same picture of the same samples
gpuhist -t u8 -b 4 -q -f svg six >a.svg
gpuhist -t u8 -b 4 -q -f svg --title=six <six >b.svg
shell 'cmp a.svg b.svg'
# By its suffix, in either case
run gpuhist -t u8 -b 4 -q -o p.SVG six
head -n 2 p.SVG
# Counts, and what they are called: logarithmic, joined, by their widths, residues, channels
titles() { sed -n 's/<text[^>]*>\(.*\)<\/text>/\1/p' "$1" | grep -v '^[^a-z]*$'; }
run gpuhist -t u8 -b 4 -q --plot=log -o l.svg six
titles l.svg
run gpuhist -t u8 -b 5000 -q -o j.svg six
titles j.svg
run gpuhist -t u8 --edges=0,1,3,10 -o e.svg six
titles e.svg
run gpuhist -t u8 --edges=1,2,2000 -q -o g.svg six
titles g.svg
run gpuhist -t f32 --log=1e-3:1e3 -b 6 -q -o r.svg six --ignore-tail
titles r.svg
run gpuhist -t u8 --mod -b 3 -o m.svg six
titles m.svg
run gpuhist -t u8 -c 2 -b 2 --clamp -o c.svg six
titles c.svg
# Nothing to draw
run gpuhist -t u8 -b 4 -o z.svg /dev/null
titles z.svg
run gpuhist -t f32 -o n.svg /dev/null
titles n.svg
# A title, or none: then the command
for title in 'Two words, & <more>' ''; do
	run gpuhist -t u8 -b 4 -q -o t.svg --title="$title" six
	sed -n '2,3p; s/.*class="head"[^>]*>//p' t.svg
done
# Words that are markup stay words
cp six '<&>"]]>'
run gpuhist -t u8 -b 4 -q -o w.svg '<&>"]]>'
sed -n 2p w.svg
# Any bytes are characters of XML, and are cut between characters
for title in "$(printf 'a<b>&"\047c \001\033[31m\r\t!')" "$(printf '\377\376\200 \303')" "$(printf '\357\277\276 \355\240\200 \364\220')" \
	"$(printf '%062d\360\237\223\212\303\251&\303\251\303\251' 0)"; do
	gpuhist -t u8 -b 4 -q -f svg --title="$title" six | sed -n '2p; s/.*class="head"[^>]*>//p'
done
# Neither saturated nor a table
run gpuhist -t u8 -f svg -C sat8 six
run gpuhist -t u8 -f svg --nonzero six
# 2^24 bins
run gpuhist -t u8 -b 16M -q -o w.svg six
grep -c '' w.svg
grep 'class="bins"' w.svg
# Columns: a run for each that are filled side by side, none less than a unit high; channels on one scale; logarithmic;
# joined; by the widths of listed edges, in decades, joined too; equal ratios
columns() {
	printf '$ gpuhist -f svg %s\n' "$*"
	gpuhist -qf svg "$@" 2>.err | sed -n 's/<path class="bins" d="\(.*\)".*/\1/p'
}
seq 80 250 | tr -d '\n' | head -c 492 >digits
awk 'BEGIN { for (i = 0; i < 4000; i++) print i * i / 62500 }' >edges
{ head -c 1000 /dev/zero && cat six; } >flat
columns -t u8 -r 44:60 -b 16 digits six
columns -t u8 -r 44:60 -b 16 --plot=log digits six
columns -t u8 -r 47:55 -b 8 -c 2 digits
columns -t u8 -b 9 flat
columns -t u16 -r 12000:15000 -b 3000 digits
columns -t u8 --edges=0,1,3,10,11 six
columns -t u8 --edges=1,2,2000 six
columns -t u8 --edges=@edges digits six
columns -t f32 --log=1e-9:1e3 -b 9 digits
columns -t u8 --mod -b 7 digits
# Numbers beside the axes, y first: 1, 2 or 5 times a power of ten, as many as fit side by side; what
# a power of ten makes shorter; logarithmic; whole numbers that binary64 cannot hold; close neighbours
numbers() {
	printf '$ gpuhist -f svg %s\n' "$*"
	gpuhist -qf svg "$@" 2>.err | sed -n 's/<text.*anchor="[em].*>\([^<]*\)<.*/\1/p' | tr '\n' ' '
	echo
}
head -c 30 /dev/zero >thirty
for range in 0:1 -0.31:0.31 0:4e9 1e-7:6e-7 99.9:100.1 1e300:1.000000000000001e300 0:5e-324; do
	numbers -t f64 -r $range -b 1 /dev/null
done
for edges in -1.7e308,-5e-324,0,5e-324,1.7e308 5e-324,1e-323,1e-300,1.7e308 8.691694759794e-311,8.6916947597942e-311,8.6916947597947e-311,8.691694761523e-311; do
	numbers -t f64 --edges=$edges /dev/null
done
for range in 1:1000 1e-3:1e3 1e-9:1e3 30:40 1e-300:1e300; do
	numbers -t f64 --log=$range -b 1 /dev/null
done
numbers -t u64 -r 1700000000000000000:1700000000000003600 -b 10 /dev/null
numbers -t u64 -r 18446744073709551613:18446744073709551616 -b 3 /dev/null
numbers -t u8 -b 2 six
numbers -t u8 --edges=1,2,2000 six
numbers -t u8 -b 2 thirty
numbers -t u8 -b 2 --plot=log six thirty
numbers -t u8 -c 3 -b 2 thirty
# Where there are two powers of ten, numbers between them too; lines for those that have none
head -c 9 /dev/zero >nine
numbers -t u8 -b 2 --plot=log nine
numbers -t f32 --log=1e30:3e31 -b 3 /dev/null
shell "gpuhist -t u8 -b 2 -qf svg six thirty --plot=log 2>&1 | grep 'class=\"minor\"'"
# Ranks: powers of ten of both signs, zero, and where empty columns are left out
perl -e 'print pack "f<*", map {($_ % 2 ? -1 : 1) * exp($_ % 41 / 4)} 1..999; print pack "f<*", 0, 1e30' >signs
numbers -t f32 --log=auto -b 4096 signs
numbers -t i16 --log=auto signs
shell "gpuhist -t f32 --log=auto -b 40 -qf svg signs | grep 'class=\"[ba]'"
# README's picture is the one that the tour's commands make; `gpuhist -t u8 -b 64 -r 38:102 -o docs/bells.svg bells.u8` writes it anew
sed -n '/>bells\.u8$/s/^\$ //p' "$1/../../examples/tour.md" >bells.sh
sh bells.sh
gpuhist -t u8 -b 64 -r 38:102 -o bells.svg bells.u8
cmp bells.svg "$1/../../docs/bells.svg" && echo the same
# Nothing at all, by every kind of bins
for bins in --auto --log=auto '-r -1:1' --log=1:9 --edges=0,1,4 '-r full' '-b 3 -c 2 --log=auto'; do
	# shellcheck disable=SC2086
	gpuhist -q -t f64 $bins -f svg --title= /dev/null >z.svg
	echo "$bins: $(grep -c -e nan -e inf z.svg) numbers that are none"
done
