# SPDX-License-Identifier: MIT
# Every document that a run writes is read, and written again as it is, whatever the type, the bins and the samples.
# shellcheck shell=sh disable=SC2086
awk 'BEGIN { for (i = x = 1; i <= 2400; i++) { x = x * 16807 % 2147483647; printf "\\%03o", int(x / 8) % 256 } }' >escapes
bytes "$(cat escapes)" >noise
: >none
documents=0
again() { # OPTIONS of a run, FILE; the sum of one document is that document
	documents=$((documents + 1))
	gpuhist -q $1 -f json "$2" >run.json 2>.err && gpuhist --merge -q ${3:-} -f json run.json >sum.json 2>.err && cmp run.json sum.json ||
		echo "gpuhist $1 $2, --merge ${3:-}: $(cat .err)"
	rm -f .err
}
for type in u8 i8 u16be i16 u24 i24be u32 i32 u64be i64 f16 bf16 f32 f64be f8e4m3 f8e5m2 u1bit i4bit u12bit i10bit 'u16 --mask=0xff0' 'i8 --mask=0xc'; do
	for bins in --auto '--log=auto -b 9' '-r full -b 8' '--range=-1:1 -b 3 --clamp' '-r 0:7 --closed -b 3' '--log=1:9 -b 4' '--edges=-3,0,0.5,9'; do
		again "-t $type $bins --stats -c 4" noise --stats
		again "-t $type $bins --stats=50 --nonzero" none '--stats=50 --nonzero'
	done
	again "-t $type -c 80 -r 0:2 -b 2 --stats --ignore-tail" noise --stats
	case $type in f* | *bf*) ;; *) again "-t $type --mod -b 8" noise ;; esac
	case $type in *bit) ;; *) again "-t $type -r 0:2 -b 2 --record=10 --offset=2 --by=u8@0 --stats" noise --stats ;; esac
done
# Arrays of --linearity
for options in '-t u8' '-t i8 -r full -b 256' '-t u12bit -b 4096 -c 2' '-t i16 --mask=0x3ff -r full -b 1024'; do
	again "$options --linearity=sine" noise --linearity=sine
done
# Integers above powers of two, whose magnitude decides the width of --auto; the ends of types
written() { # NUMBERS, TYPE and OPTIONS
	printf %b "$1" >numbers.txt
	again "-t $2" numbers.txt
}
for other in '' '0\n' '7\n' '-5\n' '9223372036854775807\n'; do
	for power in 52 53 54 55 60 63; do
		for more in 0 1 2 3 4; do
			written "$other$((-(1 << (power - 1)) * 2 + more))\n" 'i64 --auto'
		done
	done
	written "$other-9223372036854775808\n" 'i64 --log=auto -b 3'
	case $other in -*) continue ;; esac
	written "${other}18446744073709551615\n" 'u64 --auto'
	written "${other}18446744073709551615\n" 'u64 --log=auto -b 2'
done
for type in f16 bf16 f32 f64; do
	for most in 65504 3.3895313892515355e38 3.4028234663852886e38 1.7976931348623157e308 1.797693134862315e308; do
		for numbers in "$most" "-$most" "$most\n0" "$most\n-1" "$most\n-5e-324" "$most\n-$most"; do
			for bins in --auto --log=auto '--log=auto -b 3'; do
				written "$numbers\n" "$type $bins"
			done
		done
	done
done
echo "$documents documents"
