#!/bin/sh
# SPDX-License-Identifier: MIT
# The directories show the architecture: by the #include "..." lines of src and kernels, no file or directory includes itself
# through others, and no file includes from a directory above its own. A struct, union or enum that a header declares is
# defined once.
# usage: tests/includes.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1

# From top to bottom; src stands for the files in src itself, kernels for the directory next to it.
order='src run cli document each output hist gpu_helper gpu engine input frames source text format zstd bytes kernels count bins base'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find src kernels -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort >"$work/files"
# shellcheck disable=SC2046 # no spaces in the names of sources
grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $(cat "$work/files") | sed 's/:[^"]*"/ /; s/".*//' >"$work/includes"

# "FILE FILE" for each include, as the compiler finds it: in the file's directory, then in src.
awk 'function plain(path) {
		while (sub(/(^|\/)[^.\/][^\/]*\/\.\.\//, "/", path)) sub(/^\//, "", path)
		return path
	}
	FNR == NR { known[$1]; next }
	{
		beside = $1
		sub(/[^\/]*$/, "", beside)
		beside = plain(beside $2)
		found = beside in known ? beside : plain("src/" $2)
		if (found in known)
			print $1, found
		else
			print "FAILED " $1 ": " $2 " was not found in src" > "/dev/stderr"
	}' "$work/files" "$work/includes" >"$work/edges" 2>"$work/bad"

# A tree without directories in src has no order.
: >"$work/folders"
if grep -q '^src/.*/' "$work/files"; then
	awk -v order="$order" 'function room(file) {
			n = split(file, part, "/")
			return part[1] == "src" && n > 2 ? part[2] : part[1]
		}
		BEGIN { for (n = split(order, name, " "); n > 0; n--) level[name[n]] = n }
		{
			from = room($1); to = room($2)
			if (!(from in level) || !(to in level))
				print "FAILED " $1 " and " $2 ": a directory has no level in tests/includes.sh" > "/dev/stderr"
			else if (level[to] < level[from])
				print "FAILED " $1 " (" from ") includes " $2 " (" to "), which stands above it" > "/dev/stderr"
			if (from != to)
				print from, to
		}' "$work/edges" >"$work/folders" 2>>"$work/bad"
fi

# tsort names the files of a circle on its standard error.
for graph in edges folders; do
	tsort "$work/$graph" >/dev/null 2>"$work/circle" || {
		printf 'FAILED a circle of includes:'
		sed -n '1d; /contains a loop/q; s/^tsort: / /p' "$work/circle" | tr -d '\n'
		echo
	} >>"$work/bad"
done
# A name that a header declares has one definition; other files may use their own names freely.
# shellcheck disable=SC2046 # no spaces in the names of sources
awk '/^[^*]*(struct|union|enum) [a-z_0-9]+( *\{|;)/ {
		match($0, /(struct|union|enum) [a-z_0-9]+( *\{|;)/)
		split(substr($0, RSTART, RLENGTH), word, /[ {;]+/)
		name = word[2]
		if (FILENAME ~ /h$/)
			known[name]
		if ($0 ~ name " *\\{")
			{ where[name] = where[name] " " FILENAME; many[name]++ }
	}
	END {
		for (name in known)
			if (many[name] > 1)
				print "FAILED more than one struct, union or enum " name " is defined:" where[name]
	}' $(grep '^src' "$work/files") >>"$work/bad"
cat "$work/bad"
passed=$(wc -l <"$work/edges") failed=$(wc -l <"$work/bad")
[ "$passed" -gt 0 ] || failed=1
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
