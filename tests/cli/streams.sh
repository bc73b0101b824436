# SPDX-License-Identifier: MIT
# Closed descriptors, broken pipes, inherited dispositions.
# shellcheck shell=sh
printf 'abcd' >a
c='gpuhist -t u8 -b 1 -r full'
shell "$c <&-"
shell "$c - <&-"
shell "$c a <&-"
shell "$c a >&-"
shell "$c -o h a >&-; cat h"
# Standard output that cannot be written is reported before an input is opened
shell "$c none >&-"
shell "$c none 1< a"
shell "$c none -o /dev/stdout 1< a"
shell "$c none -o /dev/fd/3 3< a"
shell "$c a 1<> /dev/null"
shell "$c a 2>&-"
shell "$c none 2>&-"
shell "$c a <&- 2>&-"
shell "$c -o h a <&- >&- 2>&-; cat h"
shell "gpuhist -V >&-"
shell "$c a 2> /dev/full"
shell "$c none 2> /dev/full"
# The output's reader is gone: the program is killed by SIGPIPE, or reports an error if the signal is ignored
mkfifo fifo
gone() {
	# The writing end of a FIFO whose reader has gone
	sh -c "$1"' gpuhist -t u8 -r full -b 100000 a > fifo; echo "status $?"' 2>err &
	: <fifo
	wait
	sed 's/^/! /' err
}
gone ''
gone 'trap "" PIPE;'
rm -f fifo err
# The program waits for descriptors even if another program made them non-blocking
shell "cat a a | $c - "
# Standard input is not read unless it is an input
shell "{ $c a; cat; } < a"
echo
