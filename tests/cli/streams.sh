# Closed descriptors, broken pipes, inherited dispositions.
# shellcheck shell=sh
printf 'abcd' >a
c='gpuhist -t u8 -b 1 -r full'
shell "$c <&-"
shell "$c - <&-"
shell "$c a <&-"
shell "$c a >&-"
shell "$c -o h a >&-; cat h"
shell "$c a 2>&-"
shell "$c none 2>&-"
shell "$c a <&- 2>&-"
shell "$c -o h a <&- >&- 2>&-; cat h"
shell "gpuhist -V >&-"
shell "$c a 2> /dev/full"
shell "$c none 2> /dev/full"
# A reader that is gone: killed as the default has it, an error where that is ignored
mkfifo fifo
gone() {
	# The output end of a FIFO that nobody reads any more
	sh -c "$1"' gpuhist -t u8 -r full -b 100000 a > fifo; echo "status $?"' 2>err &
	: <fifo
	wait
	sed 's/^/! /' err
}
gone ''
gone 'trap "" PIPE;'
rm -f fifo err
# Non-blocking descriptors that somebody else made so wait all the same
shell "cat a a | $c - "
# Nothing is read from a standard input that is not asked for
shell "{ $c a; cat; } < a"
echo
