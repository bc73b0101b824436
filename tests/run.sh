#!/bin/sh
# SPDX-License-Identifier: MIT
# Run every test, three at a time, because one of them often waits. Print one line for each as it ends; then the slowest
# ten with their seconds and their CPU seconds, the instruction sets whose loops ran, and everything that was left out, with
# the reason; then "N passed, N failed", which counts tests. A test's own line gives its checks.
# usage: tests/run.sh [--quick] GPUHIST BUILD [SEED [JOBS [SECONDS]]]
# BUILD holds the test programs; SEED, JOBS and SECONDS are for the random jobs. --quick runs the transcripts, and the unit
# tests without the longest ones. In the environment: AT_ONCE=1, one test at a time; VALGRIND=1, the jobs of valgrind.sh too;
# QUICK=1, for the sanitizers, a third of the longest unit tests and half of the GPU's faults, drawn from SEED, fewer jobs of
# gpu_check, and no readers in Python; ONLY='NAME...', these tests alone; LIMIT=SECONDS, after which any test is ended;
# PYTHON=/usr/bin/python3, the Python for the tests instead of build/venv's.
set -u

seconds_up() {
	read -r up _ </proc/uptime
	echo "$up"
}
# This part runs one test: tests/run.sh --one DIRECTORY NAME, whose command is DIRECTORY/NAME.sh. The
# last line of a test must be "N passed, N failed". Its output and its result are printed in one piece.
if [ "${1:-}" = --one ]; then
	folder=$2 name=$3 out=$2/$3.out
	begin=$(seconds_up)
	sh "$folder/$name.sh" >"$out" 2>&1
	status=$?
	end=$(seconds_up)
	# The second line of times gives the CPU time of this shell's children: 0m1.25s 0m0.5s.
	times >"$folder/$name.times"
	{ read -r _ && IFS='ms ' read -r m s m2 s2 _; } <"$folder/$name.times"
	summary=$(tail -n 1 "$out")
	p=${summary%% passed, *} f=${summary##* passed, } f=${f% failed}
	# If a program died before its last line, it has failed, whatever it printed before.
	case $p.$f in
	*[!0-9.]* | .* | *.) p=0 f=1 ;;
	esac
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	why="exit status $status"
	# timeout(1) returns 124 if its signal was enough, 137 if it had to kill. Processes that ignored the signal are left.
	case $status in
	124 | 137)
		why="it hung: ended after $(cat "$folder/$name.limit") seconds"
		kill -s KILL -- "-$(cat "$folder/$name.group")" 2>/dev/null
		;;
	esac
	rm "$folder/$name.group"
	echo "$name $p $f $begin $end $m $s $m2 $s2" >"$folder/$name.result"
	until mkdir "$folder/printing" 2>/dev/null; do sleep 0.02; done
	if [ "$f" -gt 0 ]; then
		cat "$out"
		printf 'FAILED %s (%s)\n' "$name" "$why"
	else
		printf 'ok %s: %s\n' "$name" "$p"
		grep '^left out: ' "$out" >>"$folder/left"
		sed -n 's/^reached: //p' "$out" >"$folder/$name.reached"
	fi
	rmdir "$folder/printing"
	exit 0
fi

quick=
[ "$1" != --quick ] || { quick=1 && shift; }
here=$(dirname "$(realpath "$0")")
gpuhist=$(realpath "$1") build=$(realpath "$2") fake=$(realpath "$here/../build")/fake
seed=${3:-1} jobs=${4:-2500} seconds=${5:-20}
folder=$(mktemp -d)
# Ctrl-C does not reach the tests, because timeout(1) gives each a process group of its own.
end_all() {
	for group in "$folder"/*.group; do
		[ ! -f "$group" ] || kill -s TERM -- "-$(cat "$group")"
	done
	rm -rf "$folder"
}
trap end_all EXIT
trap 'exit 1' HUP INT TERM
: >"$folder/list"
: >"$folder/left"
left_out() { echo "left out: $*" >>"$folder/left"; }

# After this many seconds a test counts as hung. The longest unit test takes 20 s of CPU time, and the longest of the others
# a minute, apart from those that are told their seconds; so on a slow or loaded machine a test may take twenty times as
# long. Sanitizers and valgrind make tests ten times slower, and get ten times as long.
slow=1
case $build${VALGRIND:+/san-valgrind} in
*/san-* | */coverage) slow=10 ;;
esac
limit=${LIMIT:-$((slow * (1200 + 20 * seconds)))}

# A test must not inherit signals that a parent ignores, as nohup does. An env without the option is not GNU's.
signals=--default-signal=HUP,INT,QUIT,TERM,PIPE,USR1
env $signals true 2>/dev/null || signals=

# The instruction sets that this machine and the program have, the best first.
sets=
for isa in vbmi2 avx512 avx2 base; do
	! GPUHIST_ISA=$isa "$gpuhist" /dev/null >/dev/null 2>&1 || sets="$sets${sets:+, }$isa"
done

# test_of NAME COMMAND...: add a test, if it is wanted.
only=$(printf %s "${ONLY:-}" | tr -s '\n\t' ' ')
test_of() {
	case " ${only:-$1} " in
	*" $1 "*) ;;
	*) return 0 ;;
	esac
	echo "$1" >>"$folder/list"
	command=$folder/$1.sh
	shift
	echo "$limit" >"${command%.sh}.limit"
	{
		printf "echo \$\$ >'%s'; exec timeout -k 10 %s env %s" "${command%.sh}.group" "$limit" "$signals"
		for word; do
			case $word in
			*\'*) word=$(printf %s "$word" | sed "s/'/'\\\\''/g") ;;
			esac
			printf " '%s'" "$word"
		done
	} >"$command"
}
# test_in_python CODE NAME SCRIPT ARGUMENT...: add a test for the first Python that runs CODE, or for $PYTHON alone.
test_in_python() {
	code=$1 name=$2
	shift 2
	for python in ${PYTHON:-"$here/../build/venv/bin/python" python3 /usr/bin/python3}; do
		missing=$("$python" -c "$code" 2>&1) || continue
		test_of "$name" "$python" -B "$@"
		return
	done
	left_out "$name ($(printf '%s\n' "$missing" | tail -n 1))"
}

# The long tests come first, so that the last ones end at nearly the same time.
if [ -z "$quick" ]; then
	# The GPU engine on the simulated driver, if the program was built with one.
	if [ -x "$build/gpu_check" ]; then
		# Jobs with up to 2^24 bins; larger ones take a simulated device minutes.
		gpu_jobs=145
		[ -z "${QUICK:-}" ] || gpu_jobs=12
		set -- LD_LIBRARY_PATH="$fake" FAKECUDA_SEED="$seed"
		for name in gpu_faults gpu_auto; do
			# With QUICK=1, only one of the sanitizers runs them each time.
			case $((seed % 2))$build${QUICK:+,quick} in
			0*/san-address,quick | 1*/san-thread,quick) ;;
			*/san-* | */coverage*) test_of $name "$@" sh "$here/$name.sh" "$gpuhist" "$fake" "$seed" ;;
			*) test_of $name "$@" sh "$here/$name.sh" "$gpuhist" "$fake" "$seed" "$build/torture_preload.so" ;;
			esac
		done
		test_of gpu_check "$@" "$build/gpu_check" "$seed" "$gpu_jobs"
		test_of unpack_check "$@" "$build/unpack_check" "$seed"
		# An old device, whose shared memory is too small for tables that fit a newer one's: they are in its memory.
		[ -n "${QUICK:-}" ] || test_of gpu_check_old FAKECUDA_SHARED=65536 "$@" "$build/gpu_check" "$seed" 70
		test_of gpu_random_jobs "$@" "$build/random_jobs" "$gpuhist" "$build/oracle" "$seed" $((jobs / 4)) \
			$((seconds / 3)) -- --device=gpu
		[ ! -x "$build/bench_kernels" ] || test_of bench_kernels "$@" sh "$here/bench_kernels.sh" "$build/bench_kernels"
		test_of stream sh "$here/stream.sh" "$gpuhist" "$here/../build/stream"
	else
		for name in gpu_faults gpu_auto gpu_check unpack_check gpu_random_jobs stream; do
			left_out "$name (built without nvcc)"
		done
	fi
	[ ! -x "$build/sched/schedules" ] || test_of schedules "$build/sched/schedules" "$seed" "$((seconds < 20 ? seconds : 20))"
	test_of source_jobs "$build/source_jobs" "$seed" "$((4 * jobs))" "$((seconds < 20 ? seconds : 20))"
	[ ! -x "$build/sched/source_jobs" ] ||
		test_of source_schedules "$build/sched/source_jobs" "$seed" "$((4 * jobs))" "$((seconds < 15 ? seconds : 15))"
	test_of random_jobs "$build/random_jobs" "$gpuhist" "$build/oracle" "$seed" "$jobs" "$seconds"
	# The jobs so far used the best instruction set; run fewer with each other one that this machine has.
	for isa in $(echo "$sets" | sed 's/^[^,]*//; s/,//g'); do
		test_of "random_jobs_$isa" env GPUHIST_ISA="$isa" "$build/random_jobs" "$gpuhist" "$build/oracle" "$seed" \
			$((jobs / 4)) $((seconds / 3))
	done
	# Most of their time is Python's; the transcripts also write these formats under the sanitizers.
	if [ -z "${QUICK:-}" ]; then
		test_in_python 'import boost_histogram, hist, numpy, uhi.schema, fastjsonschema' \
			uhi_check "$here/uhi_check.py" "$gpuhist" "$build/uhi_documents" "$here/../man/gpuhist-json.5"
		test_in_python 'import fractions' figures_check "$here/figures_check.py" "$gpuhist" "$seed"
		test_in_python 'import numpy' numpy_check "$here/numpy_check.py" "$gpuhist" "$seed"
		test_in_python 'import numpy, safetensors.numpy' tensors_check "$here/tensors_check.py" "$gpuhist" "$seed"
		test_in_python 'import numpy' module_check "$here/module_check.py" "$gpuhist" "$seed"
		test_in_python 'import numpy' python_doc "$here/python_doc.py" "$gpuhist"
	else
		left_out 'uhi_check, numpy_check, tensors_check, module_check, python_doc, some of the unit tests (QUICK=1)'
	fi
	test_in_python 'import prometheus_client.parser' prom_check "$here/prom_check.py" "$gpuhist" "$seed"
	test_in_python 'import fractions' text_check "$here/text_check.py" "$gpuhist" "$seed"
	test_in_python 'import fractions' formats_check "$here/formats_check.py" "$gpuhist" "$seed"
	test_in_python 'import fractions' compare_check "$here/compare_check.py" "$gpuhist" "$seed"
	test_in_python 'import fractions' linearity_check "$here/linearity_check.py" "$gpuhist" "$seed"
	test_in_python 'import statistics' density_check "$here/density_check.py" "$gpuhist"
	test_in_python 'import tempfile' tables_check "$here/tables_check.py" "$build/gpuhist_blocks" "$seed"
	test_in_python 'import pty; pty.openpty()' progress_pty "$here/progress_pty.py" "$gpuhist"
	test_in_python 'import pty; pty.openpty()' terminal_check "$here/terminal_check.py" "$gpuhist"
	# The address sanitizer, whose runtime must be loaded first, makes each run take ten times as long, so it runs only
	# some plans, each with a check for leaks. The thread sanitizer and gcov, which writes files, run none.
	case $build in
	*/san-address)
		test_of torture ASAN_OPTIONS=verify_asan_link_order=0 "$build/torture" "$gpuhist" \
			"$build/torture_preload.so" "$seed" "$((seconds < 30 ? seconds : 30))"
		;;
	*/san-* | */coverage) left_out 'torture, memory_check, changed, imports, makefile (instrumented)' ;;
	*)
		test_of torture "$build/torture" "$gpuhist" "$build/torture_preload.so" "$seed"
		test_in_python 'import shutil; assert shutil.which("zstd"), "zstd is missing"' \
			memory_check "$here/memory_check.py" "$gpuhist"
		test_of changed sh "$here/changed.sh" "$gpuhist" "$build/torture_preload.so"
		test_of imports sh "$here/imports.sh" "$gpuhist" "$build/torture_preload.so"
		test_of makefile sh "$here/makefile.sh"
		[ -z "${VALGRIND:-}" ] || test_of valgrind sh "$here/valgrind.sh" "$gpuhist"
		;;
	esac
fi
limit=${LIMIT:-$((slow * 400))}
for script in "$here"/cli/*.sh; do
	name=${script##*/} name=${name%.sh}
	[ "$name" = lib ] || test_of "cli_$name" sh "$here/cli.sh" "$gpuhist" "$name"
done
test_of tour sh "$here/tour.sh" "$gpuhist"
test_of cookbook sh "$here/tour.sh" "$gpuhist" "$here/../docs/cookbook.md"
test_of readme sh "$here/tour.sh" "$gpuhist" "$here/../README.md"
test_of includes sh "$here/includes.sh"
[ ! -d "$build/obj/src" ] || test_of circles sh "$here/circles.sh" "$build/obj/src"
test_of locks sh "$here/locks.sh"
test_of completions sh "$here/completions.sh" "$gpuhist"
# Unit tests that are marked slow take three quarters of the time of all unit tests.
unbuilt=0 turn=$seed
for test in "$here"/test_*.c; do
	name=${test##*/} name=${name%.c}
	if grep -q '^/\* slow \*' "$test"; then
		turn=$((turn + 1))
		[ -z "$quick" ] || continue
		[ -z "${QUICK:-}" ] || [ $((turn % 3)) -eq 0 ] || continue
	fi
	if [ -x "$build/$name" ]; then
		test_of "$name" "$build/$name"
	else
		unbuilt=$((unbuilt + 1))
	fi
done

# The Makefile knows which tests have only one thread.
case $build in
*/san-thread) left_out "$unbuilt unit tests of one thread (instrumented)" ;;
*) [ $unbuilt -eq 0 ] || { echo "$unbuilt unit tests are not built" && exit 1; } ;;
esac

[ -s "$folder/list" ] || { echo "no test here is one of $only" && exit 1; }
# Not with the shell's &, after which everything under test would ignore INT and QUIT.
xargs -n 1 -P "${AT_ONCE:-3}" sh "$0" --one "$folder" <"$folder/list"

echo 'slowest, in seconds and in CPU seconds:'
cat "$folder"/*.result | awk '{ printf "%8.1f s %8.1f s  %s\n", $5 - $4, 60 * ($6 + $8) + $7 + $9, $1 }' |
	sort -rn >"$folder/slowest"
head -n 10 "$folder/slowest"
# How far the tests came that stop after some seconds.
for reached in "$folder"/*.reached; do
	[ ! -s "$reached" ] || echo "$(basename "$reached" .reached) reached $(cat "$reached")"
done
echo "instruction sets: $sets"
sort -u "$folder/left"
# A test without a result did not run, which is a failure too.
awk 'FNR == NR { tests++; next } { ended++; failed += $3 > 0 }
	END { failed += tests - ended; printf "%d passed, %d failed\n", tests - failed, failed; exit failed > 0 }' \
	"$folder/list" "$folder"/*.result
