#!/bin/sh
# SPDX-License-Identifier: MIT
# Run the commands of a document's console blocks ("$ " before each) one after the other in an empty directory. Each must
# print the lines below it, to the byte. The document is examples/tour.md unless another one is named.
# usage: tests/tour.sh GPUHIST [--update] [DOCUMENT]     --update writes the outputs into DOCUMENT
#
# A block that begins with ```console WORD... is left out, by name, if a WORD is missing: a program, a Python module, or
# the file /NAME:SUM, whose cksum is SUM.
set -u
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tour"
ln -s "$(realpath "$1")" "$work/bin/gpuhist"
shift
update=
[ "${1:-}" != --update ] || { update=1 && shift; }
document=${1:-$here/../examples/tour.md}
numpy=
for python in ${PYTHON:-"$here/../build/venv/bin/python" python3 /usr/bin/python3}; do
	[ -n "$numpy" ] || ! "$python" -c 'import numpy' 2>/dev/null || numpy=$python
done
# A link would lose the packages of a virtual environment.
[ -z "$numpy" ] || { printf '#!/bin/sh\nexec "%s" "$@"\n' "$numpy" >"$work/bin/python3" && chmod +x "$work/bin/python3"; }
PATH=$work/bin:$PATH LC_ALL=C.UTF-8
export PATH LC_ALL
unset COLUMNS
# README's data.bin: 200,000 pulse heights of a radiation detector with 10 bits, a falling background and a peak, as u32.
awk 'function drawn(n) { x = x * 16807 % 2147483647; return x % n }
	BEGIN {
		x = 1
		for (i = 0; i < 200; i++) {
			line = ""
			for (k = 0; k < 1000; k++) {
				v = 562
				if (drawn(4) > 0) v = int(drawn(1024) * drawn(1024) / 1024)
				else for (j = 0; j < 5; j++) v += drawn(41)
				line = line sprintf("\\%03o\\%03o\\0\\0", v % 256, v / 256)
			}
			print line
		}
	}' | while IFS= read -r line; do
	# shellcheck disable=SC2059 # octal bytes
	printf "$line"
done >"$work/tour/data.bin"
passed=0 failed=0 left=0 command=

# Succeed if all WORDs exist. Report each missing WORD once.
there() {
	for word; do
		case $word in
		/*) [ "$(cksum <"${word%:*}" | cut -d ' ' -f 1)" = "${word##*:}" ] ;;
		*) command -v "$word" || python3 -c "import $word" ;;
		esac >/dev/null 2>&1 && continue
		grep -qx "$word" "$work/missing" || echo "left out: examples that need ${word%:*}"
		echo "$word" >>"$work/missing"
		return 1
	done
}

# Run the command whose expected lines were collected, and compare.
finish() {
	[ -n "$command" ] || return 0
	cp "$work/expected" "$work/out"
	if [ -n "$skipped" ]; then
		left=$((left + 1))
	else
		(cd "$work/tour" && sh -c "$command") >"$work/out" 2>&1 </dev/null
		if cmp -s "$work/expected" "$work/out"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			[ -n "$update" ] || { printf '%s\n' "--- $command" && diff -u "$work/expected" "$work/out"; }
		fi
	fi
	cat "$work/out" >>"$work/document"
	command=
}

inside='' skipped=
: >"$work/document"
: >"$work/missing"
while IFS= read -r line; do
	case $inside:$line in
	':```console'*)
		inside=1 skipped=
		# shellcheck disable=SC2086 # words
		there ${line#'```console'} || skipped=1
		;;
	'1:```') finish && inside= ;;
	'1:$ '*)
		finish
		command=${line#'$ '}
		: >"$work/expected"
		;;
	1:*)
		printf '%s\n' "$line" >>"$work/expected"
		continue
		;;
	esac
	printf '%s\n' "$line" >>"$work/document"
done <"$document"
if [ -n "$update" ]; then
	cp "$work/document" "$document"
	exit 0
fi
[ $((passed + failed + left)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
