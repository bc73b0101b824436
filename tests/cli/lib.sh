# SPDX-License-Identifier: MIT
# Functions for the scripts of this directory. See tests/cli.sh.
# shellcheck shell=sh

# show STATUS: print the output that a command left in .out and .err, and its status. Process numbers differ from run to run.
show() {
	well_formed <.out 2>>.err | sed 's/gpuhist-[0-9][0-9]*/gpuhist-PID/g'
	sed 's/gpuhist-[0-9][0-9]*/gpuhist-PID/g; s/^/! /' .err
	rm -f .out .err
	[ "$1" -eq 0 ] || printf '= %d\n' "$1"
}

# run COMMAND...: print the command, its standard output, its standard error after "! ", and its status.
run() {
	printf '$ %s\n' "$*"
	"$@" >.out 2>.err
	show $?
}

# refused COMMAND...: run a command that is refused, and print its status and message on one line.
refused() {
	"$@" >.out 2>.err
	printf '%d %s\n' $? "$(cat .out && sed 's/^/! /' .err)"
	rm .out .err
}

# shell LINE: like run, for a command line with pipes and redirections.
shell() {
	printf '$ %s\n' "$1"
	sh -c "$1" >.out 2>.err
	show $?
}

# within LINE: like shell, but end a command that waits for ever, with status 124.
within() {
	printf '$ %s\n' "$1"
	timeout 20 sh -c "$1" >.out 2>.err
	show $?
}

# bytes ESCAPES: print bytes, given by their octal or hexadecimal escapes as for printf(1).
bytes() {
	# shellcheck disable=SC2059
	printf "$1"
}

# pictures: check every SVG that the script has left in its directory.
pictures() {
	find . -iname '*.svg' -type f | sort | while read -r picture; do
		well_formed <"$picture" >/dev/null || printf '%s\n' "$picture"
	done
}
