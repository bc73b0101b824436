# SPDX-License-Identifier: MIT
# zstd inputs: frames, skippable frames, several of them, and damaged ones.
# shellcheck shell=sh disable=SC2002,SC2086
# Each frame is one stored block of four bytes with a declared size; the second has a checksum.
bytes '\050\265\057\375\040\004\041\000\000abcd' >four
bytes '\050\265\057\375\044\004\041\000\000abca\316\311\033\231' >wrong-sum
bytes '\120\052\115\030\003\000\000\000xyz' >skipped
cat four skipped four >three
c='gpuhist -t u8 --nonzero --no-header --edges=0,97,99,101,256'
run $c four
run $c three
# Records and skips count in the decoded samples; the random jobs check the counts.
refused $c -S 9 three
refused gpuhist -t u24 -b 1 -r full three
run gpuhist -t u24 -b 1 -r full --ignore-tail three
# --raw counts the bytes as they are, --zstd accepts nothing else.
run $c --raw -n 4 four
run $c --zstd four
printf 'abcd' >plain
refused $c --zstd plain
: >empty
refused $c --zstd empty
run $c skipped
# Damaged inputs.
refused $c wrong-sum
head -c 12 four >'cut'
refused $c four cut
head -c 7 four >'cut'
shell "cat cut | $c"
printf '\0' | cat three - >zero
refused $c zero
printf 'garbage' | cat three - >garbage
refused $c garbage
shell "cat garbage | $c -o published"
run ls published
# With --no-check a wrong checksum is not an error, in one frame, in small frames of one job, in stored blocks; but all of
# its bytes must follow. A header in such a frame is recognised.
run $c --no-check wrong-sum
shell "cat wrong-sum | $c --no-check"
cat four wrong-sum four wrong-sum >sums
refused $c sums
run $c --no-check sums
shell "cat sums | $c --no-check -S 2 -n 9"
refused $c --no-check garbage
{
	bytes '\050\265\057\375\244\000\000\020\000'
	for letter in a b c d e f g; do bytes "\\002\\000\\020$letter"; done
	bytes '\003\000\020hsums'
} >stored
refused $c stored
run $c --no-check stored
shell "cat stored | $c --no-check"
for z in wrong-sum sums stored; do
	for less in 1 3; do
		head -c -$less $z >'cut'
		refused $c --no-check cut
		cat 'cut' | refused $c --no-check
	done
done | sort | uniq -c
bytes '\050\265\057\375\044\017\171\000\000P5\n2 2\n255\nabcasums' >picture
refused gpuhist --nonzero --no-header picture
run gpuhist --nonzero --no-header --no-check picture
shell 'cat picture | gpuhist --nonzero --no-header --no-check'
shell 'cat skipped picture four | gpuhist --nonzero --no-header --no-check'
# A text that is cut inside its checksum is damaged, whatever it holds.
bytes '\050\265\057\375\044\022\221\000\000hello world, text\nsums' | head -c -1 >'cut'
refused gpuhist --no-check cut
# A frame that declares a byte and is empty, before all others: it is damaged, in a pipe too.
bytes '\050\265\057\375\040\001\001\000\000' | cat - four >'cut'
refused $c cut
cat 'cut' | refused $c
# Without zstd the option does nothing.
run $c --no-check plain
run $c --no-check --raw four
refused gpuhist --merge --no-check four
# A block of 128 KiB of one letter. With many threads, the program uses fewer of them rather than refuse the frame.
bytes '\050\265\057\375\240\000\000\002\000\003\000\020a' >run
for threads in 1 2 8 64; do
	$c -T $threads -M 1M run
done | uniq -c
# A window may take half of -M, with any number of threads.
bytes '\050\265\057\375\000\120\041\000\000\001bcd' >window-1m
for job in '-T 1' '-T 8' '-T 64' '-T 4096' '-T 8 -t u32 -b 400000' '-T 1 -t u16'; do
	gpuhist -q --nonzero $job -M 2M window-1m >out 2>&1
	printf '%s: exit status %d\n' "$job" $?
done
# A later input may be compressed, so tables leave half of -M to it.
bytes '\050\265\057\375\000\210\041\000\000\001\000\000\000' >window-128m
bytes '\002\000\000\000' >two
run gpuhist -q --nonzero --no-header -t u32 -b 16777216 -T 2 -M 256M --device=cpu two window-128m
# A window of 256 MiB and a block of four bytes.
bytes '\050\265\057\375\000\220\041\000\000\001bcd' >window
refused $c -T 1 --device=cpu window
refused $c -T 1 --device=cpu -M 250M window
# The -M that the message names is accepted, with any number of workers and any tables.
cp window window.zst
for job in 'window' '-M 1000001 window' '-T 1 window' '-T 7 window.zst' '-M 256M -t u32 -b 300000 -T 64 window' '-M 256M -t u16 -T 200 window'; do
	named=$(gpuhist $job 2>&1 | sed -n 's/.*needs -M \([0-9]*M\)$/\1/p')
	gpuhist -q $job -M "$named" >out 2>&1
	printf '%s, %s: exit status %d\n' "$job" "$named" $?
done
# All four bytes of a checksum are compared, of a short frame and of a long one.
head -c 6000000 /dev/zero | tr '\000' x >long
seq 400000 >>long
printf 'a short one' >short
for name in short long; do
	zstd -qf $name
	size=$(wc -c <$name.zst)
	for byte in 1 2 3 4; do
		{
			head -c $((size - byte)) $name.zst
			tail -c $byte $name.zst | head -c 1 | tr '\000-\377' '\200-\377\000-\177'
			tail -c $((byte - 1)) $name.zst
		} >wrong
		for threads in 1 2; do
			refused gpuhist -t u8 -r full -b 1 -T $threads --device=cpu wrong
		done
	done
done | uniq -c
# A block of more than 128 KiB, made by hand, without a checksum and with one that is not checked: zstd refuses it too.
bytes '\050\265\057\375\200\120\146\000\002\000\135\000\000\105\006\101\001\124\017\002\064\377\377\004' >large
bytes '\050\265\057\375\204\120\315\000\003\000\134\000\000\105\006\101\001\124\017\002\064\000\000\004' >larger
bytes '\135\000\000\105\006\101\001\124\017\002\064\377\377\004none' >>larger
for threads in 1 2; do
	refused $c -T $threads large
	refused $c -T $threads --no-check larger
	cat larger | refused $c -T $threads --no-check
done | sort | uniq -c
# The -M that a message names is enough, even if the tables of --each take more than half
seq 200000 | head -c 300000 >part
for _ in 1 2 3 4 5 6 7 8; do cat part; done | zstd -q -9 --zstd=wlog=22 -o wide.zst
for each in 1000 file; do
	small=$(gpuhist -q -t u16 --mod -b 64 --each=$each -M 8M -o rows.csv wide.zst 2>&1)
	echo "$small"
	run gpuhist -q -t u16 --mod -b 64 --each=$each -M "${small##* }" -o rows.csv wide.zst
	wc -l <rows.csv
done
# 131,072 empty frames, and 64 MiB in a few kilobytes
: >none
shell 'zstd -qc none >e; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do cat e e >f; mv f e; done; head -c 64M /dev/zero | zstd -qc >>e; gpuhist -t u8 -r full -b 1 -T 2 e'
