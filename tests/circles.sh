#!/bin/sh
# SPDX-License-Identifier: MIT
# By the symbols of their objects, files that use each other in a circle are few and in one directory: at most 7 in
# src/source, 6 in src/frames, 3 elsewhere. The table of tasks, the kinds of input and other pointers to functions are the
# way up; a symbol is not.
# usage: tests/circles.sh OBJECTS    OBJECTS: the objects of src, such as build/obj/src
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$0")/.." || exit 1

# A line for each symbol: FILE LETTER NAME, with U for the symbols that the file uses. An object whose source is gone, by
# the first line of its dependencies, is left from an older tree.
find "$1" -name '*.o' | sed "s|^$1/||; s|\.o$||" | sort | while read -r file; do
	read -r _ source _ <"$1/$file.d"
	[ -f "$source" ] || continue
	echo "$file" >>"$work/files"
	nm -g "$1/$file.o" | sed -n "s|^.* \([A-Z]\) \(.*\)$|$file \1 \2|p"
done >"$work/symbols"

# The files that each can reach; two that reach each other are in a circle.
awk 'FNR == NR { if ($2 != "U") owner[$3] = $1; next }
	$2 == "U" && $3 in owner && owner[$3] != $1 { print $1, owner[$3] }' "$work/symbols" "$work/symbols" | sort -u >"$work/edges"
awk 'function room(file) { sub(/\/[^\/]*$/, "", file); return file }
	function visit(file,   n, list, i) {
		if (file in seen) return
		seen[file]
		n = split(uses[file], list, " ")
		for (i = 1; i <= n; i++) visit(list[i])
	}
	{ uses[$1] = uses[$1] " " $2; files[$1]; files[$2] }
	END {
		for (from in files) {
			split("", seen)
			visit(from)
			for (to in seen) if (to != from) reach[from, to]
		}
		for (file in files) {
			if (file in done) continue
			size = 1; names = file; rooms = 0
			for (other in files)
				if ((file, other) in reach && (other, file) in reach) {
					size++; names = names " " other; done[other]
					rooms += room(other) != room(file)
				}
			if (size == 1) continue
			most = room(file) == "source" ? 7 : room(file) == "frames" ? 6 : 3
			if (rooms > 0) print "FAILED a circle of several directories: " names
			else if (size > most) print "FAILED a circle of " size " files, more than " most ": " names
		}
	}' "$work/edges" >"$work/bad"
cat "$work/bad"

failed=$(wc -l <"$work/bad")
files=$(wc -l <"$work/files")
# Without objects nothing would be found.
[ "$files" -gt 100 ] || { echo "FAILED only $files objects in $1" && failed=$((failed + 1)); }
echo "$((files - failed)) passed, $failed failed"
exit $((failed > 0))
