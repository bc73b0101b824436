# SPDX-License-Identifier: MIT
# --mask: some bits of words of 8 or 16.
# shellcheck shell=sh disable=SC2086
# 500 values of 12 bits: as words by themselves (negative from 2048 on, with a sign), and among other bits
words() { # KIND, and 1 for big endian
	bytes "$(awk -v kind="$1" -v big="$2" 'BEGIN {
		for (i = x = 1; i <= 500; i++) {
			x = x * 16807 % 2147483647
			value = x % 90 + (i % 3) * 1500
			word = value
			if (kind == "flags") word += x % 13 * 4096
			if (kind == "moved") word = value * 4 + x % 4 + 49152
			if (kind == "signed" && value > 2047) word += 61440
			low = word % 256; high = int(word / 256)
			printf "\\%03o\\%03o", big ? high : low, big ? low : high
		}
	}')"
}
for kind in plain signed flags moved; do
	words "$kind" 0 >"$kind.le"
	words "$kind" 1 >"$kind.be"
done
same() { # FILE and TYPE of the words of their own; FILE, TYPE and MASK of the others; OPTIONS
	one=$1 type=$2 two=$3 masked=$4 mask=$5
	shift 5
	gpuhist -q -t "$type" "$@" - <"$one" >own 2>&1
	gpuhist -q -t "$masked" --mask="$mask" "$@" - <"$two" >others 2>&1
	cmp own others && echo "$masked --mask=$mask $*: $(wc -l <own) lines"
}
for big in le be; do
	for options in '-r 0:4096 -b 4096 --stats' '--auto -b 40 --stats=1,50' '--log=auto -b 30 --stats' \
		'-r 100:3000 -b 7 -c 2 --flow' '-r 0:4096 -b 4 --each=20' '-r 0:4096 -b 4 --each=50 --stats -c 5' \
		'--record=6 --offset=2 -b 9 -r 0:90 --ignore-tail'; do
		# shellcheck disable=SC2086 # words
		same plain.$big u16${big#le} flags.$big u16${big#le} 0xfff $options
	done
	same plain.$big u16${big#le} moved.$big u16${big#le} 0x3ffc -b 4096 --stats
	same signed.$big i16${big#le} moved.$big i16${big#le} 16380 -r -2048:2048 -b 16 --stats
done
# The bits decide the type: default bins, -r full, codes never hit; the flags themselves
run gpuhist -t u16 --mask=0xf000 --stats=50 flags.le
shell 'gpuhist -t i16 --mask=0x3ffc -r full -b 4 moved.le'
bytes '\201\102\303' >three
run gpuhist -t i8 --mask=0xc0 --stats=50 three
# A mask of all bits changes nothing
same plain.le u16 plain.le u16 0xffff -b 9 -r full
# Documents carry it, and must agree; --into takes it too
gpuhist -t u16 --mask=0xf000 --stats -f json -q flags.le >one.json
grep -o '"type": "u16[^,]*' one.json
shell 'gpuhist -t u16 --mask=0xf000 --stats -f json -q moved.le | gpuhist --merge --stats=25,50 --nonzero one.json -'
shell 'gpuhist -q -t u16 --mask=0xf00 -f json flags.le | gpuhist --merge one.json -'
shell 'gpuhist -q -t u16 -b 16 -f json flags.le | gpuhist --merge one.json -'
gpuhist -q -t u16 --mask=0xff0 --into=sum.json plain.le
for mask in '' --mask=0xff0 '-t u16 --mask=0xff0' --mask=0xff --mask=0xf00 --mask=0xffff '-t u16'; do
	refused gpuhist -q $mask --into=sum.json plain.le
	refused gpuhist -q $mask --compare=sum.json -f csv -o /dev/null plain.le
done
run gpuhist --merge -b 1 sum.json
# Refused, and named
for options in '-t u16 --mask=0xf0f' '-t u16 --mask=0' '-t u16 --mask=0x10000' '-t u8 --mask=0x100' '-t f16 --mask=1' '-t u32 --mask=1' \
	'-t u12bit --mask=3' '--text -t u16 --mask=3' '-t u16 --mod -b 9 --stats'; do
	shell "gpuhist $options flags.le"
done
shell 'gpuhist -t u16 -b 4096 -o /dev/null flags.le'
# Pictures name the type
for options in '' '-r full -b 4096 --linearity=ramp' '--each=20 -r 0:4096 -b 9' '--each=20 --stats' '-c 100 --ignore-tail'; do
	shell "gpuhist -q -t u16 --mask=0xfff $options -f svg plain.le | well_formed | grep -o '>[^<]*&amp;0xfff[^<]*<'"
done
