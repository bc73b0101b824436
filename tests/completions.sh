#!/bin/sh
# SPDX-License-Identifier: MIT
# completions/ and the manual: each lists every option of the program and no other. The words that bash and, if installed,
# fish and zsh offer from the completions; the program accepts every value that is offered.
# usage: tests/completions.sh GPUHIST
set -u
gpuhist=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# same WHAT: $work/want and $work/got hold the same lines, in any order.
same() {
	sort -u "$work/want" >"$work/want.sorted"
	sort -u "$work/got" >"$work/got.sorted"
	if [ -s "$work/got" ] && cmp -s "$work/want.sorted" "$work/got.sorted"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $1: - is missing, + should not be there"
		diff -U 0 "$work/want.sorted" "$work/got.sorted" | sed 1,3d
	fi
}

# A line for each row of the program's table: LETTER --NAME VALUE, with - for a letter or value that is missing.
sed -n '/^static const struct known KNOWN/,/^};/s/^\t{"\([^"]*\)", \([^,]*\), \("[^"]*"\|NULL\),.*/\2 --\1 \3/p' src/cli/options.c |
	tr -d "\"'" | sed 's/^0/-/; s/NULL$/-/' >"$work/table"
[ "$(wc -l <"$work/table")" -eq "$(sed -n '/^static const struct known KNOWN/,/^};/p' src/cli/options.c | grep -c '^	{')" ] ||
	{ failed=$((failed + 1)) && echo 'FAILED: rows of options.c that this test cannot read'; }
awk '{ print $2; if ($1 != "-") print "-" $1 }' "$work/table" >"$work/options"
# help_of TEXT: print the options in a help text, as rows of that table.
help_of() {
	"$gpuhist" "$1" | sed -n 's/^  -\([A-Za-z]\), \(--[a-z-]*\)\([^ ]*\).*/\1 \2 \3/p; s/^      \(--[a-z-]*\)\([^ ]*\).*/- \1 \2/p' |
		sed 's/ $/ -/'
}
help_of --help >"$work/got"
cp "$work/table" "$work/want"
same '--help against the table'
[ "$(wc -l <"$work/got")" -eq "$(wc -l <"$work/want")" ] || { failed=$((failed + 1)) && echo 'FAILED --help: an option twice'; }
# -h may leave out an optional value, all values but one of A|B, and the letter of --help itself.
help_of -h | sed 's/^- --help/h --help/' >"$work/got"
sed 's/\[[^]]*\]$//; s/ $/ -/' "$work/table" |
	awk '{ n = split(substr($3, 2), one, "|"); print; for (i = 1; n > 1 && i <= n; i++) print $1, $2, "=" one[i] }' |
	grep -Fx -f "$work/got" >"$work/want"
same '-h against the table'
for help in -h --help; do
	"$gpuhist" $help >"$work/page"
	if [ "$(wc -L <"$work/page")" -le 80 ] && { [ $help != -h ] || [ "$(wc -l <"$work/page")" -le 24 ]; }; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $help: longer than 80 columns, or -h than 24 lines"
	fi
done

# complete.bash WORD...: print what bash offers for the last word, one word a line.
cat >"$work/complete.bash" <<'END'
source completions/gpuhist.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gpuhist
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
END
offers() {
	bash "$work/complete.bash" "$@" >"$work/got"
}
# shellcheck disable=SC2086 # words, one a line
expect() {
	printf "%s\n" $1 >"$work/want"
	same "bash: $2"
}
bash -n completions/gpuhist.bash || failed=$((failed + 1))
offers gpuhist -
cp "$work/options" "$work/want"
same 'completions/gpuhist.bash'
offers gpuhist x --no
expect '--nonzero --no-header --no-check --no-progress' '--no'
offers gpuhist -t bf
expect 'bf16 bf16be' '-t bf'
offers gpuhist --type = bf
expect 'bf16 bf16be' '--type=bf'
offers gpuhist --plot =
expect log '--plot='
offers gpuhist --each =
expect 'file tensor' '--each='
offers gpuhist --device = gpu
expect 'gpu' '--device=gpu'
offers gpuhist --edges @completions/gpuhist.b
expect '@completions/gpuhist.bash' '--edges @FILE'
# --merge reads JSON
mkdir "$work/files" "$work/files/more.d"
: >"$work/files/more.json"
: >"$work/files/more.wav"
offers gpuhist --merge -q "$work/files/mo"
expect "$work/files/more.json $work/files/more.d" '--merge FILE'
offers gpuhist -q "$work/files/mo"
: >"$work/want"
cmp -s "$work/want" "$work/got" || { failed=$((failed + 1)) && echo 'FAILED bash: not --merge'; }
# If files may follow, or nothing can be offered, bash falls back on its default, or offers nothing.
for words in '-o a' '--into = a' '-b 1' '--plot a' '-q a' 'a'; do
	# shellcheck disable=SC2086
	offers gpuhist $words
	if [ -s "$work/got" ]; then
		failed=$((failed + 1))
		echo "FAILED bash: $words: $(cat "$work/got")"
	else
		passed=$((passed + 1))
	fi
done

# Values: the same ones in all three shells, and accepted by the program; if a device is missing, that is no usage error.
for option in -t -f -C --device; do
	offers gpuhist $option ''
	cp "$work/got" "$work/values"
	while read -r value; do
		"$gpuhist" -q -n 0 $option "$value" -M 64M /dev/null >"$work/out" 2>&1
		status=$?
		if [ $status -eq 0 ] || [ $status -eq 4 ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED $option $value: $(cat "$work/out")"
		fi
	done <"$work/values"
	cp "$work/values" "$work/$option"
done
offers gpuhist -t ''
"$gpuhist" -t '?' 2>&1 | sed -n 's/.*the types are \(.*\), u16be.*/\1/p' | tr ' ' '\n' |
	sed 'p; /8$/d; /^f8/d; s/$/be/' >"$work/want"
printf '%s\n' cu8 cs8 ci8 cu16 cs16 ci16 cf32 cf64 >>"$work/want" # the names that radio programs use
same '-t against the message'

cp "$work/options" "$work/want"
sed -n 's/^complete .* -s \([A-Za-z]\) .*/-\1/p' completions/gpuhist.fish >"$work/got"
sed -n 's/^complete .* -l \([a-z-]*\) .*/--\1/p' completions/gpuhist.fish >>"$work/got"
same completions/gpuhist.fish
grep -oE -e "[{']-[A-Za-z][+,[]" completions/_gpuhist | grep -oE -e '-[A-Za-z]' >"$work/got"
grep -oE -e '--[a-z][a-z-]*' completions/_gpuhist >>"$work/got"
same completions/_gpuhist
grep '^\.It Fl' man/gpuhist.1 | grep -oE 'Fl [A-Za-z-]+' | sed 's/Fl /-/' >"$work/got"
same man/gpuhist.1

if command -v fish >/dev/null; then
	for option in -t -f -C --device; do
		cp "$work/$option" "$work/want"
		HOME=$work fish --no-config -c "source completions/gpuhist.fish; complete -C'gpuhist $option '" |
			cut -f 1 >"$work/got"
		same "fish: $option"
	done
	cp "$work/options" "$work/want"
	HOME=$work fish --no-config -c "source completions/gpuhist.fish; complete -C'gpuhist --'; complete -C'gpuhist -'" |
		cut -f 1 | sed 's/=$//' >"$work/got"
	same 'fish: -'
else
	echo 'left out: fish'
fi
# A stand-in for zsh's _arguments: it prints the words that it gets.
if command -v zsh >/dev/null; then
	zsh -f -c '_arguments() { print -rl -- "${@[3,-1]}" }; source completions/_gpuhist' >"$work/specs"
	sed 's/^([^)]*)//' "$work/specs" | sed -n 's/^\(--*[A-Za-z-]*\)[-=+[].*/\1/p' | sed 's/-$//' >"$work/got"
	cp "$work/options" "$work/want"
	same 'zsh: options'
	for option in -t -f -C --device; do
		sed -n "s/^\(([^)]*)\)\{0,1\}${option}[+=].*:(\(.*\))\$/\2/p" "$work/specs" | sed 's/[\\]//g' | tr ' ' '\n' >"$work/got"
		cp "$work/$option" "$work/want"
		same "zsh: $option"
	done
else
	echo 'left out: zsh'
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
