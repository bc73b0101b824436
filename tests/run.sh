#!/bin/sh
# Runs every test and prints one line for each, then "N passed, N failed".
# usage: tests/run.sh GPUHIST BUILD [SEED [JOBS [SECONDS]]]
# BUILD holds the test programs; SEED, JOBS and SECONDS are those of the random jobs.
set -u
gpuhist=$(realpath "$1") build=$(realpath "$2")
seed=${3:-1} jobs=${4:-4000} seconds=${5:-60}
here=$(dirname "$(realpath "$0")")
passed=0 failed=0

# one NAME COMMAND...: the command's last line must be "N passed, N failed".
one() {
	name=$1
	shift
	output=$("$@" 2>&1)
	status=$?
	summary=$(printf '%s\n' "$output" | tail -n 1)
	p=$(printf '%s\n' "$summary" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
	f=$(printf '%s\n' "$summary" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
	# A program that died before its last line has failed, whatever it had counted.
	[ -n "$p" ] || p=0 f=1
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	if [ "$f" -gt 0 ]; then
		printf '%s\n' "$output"
		printf 'FAILED %s (exit status %d)\n' "$name" "$status"
	else
		printf 'ok %s: %s\n' "$name" "$p"
	fi
	passed=$((passed + p)) failed=$((failed + f))
}

for test in "$build"/test_*; do
	case $test in *.o | *.d) continue ;; esac
	[ -x "$test" ] || continue
	one "$(basename "$test")" "$test"
done
one cli sh "$here/cli.sh" "$gpuhist"
# The address sanitizer, whose runtime wants to be first, takes ten times as long for each run: some
# plans only, each with a look for leaks. Under the thread sanitizer none.
case $build in
*/san-address) ASAN_OPTIONS=verify_asan_link_order=0 one torture "$build/torture" "$gpuhist" "$build/torture_preload.so" "$seed" 30 ;;
*/san-*) echo 'left out: torture (instrumented)' ;;
*)
	one imports sh "$here/imports.sh" "$gpuhist" "$build/torture_preload.so"
	one torture "$build/torture" "$gpuhist" "$build/torture_preload.so"
	;;
esac
one random_jobs "$build/random_jobs" "$gpuhist" "$build/oracle" "$seed" "$jobs" "$seconds"
# The GPU engine on the simulated driver, where the program has one.
if [ -x "$build/gpu_check" ]; then
	LD_LIBRARY_PATH=$(realpath "$here/../build/fake")
	FAKECUDA_SEED=$seed
	export LD_LIBRARY_PATH FAKECUDA_SEED
	# Under the thread sanitizer, QUICK=1, a part of it.
	gpu_jobs=70
	[ -z "${QUICK:-}" ] || gpu_jobs=12
	one gpu_check "$build/gpu_check" "$seed" "$gpu_jobs"
	one gpu_faults sh "$here/gpu_faults.sh" "$gpuhist" "$LD_LIBRARY_PATH" "$seed"
	one gpu_random_jobs "$build/random_jobs" "$gpuhist" "$build/oracle" "$seed" $((jobs / 4)) $((seconds / 3)) -- --device=gpu
else
	echo 'left out: the GPU engine (built without nvcc)'
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
