# SPDX-License-Identifier: MIT
# What the scripts of this folder share. See tests/cli.sh.
# shellcheck shell=sh

# What a command left in .out and .err, and its status. Process numbers differ from run to run.
show() {
	sed 's/gpuhist-[0-9][0-9]*/gpuhist-PID/g' .out
	sed 's/gpuhist-[0-9][0-9]*/gpuhist-PID/g; s/^/! /' .err
	rm -f .out .err
	[ "$1" -eq 0 ] || printf '= %d\n' "$1"
}

# Prints the command, its standard output, its standard error after "! ", its status.
run() {
	printf '$ %s\n' "$*"
	"$@" >.out 2>.err
	show $?
}

# A command that is refused: its status and its message on one line.
refused() {
	"$@" >.out 2>.err
	printf '%d %s\n' $? "$(cat .out && sed 's/^/! /' .err)"
	rm .out .err
}

# Like run, for a command line with pipes and redirections.
shell() {
	printf '$ %s\n' "$1"
	sh -c "$1" >.out 2>.err
	show $?
}

# within COMMAND: one that would wait for ever is ended with status 124.
within() {
	printf '$ %s\n' "$1"
	timeout 20 sh -c "$1" >.out 2>.err
	show $?
}

# Bytes by their octal or hexadecimal escapes, as printf(1) has them.
bytes() {
	# shellcheck disable=SC2059
	printf "$1"
}
