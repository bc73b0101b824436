#!/bin/sh
# SPDX-License-Identifier: MIT
# Like gpu_faults.sh, but with --device=auto: if the GPU fails, the CPU counts the rest, and the program prints a warning.
# usage: tests/gpu_auto.sh GPUHIST DIRECTORY-OF-THE-SIMULATED-DRIVER [SEED [TORTURE_PRELOAD]]
# The preload holds readers of plain files up. Without it, as with the sanitizers, the program must be slow.
# QUICK=1, for sanitizers, leaves out half of the runs, drawn from SEED, and the runs that wait for 20 seconds.
# shellcheck source=tests/gpu_lib.sh
. "$(dirname "$(realpath "$0")")/gpu_lib.sh"

# Inputs for which auto starts the GPU, however fast the machine: the first is a FIFO that gives half of its bytes and then
# a few at a time until the GPU's process has begun; as its end is not known, that happens after 0.4 s. After one file,
# another FIFO waits until the GPU is ready or has met its fault. One thread, so that the GPU counts all of the rest or
# nothing; small slots, so that a few files fill several.
give() {
	dd bs=250000 count="$1" status=none
}
feed() {
	{
		give 136
		for _ in $(seq 100); do
			[ ! -s log ] || break
			sleep 0.02
			give 1
		done
		cat
	} <"$work/slow" >first
	until_true met_or_made 4 event
	sleep 0.1
	cat "$work/word" >second
}
rest=$(for _ in $warm_files; do echo "$work/warm"; done)
# auto_in DIRECTORY: run the job with the faults there; out, err, log and status are left in it
auto_in() (
	mkdir -p "$1" && cd "$1" || exit 1
	rm -f log first second
	mkfifo first second
	feed &
	feeder=$!
	# shellcheck disable=SC2046,SC2086
	env FAKECUDA_LOG="$PWD/log" $(printf 'FAKECUDA_%s ' $faults) timeout 120 "$gpuhist" -v -T 1 $asked first "$work/warm" second $rest >out 2>err
	echo $? >status
	kill $feeder 2>/dev/null
	wait $feeder 2>/dev/null
)
# judge_in DIRECTORY VERDICT NAME: expect the CPU's output, and one warning if the GPU had been ready, none if it never was
judge_in() {
	cp "$1/out" "$1/err" "$1/log" .
	status=$(cat "$1/status") warnings=$(grep -c 'warning: the GPU failed' err)
	judge spared "auto, $3"
	if ! grep -q 'ready after' err; then
		check "auto, $3: a GPU that was never ready" grep -q '^gpuhist: GPU: ' err
		check "auto, $3: $warnings warnings of it" [ "$warnings" -eq 0 ]
	elif [ "$2" != mad ] || [ "$warnings" -ne 0 ]; then
		check "auto, $3: $warnings warnings" [ "$warnings" -eq 1 ]
	fi
}
# noticed: succeed if the last run of auto met the fault, and reported it if the GPU was ready
noticed() {
	grep -q '^met' auto/log && { [ "$verdict" != warned ] || grep -q 'warning: the GPU failed' auto/err || ! grep -q 'ready after' auto/err; }
}
# auto VERDICT JOB FAULT...: like each. warned; mad: a warning may be missing; slow: the warning comes after 20 seconds
slow=0 left_out=0
auto() {
	verdict=$1 asked=$2
	shift 2
	# shellcheck disable=SC2086
	expect $asked "$work/slow" "$work/warm" "$work/word" $rest
	for faults in "$@"; do
		draw 2
		if [ -n "$quick" ] && { [ "$drawn" -eq 0 ] || [ "$verdict" = slow ]; }; then
			left_out=$((left_out + 1))
			continue
		fi
		if [ "$verdict" = slow ]; then
			slow=$((slow + 1))
			echo "$faults" >"slow.$slow" && cp "$sum" "sums/slow.$slow"
			auto_in "$work/slowly.$slow" &
			continue
		fi
		# On a loaded machine the simulated GPU may have counted too little to meet the fault, or met it when the
		# program waited for no more chunks.
		for _ in 1 2 3 4; do
			auto_in "$work/auto"
			! noticed || break
		done
		judge_in auto "$verdict" "$faults, $asked"
	done
}
job='-M 5M -b 1000 -r full'
auto slow "$job" HANG=3 STOP=cuEventQuery:4 HANG_CALL=cuMemcpyHtoDAsync_v2:4
auto warned "$job" FAIL=cuInit:1:100 FAIL=cuModuleLoadData:1:209 FAIL=cuLaunchKernel:2:719 FAIL=cuEventRecord:7:700 FAIL=any:90:214 \
	ONCE=cuLaunchKernel:3:719 STICKY=4:700 WRONG=1 WRONG=5 KILL=cuModuleLoadData:1 KILL=cuMemcpyHtoDAsync_v2:1 \
	HOSTILE=cuEventQuery:5:kind HOSTILE=cuEventQuery:5:close
auto mad "$job" HOSTILE=cuEventQuery:5:cells
# Two launches for each chunk: one packs, one counts. A chunk whose bins have become too narrow is counted again, so an
# error in its first counts need not be noticed.
auto warned '-M 5M -t f32 --auto' FAIL=cuLaunchKernel:9:719
auto mad '-M 5M -t f32 --auto' WRONG=9 HOSTILE=cuEventQuery:5:extent
auto warned '-M 5M -t f32 -r -1:1 -b 9 --record=8 --offset=4' FAIL=cuLaunchKernel:3:719 FAIL=cuLaunchKernel:6:719
# again INPUT FAULT...: counters that stay on the GPU are lost, and all files, or a file that is standard input, are counted
# once more. The reader waits at its 100th read, which makes the cores look slow, so that starting a GPU pays, and at its
# 300th until the GPU is ready or has met its fault.
steps="100:sleep 0.6
300:i=0; until grep -q ^met '$work/log' || [ \$(grep -c '^+event' '$work/log') -ge 4 ] || [ \$i -eq 500 ]; do i=\$((i + 1)); sleep 0.02; done"
again() {
	inputs=$1
	shift
	for faults in "$@"; do
		for _ in 1 2 3 4; do
			rm -f log
			# shellcheck disable=SC2086
			{
				[ "$inputs" != - ] || dd bs=4 count=1 status=none of=first4
				env ${preload:+"LD_PRELOAD=$preload" "TORTURE_STEP=$steps"} "FAKECUDA_$faults" timeout 120 "$gpuhist" -v -T 1 $asked $inputs
			} <all >out 2>err
			status=$?
			# On a loaded machine the GPU may fail before it has counted anything, or never.
			! grep -q 'counting starts again' err || break
		done
		judge spared "again, $faults"
		check "again, $faults: the warning" \
			[ "$(grep -c 'warning: the GPU failed (.*); counting starts again on the CPU' err)" -eq 1 ]
		check "again, $faults: another warning" [ "$(grep -c 'the GPU failed' err)" -eq 1 ]
	done
}
asked='-M 10M -t f32 --log=1e-30:1e30 -b 140000'
many=$(for _ in $warm_files; do echo "$work/slow"; done)
# shellcheck disable=SC2086
cat $many >all
# shellcheck disable=SC2086
expect $asked -f json $many
asked="$asked -f json"
again "$many" KILL=cuEventQuery:15 KILL=cuMemcpyDtoHAsync_v2:1 FAIL=cuMemcpyDtoHAsync_v2:2:719 WRONG=2 WRONG=2:high
asked=${asked% -f json}
# shellcheck disable=SC2086
expect $asked -S 4 all
again - KILL=cuEventQuery:15
rm all
# A stream cannot be read again: its counts stay on a GPU only if the user asks for it, and then a failure ends the run.
stream() {
	cat tiny >slowly &
	"$@" -b 400000 -r full slowly >out 2>err
	status=$?
	wait
}
mkfifo slowly
expect -b 400000 -r full tiny
stream "$gpuhist" -v
check 'auto, a stream' is same
check 'auto, a stream: no GPU' grep -q 'GPU not used: it would hold the counts of a stream' err
for faults in KILL=cuEventQuery:4 WRONG=2:high; do
	rm -f log
	stream env "FAKECUDA_$faults" "$gpuhist" -q --device=gpu -M 6M
	judge lost "a stream, $faults"
	check "a stream, $faults: the advice" grep -q 'the GPU failed (.*); try --device=cpu' err
done
# The GPU process is started from the file that was run, even if another program has taken its name, as after an upgrade.
cp "$gpuhist" bin/gh
ln -s "$driver/libcuda.so.1" bin/libcuda.so.1
given=$gpuhist gpuhist=$work/bin/gh
cp /bin/false bin/other
{ sleep 0.2 && mv bin/other bin/gh; } &
auto warned "$job" KILL=cuEventQuery:5
gpuhist=$given
wait
while [ $slow -gt 0 ]; do
	sum=sums/slow.$slow
	judge_in "slowly.$slow" warned "$(cat "slow.$slow")"
	slow=$((slow - 1))
done
[ $left_out -eq 0 ] || echo "left out: $left_out runs of auto that the seed drew, or that wait for 20 seconds"
report
