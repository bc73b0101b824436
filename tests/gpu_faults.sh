#!/bin/sh
# SPDX-License-Identifier: MIT
# The shipping program on a simulated driver that fails at each step, one after the other: the histogram
# is the CPU's to the byte or, where the GPU was demanded, nothing is published.
# usage: tests/gpu_faults.sh GPUHIST FOLDER-OF-THE-SIMULATED-DRIVER [SEED [TORTURE_PRELOAD]]
# TORTURE_PRELOAD: the library that makes calls of the system fail (tests/torture); left out without it.
# LONG=1 makes every call of every function fail, with every error; without it, a sample that SEED
# draws. QUICK=1 takes longer steps and leaves out most of auto, for the thread sanitizer: a dash in a list of runs ends
# those of QUICK, of which SEED draws every other one.
set -u
quick=${QUICK:-} long=${LONG:-} seed=${3:-1} preload=${4:+$(realpath "$4")}
gpuhist=$(realpath "$1") driver=$(realpath "$2")
functions=$(sed -n 's/^\tX([a-z0-9_]*, "\(cu[A-Za-z0-9_]*\)".*/\1/p' "$(find "$(dirname "$(realpath "$0")")/../src" -name cuda.h)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0 random=$seed
# Seconds after which a run is taken to hang; one thread counts 1.7 GB in about 110 under the thread sanitizer.
limit=120
[ -z "$quick" ] || limit=400
LD_LIBRARY_PATH=$driver
FAKECUDA_STRICT=1
FAKECUDA_LOG=$work/log
FAKECUDA_SEED=$seed
# The thread sanitizer would sleep a second at the end of each run.
# The helper has no standard error: what a sanitizer finds in it is read from files, and so from every process.
TSAN_OPTIONS="${TSAN_OPTIONS:-} atexit_sleep_ms=0 log_path=$work/sanitizer"
ASAN_OPTIONS="${ASAN_OPTIONS:-} log_path=$work/sanitizer"
UBSAN_OPTIONS="${UBSAN_OPTIONS:-} log_path=$work/sanitizer"
export TSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
export LD_LIBRARY_PATH FAKECUDA_STRICT FAKECUDA_LOG FAKECUDA_SEED

# tiny crosses slots of 256 KiB (-M 1M), small and warm those of 4 MiB; all end in a partial slot.
{
	printf '\000\001\002\003' # text would be refused
	"$gpuhist" -h
} >text
while [ "$(wc -c <text)" -lt 48000008 ]; do
	cat text text >both && mv both text
done
head -c 1500004 text >tiny
head -c 6000004 text >small
head -c 48000008 text >warm
rm text
cat warm warm | head -c 68000000 >slow
head -c 8 warm >word

ok() {
	passed=$((passed + 1))
}
bad() {
	failed=$((failed + 1))
	printf 'FAILED %s\n' "$*"
	[ ! -s err ] || head -n 20 err | sed 's/^/  ! /'
}
# draw N: a number below N, in $drawn
draw() {
	random=$(((random * 1103515245 + 12345) % 2147483648))
	drawn=$((random / 65536 % $1))
}
# JSON names the options, which are not those of the CPU's run.
sum() {
	sed 's/"options": "[^"]*"/"options": ""/' "$1" | cksum
}
# sound NAME: the helper did nothing that a driver forbids, unless it was made mad, and no sanitizer has found anything.
sound() {
	if [ -e log ] && ! grep -q '^met hostile' log && grep -q '^wrong' log; then bad "$1: $(grep '^wrong' log)"; fi
	set -- "$1" "$work"/sanitizer*
	[ -e "$2" ] || return 0
	cat "$2"
	rm -f "$work"/sanitizer*
	bad "$1: a sanitizer's report"
}
# same NAME STATUS-OF-LAST EXPECTED: stdout is the CPU's, no error but warnings.
same() {
	sound "$1"
	if [ "$2" -eq 0 ] && [ "$(sum out)" = "$(sum "$3")" ]; then ok; else bad "$1: status $2"; fi
}
# cpu ARGUMENTS...: what every engine must write
cpu() {
	"$gpuhist" -q --device=cpu "$@" >expected 2>err
}
met() {
	[ -e log ] && grep -q '^met' log
}
# open KIND: how many were made
open() {
	grep -c "^+$1\$" log
}
# on_gpu NAME ARGUMENTS...: on the GPU alone. Where a fault was met, nothing is published and
# one line says why; otherwise all is well.
on_gpu() {
	name=$1
	shift
	rm -f log
	timeout 180 "$gpuhist" -q --device=gpu "$@" >out 2>err
	status=$?
	if ! met; then
		same "gpu, $name" $status expected
	else
		lost "gpu, $name" $status
	fi
}
# lost NAME STATUS: nothing was published, and one line says why.
lost() {
	sound "$1"
	if { [ "$2" -eq 1 ] || [ "$2" -eq 4 ]; } && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q '^gpuhist: ' err; then
		ok
	else
		bad "$1: status $2"
	fi
}
# Inputs on which auto starts the GPU, however fast the machine: a FIFO that is slow makes the rest look long, and before
# the last files another FIFO waits until the GPU is ready, or has met its fault. $lead: files between the two.
# An instrumented program counts more slowly beside the device, and so has fewer left to count: the GPU has its share of them.
# feed: their writer, in a folder of the run's own.
lead='warm warm' rest='' files=30
if grep -q __asan_init "$gpuhist"; then files=10; fi
if grep -q __tsan_init "$gpuhist"; then files=6; fi
while [ $files -gt 0 ]; do rest="$rest warm" files=$((files - 1)); done
feed() {
	{
		head -c 34000000 "$work/slow"
		sleep 0.5
		tail -c +34000001 "$work/slow"
	} >first
	{
		waited=0
		until [ $waited -gt 500 ] || grep -q '^met' log 2>/dev/null || [ "0$(grep -c "^+event" log 2>/dev/null)" -ge 4 ]; do
			sleep 0.02
			waited=$((waited + 1))
		done
		sleep 0.15
		cat "$work/word"
	} >second
}
# paths FIRST SECOND: the inputs, the FIFOs among them
paths() {
	echo "$1"
	for file in $lead; do echo "$work/$file"; done
	echo "$2"
	for file in $rest; do echo "$work/$file"; done
}
# run_auto FOLDER THREADS: $job and $also on them; out, err, log and status are left there
run_auto() (
	mkdir -p "$1" && cd "$1" || exit 1
	rm -f log first second
	mkfifo first second
	FAKECUDA_LOG=$PWD/log
	feed &
	feeder=$!
	# shellcheck disable=SC2046,SC2086
	timeout $limit "$gpuhist" -v -T "$2" $job $also $(paths first second) >out 2>err
	echo $? >status
	kill $feeder 2>/dev/null
	wait $feeder 2>/dev/null
)
# expect: what the CPU makes of the same, which the next run counts first
expect() {
	counted=
}
count_expected() {
	[ -z "$counted" ] || return
	counted=1
	# shellcheck disable=SC2046,SC2086
	cpu $job $also $(paths "$work/slow" "$work/word")
}
# What is written over may be put right before it is read: with $may there need not be a warning.
may=
# judge FOLDER NAME EXPECTED: the CPU's output, and one warning where the GPU had been ready, none where it never was.
judge() {
	cp "$1/out" "$1/err" "$1/log" .
	same "auto, $2" "$(cat "$1/status")" "$3"
	warnings=$(grep -c 'warning: the GPU failed' err)
	if ! met; then
		bad "auto, $2: not met"
	elif grep -q 'ready after' err; then
		if [ "$warnings" -eq 1 ] || { [ -n "$may" ] && [ "$warnings" -eq 0 ]; }; then ok; else bad "auto, $2: $warnings warnings"; fi
	elif [ "$warnings" -eq 0 ] && grep -q '^gpuhist: gpu: ' err; then
		ok
	else
		bad "auto, $2: $warnings warnings of a GPU that was never ready"
	fi
}
# auto NAME [THREADS]: one thread, so that all of the rest is counted by the GPU or none of it. $job: what is counted, and
# how; $also: more options.
job='-b 1000 -r full'
also=
drawn_out=0
auto() {
	if [ -n "$quick" ]; then
		draw 2
		drawn_out=$((drawn_out + drawn))
		[ "$drawn" -eq 0 ] || return 0
	fi
	count_expected
	# On a loaded machine the simulated GPU may have counted too little to meet the fault.
	for _ in 1 2 3; do
		run_auto "$work/auto" "${2:-1}"
		! grep -q '^met' "$work/auto/log" || break
	done
	judge "$work/auto" "$1" expected
}
# beside NAME: the same in the background, for what takes long; judged at the end
besides=0
beside() {
	besides=$((besides + 1))
	count_expected
	cp expected "expected.$besides"
	echo "$1" >"name.$besides"
	run_auto "$work/beside.$besides" 1 &
}
# An error that a driver may die of: invalid value, out of memory, not initialised, device
# unavailable, ECC, no image, illegal address, timeout, launch failed, not supported, unknown.
errors='1 2 3 46 100 200 209 214 700 702 719 801 999'
draw_error() {
	draw 13
	error=$(echo "$errors" | cut -d ' ' -f $((drawn + 1)))
}
# walk FUNCTION ARGUMENTS...: it fails from its first, second, ... call on, until a run has fewer
# calls; meets is the number of runs that met the fault.
walk() {
	function=$1 n=1 meets=0
	shift
	while [ $n -lt 2000 ]; do
		draw_error
		FAKECUDA_FAIL=$function:$n:$error
		export FAKECUDA_FAIL
		on_gpu "$function fails at $n with $error ($*)" "$@"
		met || break
		meets=$((meets + 1))
		draw $((n / 2 + 1))
		[ -n "$long" ] || n=$((n + drawn))
		[ -z "$quick" ] || n=$((2 * n))
		n=$((n + 1))
	done
	unset FAKECUDA_FAIL
	[ $n -lt 2000 ] || bad "$function: met without end"
}

# ---- nothing fails ----

for arguments in '-b 1000 -r full' '-b 100000 -r full' '-t u8' '-t i16be -r full' '-t u24 -b 99 -r full -n 1999999' \
	'-t u16 -b 16 --stats -f json' '-t i16be -r full -b 9 --stats -f json' '-t bf16 -r -1:1 --stats -f json' \
	'-t f32be -r -1:1 -b 77 --stats -f json' '-t u24 -b 99 -r full --stats -f json -n 1999999' \
	'-t f32 -r -1:1 -b 77 --flow' '-t u64 -b 70000 -r full -n 750000' '-b 400000 -r full -n 1000000' \
	'-t f32 --auto' '-t i24 --auto -b 1000 -n 1999999 -c 1' '-t u64 --mod -b 1000 -n 750000' '-t i16 --auto -c 2' \
	'-t u8 -c 3 -n 2000001' '-t u16 -r 1000:64000 -b 9 -c 27 --flow -n 70000' '-t f32 --log=0.001:1e30 -b 500' '-t f32 -r -1:1 -b 9 --record=64 --offset=5 -n 93750' \
	'-t u8 --rows=100:129 -n 46000' '-t f64 --auto -b 99 -c 3 --rows=6:50 -n 120000'; do
	# shellcheck disable=SC2086
	cpu $arguments small
	# shellcheck disable=SC2086
	on_gpu "$arguments" $arguments small
	# shellcheck disable=SC2086,SC2002
	cat small | on_gpu "pipe $arguments" $arguments
done
cpu -b 1000 -r full small
for devices in gpu:0,1 gpu:all; do
	FAKECUDA_DEVICES=2 on_gpu "$devices" --device=$devices -T 4 -b 1000 -r full small
done
# The values of codes that are counted by groups are not known: the warning must not name any.
rm -f log
"$gpuhist" --device=gpu -t u16 -b 16 small >out 2>err
if grep -q 'are in no bin' err && ! grep -q 'values are from' err; then ok; else bad 'values of groups'; fi
# Which devices, and how many slots all of them have together.
# told DEVICES THREADS SLOTS NAME
told() {
	rm -f log
	FAKECUDA_DEVICES=3 "$gpuhist" --raw -v -b 1000 -r full --device="$1" -T "$2" tiny 2>err >out
	if grep -q "gpu: $4, $3 slots of " err; then ok; else bad "--device=$1 -T $2 is not '$4, $3 slots'"; fi
}
told gpu 1 5 'fake 0'
told gpu:2 2 6 'fake 2'
told gpu 20 24 'fake 0'
told gpu:1 20 24 'fake 1'
told gpu:2,0 2 10 'fake 2 and 1 more'
told gpu:1,2 20 28 'fake 1 and 1 more'
told gpu:all 20 48 'fake 0 and 2 more'
# Every thread but the main one, also the one that starts the GPU's helper, blocks the signals
# after which the main one has to clean up.
mkfifo pipe
rm -f log
"$gpuhist" -q --raw --device=gpu -T 2 -b 9 -r full -o terminated pipe 2>err &
pid=$!
exec 3>pipe
i=0
while [ $i -lt 400 ] && [ "$(grep -c '^+memory' log 2>/dev/null)" != 12 ]; do
	sleep 0.02
	i=$((i + 1))
done
others=0 open_to=0
for task in /proc/"$pid"/task/*; do
	[ "${task##*/}" != $pid ] || continue
	mask=$(sed -n 's/^SigBlk:[[:space:]]*//p' "$task/status" 2>/dev/null)
	[ -n "$mask" ] || continue # it has ended
	others=$((others + 1))
	[ $((0x$mask & 0x4000)) -ne 0 ] || open_to=$((open_to + 1))
done
if [ $others -gt 0 ] && [ $open_to -eq 0 ]; then ok; else bad "TERM is not held back by $open_to of $others threads"; fi
kill -s TERM $pid
{ wait $pid; } 2>/dev/null
status=$?
exec 3>&-
if [ $status -eq 143 ] && [ ! -e terminated ] && [ -z "$(find . -name '.terminated*')" ]; then ok; else bad "TERM on the GPU: status $status"; fi

# --every: what a lane has counted so far is in the output while its input waits, and adds up; the end is the CPU's.
mkfifo slowly
"$gpuhist" --device=gpu -T 1 -q -b 1000 -r full --every=0.1 -o every.json slowly 2>err &
pid=$!
exec 4>slowly
cat small >&4
tries=0
until [ $tries -gt 500 ] || grep -q '"samples": [1-9]' every.json 2>/dev/null; do
	sleep 0.02
	tries=$((tries + 1))
done
# The samples of the document less its values.
left() {
	sed 's/.*"samples": \([0-9]*\),.*"values": \[\(.*\)\].*/\1,\2/' "$1" | tr ',' '\n' | awk 'NR == 1 { n = $1 } NR > 1 { n -= $1 } END { print n }'
}
if grep -q '"partial": true' every.json && [ "$(left every.json)" = 0 ]; then ok; else bad "--every: $(head -c 600 every.json)"; fi
exec 4>&-
wait $pid
status=$?
"$gpuhist" --device=cpu -q -b 1000 -r full -f json small >expected
if [ $status -eq 0 ] && [ "$(sum every.json)" = "$(sum expected)" ]; then ok; else bad "--every at its end: status $status"; fi

# ---- one call is refused, and the work goes on without it ----

cpu -b 1000 -r full warm
# spared NAME ARGUMENTS...: the fault is met, and all is well all the same
spared() {
	name=$1
	shift
	rm -f log
	timeout 180 "$gpuhist" -q --device=gpu "$@" -b 1000 -r full warm >out 2>err
	same "gpu, $name" $? expected
	if met; then ok; else bad "gpu, $name: not met"; fi
	slots=$(open event)
	if [ "$(open host)" -eq 1 ] && [ "$(open stream)" -eq 2 ] && [ "$slots" -ge 2 ] && [ "$slots" -le 5 ]; then ok; else bad "gpu, $name: $slots slots"; fi
}
FAKECUDA_ONCE=cuDeviceGetName:1:1 spared 'no name' -T 1
# Too little memory for all slots: there are fewer, but two at least.
for n in 5 8; do
	FAKECUDA_ONCE=cuMemAlloc_v2:$n:2 spared "out of memory at allocation $n" -T 1
done
FAKECUDA_MEMORY=9000000 on_gpu "9 MB of device memory" -T 1 -b 1000 -r full warm
if [ "$(open event)" -eq 2 ]; then ok; else bad "gpu, 9 MB of device memory"; fi

# ---- the GPU dies: every function, at every call ----

cpu -b 1000 -r full tiny
for function in $functions; do
	case $function in
	cuGetErrorName) continue ;;
	esac
	walk "$function" -M 1M -T 3 -b 1000 -r full tiny
	if [ $meets -gt 0 ]; then ok; else bad "$function is never called"; fi
done
walk any -M 1M -T 3 -b 1000 -r full tiny
# Chunks that are counted twice, and samples that are packed first.
for arguments in '-t f32 --auto' '-t f32 -r -1:1 -b 9 --record=12 --offset=4 -n 125000'; do
	# shellcheck disable=SC2086
	cpu $arguments tiny
	for function in cuLaunchKernel cuMemcpyDtoHAsync_v2 cuMemAlloc_v2; do
		# shellcheck disable=SC2086
		walk $function -M 1M -T 3 $arguments tiny
		if [ $meets -gt 0 ]; then ok; else bad "$arguments, $function: never called"; fi
	done
done
cpu -b 1000 -r full tiny
FAKECUDA_DEVICES=2
export FAKECUDA_DEVICES
walk any --device=gpu:0,1 -M 2M -T 3 -b 1000 -r full tiny
unset FAKECUDA_DEVICES
cpu -b 100000 -r full -n 300000 small
for function in cuLaunchKernel cuMemsetD32Async; do walk $function -b 100000 -r full -n 300000 small; done
# Errors of the work itself, which the next call returns, whatever it is.
cpu -b 1000 -r full tiny
for error in 214 700 719 999; do
	for n in 1 2 5 6; do
		FAKECUDA_STICKY=$n:$error on_gpu "kernel $n dies of $error" -M 1M -T 3 -b 1000 -r full tiny
		if met; then ok; else bad "sticky $n: not met"; fi
	done
done
# One call fails and the driver lives: no later call would show it.
for function in cuMemcpyHtoDAsync_v2 cuMemsetD32Async cuLaunchKernel cuMemcpyDtoHAsync_v2 cuEventRecord; do
	FAKECUDA_ONCE=$function:3:719 on_gpu "$function fails once" -M 1M -T 3 -b 1000 -r full tiny
	if met; then ok; else bad "$function once: not met"; fi
done
for n in 1 2 6; do
	FAKECUDA_WRONG=$n on_gpu "kernel $n counts wrongly" -M 1M -T 3 -b 1000 -r full tiny
	if met; then ok; else bad "wrong $n: not met"; fi
done

# ---- no driver, no device ----

# refused NAME REASON: exit 4, nothing but one line that names the reason
refused() {
	timeout 180 "$gpuhist" -q --device=gpu -T 1 -b 1000 -r full tiny >out 2>err
	status=$?
	if [ $status -eq 4 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -e "$2" err; then ok; else bad "$1: status $status"; fi
}
mkdir empty && : >empty/libcuda.so.1
LD_LIBRARY_PATH=$work/empty refused 'no library' 'libcuda.so.1 is not there'
LD_LIBRARY_PATH=$driver/old refused 'a library without one symbol' 'it has no cuGetErrorName'
FAKECUDA_DEVICES=0 refused 'no device' FAKE_ERROR_100
gpuhist_given=$gpuhist
for devices in 0,7 7 1,0; do
	printf '#!/bin/sh\nexec %s "$@" --device=gpu:%s\n' "$gpuhist_given" $devices >with-devices
	chmod +x with-devices
	gpuhist=$work/with-devices
	refused "one device, gpu:$devices asked" 'driver: '
done
printf '#!/bin/sh\nexec %s "$@" --device=gpu:2\n' "$gpuhist_given" >with-devices
FAKECUDA_DEVICES=2 CUDA_VISIBLE_DEVICES=0,-1,1 refused 'a device that the user hides' 'driver: '
gpuhist=$gpuhist_given
FAKECUDA_MEMORY=5000000 refused 'too little device memory' 'memory for a slot: FAKE_ERROR_2'
FAKECUDA_FAIL=cuInit:1:100 refused 'no driver starts' 'driver: FAKE_ERROR_100'
FAKECUDA_FAIL=cuDevicePrimaryCtxRetain:1:46 refused 'a busy device' 'context: FAKE_ERROR_46'
for error in 200 209 222; do
	FAKECUDA_FAIL=cuModuleLoadData:1:$error refused "an image refused, $error" "kernels: FAKE_ERROR_$error"
done
FAKECUDA_ONCE=cuMemHostRegister_v2:1:801 refused 'page-locking refused' 'FAKE_ERROR_801'
FAKECUDA_NAMELESS=1 FAKECUDA_FAIL=cuInit:1:4711 refused 'an unknown error' 'an error without a name'

# ---- fewer slots than workers ----

# Workers that have the slots wait for the worker that decodes, which has none. Each run may find another order.
if command -v zstd >/dev/null; then
	head -c 4000000 warm | split -b 1000000 --filter='zstd -q -1' - >frames.zst
	head -c 4000000 warm >frames
	cpu -b 1000 -r full frames frames
	i=0
	while [ $i -lt 8 ]; do
		on_gpu 'frames by more workers than slots' -M 1M -T 8 -b 1000 -r full frames.zst frames.zst
		i=$((i + 1))
	done
fi

# ---- the helper as a process ----

# helper_of PID: in $helper, its child that is the GPU's
helper_of() {
	helper=
	for status in /proc/[0-9]*/status; do
		grep -q "^PPid:[[:space:]]*$1\$" "$status" 2>/dev/null || continue
		grep -q '^Name:[[:space:]]*gpuhist-gpu$' "$status" 2>/dev/null || continue
		helper=${status#/proc/} helper=${helper%/status}
	done
}
# gone PID: it ends, or is a zombie that waits for its parent
gone() {
	tries=0
	while [ $tries -lt 500 ] && [ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; do
		sleep 0.02
		tries=$((tries + 1))
	done
	[ $tries -lt 500 ]
}
# waiting OPTIONS...: gpuhist in a group of its own, $pid, with its helper, $helper, and a FIFO that gives nothing
mkfifo nothing
waiting() {
	rm -f log
	# A background command of a shell ignores INT.
	setsid env --default-signal=INT "$gpuhist" -q --raw -T 2 -b 1000 -r full "$@" nothing >out 2>err 7<tiny 9>kept-open &
	pid=$!
	exec 5<>nothing
	tries=0
	while [ $tries -lt 500 ] && [ "0$(grep -c '^+memory' log 2>/dev/null)" -lt 12 ]; do
		sleep 0.02
		tries=$((tries + 1))
	done
	helper_of $pid
}
waiting --device=gpu
if [ -n "$helper" ]; then
	ok
	if [ "$(readlink "/proc/$helper/cwd")" = / ]; then ok; else bad "the helper's folder: $(readlink "/proc/$helper/cwd")"; fi
	if [ "$(sed 's/.*) //' "/proc/$helper/stat" | cut -d ' ' -f 4)" = "$helper" ]; then ok; else bad "the helper's session"; fi
	# USR1 alone: it asks for the progress, and ends no process.
	if grep -q '^SigBlk:[[:space:]]*0*200$' "/proc/$helper/status"; then ok; else bad 'the signals that the helper blocks'; fi
	kill -s USR1 "$helper" $pid
	sleep 0.1
	if grep -q '^State:[[:space:]]*[^Z]' "/proc/$helper/status" 2>/dev/null; then ok; else bad 'USR1 ends the helper'; fi
	# Files of the driver are its own: the simulated one has memory that is mapped from one.
	kept=$(for fd in "/proc/$helper/fd"/*; do readlink "$fd"; done | grep -v '^/memfd:poison ' | sed 's/:.*//' | sort | tr '\n' ' ')
	if [ "$kept" = '/dev/null /dev/null /dev/null socket ' ]; then ok; else bad "the helper holds: $kept"; fi
else
	bad 'no process is called gpuhist-gpu'
fi
# A signal to the group is the program's alone; the helper goes with it, in whatever way that ends.
kill -s HUP -- -$pid
{ wait $pid; } 2>/dev/null
status=$?
if [ $status -eq 129 ] && gone "$helper"; then ok; else bad "HUP to the group: status $status"; fi
for open in '' '-o kept'; do
	# shellcheck disable=SC2086
	waiting --device=gpu $open
	kill -s INT -- -$pid
	{ wait $pid; } 2>/dev/null
	status=$?
	if [ $status -eq 130 ] && gone "$helper" && [ ! -s out ]; then ok; else bad "INT to the group ($open): status $status"; fi
	for file in .kept* kept; do [ ! -e "$file" ] || bad "INT to the group: $file is left"; done
done
waiting --device=gpu -o kept
kill -s KILL $pid
{ wait $pid; } 2>/dev/null
if gone "$helper"; then ok; else bad 'the program was killed, and the helper lives on'; fi
rm -f .kept*
FAKECUDA_HANG_CALL=cuMemAlloc_v2:8
export FAKECUDA_HANG_CALL
waiting --device=gpu
kill -s KILL $pid
{ wait $pid; } 2>/dev/null
if gone "$helper"; then ok; else bad 'the program was killed, and a helper in a call lives on'; fi
unset FAKECUDA_HANG_CALL
exec 5>&-
# From anywhere, under any name, in any surroundings.
cpu -b 1000 -r full tiny
mkdir bin removed
cp "$gpuhist" bin/gh
rm -f log
(cd bin && ./gh -q --device=gpu -b 1000 -r full ../tiny) >out 2>err
same 'by a relative path' $? expected
(PATH=$work/bin:$PATH && gh -q --device=gpu -b 1000 -r full tiny) >out 2>err
same 'by PATH' $? expected
(cd removed && rmdir "$work/removed" && "$gpuhist" -q --device=gpu -b 1000 -r full "$work/tiny") >out 2>err
same 'from a folder that is gone' $? expected
# What the user means by a relative path is relative to the folder of the program, not to the helper's.
ln -s "$driver/libcuda.so.1" bin/libcuda.so.1
for path in bin .:; do
	[ $path = bin ] && folder=. || folder=bin
	(cd "$folder" && LD_LIBRARY_PATH=$path "$gpuhist" -q --device=gpu -b 1000 -r full "$work/tiny") >out 2>err
	same "a driver in the folder $path" $? expected
done
setsid -w "$gpuhist" -q --device=gpu -b 1000 -r full -o out tiny <&- >&- 2>&-
same 'without a terminal or standard streams' $? expected
"$gpuhist" -q --device=gpu -b 1000 -r full tiny 3>&1 4>&1 5>&1 9>&1 >out 2>err
same 'with inherited descriptors' $? expected
# shellcheck disable=SC2002
cat tiny | "$gpuhist" -q --device=gpu -b 1000 -r full 2>err | cat >out
same 'in a pipeline' $? expected
head -n 1 expected >first-line
"$gpuhist" -q --device=gpu -b 1000 -r full tiny 2>err | head -n 1 >out
same 'before head' $? first-line
"$gpuhist" -q --device=gpu -b 1000 -r full tiny >out 2>err &
"$gpuhist" -q --device=gpu -b 1000 -r full tiny >out.2 2>err.2
status=$?
wait $!
same 'one of two at once' $? expected
cp out.2 out
same 'the other of two' $status expected
# A user who finds it in ps.
for open in '' '3<tiny 4<tiny'; do
	eval "\"\$gpuhist\" --gpu-helper=1 >out 2>err $open"
	status=$?
	if [ $status -eq 2 ] && [ ! -s out ] && grep -q '^gpuhist: --gpu-helper=' err; then ok; else bad "started by hand: status $status"; fi
done
# Limits: the histogram, or one line.
# needs: the simulated driver needs memory and files too, and aborts without.
needs() {
	[ ! -e log ] || sed -i '/^wrong: .*: \(Cannot allocate memory\|Too many open files\)$/d; /^wrong: no thread/d' log
}
# limited NAME ULIMIT...: auto would go on without; what is demanded is there, or refused by name
limited() {
	name=$1
	shift
	rm -f log
	(ulimit "$@" && exec "$gpuhist" -q --device=gpu -T 2 -b 1000 -r full tiny) >out 2>err
	status=$?
	needs
	if [ $status -eq 0 ]; then same "$name" 0 expected; else lost "$name" $status; fi
}
for n in 5 6 7 8 9 10 12 16; do limited "$n descriptors" -n $n; done
# A sanitizer's shadow is more than any limit.
if ! nm -D "$gpuhist" 2>/dev/null | grep -q '__[atu].*san_init'; then
	for n in 20000 60000 100000 200000 300000; do limited "$n KiB of addresses" -v $n; done
fi
limited 'no memory that is locked' -l 0
# Processes and threads, of a user who has no others. A sanitizer may have threads of its own.
if [ "$(id -u)" -eq 0 ] && ! nm -D "$gpuhist" 2>/dev/null | grep -q '__[atu].*san_init' && setpriv --reuid=54321 --clear-groups true 2>/dev/null; then
	mkdir theirs && chmod 711 . theirs
	cp "$gpuhist" theirs/gpuhist && cp tiny theirs && cp -L "$driver/libcuda.so.1" theirs
	chmod 755 theirs/*
	: >log && chmod 666 log
	for n in 0 1 2 3 4 5 6 7 8 12; do
		: >log
		LD_LIBRARY_PATH=$work/theirs setpriv --reuid=54321 --clear-groups prlimit --nproc=$n \
			theirs/gpuhist -q --device=gpu -T 2 -b 1000 -r full theirs/tiny >out 2>err
		status=$?
		needs
		if [ $status -eq 0 ]; then same "$n processes" 0 expected; else lost "$n processes" $status; fi
		: >log
		LD_LIBRARY_PATH=$work/theirs setpriv --reuid=54321 --clear-groups prlimit --nproc=$n \
			theirs/gpuhist -q -T 2 -b 1000 -r full theirs/tiny >out 2>err
		status=$?
		needs
		same "$n processes, auto" $status expected
	done
	rm -f log
else
	printf 'left out: a limit of processes (which root alone can try, without a sanitizer)\n'
fi
# A file of memory is a file to this limit.
unset FAKECUDA_LOG
("$gpuhist" -q --device=gpu -T 2 -b 1000 -r full tiny 2>err; echo $? >status) | cat >out
if [ "$(cat status)" -eq 0 ]; then ok; else bad 'without a log'; fi
(ulimit -f 8 && "$gpuhist" -q --device=gpu -T 2 -b 1000 -r full tiny 2>err; echo $? >status) | cat >out
if [ "$(cat status)" -eq 4 ] && grep -q 'memory to share' err; then ok; else bad "small files only: status $(cat status)"; fi
FAKECUDA_LOG=$work/log
export FAKECUDA_LOG

# The system refuses what a helper needs.
# denied NAME PLAN ARGUMENTS...
denied() {
	name=$1 denial=$2
	shift 2
	rm -f log
	LD_PRELOAD=$preload TORTURE_FAIL=$denial timeout 180 "$gpuhist" -q --device=gpu -b 1000 -r full "$@" >out 2>err
	status=$?
	needs
	if [ $status -eq 0 ]; then same "$name" 0 expected; else lost "$name" $status; fi
}
if [ -n "$preload" ]; then
	for plan in posix_spawn:1:11 posix_spawn:1:12 memfd_create:1:38 memfd_create:1:24 ftruncate:1:28 socketpair:1:24 pthread_create:1:11 poll:1:12; do
		denied "$plan" $plan tiny
		if [ $status -eq 4 ]; then ok; else bad "$plan: was not met: status $status"; fi
	done
	# The program's calls and the helper's own.
	for function in malloc calloc realloc mmap open pthread_create; do
		n=1
		while [ $n -lt 30 ]; do
			draw 12
			[ -n "$long" ] || n=$((n + drawn))
			denied "$function fails at $n" $function:$n:12 -T 3 tiny
			n=$((n + 1))
		done
	done
fi

# ---- a helper that has gone mad ----

# Said before it is ready: refused. Written while it counts: refused, or without harm.
cpu -b 1000 -r full tiny
for what in kind zero short long slots0 slots65 slotsmany cells0 cells1 cells- devices failed escape close; do
	rm -f log
	FAKECUDA_HOSTILE=cuModuleLoadData:1:$what timeout 180 "$gpuhist" -q --device=gpu -T 3 -b 1000 -r full tiny >out 2>err
	lost "a helper that says $what" $?
	case $what in
	failed | close) ok ;;
	escape) if grep -q "$(printf '[\001\033\a\r]')" err; then bad "$what: control characters"; else ok; fi ;;
	*) if grep -q 'sent an invalid answer' err; then ok; else bad "a helper that says $what was believed"; fi ;;
	esac
done
# mad AT WHAT ARGUMENTS...
mad() {
	at=$1 what=$2
	shift 2
	rm -f log
	FAKECUDA_HOSTILE=$at:$what timeout 180 "$gpuhist" -q --device=gpu -T 3 "$@" >out 2>err
	status=$?
	if [ $status -eq 0 ]; then same "a helper with $what ($*)" 0 expected; else lost "a helper with $what ($*)" $status; fi
}
for arguments in '-b 1000 -r full' '-t f32 --auto' '-b 400000 -r full'; do
	# shellcheck disable=SC2086
	cpu $arguments -M 1M tiny
	for what in state "done" submitted odd k extent cells sums head; do
		for at in cuModuleLoadData:1 cuEventQuery:4; do
			draw 3
			[ -n "$long" ] || [ "$drawn" -eq 0 ] || [ "$what" = head ] || [ "$what" = "done" ] || continue
			# "submitted" may keep a chunk from being done, for as long as an unanswered one is waited for.
			[ "$what" != submitted ] || [ -n "$long" ] || continue
			# shellcheck disable=SC2086
			mad $at $what $arguments -M 1M tiny
		done
	done
done

# ---- auto: the CPU counts what the GPU does not ----

# The samples of a chunk are in the statistics once, also where the CPU counts it again.
also='--stats -f json'
expect
for n in 5 ${quick:+-} 9; do
	[ "$n" != - ] || break
	FAKECUDA_FAIL=cuEventQuery:$n:719 auto "statistics, cuEventQuery fails at $n"
done
also=
expect
# Given up after seconds: a chunk that is never done; a process that is stopped, or in a call that never ends, before it
# is ready or after.
if [ -z "$quick" ]; then
	FAKECUDA_HANG=3 beside 'a GPU that hangs'
	FAKECUDA_STOP=cuEventQuery:4 beside 'a helper that is stopped'
	FAKECUDA_HANG_CALL=cuMemcpyHtoDAsync_v2:4 beside 'a call that hangs'
	FAKECUDA_HANG_CALL=cuModuleLoadData:1 beside 'a start that hangs'
fi
FAKECUDA_FAIL=cuLaunchKernel:2:719 auto 'cuLaunchKernel fails at 2'
FAKECUDA_WRONG=5 auto 'a later chunk is counted wrongly'
# The helper is started again from what was run, whatever has become of its name.
count_expected
given=$gpuhist gpuhist=$work/bin/gh
{
	sleep 0.2
	rm bin/gh
} &
FAKECUDA_KILL=cuEventQuery:5 auto 'an executable that is deleted'
# ... also where another program has taken it, as an upgrade does.
cp "$given" bin/gh
{
	sleep 0.2
	cp /bin/false bin/other
	mv bin/other bin/gh
} &
FAKECUDA_KILL=cuEventQuery:5 auto 'an executable that is replaced'
gpuhist=$given
for call in cuEventQuery:5 ${quick:+-} cuModuleLoadData:1 cuMemAlloc_v2:3 cuMemcpyHtoDAsync_v2:1; do
	[ "$call" != - ] || break
	FAKECUDA_KILL=$call auto "killed in $call"
done
# Two launches a chunk: four chunks are on their way, then the first is counted again; packed, then counted.
job='-t f32 --auto'
expect
FAKECUDA_FAIL=cuLaunchKernel:9:719 auto 'a second count fails'
# The first eight may be worthless, and are counted again.
FAKECUDA_WRONG=11 auto 'a chunk of --auto is counted wrongly'
FAKECUDA_FAIL=cuEventQuery:9:719 auto 'after some chunks of --auto'
may=1
for what in k ${quick:+-} extent; do
	[ "$what" != - ] || break
	FAKECUDA_HOSTILE=cuEventQuery:5:$what auto "a helper that writes $what"
done
may=
job='-t f32 -r -1:1 -b 9 --record=8 --offset=4'
expect
FAKECUDA_FAIL=cuLaunchKernel:3:719 auto 'a chunk is not packed'
FAKECUDA_FAIL=cuLaunchKernel:6:719 auto 'a packed chunk is not counted'
# Counters that stay, in pieces: fetched at the end, or when the GPU has failed counted again, but for the pieces
# that are in the totals. The first copy to the host is of the sums.
job='-b 400000 -r full -M 16M'
expect
for n in 2 ${quick:+-} 1 3; do
	[ "$n" != - ] || break
	FAKECUDA_KILL=cuMemcpyDtoHAsync_v2:$n auto "counters that stay, killed at copy $n"
	FAKECUDA_FAIL=cuMemcpyDtoHAsync_v2:$n:719 auto "counters that stay, copy $n fails"
done
FAKECUDA_WRONG=4 auto 'counters that stay, a sample too many'
if [ -z "$quick" ]; then
	FAKECUDA_FAIL=cuLaunchKernel:9:719 auto 'counters that stay, a kernel fails'
	FAKECUDA_FAIL=cuMemsetD32Async:1:719 auto 'counters that stay, a fill fails'
fi
may=1
FAKECUDA_HOSTILE=cuEventQuery:5:sums auto 'a helper that writes sums'
may=
[ -n "$quick" ] || FAKECUDA_STOP=cuMemcpyDtoHAsync_v2:3 beside 'counters that stay, stopped between pieces'
job='-b 1000 -r full'
expect
if [ -z "$quick" ]; then
	for what in kind twice close; do FAKECUDA_HOSTILE=cuEventQuery:5:$what auto "a helper that says $what"; done
	may=1
	for what in state "done" odd cells head; do FAKECUDA_HOSTILE=cuEventQuery:5:$what auto "a helper that writes $what"; done
	may=
	for n in 1 7; do
		for function in $functions; do
			case $function in
			cuGetErrorName) continue ;;
			# Once at the start only.
			cuInit | cuDeviceGet* | cuDeviceP* | cuMemHostR* | cuModule* | cuFunc* | cuOcc* | cuStreamC* | cuEventC* | cuCtxS*) [ $n -eq 1 ] || continue ;;
			esac
			draw 4
			[ -n "$long" ] || [ "$drawn" -eq 0 ] || continue
			draw_error
			# Failures that make a lane smaller.
			case $error in 1 | 2 | 801) error=719 ;; esac
			FAKECUDA_FAIL=$function:$n:$error auto "$function fails at $n with $error"
		done
	done
	FAKECUDA_WRONG=1 auto 'the first chunk is counted wrongly'
	for n in 1 4; do FAKECUDA_STICKY=$n:700 auto "kernel $n dies"; done
	FAKECUDA_ONCE=cuLaunchKernel:3:719 auto 'one launch fails once'
	FAKECUDA_FAIL=cuModuleLoadData:1:209 auto 'no kernel for the device'
	if [ -n "$long" ]; then
		i=0
		while [ $i -lt 60 ]; do
			draw_error
			FAKECUDA_FAIL=any:$((1 + 3 * i)):719 auto "call $((1 + 3 * i)) fails"
			i=$((i + 1))
		done
	fi
	lead='warm warm warm warm warm warm warm warm'
	expect
	FAKECUDA_FAIL=cuEventQuery:9:716 auto 'beside a CPU worker' 2
	lead='warm warm'
fi
wait
i=0
while [ $i -lt $besides ]; do
	i=$((i + 1))
	judge "beside.$i" "$(cat "name.$i")" "expected.$i"
done
[ $drawn_out -eq 0 ] || echo "left out: $drawn_out runs of auto that the seed drew"
# Of all these runs no helper is left.
for comm in /proc/[0-9]*/comm; do
	grep -q '^gpuhist-gpu$' "$comm" 2>/dev/null || continue
	if grep -q "$work" "${comm%comm}environ" 2>/dev/null && ! gone "$(basename "${comm%/comm}")"; then bad "a helper is left: ${comm%/comm}"; fi
done
ok
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
