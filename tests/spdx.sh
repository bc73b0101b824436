#!/bin/sh
# SPDX-License-Identifier: MIT
# Check that every source names its licence in its first line, or after a #! line: SPDX-License-Identifier, as a comment of
# its language; --fix adds the line if it is missing. Also compare debian/copyright with LICENSE.
# usage: tests/spdx.sh [--fix] [TREE]
set -u
fix=
[ "${1:-}" != --fix ] || { fix=1 && shift; }
cd "${1:-$(dirname "$0")/..}" || exit 1
# In two parts, so that this line is not one itself.
line="SPDX-License-Identifier"": MIT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find . \( -name .git -o -path ./build \) -prune -o -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \
	-o -name '*.sh' -o -name '*.py' -o -name '*.pml' -o -name Makefile -o -name '*.mk' -o -name '*.y*ml' -o -name '*.cff' -o -name Containerfile \
	-o -path './.ci/*' -o -path ./debian/rules \
	-o -path ./debian/tests/smoke -o -path './completions/*' \) -print | LC_ALL=C sort >"$work/files"
passed=0 failed=0

while IFS= read -r file; do
	case $file in
	*.[ch] | *.cu | *.cuh | *.cpp | *.pml) want="/* $line */" ;;
	*) want="# $line" ;;
	esac
	# The first line, or the second if #! or zsh's #compdef must come first.
	at=1
	case $(head -n 1 "$file") in '#!'* | '#compdef'*) at=2 ;; esac
	if [ "$(sed -n "${at}p" "$file")" = "$want" ]; then
		passed=$((passed + 1))
	elif [ -n "$fix" ] && ! head -n 5 "$file" | grep -qF "$line"; then
		# Replace the file and keep its mode: it may be this script, which the shell is still reading.
		cp -p "$file" "$work/new"
		{
			[ "$at" -eq 1 ] || head -n 1 "$file"
			printf '%s\n' "$want"
			tail -n "+$at" "$file"
		} >"$work/new"
		mv "$work/new" "$file"
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $file: line $at is not: $want"
	fi
done <"$work/files"
if [ -e LICENSE ] && [ -e debian/copyright ]; then
	sed -n '/^Permission/,$p' LICENSE | tr -s '[:space:]' '\n' >"$work/want"
	sed -n '/^ Permission/,$p' debian/copyright | sed 's/^ \.$//' | tr -s '[:space:]' '\n' | sed '/^$/d' >"$work/got"
	if cmp -s "$work/want" "$work/got"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo 'FAILED debian/copyright: the text differs from LICENSE' && diff "$work/want" "$work/got"
	fi
fi
[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
