# SPDX-License-Identifier: MIT
# needs: zstd
# --finish: a signal ends streams, and everything written to them by then is counted, even if the signal cuts a record, a
# frame, a header's length or the bytes that -S skips. No time is asserted: the signal comes when everything has been written
# to the FIFO, and the writer holds that open until the program has ended.
# shellcheck shell=sh
mkfifo pipe next

# opened FILE COMMAND: run gpuhist COMMAND in the foreground, because a shell lets its background commands ignore INT. When
# the program has opened the FIFO, write FILE to it, then send the signal.
signal=INT
ended() {
	printf '$ gpuhist --finish %s, and %s after %s\n' "$2" "$signal" "$1"
	(
		exec 3>pipe
		cat "$1" >&3
		kill -s "$signal" "$(cat pid)"
		while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.01; done
	) &
	sh -c "echo \$\$ >pid; exec gpuhist --finish $2" >.out 2>.err
	status=$?
	wait
	show $status
}

printf 'abcabca' >few
printf 'some more' >rest
ended few '-t u8 --nonzero pipe'
signal=TERM
ended few '-t u8 --nonzero pipe'
ended few '-t u8 --nonzero -q pipe'
ended /dev/null '-t u8 --nonzero pipe'
ended /dev/null '-t f32 pipe'
# In the middle of a record, and of the bytes that -S skips.
ended few '-t u16 -r full -b 64K --nonzero pipe'
ended few '-t u16 -r full -b 64K --nonzero --ignore-tail pipe'
ended few '-t u8 -S 9 --nonzero pipe'
# Later streams are not opened.
ended few '-t u8 --nonzero pipe next'
ended few '-t u8 --nonzero pipe next next -f json -o h.json'
# The usual outputs.
ended few '-t u8 -b 1 -r full -p --into=sum.json pipe'
ended few '-t u8 -b 1 -r full --every=1h -o h.json pipe'
sed 's/.*"samples": \([0-9]*\).*"partial.*/partial: \1/; s/.*"samples": \([0-9]*\).*/samples: \1/' h.json sum.json

echo
echo '# headers and frames'
{
	printf 'RIFF\144\0\0\0WAVEfmt \20\0\0\0\1\0\1\0\104\254\0\0\104\254\0\0\1\0\10\0data\144\0\0\0'
	cat few
} >cut.wav
ended cut.wav '--nonzero pipe'
zstd -qc cut.wav >cut.wav.zst
ended cut.wav.zst '--nonzero pipe'
# In the first and in the second of two frames; in a header.
zstd -qc few >one.zst
zstd -qc rest >two.zst
cat one.zst two.zst | head -c 30 >cut.zst
ended cut.zst '-t u8 --nonzero pipe'
head -c 6 one.zst >begun.zst
ended begun.zst '-t u8 --nonzero pipe'
# Within the checksum, of small frames and of long ones.
for left in 1 2 3; do
	head -c -$left one.zst >cut.zst
	ended cut.zst '-t u8 -b 1 -r full pipe'
done
seq 900000 >long
zstd -qc long | head -c -2 >cut.zst
for threads in 1 2; do
	ended cut.zst "-t u8 -b 1 -r full -T $threads pipe"
done

# A frame that is cut off counts as far as libzstd decodes it, with any number of threads.
seq 300000 >text
head -c 3000000 /dev/urandom >noise
for name in text noise; do
	zstd -qc --no-progress $name >$name.zst
	head -c 777777 $name.zst >cut.zst
	zstd -dc cut.zst 2>/dev/null | gpuhist -t u8 >whole
	for threads in 1 2 4; do
		ended cut.zst "-t u8 -T $threads -q -o h.csv pipe"
		cmp whole h.csv && echo same
	done
done

echo
echo '# --tee passes on all that is counted'
signal=INT
ended few '--tee -t u8 --nonzero -o h.csv pipe next'
cat h.csv
ended cut.zst '--tee -t u8 -q -o h.csv pipe >passed'
cmp passed cut.zst
cmp whole h.csv
# The same signal may end the reader of standard output.
mkfifo out
(
	exec 4<out
	head -c 1 <&4 >/dev/null
	kill -INT "$(cat pid)"
) &
cat noise noise noise >pipe 2>/dev/null &
sh -c 'echo $$ >pid; exec gpuhist --finish --tee -t u8 -b 1 -r full -o h.csv pipe >out' 2>/dev/null
echo "status $?"
wait
sed 's/,[1-9][0-9]*$/,NUMBER/' h.csv
# The program does not wait for a writer that goes on.
(
	exec 3>pipe
	{ sleep 0.05 && kill -INT "$(cat pid)"; } &
	while cat noise >&3; do :; done 2>/dev/null
) &
sh -c 'echo $$ >pid; exec gpuhist --finish --tee -t u8 -b 1 -r full -o h.csv pipe >/dev/null' 2>/dev/null
echo "status $?"
wait
# If the signal ends the writer too, the program may see that end first. A partial record is no error then either.
(
	exec 3>pipe
	cat few >&3
	kill -INT "$(cat pid)"
) &
run sh -c 'echo $$ >pid; exec gpuhist --finish -t u16 -b 1 -r full -T 2 pipe'
wait

echo
echo '# the second signal kills'
# By then the program writes more than its reader takes. A second signal within a tenth of a second counts as the first.
twice() {
	(
		exec 4<out 3>pipe
		cat few >&3
		kill -s "$1" "$(cat pid)"
		head -c 1 <&4 >/dev/null
		sleep 0.2
		kill -s "$1" "$(cat pid)"
		i=0
		while kill -0 "$(cat pid)" 2>/dev/null && [ $i -lt 2000 ]; do
			sleep 0.01
			i=$((i + 1))
		done
		kill -KILL "$(cat pid)" 2>/dev/null
	) &
	(
		sh -c 'echo $$ >pid; exec gpuhist --finish -q -t u8 -r full -b 1000000 pipe >out'
		echo "$1 twice: status $?"
	) 2>/dev/null
	wait
}
# --tee waits for its reader: without --finish INT kills the program there, too; with it, everything read is passed on and
# counted.
full() {
	(
		exec 4<out 3>pipe
		cat noise noise >&3 2>/dev/null &
		head -c 1 <&4
		sleep 0.2
		kill -INT "$(cat pid)"
		cat <&4
	) >passed &
	(
		sh -c 'echo $$ >pid; exec gpuhist --tee -q -t u8 -r full -b 1 -o h.csv '"$1"' pipe >out'
		echo "$1: status $?"
	) 2>/dev/null
	wait
	[ ! -e h.csv ] || [ "$(sed -n '$s/.*,//p' h.csv)" != "$(wc -c <passed)" ] || echo 'passed and counted'
	rm -f h.csv
}
# The thread sanitizer holds a signal back while its thread writes.
case $(readlink -f "$(command -v gpuhist)") in
*/san-thread/*)
	printf '%s\n' 'INT twice: status 130' 'TERM twice: status 143' '-T 1: status 130' '-T 2: status 130' \
		'--finish -T 1: status 0' 'passed and counted' '--finish -T 2: status 0' 'passed and counted'
	;;
*)
	twice INT
	twice TERM
	rm -f h.csv
	full '-T 1'
	full '-T 2'
	full '--finish -T 1'
	full '--finish -T 2'
	;;
esac

echo
echo '# an ignored signal stays ignored; inputs that cannot be ended'
(
	exec 3>pipe
	cat few >&3
	kill -INT "$(cat pid)"
	cat rest >&3
) &
sh -c 'trap "" INT; echo $$ >pid; exec gpuhist --finish -t u8 -b 1 -r full pipe'
wait
refused gpuhist --finish -t u8 few
refused gpuhist --finish --tee -t u8 -o h.csv pipe few
shell 'gpuhist --finish -t u8 <few'
refused gpuhist --finish --merge h.json
refused gpuhist --finish --part=1/2 -t u8 few
# Without a signal the option changes nothing.
shell 'cat few | gpuhist --finish -t u8 -b 1 -r full'
shell 'cat few | gpuhist --finish -t u16 -b 1 -r full'
shell 'cat begun.zst | gpuhist --finish -t u8 -b 1 -r full'
