# SPDX-License-Identifier: MIT
# Shared by gpu_faults.sh and gpu_auto.sh: inputs, runs on a simulated driver that fails, and verdicts. Faults are named as
# in tests/fakecuda/driver.c, without FAKECUDA_.
# shellcheck shell=sh disable=SC2034 # variables of the scripts that read this
set -u
quick=${QUICK:-} long=${LONG:-} random=${3:-1} preload=${4:+$(realpath "$4")}
gpuhist=$(realpath "$1") driver=$(realpath "$2")
functions=$(sed -n 's/^\tX([a-z0-9_]*, "\(cu[A-Za-z0-9_]*\)".*/\1/p' "$(dirname "$(realpath "$0")")/../src/gpu_helper/cuda.h" |
	grep -v -e cuGetErrorName -e cuStreamWaitEvent -e cuMemFree_v2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0
LD_LIBRARY_PATH=$driver FAKECUDA_STRICT=1 FAKECUDA_LOG=$work/log FAKECUDA_SEED=$random
# The thread sanitizer would sleep a second at the end of each run. The GPU process has no standard error, so the reports of
# a sanitizer are read from files, for every process.
TSAN_OPTIONS="${TSAN_OPTIONS:-} atexit_sleep_ms=0 log_path=$work/sanitizer"
ASAN_OPTIONS="${ASAN_OPTIONS:-} log_path=$work/sanitizer"
UBSAN_OPTIONS="${UBSAN_OPTIONS:-} log_path=$work/sanitizer"
export LD_LIBRARY_PATH FAKECUDA_STRICT FAKECUDA_LOG FAKECUDA_SEED TSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
instrumented=
! nm -D "$gpuhist" 2>/dev/null | grep -q '__[atu].*san_init' || instrumented=1

# With -M 2200K a slot holds 256 KiB, so tiny fills six of them, the last one partly.
mkdir sums bin
until [ "$(wc -c 2>/dev/null <slow || echo 0)" -ge 68000000 ]; do cat "$gpuhist" >>slow; done
truncate -s 68000000 slow
head -c 1500004 slow >tiny
# An instrumented program counts more slowly, so the device next to it gets its share of fewer bytes.
if [ -n "$instrumented" ]; then bytes=12000008 warm_files='1 2 3'; else bytes=48000008 warm_files='1 2 3 4 5 6 7 8'; fi
head -c "$bytes" slow >warm
head -c 8 warm >word

# check NAME COMMAND...: count whether the command succeeds
check() {
	name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n' "$name"
		[ ! -s err ] || head -n 20 err | sed 's/^/  ! /'
	fi
}
# draw N: set $drawn to a number below N
draw() {
	random=$(((random * 1103515245 + 12345) % 2147483648))
	drawn=$((random / 65536 % $1))
}
# until_true COMMAND...: wait until it succeeds, ten seconds at most
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return 1
		sleep 0.02
	done
}
met() {
	grep -q '^met' log 2>/dev/null
}
# met_or_made N KIND: succeed if the log has N lines of this kind
met_or_made() {
	met || [ "0$(grep -c "^+$2" log 2>/dev/null)" -ge "$1" ]
}
# JSON names the options, which differ from the CPU's run.
sum() {
	sed 's/"options": "[^"]*"/"options": ""/' | cksum
}
# expect ARGUMENTS...: set $sum to a file with the checksum of the CPU's output for them, which is computed once
expect() {
	sum=sums/$(echo "$*" | cksum | tr ' ' _)
	[ -e "$sum" ] || "$gpuhist" -q "$@" --device=cpu 2>err | sum >"$sum"
}
# is VERDICT: judge the last run, after expect
#	same      the CPU's output
#	spared    the same, and a fault was met
#	lost      a fault was met, nothing was published, and one line says why
#	either    same where no fault was met, else lost
#	mad       same or lost: a value that was overwritten may be corrected before it is read
#	refused   exit status 4, nothing was published, and one line says why
is() {
	case $1 in
	same) [ "$status" -eq 0 ] && [ "$(sum <out)" = "$(cat "$sum")" ] ;;
	spared) met && is same ;;
	lost) met && is none ;;
	none) { [ "$status" -eq 1 ] || [ "$status" -eq 4 ]; } && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q '^gpuhist: ' err ;;
	either) if met; then is none; else is same; fi ;;
	mad) is same || is none ;;
	refused) [ "$status" -eq 4 ] && is none ;;
	esac
}
# judge VERDICT NAME: also check that the GPU process did nothing that a driver forbids, unless it was made mad, and that no
# sanitizer found anything
judge() {
	check "$2: not $1, status $status" is "$1"
	if ! grep -qs '^met hostile' log && grep -qs '^wrong' log; then check "$2: $(grep '^wrong' log)" false; fi
	for report in "$work"/sanitizer*; do
		[ -e "$report" ] || continue
		cat "$report" && rm "$report"
		check "$2: a sanitizer's report" false
	done
}
# gpu ARGUMENTS...: run on the GPU alone, with $faults and $more; status, out, err and log are left
faults='' more=''
gpu() {
	rm -f log
	# shellcheck disable=SC2046,SC2086 # words
	env $(printf ' FAKECUDA_%s' DEVICES=1 $more $faults) timeout 180 "$gpuhist" -q --device=gpu "$@" >out 2>err
	status=$?
}
# each VERDICT ARGUMENTS FAULT...: run these arguments once with each fault
each() {
	verdict=$1 arguments=$2
	shift 2
	# shellcheck disable=SC2086
	expect $arguments
	for faults in "$@"; do
		# shellcheck disable=SC2086
		gpu $arguments
		judge "$verdict" "$faults, $arguments"
	done
	faults=
}
# refused REASON ARGUMENTS FAULT...: the same; the run must end with exit status 4, and for this reason
refused() {
	each refused "$2" "$3"
	check "$3: $1" grep -q "$1" err
}
# walk FUNCTION ARGUMENTS...: make it fail from its first, second, ... call on, until a run has fewer calls. The errors are
# some from which a driver may die: invalid value, out of memory, ECC, illegal address, timeout, launch failed, unknown.
walk() {
	function=$1 n=1
	shift
	expect "$@"
	while [ $n -lt 2000 ]; do
		draw 7
		faults=FAIL=$function:$n:$(echo 1 2 214 700 702 719 999 | cut -d ' ' -f $((drawn + 1)))
		gpu "$@"
		judge either "$faults, $*"
		met || break
		draw $((n + 1))
		[ -n "$long" ] || n=$((n + drawn))
		[ -z "$quick" ] || n=$((2 * n))
		n=$((n + 1))
	done
	faults=
	check "$function, $*: met $n times" [ $n -gt 1 ] && [ $n -lt 2000 ]
}
plain='-M 2200K -T 3 -b 1000 -r full tiny'
# ended PID: succeed if the process has ended, or is a zombie that waits for its parent.
ended() {
	[ ! -e "/proc/$1" ] || grep -qs '^State:[[:space:]]*Z' "/proc/$1/status"
}
# report: check that no run left a GPU process; print the numbers of passed and failed checks
report() {
	for comm in /proc/[0-9]*/comm; do
		if grep -qs '^gpuhist-gpu$' "$comm" && grep -qs "$work" "${comm%comm}environ"; then
			check "a helper is left: ${comm%/comm}" until_true ended "$(basename "${comm%/comm}")"
		fi
	done
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}
