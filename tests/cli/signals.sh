# A signal while a FIFO is read: nothing published, no temporary file left, died of it; but one
# shellcheck shell=sh
# that was ignored from the start, as nohup does, changes nothing.
mkfifo pipe

# die SIGNAL BEFORE: opening the FIFO waits for the program to open it too, and by then its
# temporary file is there. Behind the signal the FIFO ends.
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
	cat h
	sed -n "s/^gpuhist:/! &/p" err
	echo
}
die TERM ''
die INT ''
die HUP ''
die PIPE ''
die TERM 'trap "" TERM;'
die INT 'trap "" INT;'
die HUP 'trap "" HUP;'
