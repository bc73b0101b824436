#!/bin/sh
# SPDX-License-Identifier: MIT
# The program from outside: every tests/cli/NAME.sh runs in an empty directory, and its output must equal
# tests/cli/NAME.exp to the byte.
# usage: tests/cli.sh GPUHIST [--update] [NAME...]     --update writes the .exp files anew
#
# In a script, `run COMMAND...` prints "$ COMMAND", then the standard output, then the standard error with "! " before each
# line, then "= STATUS" unless that is 0; `refused COMMAND...` prints the status and the message on one line. `gpuhist` is
# the program under test; process numbers in its output are shown as PID, the version in a document as VERSION.
set -u
here=$(dirname "$(realpath "$0")")
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
ln -s "$(realpath "$1")" "$bin/gpuhist"
# well_formed copies its input, and says so if it is an SVG that is no XML.
beside=$(dirname "$(realpath "$1")")
for tool in "$beside/well_formed" "$beside/build/well_formed"; do
	[ ! -x "$tool" ] || ln -sf "$tool" "$bin/well_formed"
done
if [ ! -x "$bin/well_formed" ]; then
	echo "left out: cli: whether SVG is XML (build/well_formed is not built)"
	ln -s "$(command -v cat)" "$bin/well_formed"
fi
shift
update=
[ "${1:-}" != --update ] || { update=1 && shift; }
PATH=$bin:$PATH
export PATH
LC_ALL=C
unset COLUMNS
export LC_ALL
passed=0 failed=0

# has WORD: succeed if this machine provides a word of "# needs: WORD..." in a script.
has() {
	case $1 in
	terminals) script -qc true /dev/null >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

if [ $# -eq 0 ]; then
	for script in "$here"/cli/*.sh; do
		name=$(basename "$script" .sh)
		[ "$name" = lib ] || set -- "$@" "$name"
	done
fi
for name in "$@"; do
	missing=
	# shellcheck disable=SC2013 # words
	for need in $(sed -n 's/^# needs: //p' "$here/cli/$name.sh"); do
		has "$need" || missing=$need
	done
	if [ -n "$missing" ]; then
		echo "left out: cli/$name (no $missing here)"
		continue
	fi
	work=$bin/work
	mkdir "$work"
	(cd "$work" && sh -u -c '. "$1/lib.sh"; . "$1/$2.sh"; pictures' sh "$here/cli" "$name") 2>&1 </dev/null |
		sed 's/"version": "[^"]*"/"version": "VERSION"/g' >"$bin/got"
	if [ -n "$update" ]; then
		cp "$bin/got" "$here/cli/$name.exp"
	elif cmp -s "$bin/got" "$here/cli/$name.exp"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "--- tests/cli/$name"
		diff -u "$here/cli/$name.exp" "$bin/got"
	fi
	chmod -R u+w "$work"
	rm -rf "$work"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
