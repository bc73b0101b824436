#!/bin/sh
# The shipping program on a simulated driver that fails at every step in turn: the histogram is
# the CPU's to the byte or, where the GPU was demanded, nothing is published.
# usage: tests/gpu_faults.sh GPUHIST FOLDER-OF-THE-SIMULATED-DRIVER
# QUICK=1 does only two of the runs under auto, which take a minute each under the thread
# sanitizer.
set -u
quick=${QUICK:-} autos=0
gpuhist=$(realpath "$1") driver=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0
LD_LIBRARY_PATH=$driver
FAKECUDA_STRICT=1
export LD_LIBRARY_PATH FAKECUDA_STRICT

# 6 MiB that cross slots, and a partial slot at the end; then the same in front of a hole, long
# enough that auto starts the GPU even for one thread.
"$gpuhist" -h >text
i=0
while [ $i -lt 14 ]; do
	cat text text >both && mv both text
	i=$((i + 1))
	[ "$(wc -c <text)" -lt 6000000 ] || break
done
head -c 6000004 text >small
cp small large && truncate -s 1700M large
cp small larger && truncate -s 3300M larger

ok() {
	passed=$((passed + 1))
}
bad() {
	failed=$((failed + 1))
	printf 'FAILED %s\n' "$*"
	[ ! -s err ] || sed 's/^/  ! /' err
}

# same NAME STATUS-OF-LAST: stdout is the CPU's, no error but warnings.
same() {
	if [ "$2" -eq 0 ] && cmp -s out "$3"; then ok; else bad "$1: status $2"; fi
}

for arguments in '-b 1000 -r full' '-b 100000 -r full' '-t u8' '-t i16be -r full' '-t u24 -b 99 -r full -n 1999999' \
	'-t f32 -r -1:1 -b 77 --flow' '-t u64 -b 70000 -r full -n 750000'; do
	# shellcheck disable=SC2086
	"$gpuhist" -q --device=cpu $arguments small >expected
	# shellcheck disable=SC2086
	timeout 60 "$gpuhist" -q --device=gpu $arguments small >out 2>err
	same "gpu $arguments" $? expected
	# shellcheck disable=SC2086,SC2002
	cat small | timeout 60 "$gpuhist" -q --device=gpu $arguments >out 2>err
	same "gpu, pipe $arguments" $? expected
done

"$gpuhist" -q --device=cpu -b 1000 -r full small >expected
for devices in gpu:0,1 gpu:all; do
	FAKECUDA_DEVICES=2 timeout 60 "$gpuhist" -q --device=$devices -b 1000 -r full small >out 2>err
	same "$devices" $? expected
done
# One thread maps a file that is in the page cache. The first chunk is read, the others are windows.
i=0
while [ $i -lt 16 ]; do cat small >>warm && i=$((i + 1)); done
"$gpuhist" -q --device=cpu -b 1000 -r full warm >expected2
# one NAME: one thread, all of it on the GPU
one() {
	timeout 60 "$gpuhist" -v -T 1 --device=gpu -b 1000 -r full "${2:-warm}" >out 2>err
	same "one thread, $1" $? expected2
}
one 'mapped'
if grep -q 'counted 100.0% of the samples, [78].\..% from mapped files' err; then ok; else bad 'nothing was mapped'; fi
# The first registration is of the lane's own memory; what cannot be locked is read.
FAKECUDA_ONCE=cuMemHostRegister_v2:2:1 one 'the first window is refused'
FAKECUDA_ONCE=cuMemHostRegister_v2:5:801 one 'a later window is refused'
if grep -q 'from mapped files' err && ! grep -q ' 0.0% from mapped' err; then ok; else bad 'no window before the refusal'; fi
for plan in cuMemHostRegister_v2:4:719 cuMemHostUnregister:1:719 cuMemHostUnregister:3:719; do
	FAKECUDA_FAIL=$plan timeout 60 "$gpuhist" -q -T 1 --device=gpu -b 1000 -r full warm >out 2>err
	if [ $? -eq 1 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]; then ok; else bad "one thread, $plan"; fi
done
# The file is cut while windows of it are on their way: what is left of it counts, all of it once.
for cut in 20000000 4194304 12000004 4200000; do
	cp warm cut
	truncate -s $cut cut
	"$gpuhist" -q --device=cpu -b 1000 -r full cut >expected2
	cp warm cut
	FAKECUDA_TRUNCATE=2:$cut:cut one "cut to $cut" cut
	[ -z "$quick" ] || break
done

for symbol in cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetAttribute cuDevicePrimaryCtxRetain \
	cuCtxSetCurrent cuModuleLoadData cuModuleGetFunction cuFuncSetAttribute cuMemAlloc_v2 \
	cuMemHostRegister_v2 cuStreamCreate cuEventCreate cuEventRecord cuEventQuery \
	cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemsetD32Async cuLaunchKernel; do
	for n in 1 2 3 5 9; do
		FAKECUDA_FAIL=$symbol:$n timeout 60 "$gpuhist" -q --device=gpu -b 1000 -r full small >out 2>err
		status=$?
		# Not met, before anything was read, or after: and then nothing is published.
		case $status in
		0) same "gpu, $symbol fails at $n" 0 expected ;;
		1 | 4) if [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]; then ok; else bad "gpu, $symbol fails at $n: status $status"; fi ;;
		*) bad "gpu, $symbol fails at $n: status $status" ;;
		esac
	done
done

"$gpuhist" -q --device=cpu -b 1000 -r full large >expected
# A GPU that hangs is given up after 20 seconds: in the background, while the others run.
[ -n "$quick" ] || (FAKECUDA_HANG=3 timeout 90 "$gpuhist" -T 1 -b 1000 -r full large >hang.out 2>hang.err; echo $? >hang.status) &
# auto NAME WARNINGS: one thread, so that all of the rest goes through the GPU or does not.
auto() {
	autos=$((autos + 1))
	[ -z "$quick" ] || [ $autos -le 2 ] || return 0
	timeout 120 "$gpuhist" -T "${3:-1}" -b 1000 -r full "${4:-large}" >out 2>err
	same "auto, $1" $? "${5:-expected}"
	if [ "$(grep -c 'warning: the GPU failed' err)" -eq "$2" ]; then ok; else bad "auto, $1: warnings"; fi
}
auto 'nothing fails' 0
for n in 1 2 7; do
	for symbol in cuMemcpyHtoDAsync_v2 cuLaunchKernel cuEventQuery cuEventRecord cuMemcpyDtoHAsync_v2; do
		FAKECUDA_FAIL=$symbol:$n auto "$symbol fails at $n" 1
	done
done
"$gpuhist" -q --device=cpu -b 1000 -r full larger >expected2
FAKECUDA_FAIL=cuEventQuery:9:716 auto 'beside a CPU worker' 1 2 larger expected2
FAKECUDA_ONCE=cuLaunchKernel:3:719 auto 'one launch fails once' 1
FAKECUDA_WRONG=1 auto 'the first chunk is counted wrongly' 1
FAKECUDA_WRONG=5 auto 'a later chunk is counted wrongly' 1
FAKECUDA_FAIL=cuInit:1:100 auto 'no driver starts' 0
FAKECUDA_FAIL=cuModuleLoadData:1:209 auto 'no kernel for the device' 0
FAKECUDA_MEMORY=0 auto 'no device memory' 0
FAKECUDA_MEMORY=3000000 auto 'little device memory' 0
FAKECUDA_DEVICES=0 auto 'no device' 0
wait
if [ -n "$quick" ]; then
	: left out
elif [ "$(cat hang.status)" = 0 ] && cmp -s hang.out expected && grep -q 'warning: the GPU failed (watchdog' hang.err; then
	ok
else
	bad 'auto, a GPU that hangs'
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
