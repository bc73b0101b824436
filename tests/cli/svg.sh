# SPDX-License-Identifier: MIT
# -f svg: pictures as files. tests/test_picture.c has random ones; docs has two for the eye.
# shellcheck shell=sh disable=SC2086
bytes '\000\001\001\001\002\007' >six
seq 80 250 | tr -d '\n' | head -c 492 >digits
# Bars; several channels; rows as panels, as a heat map and as lines; files as dots
run gpuhist -t u8 -b 4 -q -f svg six
shorter() { printf '$ gpuhist %s\n' "$*" && gpuhist -q -f svg "$@" | well_formed | sed '/<style>/,/<rect class="page"/d'; }
shorter -t u8 -c 2 -b 2 --clamp --plot=log six
shorter -t u8 --each=100 -r 48:58 -b 10 digits
shorter -t u8 --each=100 -r 48:58 -b 10 --stats digits
shorter -t u8 --each=file -c 3 -b 9 six digits | sed '/<rect x=/d'
# Offsets count from the start of the input; 64 channels have columns
offsets() { gpuhist -q -f svg "$@" | well_formed | sed -n 's/.*x="92".*>\(0x.*\)<.*/\1/p' | tr '\n' ' '; }
offsets -t u8 --each=5 -S 0x100 -n 100 --skip=200 digits
shorter -t u8 --each=10 -S 0x60 -n 100 -r 48:58 --stats digits | sed -n 's/.*>\(0x.*\)<.*/\1/p'
gpuhist -t u8 -c 64 --each=1 --ignore-tail -q -f svg digits | well_formed | grep -o '<path class="axis" d="M[0-9]* [0-9]*V[0-9]*H[0-9]*' | sed -n '1p;$p'
# A heat map of many rectangles is an image. Many channels are one. Logarithmic shades begin at the power of ten below
shorter -t u8 --each=25 -r 48:58 -b 10 digits | sed '/<rect x=/d'
awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%c", 1 + i * i % 127 * i % 127 }' >many
shell 'gpuhist -t u8 --each=45 -q -f svg many | well_formed | grep -c "<image"'
shell 'head -c 1700 many | gpuhist -t u8 -c 17 -b 128 -q -f svg | well_formed | grep -c "<image\|<path fill"'
awk 'BEGIN { for (i = 0; i < 17000; i++) printf "%c", i % 1000 ? 65 + i % 10 : 97 }' >dull
for log in -q --plot=log; do
	gpuhist -t u8 --each=1000 -r 64:100 -b 36 $log -q -f svg dull | well_formed | grep -o '<path fill="[^"]*"' | sort | uniq -c
done
shorter -t u8 --each=file --stats=25,75 six digits
# The chosen quantiles, in their order, as curves with the area between them filled
shorter -t u8 --each=100 -r 48:58 --stats=10,50,99 digits
# More quantiles than their line has room for
for more in 99 99.9 99.99 99.99,99.999; do
	shorter -t u8 --each=100 -r 48:58 --stats="$(seq -s, 1 19),$more" digits | sed -n 's/.*>\(1%.*\)<.*/\1/p'
done
# Nothing to draw: no bins, no samples, no rows
for options in '-t f32' '-t u8 -b 4' '-t f64 --log=auto' '-t u8 --each=9' '-t u8 --each=file --stats'; do
	shell "printf '' | gpuhist $options -q -f svg | well_formed | grep -c 'nan\\|inf\"'"
done
# Chosen by the suffix, in either case; the same picture of the same samples; no other text
gpuhist -t u8 -b 4 -q -f svg six >a.svg
run gpuhist -t u8 -b 4 -q -o p.SVG six
shell 'gpuhist -t u8 -b 4 -q -f svg --title=six <six | well_formed | cmp - a.svg; cmp p.SVG a.svg'
# Titles of the axes
titles() { printf '$ gpuhist %s\n' "$*" && gpuhist -q -f svg "$@" | well_formed | sed -n 's/<g [^>]*>//; s/<text[^>]*>\(.*\)<\/text>/\1/p' | grep '[a-z]'; }
titles -t u8 -b 5000 six
# The last of many bars has fewer bins, and is marked
titles -t u8 -b 4999 six
shell 'gpuhist -t u8 -b 4999 -c 2 -q -f svg six | well_formed | grep ">[*]<"'
titles -t u8 --edges=0,1,3,10 six
titles -t u8 --edges=1,2,2000 six
titles -t u8 --mod -b 3 six
# The first FILE and how many more, and the column, which names the axis; a single bin is not mentioned. A given title
printf 'price,size\n1,2\n3,4\n' >sales.csv
cp sales.csv more.csv
titles --text=price sales.csv more.csv
titles --text=size --log=1:9 -b 1 sales.csv
titles --text=2 -r 0:9 -b 3 sales.csv
titles -t u8 -b 4 --each=1 -c 2 six six six
# Any bytes become characters of XML, and are cut between characters
for title in 'Two words, & <more>' '' "$(printf 'a<b>&"\047c \001\033[31m\r\t!')" "$(printf '\377\376\200 \303')" \
	"$(printf '\357\277\276 \355\240\200 \364\220')" "$(printf '%062d\360\237\223\212\303\251&\303\251\303\251' 0)"; do
	gpuhist -t u8 -b 4 -q -f svg --title="$title" six | well_formed | sed -n '2,3p; s/.*class="head"[^>]*>//p'
done
# Numbers next to the axes, y first: 1, 2 or 5 times a power of ten, as many as fit side by side; logarithmic, in both
# directions with zero between; whole numbers that binary64 cannot hold; close neighbours
numbers() {
	printf '$ gpuhist -f svg %s\n' "$*"
	gpuhist -qf svg "$@" 2>.err | well_formed | sed -n 's/<g [^>]*>//; s/<text text-anchor="[em].*>\([^<]*\)<.*/\1/p' | tr '\n' ' '
	echo
}
for range in 0:1 -0.31:0.31 0:4e9 1e-7:6e-7 99.9:100.1 1e300:1.000000000000001e300 0:5e-324; do
	numbers -t f64 -r $range -b 1 /dev/null
done
for edges in -1.7e308,-5e-324,0,5e-324,1.7e308 5e-324,1e-323,1e-300,1.7e308; do
	numbers -t f64 --edges=$edges /dev/null
done
for range in 1:1000 1e-9:1e3 30:40 1e-300:1e300; do
	numbers -t f64 --log=$range -b 1 /dev/null
done
numbers -t u64 -r 1700000000000000000:1700000000000003600 -b 10 /dev/null
numbers -t u64 -r 18446744073709551613:18446744073709551616 -b 3 /dev/null
head -c 30 /dev/zero >thirty
numbers -t u8 -b 2 --plot=log six thirty
numbers -t u8 -b 1 --plot=log thirty
# The last number stays in the picture
gpuhist -t u32 -r 0:20000000 -b 2 -q -f svg /dev/null | well_formed | sed -n 's/.*"\(end" x="824"\).*/\1/p'
perl -e 'print pack "f<*", map {($_ % 2 ? -1 : 1) * exp($_ % 41 / 4)} 1..999; print pack "f<*", 0, 1e30' >signs
numbers -t f32 --log=auto -b 4096 signs
numbers -t i16 --log=auto signs
# Neither saturated nor a table; 2^24 bins
refused gpuhist -t u8 -f svg -C sat8 six
refused gpuhist -t u8 -f svg --nonzero six
shell "gpuhist -t u8 -b 16M -q -f svg six | well_formed | grep 'class=\"bins\"'"
# The tour's commands draw its pictures; these commands write them anew, in docs
sed -n '/>bells\.u8$/s/^\$ //p; />router\.bin$/s/^\$ //p; /-o router\.svg/s/^\$ //p' "$1/../../examples/tour.md" >pictures.sh
sh pictures.sh
gpuhist -t u8 -b 64 -r 38:102 -o bells.svg bells.u8
for picture in bells router; do
	cmp $picture.svg "$1/../../docs/$picture.svg" && echo the same
done
# No samples, for every kind of bins, in both kinds of pictures
for bins in --auto --log=auto '-r -1:1' --log=1:9 --edges=0,1,4 '-r full' '-b 3 -c 2 --log=auto'; do
	gpuhist -q -t f64 $bins -f svg --title= /dev/null >z.svg
	echo "$bins: $(grep -c -e nan -e inf z.svg) numbers that are none; $(gpuhist -q -t f64 $bins -f plot /dev/null | tail -n 1)"
done
# Names of columns stay as they are, above lines and panels, too
printf 'a-1000,\351e+10\n' >names.csv
seq 40 | sed 's/.*/&,&/' >>names.csv
for each in '1 -b 0' '1 -r 0:50 -b 5' 'file -b 0'; do
	# shellcheck disable=SC2086 # words
	gpuhist -q --text="$(printf 'a-1000,\351e+10')" --each=$each -f svg names.csv names.csv | well_formed | grep -o '>column [^<]*'
done
