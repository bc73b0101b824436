#!/bin/sh
# SPDX-License-Identifier: MIT
# Run every fuzzer of BUILD for SECONDS, two at a time, and end with "N passed, N failed", which counts harnesses. A failing
# input is kept next to them, and the command that runs it again is printed.
# usage: tests/fuzz/run.sh BUILD [SECONDS [SEED]]
set -u
build=$(realpath "$1") seconds=${2:-60} seed=${3:-1}
here=$(dirname "$(realpath "$0")")
harnesses='options number text edges edges_arg source write block header tensors document'
LC_ALL=C
export LC_ALL

sh "$here/corpus.sh" "$build/seeds" || exit 1

# length NAME: the longest input worth trying.
length() {
	case $1 in
	options) echo 400 ;;
	number) echo 640 ;;
	edges) echo 200 ;;
	edges_arg) echo 2000 ;;
	*) echo 4096 ;;
	esac
}

# Inputs found by earlier runs are in corpus/NAME and are tried first; NAME.dict lists words to try.
fuzz() {
	mkdir -p "$build/corpus/$1"
	words=
	[ ! -f "$here/$1.dict" ] || words=-dict=$here/$1.dict
	"$build/fuzz_$1" ${words:+"$words"} -seed="$seed" -max_total_time="$seconds" -max_len="$(length "$1")" -timeout=20 \
		-rss_limit_mb=1500 -print_final_stats=1 -artifact_prefix="$build/$1-" \
		"$build/corpus/$1" "$build/seeds/$1" >"$build/$1.log" 2>&1 </dev/null
	echo $? >"$build/$1.status"
}

passed=0 failed=0
report() {
	status=$(cat "$build/$1.status")
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")
	coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$build/$1.log" | tail -n 1)
	seeds=$(find "$build/seeds/$1" "$build/corpus/$1" -type f | wc -l)
	# A harness that did not get past its seeds has tested nothing.
	if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt $((seeds + 100)) ]; then
		printf 'ok fuzz_%s: %d runs, coverage %d\n' "$1" "$runs" "$coverage"
		passed=$((passed + 1))
		return
	fi
	grep -v '^#[0-9]' "$build/$1.log" | tail -n 60
	printf 'FAILED fuzz_%s (exit status %d, %d runs): %s FILE runs it again\n' "$1" "$status" "${runs:-0}" \
		"$build/fuzz_$1"
	failed=$((failed + 1))
}

# shellcheck disable=SC2086 # a list
set -- $harnesses
while [ $# -gt 0 ]; do
	fuzz "$1" &
	first=$!
	[ $# -lt 2 ] || fuzz "$2"
	wait "$first"
	report "$1"
	shift
	[ $# -eq 0 ] || { report "$1" && shift; }
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
