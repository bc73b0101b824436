#!/bin/sh
# SPDX-License-Identifier: MIT
# The shipping program on a simulated driver that fails at each step, one after the other: the histogram equals the CPU's to
# the byte or, if the GPU was demanded, nothing is published. Faults are named as in tests/fakecuda/driver.c, without
# FAKECUDA_; a line below gives a VERDICT, the arguments of a job, and the FAULTs that must lead to it.
# usage: tests/gpu_faults.sh GPUHIST DIRECTORY-OF-THE-SIMULATED-DRIVER [SEED [TORTURE_PRELOAD]]
# TORTURE_PRELOAD: the library that makes system calls fail (tests/torture); without it, these tests are left out.
# Calls that the usual job never makes (cuStreamWaitEvent, cuMemFree) fail in jobs of their own.
# LONG=1 makes every call of every function fail; without it, a sample drawn from SEED. QUICK=1, for sanitizers, takes
# longer steps.
# shellcheck source=tests/gpu_lib.sh
. "$(dirname "$(realpath "$0")")/gpu_lib.sh"

# ---- nothing fails ----

for arguments in '-b 1000 -r full' '-t i16be -r full -b 9 --stats -f json' '-t f32be -r -1:1 -b 77' \
	'-t u24 -b 99 -r full -n 499999' '-t bf16 -r -1:1 --flow -c 2' '-b 400000 -r full' '-t u8 -c 3 -n 500001' \
	'-t f32 --auto' '-t f64 --auto -b 99 -c 3 --rows=6:50 -n 30000'; do
	each same "-M 2200K $arguments tiny" DEVICES=1
done
# The device that is chosen, and the number of its slots.
while read -r devices threads slots name; do
	FAKECUDA_DEVICES=3 "$gpuhist" --raw -v -b 1000 -r full --device="$devices" -T "$threads" tiny 2>err >out
	check "$devices, $threads threads: $name, $slots slots" grep -q "GPU: $name, $slots slots of " err
done <<-'END'
	gpu 1 5 fake 0
	gpu:2 2 6 fake 2
	gpu 20 24 fake 0
END
# Counters that do not fit -M: auto uses no GPU, --device=gpu two slots, and -v reports the memory they took.
"$gpuhist" -v -M 16M -t f32 --auto -b 1M tiny 2>err >out
check 'auto: counters that do not fit' grep -q 'GPU not used: its buffers and counters do not fit in -M' err
"$gpuhist" -v -M 16M -t f32 --auto -b 1M --device=gpu tiny 2>err >out
check 'two slots' grep -q 'GPU: fake 0, 2 slots of 4 MiB, 16.0 MiB with all counters, ' err
# --every: while a lane's input waits, the output holds the counts so far, and they add up; at the end it equals the CPU's.
mkfifo slowly
"$gpuhist" --device=gpu -T 1 -q -b 1000 -r full --every=0.1 -o every.json slowly 2>err &
pid=$!
exec 4>slowly
cat tiny >&4
until_true grep -qs '"samples": [1-9]' every.json
# The samples of the document, less the sum of its values.
left=$(sed 's/.*"samples": \([0-9]*\),.*"values": \[\(.*\)\].*/\1,\2/' every.json | tr ',' '\n' |
	awk 'NR == 1 { n = $1 } NR > 1 { n -= $1 } END { print n }')
check "--every, $left left" grep -q '"partial": true' every.json
check "--every, $left left" [ "$left" = 0 ]
exec 4>&-
wait $pid
status=$?
expect -b 1000 -r full -f json tiny
mv every.json out
judge same '--every at its end'

# ---- the GPU fails ----

# Too little memory for all slots: there are fewer, but at least two.
large='-T 1 -b 1000 -r full warm'
each spared "$large" ONCE=cuDeviceGetName:1:1 ONCE=cuMemAlloc_v2:5:2 ONCE=cuMemAlloc_v2:8:2
each same "$large" MEMORY=9000000
# A slot that gets only a part of its memory gives it back.
each spared "$large" ONCE=cuMemAlloc_v2:6:2
check 'the memory of half a slot is freed' grep -q '^-memory' log
each lost "$large" 'ONCE=cuMemAlloc_v2:6:2 FAIL=cuMemFree_v2:1:719'
refused 'memory for a slot: FAKE_ERROR_2' "$large" MEMORY=5000000
for function in $functions any; do
	# shellcheck disable=SC2086
	walk "$function" $plain
done
walk any --device=gpu -M 6M -T 3 -b 400000 -r full tiny
each lost '-M 6M -T 3 -b 400000 -r full tiny' WRONG=2 WRONG=2:high KILL=cuMemcpyDtoHAsync_v2:1
refused 'memory for the counters: FAKE_ERROR_2' '-M 6M -b 400000 -r full tiny' MEMORY=3000000
# Chunks that are counted twice, and samples that are packed first.
for function in cuLaunchKernel cuMemcpyDtoHAsync_v2 cuMemAlloc_v2; do
	walk "$function" -M 2200K -T 3 -t f32 --auto tiny
	walk "$function" -M 2200K -T 3 -t f32 -r -1:1 -b 9 --record=12 --offset=4 -n 125000 tiny
done
# Errors of the work itself, which the next call returns, whatever it is. One call fails and the driver lives on: no later
# call would show the error. One count too many.
each lost "$plain" STICKY=1:700 STICKY=2:719 STICKY=6:214 ONCE=cuMemcpyHtoDAsync_v2:3:719 ONCE=cuMemsetD32Async:3:719 \
	ONCE=cuLaunchKernel:3:719 ONCE=cuMemcpyDtoHAsync_v2:3:719 ONCE=cuEventRecord:3:719 WRONG=1 WRONG=2 WRONG=6 KILL=cuEventQuery:3
refused 'driver: FAKE_ERROR_100' "$plain" DEVICES=0
refused 'driver: FAKE_ERROR_100' "$plain" FAIL=cuInit:1:100
refused 'driver: unknown error' "$plain" 'NAMELESS=1 FAIL=cuInit:1:4711'
refused 'context: FAKE_ERROR_46' "$plain" FAIL=cuDevicePrimaryCtxRetain:1:46
refused 'kernels: FAKE_ERROR_209' "$plain" FAIL=cuModuleLoadData:1:209
refused 'FAKE_ERROR_801' "$plain" ONCE=cuMemHostRegister_v2:1:801
for devices in 7 1; do refused 'driver: ' "$plain --device=gpu:$devices" DEVICES=1; done
CUDA_VISIBLE_DEVICES=0,-1,1
export CUDA_VISIBLE_DEVICES
refused 'driver: ' "$plain --device=gpu:2" DEVICES=2
unset CUDA_VISIBLE_DEVICES
mkdir empty && : >empty/libcuda.so.1
LD_LIBRARY_PATH=$work/empty
refused 'no NVIDIA driver found: libcuda.so.1' "$plain" DEVICES=1
LD_LIBRARY_PATH=$driver/old
refused 'it has no cuGetErrorName' "$plain" DEVICES=1
LD_LIBRARY_PATH=$driver
# The workers that hold the slots wait for the worker that decodes, which holds none. Each run may find another order.
if command -v zstd >/dev/null; then
	head -c 4000000 slow | split -b 1000000 --filter='zstd -q -1' - >frames.zst
	each same '-M 2200K -T 8 -b 1000 -r full frames.zst frames.zst' SEED=1 SEED=2 SEED=3 SEED=4
	# A long frame that the GPU decodes, in several batches: noise of six bits a byte.
	head -c 20000000 slow | zstd -q -1 | LC_ALL=C tr '\100-\377' '\000-\077\000-\077\000-\077' | head -c 3000000 >long
	zstd -q -1 long
	long_job='-M 16M -T 3 -t u8 -b 64 -r full long.zst'
	each same "$long_job" SEED=1 SEED=2
	each lost "$long_job" STICKY=2:700
	# A batch waits for one before it, unless all of them came together.
	each either "$long_job" KILL=cuStreamWaitEvent:1 FAIL=cuStreamWaitEvent:1:719 FAIL=cuStreamWaitEvent:2:719
	# Decoded bytes are counted where they lie: at odd offsets, gathered, with an extent, on counters that stay, by one
	# thread, and up to a last record inside a batch.
	each same '-M 16M -T 3 -t u16 -c 3 -S 5 --ignore-tail -r full -b 1000 long.zst' SEED=3
	each same '-M 16M -T 3 --record=7 --offset=2 -t u32 --ignore-tail -b 1000 -r full long.zst' SEED=4
	each same '-M 24M -T 2 -t u32 --auto -b 100 long.zst' SEED=5
	each same '-M 64M -T 2 -t u24 -r full -b 262144 long.zst' SEED=6
	each same '-M 16M -T 1 -t u8 -n 2999999 --no-check -r full -b 16 long.zst' SEED=7
	# Of many frames, the GPU decodes as many as it has buffers for.
	cat long.zst long.zst long.zst long.zst >many.zst
	each same '-M 16M -T 3 --record=7 --offset=2 -t u32 --ignore-tail -b 1000 -r full many.zst' SEED=8
	each same '-M 16M -T 2 -t u8 -n 7999999 -r full -b 16 many.zst many.zst' SEED=9
	each either '-M 16M -T 3 -t u8 -b 64 -r full many.zst' KILL=cuStreamWaitEvent:3 \
		FAIL=cuStreamWaitEvent:4:719 FAIL=cuStreamWaitEvent:5:719 FAIL=cuStreamWaitEvent:6:719
	# auto starts the GPU for a frame if the rest of the file makes that pay: here a GiB that is skipped.
	# shellcheck disable=SC2002 # from a pipe, whose size is not declared
	cat long | zstd -q -1 >pays.zst
	printf '\120\052\115\030\0\0\0\100' >>pays.zst
	truncate -s $(($(wc -c <pays.zst) + 1073741824)) pays.zst
	expect -M 64M -T 3 -t u8 -b 64 -r full -n 1T pays.zst
	for faults in SEED=1 SEED=2 DEVICES=0 FAIL=cuInit:1:100 FAIL=cuModuleLoadData:1:209 STICKY=2:700 KILL=cuStreamWaitEvent:1; do
		rm -f log
		# shellcheck disable=SC2046,SC2086
		env $(printf ' FAKECUDA_%s' DEVICES=1 $faults) timeout 180 "$gpuhist" -v -M 64M -T 3 -t u8 -b 64 -r full -n 1T pays.zst >out 2>err
		status=$?
		judge same "auto, a frame, $faults"
		case $faults in SEED*) check "auto, a frame, $faults: the GPU did not decode it" grep -q 'decoded 100' err ;; esac
	done
	faults=
fi

# ---- a GPU process that has gone mad ----

# Nonsense sent before the process is ready: refused. Written while it counts: refused, or harmless.
for what in kind short slots0 slotsmany failed escape close; do
	each lost "$plain" HOSTILE=cuModuleLoadData:1:"$what"
	case $what in
	failed | close) ;;
	escape) check "$what: control characters" [ -z "$(grep "$(printf '[\001\033\a\r]')" err)" ] ;;
	*) check "a helper that says $what" grep -q 'sent an invalid answer' err ;;
	esac
done
for arguments in '-M 2200K -b 1000 -r full' '-M 2200K -t f32 --auto'; do
	for what in extent infinity cells; do
		each mad "-T 3 $arguments tiny" HOSTILE=cuModuleLoadData:1:"$what" HOSTILE=cuEventQuery:4:"$what"
	done
done

# ---- the GPU process ----

# waiting OPTIONS...: start gpuhist in a group of its own, $pid, with its GPU process, $helper, and a FIFO that gives nothing
mkfifo nothing
waiting() {
	rm -f log
	# A background command of a shell ignores INT.
	setsid env --default-signal=INT "$gpuhist" -q --raw -T 2 -b 1000 -r full --device=gpu "$@" nothing >out 2>err 7<tiny 9>kept-open &
	pid=$!
	exec 5<>nothing
	until_true met_or_made 8 memory
	helper=$(grep -ls "(gpuhist-gpu) [A-Z] $pid " /proc/[0-9]*/stat | cut -d / -f 3)
}
# ends SIGNAL STATUS PID NAME: after the signal both processes end, and no output is left
ends() {
	kill -s "$1" -- "$3"
	{ wait $pid; } 2>/dev/null
	status=$?
	check "$4: status $status" [ $status -eq "$2" ]
	check "$4: the helper lives on" until_true ended "$helper"
	[ "$1" = KILL ] || check "$4: output is left" [ -z "$(cat out; find . -name '*kept' -o -name '.kept*')" ]
	rm -f .kept*
}
waiting
check 'a process that is called gpuhist-gpu' [ -n "$helper" ]
check "the helper's directory" [ "$(readlink "/proc/$helper/cwd")" = / ]
check "the helper's session" [ "$(sed 's/.*) //' "/proc/$helper/stat" | cut -d ' ' -f 4)" = "$helper" ]
# USR1 alone is blocked: it asks for the progress, and ends no process.
check 'the signals that the helper blocks' grep -q '^SigBlk:[[:space:]]*0*200$' "/proc/$helper/status"
kill -s USR1 "$helper" $pid
sleep 0.1
check 'USR1 ends the helper' grep -qs '^State:[[:space:]]*[^Z]' "/proc/$helper/status"
# The driver may open files in it: the simulated one maps memory from one.
check 'open files of the helper' [ "$(for fd in "/proc/$helper/fd"/*; do readlink "$fd"; done | grep -v '^/memfd:poison ' |
	sed 's/:.*//' | sort | tr '\n' ' ')" = '/dev/null /dev/null /dev/null socket ' ]
# Every thread but the main one blocks the signals after which that cleans up, even the one that starts the GPU process.
check 'TERM is open to more than one thread' \
	[ "$(sed -n 's/^SigBlk:[[:space:]]*//p' /proc/"$pid"/task/*/status | grep -c '[0-389ab]...$')" -eq 1 ]
# A signal to the group is for the program alone; the GPU process ends with it, however the program ends.
ends HUP 129 -$pid 'HUP to the group'
waiting -o kept
ends INT 130 -$pid 'INT to the group'
waiting -o kept
ends TERM 143 $pid 'TERM'
waiting -o kept
ends KILL 137 $pid 'KILL'
FAKECUDA_HANG_CALL=cuMemAlloc_v2:8
export FAKECUDA_HANG_CALL
waiting
ends KILL 137 $pid 'KILL while the helper is in a call'
unset FAKECUDA_HANG_CALL
exec 5>&-
# A parent that inherits orphans, as the first process of a container does, finds no GPU process after the end. The program
# waits for it only briefly, so on a loaded machine one run may leave it behind, but not every run.
if command -v python3 >/dev/null; then
	cat >inherit.py <<-'END'
		import ctypes, os, sys
		ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
		def left_by(command):
		    os.waitpid(os.spawnvp(os.P_NOWAIT, command[0], command), 0)
		    left = 0
		    try:
		        while os.wait():
		            left += 1
		    except ChildProcessError:
		        return left
		sys.exit(all(left_by(sys.argv[1:]) for _ in range(20)))
	END
	# shellcheck disable=SC2086
	check 'a helper is left to the parent' python3 inherit.py "$gpuhist" -q -o inherited --device=gpu $plain
fi
# From anywhere, under any name, in any environment. A relative path that the user gives is relative to the directory of the
# program, not to the GPU process's.
cp "$gpuhist" bin/gh
ln -s "$driver/libcuda.so.1" bin/libcuda.so.1
mkdir removed
# shellcheck disable=SC2034 # used by the commands below
job='-q --device=gpu -b 1000 -r full'
expect -b 1000 -r full tiny
while read -r command; do
	rm -f log out
	eval "($command) >out 2>err </dev/null"
	status=$?
	judge same "$command"
done <<-'END'
	cd bin && ./gh $job ../tiny
	PATH=$work/bin:$PATH gh $job tiny
	cd removed && rmdir ../removed && "$gpuhist" $job "$work/tiny"
	LD_LIBRARY_PATH=bin "$gpuhist" $job tiny
	cd bin && LD_LIBRARY_PATH=.: "$gpuhist" $job ../tiny
	setsid -w "$gpuhist" $job -o there tiny <&- >&- 2>&-; cat there
	"$gpuhist" $job tiny 3>&1 4>&1 5>&1 9>&1
	cat tiny | "$gpuhist" $job | cat
	"$gpuhist" $job tiny >one & "$gpuhist" $job tiny >two; wait; cmp one two && cat one
END
check 'before head' [ "$("$gpuhist" -q --device=gpu -b 1000 -r full tiny | head -n 1)" = 'bin,lower,upper,count' ]
# A user who finds its option in ps.
"$gpuhist" --gpu-helper=1 >out 2>err 3<tiny 4<tiny
check 'started by hand: the status' [ $? -eq 2 ]
check 'started by hand: the message' grep -q '^gpuhist: --gpu-helper=' err

# ---- the system refuses ----

# limited NAME COMMAND...: the demanded output is written, or refused by name. The simulated driver needs memory and files
# too, and aborts without them.
limited() {
	name=$1
	shift
	: >log
	"$@" >out 2>err
	status=$?
	sed -i '/^wrong: .*: \(Cannot allocate memory\|Too many open files\)$/d; /^wrong: no thread/d' log
	judge mad "$name"
}
# shellcheck disable=SC2016 # the shell with the limit expands it
with_limit() {
	limited "$*" sh -c 'limit=$1 && shift && ulimit $limit && exec "$@"' - "$*" "$gpuhist" -q --device=gpu -T 2 -b 1000 -r full tiny
}
for n in 5 6 7 8 9 10 12 16; do with_limit -n $n; done
with_limit -l 0
# A sanitizer's shadow is larger than any limit.
if [ -z "$instrumented" ]; then for n in 20000 60000 100000 200000 300000; do with_limit -v $n; done; fi
# The limit on file sizes also applies to files in memory.
(unset FAKECUDA_LOG && ulimit -f 8 && "$gpuhist" -q --device=gpu -T 2 -b 1000 -r full tiny 2>err; echo $? >status) | cat >out
check 'small files only: the status' [ "$(cat status)" -eq 4 ]
check 'small files only: the reason' grep -q 'memory to share' err
# Calls that starting a GPU process needs, in the program and in that process.
denied() {
	limited "$1" env LD_PRELOAD="$preload" TORTURE_FAIL="$1" timeout 180 "$gpuhist" -q --device=gpu -T 3 -b 1000 -r full tiny
}
if [ -n "$preload" ]; then
	for plan in posix_spawn:1:11 memfd_create:1:24 ftruncate:1:28 socketpair:1:24 pthread_create:1:11 poll:1:12; do
		denied $plan
		check "$plan: was not met: status $status" [ $status -eq 4 ]
	done
	denied pthread_create:1:11
	check 'pthread_create: the reason' grep -q 'Resource temporarily unavailable' err
	for function in malloc calloc realloc mmap open pthread_create; do
		n=0
		while [ $n -lt 30 ]; do
			draw 12
			n=$((n + 1 + ${long:+0}${long:-$drawn}))
			denied $function:$n:12
		done
	done
fi
report
