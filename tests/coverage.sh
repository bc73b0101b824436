#!/bin/sh
# SPDX-License-Identifier: MIT
# Print how many lines of each file and directory of src ran, from the counts that gcc's gcov finds in BUILD. If a file was
# compiled several times, a line that ran in any of them counts.
# usage: tests/coverage.sh BUILD
set -eu
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
find "$1" -name '*.gcno' -path '*/src/*' -exec gcov -t {} + 2>/dev/null >"$lines" || true
# gcov -t: "COUNT:LINE:TEXT", where COUNT is - for no code and ##### or ===== for code that did not run.
awk -F: '
	{ count = $1; line = $2; gsub(/ /, "", count); gsub(/ /, "", line) }
	line == 0 && $3 == "Source" { file = $4; next }
	line == 0 || count == "-" || file !~ /^src\// { next }
	{
		if (!((file, line) in known)) { known[file, line]; all[file]++ }
		if (count !~ /^[#=]/ && !((file, line) in hit)) { hit[file, line]; ran[file]++ }
	}
	function row(name, ran, all) { printf "%6.1f%%  %5d of %5d  %s\n", 100 * ran / all, ran, all, name }
	END {
		for (file in all) {
			folder = file
			sub(/\/[^\/]*$/, "/", folder)
			row(file, ran[file], all[file])
			folder_ran[folder] += ran[file]; folder_all[folder] += all[file]
			total_ran += ran[file]; total_all += all[file]
		}
		for (folder in folder_all)
			row(folder, folder_ran[folder], folder_all[folder])
		if (!total_all) { print "nothing was run, or gcov does not match the compiler" > "/dev/stderr"; exit 1 }
		row("~all", total_ran, total_all)
	}' "$lines" >"$lines.table" || { rm -f "$lines.table"; exit 1; }
LC_ALL=C sort -k5 "$lines.table" | sed 's/~all$/all/'
rm -f "$lines.table"
