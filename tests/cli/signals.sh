# SPDX-License-Identifier: MIT
# A signal while a FIFO is read: nothing is published, no temporary file is left, and the program dies of the signal. USR1,
# and a signal that was ignored from the start, as under nohup, change nothing.
# shellcheck shell=sh disable=SC2016
mkfifo pipe

# die SIGNAL BEFORE: send the signal when the FIFO is open. Opening it waits for the program to open it too, and by then its
# temporary file exists. After the signal the FIFO ends.
die() {
	printf 'old' >h
	(
		exec 3>pipe
		find . -name '.h.*' | wc -l >during
		printf 'abcd' >&3
		kill -s "$1" "$(cat pid)"
	) &
	# In the foreground: a shell lets its background commands ignore INT.
	(
		sh -c "$2"' echo $$ >pid; exec gpuhist -t u8 -b 1 -r full -o h pipe' 2>err
		echo "$1 $2 status $?"
	) 2>killed
	wait
	echo "temporary files: $(cat during), then $(find . -name '.h.*' | wc -l)"
	# USR1's line contains a time and perhaps a rate.
	sed -n '/counted yet\|B in /s/: .*/: PROGRESS/; s/^gpuhist:/! &/p' err
	cat h
	echo
}
die TERM ''
die INT ''
die HUP ''
die PIPE ''
die USR1 ''
die QUIT ''
die TERM 'trap "" TERM;'
die INT 'trap "" INT;'
die HUP 'trap "" HUP;'

# Threads other than the main one block the signals after which the main one cleans up.
head -c 8000000 /dev/zero >big
(
	exec 3>pipe
	printf 'abcd' >&3
	pid=$(cat pid)
	i=0
	while [ $i -lt 500 ] && [ "$(find /proc/"$pid"/task -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -lt 2 ]; do
		sleep 0.01
		i=$((i + 1))
	done
	for task in /proc/"$pid"/task/*; do
		mask=$(sed -n 's/^SigBlk:[[:space:]]*//p' "$task/status")
		[ $((0x$mask & 0x4000)) -ne 0 ] && held=1 || held=0
		[ "${task##*/}" = "$pid" ] && echo "main thread: $held" || echo "another thread: $held"
	done >masks
) &
sh -c 'echo $$ >pid; exec gpuhist --device=cpu -T 2 -b 1 -r full -o h big pipe' 2>err
wait
echo 'TERM held back by'
sort -u masks

# The message about the outputs is true, and names --finish only if all inputs are streams. The signal comes when the FIFO
# is open, or when a row has been written.
c='-t u8 -b 1 -r full --no-progress'
export c
said() {
	rm -f out
	(
		exec 3>pipe
		[ "$1" = open ] || printf 'abcdefgh' >&3
		[ "$1" != row ] || until [ -s out ]; do sleep 0.01; done
		kill -s "$2" "$(cat pid)"
	) &
	(
		sh -c 'echo $$ >pid; exec gpuhist '"$3"' >out' 2>err
		echo "$2 $3: status $?"
	) 2>killed
	wait
	sed -n 's/^gpuhist:/! &/p' err
}
printf abcd >a
said open INT '$c -o h pipe'
said open TERM '$c pipe'
said open INT '$c -o h a pipe'
said open INT '$c -q pipe'
said row INT '$c --each=4 --no-header pipe'
said open INT '$c --each=4 -o h pipe'
said open INT '$c --tee -o h pipe'
said open TERM '$c --every=9s -o h.json pipe'
gpuhist -t u8 -b 1 -r full -f json a >a.json
said open INT '--merge a.json pipe'

# If the reader of rows has left, the program dies of PIPE, whichever thread wrote
head -c 3000000 /dev/zero >zeros
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	for threads in 2 4; do
		{
			gpuhist -q -t u8 -b 16 -r full --each=1000 --device=cpu -T $threads -f csv zeros 2>err
			echo "status $?" >>rows_left
			cat err >>rows_left
		} | head -n 1 >/dev/null
	done
done
sort rows_left | uniq -c
