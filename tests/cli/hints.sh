# SPDX-License-Identifier: MIT
# Mistakes: the nearest of what there is, or what would be accepted.
# shellcheck shell=sh
printf 'abcd' >a
# Options: the nearest; nothing where all are far
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
# Numbers: the message says what is accepted
for number in 1e3 1_000 1,000 '1 000' =1000 1000b 64kib 64Ki 1.5K 0.5M 1e0 1,00 1,0000 1.3 1e400 1e9 -5 K 12x 1KBs .5 ''; do
	run gpuhist -t u8 -f raw -o x -b "$number" a
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
