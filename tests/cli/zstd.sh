# zstd's inputs: frames, frames to be skipped, several of them, and what is not right with them.
# shellcheck shell=sh
# Each frame is one stored block of four bytes that tells its size; the second has a checksum.
bytes '\050\265\057\375\040\004\041\000\000abcd' >four
bytes '\050\265\057\375\044\004\041\000\000abca\316\311\033\231' >wrong-sum
bytes '\120\052\115\030\003\000\000\000xyz' >skipped
cat four skipped four >three
c='gpuhist -t u8 --nonzero --no-header -r full'
run $c four
run $c three
run $c -t u16be three
shell "cat three | $c"
shell "$c < three"
shell "cat three | $c four - four"
# Records, skips and limits are those of the samples.
run $c -S 3 three
run $c -S 3 -n 2 three
shell "cat three | $c -S 3 -n 2"
run $c -S 9 three
run gpuhist -t u24 -b 1 -r full three
run gpuhist -t u24 -b 1 -r full --ignore-tail three
# As it is, or nothing else.
run $c --raw -n 4 four
run $c --zstd four
printf 'abcd' >plain
run $c --zstd plain
: >empty
run $c --zstd empty
run $c skipped
run $c plain four plain
# Not right.
run $c wrong-sum
head -c 12 four >'cut'
run $c four cut
head -c 7 four >'cut'
shell "cat cut | $c"
printf '\0' | cat three - >zero
run $c zero
printf 'garbage' | cat three - >garbage
run $c garbage
shell "cat garbage | $c -o published"
run ls published
# A window of 256 MiB and a block of four bytes.
bytes '\050\265\057\375\000\220\041\000\000abcd' >window
run $c -T 1 --device=cpu window
run $c -T 1 --device=cpu -M 262284K window
run $c -T 1 --device=cpu -M 262285K window
# The -M that is named does, whoever shares it, and no less.
cp window window.zst
for job in 'window' '-T 1 window' '-T 7 window.zst' '-t u32 -b 300000 -T 64 window' '-t u16 -T 200 window'; do
	# shellcheck disable=SC2086 # a list
	named=$(gpuhist $job 2>&1 | sed -n 's/.*needs -M \([0-9]*\)K$/\1/p')
	for less in 0 1; do
		# shellcheck disable=SC2086
		gpuhist -q -M "$((named - less))K" $job >out 2>&1
		printf '%s, %d less: exit status %d\n' "$job" $less $?
	done
done
