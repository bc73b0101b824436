#!/bin/sh
# SPDX-License-Identifier: MIT
# Draw every kind of picture into one page, for the eye: DIR/index.html, in SVG and in text of 80 and 200 columns. If there is
# chromium, also DIR/light.png and DIR/dark.png; if there is rsvg-convert, heat maps as PNG, whose
# edges must be sharp.
# usage: tests/pictures.sh GPUHIST DIR [PATTERN]     PATTERN (of grep) chooses pictures by their names
set -u
gpuhist=$(realpath "$1")
mkdir -p "$2"
cd "$2" || exit 1
rm -f ./*.svg ./*.txt
pattern=${3:-.}
LC_ALL=C.UTF-8 TERM=xterm
export LC_ALL TERM

# ---- data ----

[ -e made ] || perl -e '
	sub out { my ($name, $data) = @_; open my $f, ">:raw", $name or die; print $f $data; close $f }
	srand 1;
	sub normal { my $s = -6; $s += rand for 1 .. 12; $s }
	out("hill.u8", pack "C*", map { int(100 + 30 * normal()) & 255 } 1 .. 40000);
	out("other.u8", pack "C*", map { int(110 + 25 * normal()) & 255 } 1 .. 20000);
	out("ratings.dat", join "", map { "$_\n" x 200 } 1 .. 5);
	out("latency.f32", pack "f<*", map { exp(3 + normal()) } 1 .. 20000);
	out("signs.f32", pack "f<*", 0, 0, 0, map { ($_ % 3 ? 1 : -1) * exp(4 * normal()) } 1 .. 20000);
	out("wide.f64", pack "d<*", map { 1e6 + normal() } 1 .. 5000);
	for my $c (5, 24, 384) {
		my @x;
		for my $i (1 .. 400) { push @x, map { int(2048 + 8 * $_ % 700 + 200 * normal()) } 1 .. $c }
		out("probe$c.i16", pack "s<*", @x);
	}
	out("many.u8", join "", map { pack "C*", map { int(rand 60) + int($_ / 500) } 1 .. 65536 } 1 .. 4);
	out("firmware.u8", join "", map { my $k = $_; pack "C*", map { $k % 9 < 3 ? int rand 256 : $k % 9 < 5 ? 0
		: 32 + int rand 64 } 1 .. 4096 } 1 .. 60);
	out("short.u8", pack "C*", map { int rand 200 } 1 .. 20000);
	out("ramp.u16", pack "S<*", map { my $x = rand 4096; int($x + 0.4 * sin($x / 200) + ($x > 2000)) } 1 .. 400000);
	my @names = ("Amsterdam", "a city with a very long name", "Oslo", "R&D <new>", "Bern", "Zagreb");
	my $t = "city,latency_ms,size\n";
	$t .= ($names[$_ % 6]) . "," . sprintf("%.2f", exp(2 + $_ % 6 / 4 + normal() / 2)) . "," . int(rand 900) . "\n" for 1 .. 6000;
	out("table.csv", $t);
	$t = "";
	$t .= sprintf("key%03d,%.1f\n", $_ % 120, 50 + $_ % 120 / 4 + 10 * normal()) for 1 .. 12000;
	out("keys.csv", $t);
' && : >made
for n in 000 001 002 003 004; do [ -e out.$n.u8 ] || head -c 9000 hill.u8 | tail -c $((4000 + ${n#00} * 1000)) >out.$n.u8; done
"$gpuhist" -q -f json -o other.json other.u8

# ---- pictures ----

page() { printf '%s\n' "$@" >>index.html; }
# svg NAME ARGUMENTS...
svg() {
	name=$1 && shift
	echo "$name" | grep -q "$pattern" || return 0
	"$gpuhist" -q -f svg -o "$name.svg" "$@" 2>"$name.err" || cat "$name.err"
	page "<figure><figcaption>$name: $(echo "$*" | sed 's/&/\&amp;/g; s/</\&lt;/g')</figcaption><img src=$name.svg></figure>"
}
# text NAME ARGUMENTS...
text() {
	name=$1 && shift
	echo "$name" | grep -q "$pattern" || return 0
	for columns in 80 200; do
		COLUMNS=$columns "$gpuhist" -f plot "$@" >"$name$columns.txt" 2>&1
		page "<figure class=w$columns><figcaption>$name, $columns columns: $(echo "$*" | sed 's/&/\&amp;/g')</figcaption><pre>$(
			sed 's/&/\&amp;/g; s/</\&lt;/g' "$name$columns.txt")</pre></figure>"
	done
}
both() {
	svg "$@"
	text "$@"
}
printf '' >index.html
page '<!DOCTYPE html><meta charset=utf-8><title>pictures</title><style>body { font: 12px sans-serif; background: Canvas; color: CanvasText }
:root { color-scheme: light dark } figure { display: inline-block; margin: 8px; vertical-align: top } .w200 { display: block }
pre { font: 11px/1.05 "DejaVu Sans Mono", monospace } figcaption { max-width: 800px }</style>'

both bars hill.u8
both ratings --text ratings.dat
both barslog --plot=log hill.u8
both range -r 30:131 -b 101 hill.u8
both out -r 80:120 hill.u8
both logauto --log=auto latency.f32
both signs --log=auto signs.f32
both log --log=0.1:1000 -b 40 latency.f32
both edgeslog --edges=1,2,5,10,20,50,100,200 latency.f32
both edges --edges=0,1,3,7,50,60,100 latency.f32
both wide --auto wide.f64
both column --text=latency_ms table.csv
both compare --compare=other.json hill.u8
both comparelog --compare=other.json --plot=log hill.u8
both empty -t u8 /dev/null
both linearity -t u16 --mask=0xfff -b 4096 --linearity=ramp ramp.u16
both linearity2 -t u16 --mask=0xfff -b 4096 -c 2 --linearity=ramp ramp.u16
both channels5 -t i16 -c 5 -b 128 -r 0:4096 probe5.i16
both channels24 -t i16 -c 24 -b 128 -r 0:4096 probe24.i16
both channels384 -t i16 -c 384 -b 128 -r 0:4096 probe384.i16
both channels65536 -t u8 -c 65536 -b 256 many.u8
both by --text=latency_ms --by=city -r 0:100 -b 50 table.csv
both bylog --text=latency_ms --by=city --log=1:1000 -b 60 --plot=log table.csv
both keys --text=2 --by=1 -r 0:120 -b 60 keys.csv
both bystats --text=latency_ms --by=city --stats=50,90,99 table.csv
both keystats --text=2 --by=1 --stats=50,99 keys.csv
both each --each=4K firmware.u8
both eachlog --each=4K --plot=log firmware.u8
both eachfew --each=5000 hill.u8
both eachout --each=4000 -r 60:140 hill.u8
both eachfiles --each=1000 out.00?.u8
both file --each=file out.00?.u8
both filechannels --each=file -c 2 --ignore-tail out.00?.u8
both filestats --each=file --stats out.00?.u8
both stats --each=4K --stats firmware.u8
both quantiles --each=1K --stats=1,50,99 firmware.u8
both filesquantiles --each=500 --stats=10,50,90 out.00?.u8
both channelstats -t i16 -c 3 --each=100 --stats=50 --ignore-tail probe5.i16
both each3 -t i16 -c 3 --each=100 -r 0:4096 -b 64 --ignore-tail probe5.i16
both each8 -t i16 -c 8 --each=20 -r 0:4096 -b 64 --ignore-tail probe384.i16

# ---- what a browser and a converter make of them ----

shot() { # FILE OPTIONS...
	file=$1 && shift
	chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --screenshot="$PWD/$file" --window-size="${SIZE:-1720,9000}" "$@" \
		"file://$PWD/index.html" >/dev/null 2>&1
}
[ -z "${FAST:-}" ] || exit 0
if command -v chromium >/dev/null; then
	shot light.png --blink-settings=preferredColorScheme=1
	shot dark.png --blink-settings=preferredColorScheme=0
fi
! command -v rsvg-convert >/dev/null || for name in channels384 each eachfew; do
	[ ! -e $name.svg ] || rsvg-convert -o $name.png $name.svg
done
echo "$PWD/index.html"
