# SPDX-License-Identifier: MIT
# needs: zstd
# The line of progress if stderr is no terminal, and SIGUSR1. Sizes are exact; times and rates are shown as N.
# shellcheck shell=sh
mkfifo pipe
head -c 400000 /dev/zero >zeros
# No line without --progress or a signal.
figures() {
	sed 's/, [0-9.]* [kMGTPE]*B\/s/, RATE/; s/[0-9:]* left/N left/; s/in [0-9:]*/in N/; s/after [0-9:]*/after N/; s/^/! /' "$1"
}
for option in '' --progress --no-progress '-q --progress' '--progress -q' '--progress --no-progress' '--no-progress --progress'; do
	for input in '-n 1000 - <zeros' 'zeros zeros'; do
		printf '$ gpuhist %s -t u8 -b 1 --no-header %s\n' "$option" "$input"
		sh -c "gpuhist $option -t u8 -b 1 --no-header -r full $input" 2>err
		figures err
	done
done
# The total is unknown for a pipe and for compressed input.
for input in 'cat zeros' 'zstd -qc zeros'; do
	printf '$ %s | gpuhist --progress -t u8 -b 1 -r full\n' "$input"
	$input | gpuhist --progress -t u8 -b 1 -r full 2>err
	figures err
done

# asked LINES: send SIGUSR1 until that many lines have come.
asked() {
	tries=0
	while [ "$(wc -l <err)" -lt "$1" ] && [ $tries -lt 500 ]; do
		kill -s USR1 "$pid" || return
		sleep 0.02
		tries=$((tries + 1))
	done
}
for options in '' -q --no-progress '--device=cpu -T 2' '-q --every=1h'; do
	printf '$ gpuhist %s -t u8 -b 1 -r full -o h.json pipe\n' "$options"
	# shellcheck disable=SC2086
	gpuhist $options -t u8 -b 1 -r full -o h.json pipe 2>err &
	pid=$!
	# Wait for the temporary file: before it exists, the signal may still end the process.
	tries=0
	until [ -n "$(find . -name '.h.json.*')" ] || [ $tries -gt 500 ]; do
		sleep 0.02
		tries=$((tries + 1))
	done
	# Before the writer has come, while the program waits for the first bytes, while it waits for more
	asked 1
	exec 3>pipe
	printf 'a' >&3
	asked 2
	head -c 399999 zeros >&3
	tries=0
	until tail -n 1 err | grep -q ' in ' || [ $tries -gt 500 ]; do
		kill -s USR1 "$pid"
		sleep 0.01
		tries=$((tries + 1))
	done
	exec 3>&-
	wait "$pid"
	echo "status $?"
	# 393216 bytes are three pieces of a pipe, read completely.
	figures err | sort -u | sed 's/39[0-9]* kB/400 kB/; s/131 kB\|262 kB/400 kB/; s/ [0-9.]* k*B in N/ SIZE in N/' | sort -u
done
