# SPDX-License-Identifier: MIT
# Mistakes: what is meant is named, and what a message says to run is run, and is better.
# shellcheck shell=sh
printf 'abcd' >a
# Options: the nearest, what other tools call them, one dash, the other case; nothing where all are far
for option in --rnage --stast --Bins --no_header --bits --nbins=10 --min=0 --dtype --input --gpu --threds=2 --comand --histogram \
	--colour --fx -B -I -j -E -s -bins -type -log=1:2 -verbose --=; do
	run gpuhist "$option" a
done
run gpuhist -range 0:10 a
run gpuhist -o b -qlog a
# Values
for option in -tflaot32 -tunit16 -tu61 -tu12 -tfloat128 -fcvs -fjosn -fnumpy -fpng -fhistogram -Csta8 -Cu16 -Cu64be --device=CPU \
	--device=cuda --device=gup --device=gpu1 --device=cuda:0 --device=tpu; do
	run gpuhist "$option" a
done
# Numbers: what is suggested is accepted, and is the number
for number in 1e3 1_000 1,000 '1 000' =1000 1000b 64kib 64Ki 1.5K 0.5M 1e0 1,00 1,0000 1.3 1e400 1e9 -5 K 12x 1KBs .5 ''; do
	run gpuhist -t u8 -f raw -o x -b "$number" a
	better=$(gpuhist -t u8 -f raw -o x -b "$number" a 2>&1 | sed -n 's/.*did you mean \(.*\)?$/\1/p')
	[ -z "$better" ] || shell "gpuhist -t u8 -f raw -o x -b $better a && wc -c <x"
done
run gpuhist -M 1.5gb a
run gpuhist -S 10bytes a
run gpuhist -n 1e3 a
run gpuhist --record=1e1 a
run gpuhist --offset=1,000 --record=4K a
run gpuhist --record=17M a

# Ends of a range
for range in 0,1 '-1;1.5e3' 0,1,2 Full all 0-1 x,1; do
	run gpuhist -t f32 -r "$range" a
done
run gpuhist -t f32 -b 4 -r -1:1500 a
run gpuhist -t f32 --log=1,10 a
run gpuhist -t f32 --log=full a
run gpuhist --flow -f json a

# Floats from -1 to 1 in steps of 2^-13, as binary32 and as the upper half of it; integers; zeros
awk 'BEGIN {
	for (i = 1; i < 8192; i++) {
		x = i / 8192
		for (e = 127; x < 1; e--)
			x *= 2
		m = (x - 1) * 8388608
		b[0] = m % 256; b[1] = int(m / 256) % 256; b[2] = int(m / 65536) + e % 2 * 128; b[3] = int(e / 2)
		wide = sprintf("\\%03o\\%03o\\%03o", b[0], b[1], b[2])
		printf "%s\\%03o%s\\%03o", wide, b[3], wide, b[3] + 128
	}
}' >octal
# shellcheck disable=SC2059
printf "$(cat octal)" >floats
awk 'BEGIN { for (i = 0; i < 4096; i++) printf "\\%03o\\%03o\\000\\000", i % 256, int(i / 256) }' >octal
# shellcheck disable=SC2059
printf "$(cat octal)" >integers
head -c 65536 /dev/zero >zeros
# Adds up under and over, and counts the bins that hold something.
weigh() {
	awk -F , '$1 == "under" || $1 == "over" { out += $4; next } $4 > 0 { bins++ } END { print bins + 0 " bins, " out + 0 " outside" }'
}
# The command, its messages, what it counts; then the command of the hint, which must be better. The second argument is
# standard input. Both count what is outside, and print no header.
hinted() {
	printf '$ %s%s\n' "$1" "${2:+ <$2}"
	sh -c "$(printf '%s\n' "$1" | sed 's/^gpuhist/& --flow --no-header/')" <"${2:-/dev/null}" 2>.err | weigh
	sed 's/^/! /' .err
	again=$(sed -n 's/^gpuhist: hint: .*: \(gpuhist .*\)$/\1/p' .err)
	[ -z "$again" ] || {
		printf 'better: '
		sh -c "$again" <"${2:-/dev/null}" 2>.err | weigh
		sed 's/^/! /' .err
	}
	rm -f .err
}
hinted 'gpuhist floats'
hinted 'gpuhist -t i32 floats'
hinted 'gpuhist -r full floats'
hinted 'gpuhist -t f32 integers'
hinted 'gpuhist -b 100 integers'
hinted 'gpuhist -b 100 -r 0:1000 integers'
hinted 'gpuhist -t f32 -b 10 -r 5:7 floats'
hinted 'gpuhist -b 64 -r full integers'
hinted 'gpuhist -t i32 -b 1 -r 9999:10000 integers'
hinted 'gpuhist -b 4 --log=1000:1e9 -n 900 -S 4000 --offset=0 --record=4 integers'
hinted 'gpuhist --edges=0,1e5,2e5,3e5,4e5 integers'
hinted 'gpuhist -t u16 -b 4 -r -5:99999 --closed integers'
shell 'gpuhist -t f32 -b 100 --stats -r 0:1 integers 2>&1 >/dev/null | grep hint'
# The range is known: the warning has the options
hinted 'gpuhist -t u16 -b 4 -r 50000:60000 --closed integers'
# The command is one that a shell takes; where there is none, the options
cp integers "it's one"
hinted "gpuhist -b 64 -r full \"it's one\""
cp integers ./-b
hinted 'gpuhist -r full -b 64 -- -b integers'
hinted 'gpuhist -r full -b 64' integers
hinted 'gpuhist -r full -b 64 - integers' zeros
cp integers 'new
line'
shell 'gpuhist --nonzero -r full -b 64 new*'
# None: quiet, noise, zeros, few samples, integers and floats as what they are, a type that the input gives
hinted 'gpuhist -q floats'
hinted 'gpuhist integers'
hinted 'gpuhist zeros'
hinted 'gpuhist -t f32 zeros'
hinted 'gpuhist -t f32 floats'
hinted 'gpuhist -n 99 -r full integers'
hinted 'gpuhist -t u8 -r full -b 4 zeros'
hinted 'gpuhist --mod -b 8 zeros'
hinted 'gpuhist -b 8 zeros'
{
	printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<u4', 'fortran_order': False, 'shape': (16382,), }"
	cat floats
} >said.npy
hinted 'gpuhist said.npy'
