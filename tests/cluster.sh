#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/cluster/ with real launchers: what they make of a whole is what one run makes of it, to the byte; and where a part
# is killed or fails the launcher's status is not 0, the part is named, and nothing is added up.
# usage: tests/cluster.sh GPUHIST [NAME...]     of openmpi mpich parallel ssh slurm kubernetes dask; else all
#
# A launcher that is not installed is left out by name, or is a failure where it was asked for. Nothing outside a
# scratch folder is written. The program is started through a script of the same name, which lets one part fail
# as the file `fail` says: "K kill", "K exit STATUS" or "K lost", where its last input is not there; with "K kill wait" the
# other parts go on for ten minutes unless the launcher ends them.
# shellcheck disable=SC2086 # $bins and commands are words
set -u
root=$(realpath "$(dirname "$0")/..")
gpuhist=$(realpath "$1")
shift
asked=$*
work=$(mktemp -d)
cd "$work" || exit 1 # mpirun takes a program of this folder before those of PATH
children=''
cleanup() {
	[ ! -e "$work/slurm/slurmd.pid" ] || SLURM_CONF=$work/slurm/slurm.conf scancel --full --me 2>/dev/null
	[ ! -d "$work/slurm" ] || sh "$root/tests/cluster/slurm.sh" stop "$work/slurm"
	[ -z "$children" ] || kill $children 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0
examples=$root/examples/cluster
# Other launchers' variables would be taken for this one's.
for name in $(env | sed -n 's/^\(OMPI_[^=]*\|PMI_[^=]*\|PMIX_[^=]*\|SLURM_[^=]*\|SBATCH_[^=]*\|JOB_COMPLETION_INDEX\)=.*/\1/p'); do
	unset "$name"
done

mkdir "$work/bin" "$work/data" "$work/out"
cat >"$work/bin/gpuhist" <<END
#!/bin/sh
for word in "\$@"; do
	case \$word in
	--part=auto)
		part=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-\${SLURM_PROCID:-}}}
		[ -z "\$part" ] || part=\$((part + 1))
		;;
	--part=*) part=\${word#--part=} part=\${part%/*} ;;
	esac
done
if [ -n "\${part:-}" ]; then
	echo "\${CUDA_VISIBLE_DEVICES-none}" >"$work/device.\$part"
	read -r which what status <"$work/fail"
	if [ "\$which" = "\$part" ]; then
		case \$what in
		kill) kill -KILL \$\$ ;;
		exit) echo "staged" >&2 && exit "\$status" ;;
		lost) set -- "\$@" '/lost input' ;;
		esac
	elif [ "\$status" = wait ]; then
		echo \$\$ >>"$work/waiting"
		exec sleep 600
	fi
fi
exec '$gpuhist' "\$@"
END
chmod +x "$work/bin/gpuhist"
PATH=$work/bin:$PATH:/usr/sbin:/sbin
export PATH
: >"$work/fail"

# Two files of samples, some MiB in all, the name of one with a blank in it.
cat "$gpuhist" "$gpuhist" "$gpuhist" | head -c 5000000 >"$work/data/a.u16"
head -c 1234568 "$gpuhist" | tr '\0-\176' '\1-\177' >"$work/data/b b.u16"
bins='-t u16 -b 700 -r 0:65000'
"$gpuhist" -q $bins -o "$work/whole.json" "$work/data/a.u16" "$work/data/b b.u16"

ok() { # WHAT COMMAND...: it succeeds
	claim=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $launcher: $claim"
		tail -n 20 "$work/log" | cut -c 1-400
	fi
}
equal() { # WHAT FILE: the sum is the whole
	ok "$1: the sum is the whole, to the byte" cmp "$work/whole.json" "$2"
}
says() { # WHAT WORDS FILE
	ok "$1: '$2' in its messages: $(head -c 600 "$3")" grep -qF -e "$2" "$3"
}
absent() { # WHAT FILE
	ok "$1: no $(basename "$2")" test ! -e "$2"
}
ended() { # WHAT: no part goes on after its launcher has given up
	[ -e "$work/waiting" ] || return 0
	while read -r pid; do
		for _ in $(seq 100); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
		ok "$1: the other parts have ended" sh -c "! kill $pid"
	done <"$work/waiting"
	rm "$work/waiting"
}
clean() { # WHAT FOLDER: no output of another name; a launcher may kill a part that cannot remove its temporary file
	for file in "$2"/* "$2"/.[!.]*; do
		case ${file##*/} in
		part.*.json | .part.*.json.gpuhist-*.tmp | all.json | *.log | '*' | '.[!.]*') ;;
		*) ok "$1: ${file##*/} in its folder" false ;;
		esac
	done
}

# A script that starts parts 1 to 4 in FOLDER: all is well; then each failure. `resumes`: parts that are there are kept.
# script_of WHAT [resumes]; "$run" is its command, to which FOLDER, 4, options and inputs are added.
start() { # FOLDER
	sh -c "$run"' "$@"' sh "$1" 4 -q $bins "$work/data/a.u16" "$work/data/b b.u16" >"$work/stdout" 2>"$work/stderr"
}
script() {
	what=$1 resumes=${2:-}
	folder="$work/out/$what"
	: >"$work/fail"
	start "$folder"
	ok "$what: status $?: $(cat "$work/stderr")" test -e "$folder/all.json"
	equal "$what" "$folder/all.json"
	for failure in '3 kill wait' '1 exit 7' '4 lost' '2 exit 1'; do
		# By ssh each command takes seconds.
		[ "$launcher,${failure#* }" != 'ssh,exit 7' ] || continue
		# When a rank dies mpiexec of MPICH fails an assertion now and then, and lets the others go on; what parallel
		# has just started by ssh may go on too.
		case $launcher in mpich | ssh) failure=${failure% wait} ;; esac
		folder="$work/out/$what $failure" && part=${failure%% *}
		echo "$failure" >"$work/fail"
		start "$folder"
		status=$?
		ok "$what, $failure: a status other than $status" test "$status" -ne 0
		says "$what, $failure" "part $part of 4 is missing" "$work/stderr"
		absent "$what, $failure" "$folder/part.$part.json"
		absent "$what, $failure" "$folder/all.json"
		clean "$what, $failure" "$folder"
		ended "$what, $failure"
		[ "$failure" != '4 lost' ] || says "$what, $failure" '/lost input' "$work/stderr"
		# Results are files: MPICH says there that a rank died, Open MPI that a program was not found.
		ok "$what, $failure: standard output is empty: $(head -c 300 "$work/stdout")" test ! -s "$work/stdout"
		# What is there adds up to nothing, and the part is named.
		if ls "$folder"/part.*.json >/dev/null 2>&1; then
			"$gpuhist" --merge -o "$folder/all.json" "$folder"/part.*.json 2>"$work/merge"
			ok "$what, $failure: merged all the same: $?" test ! -e "$folder/all.json"
		fi
	done
	# The same command once more.
	: >"$work/fail"
	rm -f "$work"/device.*
	there=$(cd "$folder" && ls part.*.json 2>/dev/null)
	start "$folder"
	ok "$what, again: status $?" test -e "$folder/all.json"
	equal "$what, again" "$folder/all.json"
	for k in 1 2 3 4; do
		case $resumes,$there in
		resumes,*part.$k.json*) ok "$what, again: part $k is not counted again" test ! -e "$work/device.$k" ;;
		*) ok "$what, again: part $k is counted" test -e "$work/device.$k" ;;
		esac
	done
}

mpi() { # MPIRUN
	run="MPIRUN='$1' sh '$examples/mpirun.sh'"
	script "$launcher"
	# Without the program nothing starts, and nothing is published.
	folder=$work/out/nothing.$launcher
	program=$(command -v "${1%% *}")
	env PATH=/usr/bin:/bin MPIRUN="$program ${1#"${1%% *}"}" sh "$examples/mpirun.sh" "$folder" 2 "$work/data/a.u16" \
		>"$work/stdout" 2>"$work/stderr"
	ok "no program: a status other than $?" test ! -e "$folder/all.json"
	says 'no program' 'part 1 of 2 is missing' "$work/stderr"
	# One rank is one part, and says so.
	$1 -n 1 gpuhist --part=auto -b 1 -r full -o "$work/out/one.json" "$work/data/a.u16" >"$work/stdout" 2>"$work/stderr"
	says 'one rank' 'SIZE is 1: all records were counted, as the only part' "$work/stderr"
}

test_openmpi() {
	command -v mpirun.openmpi >/dev/null || return 77
	# More ranks than cores, and root's, are refused else.
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$work
	export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM TMPDIR
	mpi 'mpirun.openmpi --oversubscribe'
	unset TMPDIR
}

test_mpich() {
	command -v mpirun.mpich >/dev/null || return 77
	mpi mpirun.mpich
}

test_parallel() {
	parallel --version 2>/dev/null | grep -q GNU || return 77
	HOME=$work PARALLEL_HOME=$work/.parallel
	mkdir -p "$work/.parallel" && : >"$work/.parallel/will-cite"
	export HOME PARALLEL_HOME
	run="HOSTS=4/: sh '$examples/parallel.sh'"
	script parallel resumes
}

# A server of this user's own that lets only this user in, by a key made for it.
start_sshd() {
	command -v sshd >/dev/null && command -v ssh-keygen >/dev/null || return 1
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
	mkdir "$work/ssh" && chmod 700 "$work/ssh"
	port=$((10000 + $$ % 20000))
	ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/ssh/key" || return 1
	cp "$work/ssh/key.pub" "$work/ssh/authorized_keys"
	cat >"$work/ssh/sshd_config" <<-END
		ListenAddress 127.0.0.1
		Port $port
		HostKey $work/ssh/host
		AuthorizedKeysFile $work/ssh/authorized_keys
		PidFile $work/ssh/sshd.pid
		PasswordAuthentication no
		PermitRootLogin prohibit-password
		StrictModes no
		UsePAM no
		MaxStartups 100
		SetEnv PATH=$PATH
	END
	cat >"$work/ssh/config" <<-END
		Host alpha beta
			HostName 127.0.0.1
			Port $port
			User $(id -un)
			IdentityFile $work/ssh/key
			IdentitiesOnly yes
			UserKnownHostsFile $work/ssh/known
			StrictHostKeyChecking accept-new
			LogLevel ERROR
	END
	"$(command -v sshd)" -D -f "$work/ssh/sshd_config" -E "$work/ssh/log" &
	children="$children $!"
	for _ in $(seq 100); do
		ssh -F "$work/ssh/config" alpha true 2>/dev/null && return 0
		sleep 0.1
	done
	cat "$work/ssh/log"
	return 1
}

test_ssh() {
	parallel --version 2>/dev/null | grep -q GNU || return 77
	HOME=$work PARALLEL_HOME=$work/.parallel
	mkdir -p "$work/.parallel" && : >"$work/.parallel/will-cite"
	export HOME PARALLEL_HOME
	start_sshd >"$work/log" 2>&1 || return 77
	run="SSH='ssh -F $work/ssh/config' HOSTS=2/alpha,2/beta sh '$examples/parallel.sh'"
	script ssh resumes
}

# ---- Slurm ----

# ID: waits for the end of a job, of all tasks of an array; $state and $status are the last one's that did not succeed,
# or COMPLETED and 0. What never ends is found here.
await_job() {
	for _ in $(seq 600); do
		squeue -h -j "$1" 2>/dev/null | grep -q . || break
		sleep 0.05
	done
	jobs=$(scontrol --oneliner show job "$1" | sed -n 's/.* JobState=\([A-Z_]*\) .* ExitCode=\([0-9]*\):\([0-9]*\) .*/\1 \2 \3/p')
	state=$(printf '%s\n' "$jobs" | sed '/^COMPLETED 0 0$/d' | tail -n 1)
	[ -n "$state" ] || state='COMPLETED 0 0'
	status=${state#* } signal=${state##* } state=${state%% *}
	status=${status% *}
	[ "$signal" -eq 0 ] || status=$((128 + signal))
}
array_of() { # FOLDER
	merge=$(sh "$examples/slurm-array.sh" "$1" 6 -q $bins "$work/data/a.u16" "$work/data/b b.u16" 2>"$work/stderr")
	ok "array: submitted: $(cat "$work/stderr")" test -n "$merge"
	await_job "$merge"
}
wrapped() { # WHAT STATUS WORDS OPTION... COMMAND: a batch job of one command; its messages have the words
	what=$1 wanted=$2 words=$3
	shift 3
	rm -f "$work"/batch.*
	await_job "$(sbatch --parsable --output="$work/batch.%j.%a" "$@" 2>"$work/stderr")"
	cat "$work"/batch.* >"$work/messages" 2>/dev/null
	# "other" is any but 0: of a task that was killed and those that were ended then, srun says one or the other.
	[ "$wanted,$status" = other,0 ] || [ "$wanted" != other ] || wanted=$status
	ok "$what: status $status, not $wanted: $(cat "$work/messages" "$work/stderr")" test "$status" = "$wanted"
	[ -z "$words" ] || says "$what" "$words" "$work/messages"
}
parts_make() { # WHAT N PATTERN: N parts that make the whole
	ok "$1: $(find "$work/out" -path "$3" | wc -l) parts, not $2" \
		test "$(find "$work/out" -path "$3" | wc -l)" -eq "$2"
	find "$work/out" -path "$3" -exec cat {} + | "$gpuhist" -q --merge -o "$work/out/sum.json"
	equal "$1" "$work/out/sum.json"
	find "$work/out" -path "$3" -delete
}

test_slurm() {
	command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null || return 77
	mkdir -m 755 "$work/slurm"
	chmod 755 "$work"
	SLURM_CONF=$(sh "$root/tests/cluster/slurm.sh" start "$work/slurm") || { ok 'a node that is idle' false && return; }
	export SLURM_CONF

	array_of "$work/out/array"
	ok "array: the sum's state is $state" test "$state" = COMPLETED
	equal array "$work/out/array/all.json"
	for failure in '3 kill' '5 exit 7'; do
		folder="$work/out/array $failure" && part=${failure%% *}
		echo "$failure" >"$work/fail"
		array_of "$folder"
		# Without --kill-on-invalid-dep it would be pending for ever.
		ok "array, $failure: the sum's state is $state" test "$state" = CANCELLED
		absent "array, $failure" "$folder/all.json"
		absent "array, $failure" "$folder/part.$part.json"
		ok "array, $failure: the other parts are there" test "$(find "$folder" -name 'part.*.json' | wc -l)" -eq 5
		"$gpuhist" --merge "$folder"/part.*.json >"$work/stdout" 2>"$work/stderr"
		ok "array, $failure: merged all the same" test $? -eq 3 -a ! -s "$work/stdout"
		says "array, $failure" "part $part" "$work/stderr"
		# Again: only that part.
		: >"$work/fail"
		rm -f "$work"/device.*
		array_of "$folder"
		ok "array, $failure, again: the sum's state is $state" test "$state" = COMPLETED
		equal "array, $failure, again" "$folder/all.json"
		ok "array, $failure, again: one part, not $(find "$work" -maxdepth 1 -name 'device.*')" \
			test "$(find "$work" -maxdepth 1 -name 'device.*')" = "$work/device.$part"
	done

	# One step. Of the devices that a job has, each task sees one.
	inputs="'$work/data/a.u16' '$work/data/b b.u16'"
	step="$examples/slurm-step.sh"
	set -- "$work/data/a.u16" "$work/data/b b.u16"
	CUDA_VISIBLE_DEVICES=4,5,7
	export CUDA_VISIBLE_DEVICES
	wrapped step 0 '' --ntasks-per-node=3 "$step" "$work/out/step" -q $bins "$@"
	equal step "$work/out/step/all.json"
	ok 'step: a device for each task' test "$(cat "$work/device.1" "$work/device.2" "$work/device.3" | xargs)" = '4 5 7'
	CUDA_VISIBLE_DEVICES=0
	wrapped 'step, one device bound to each' 0 '' --ntasks-per-node=2 "$step" "$work/out/bound" -q $bins "$@"
	ok 'step, one device bound to each' test "$(cat "$work/device.1" "$work/device.2" | xargs)" = '0 0'
	unset CUDA_VISIBLE_DEVICES
	wrapped 'step, no device' 0 '' --ntasks-per-node=2 "$step" "$work/out/none" -q $bins "$@"
	ok 'step, no device' test "$(cat "$work/device.1" "$work/device.2" | xargs)" = 'none none'
	echo '2 kill wait' >"$work/fail"
	wrapped 'step, 2 kill' other 'part 2 of 3 is missing' --ntasks-per-node=3 "$step" "$work/out/step 2 kill" -q $bins "$@"
	absent 'step, 2 kill' "$work/out/step 2 kill/all.json"
	ended 'step, 2 kill'
	echo '3 exit 7' >"$work/fail"
	wrapped 'step, 3 exit 7' 7 'part 3 of 3 is missing' --ntasks-per-node=3 "$step" "$work/out/step 3 exit" -q $bins "$@"
	absent 'step, 3 exit 7' "$work/out/step 3 exit/all.json"
	: >"$work/fail"

	# What says which part this is, in a batch script and what it starts.
	auto="gpuhist -q $bins --part=auto -o '$work/out/p.%K.json' $inputs"
	wrapped 'a batch script' 2 'SLURM_STEP_NUM_TASKS' --ntasks=2 --wrap "$auto"
	wrapped 'an array' 0 '' --array=3-9:3 --wrap "$auto"
	parts_make 'an array' 3 "$work/out/p.*.json"
	wrapped 'tasks of an array' 2 'but SLURM_ARRAY_TASK_ID is ' --array=0-1 --ntasks=2 --wrap "srun -n 2 $auto"
	wrapped 'some tasks of an array' 2 'not evenly spaced numbers' --array=1,2,4 --wrap "$auto"
	wrapped 'one task of each of an array' 0 '' --array=0-1 --wrap "srun -n 1 $auto"
	parts_make 'one task of each of an array' 2 "$work/out/p.*.json"
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
	for start in 'srun -n 3' 'srun --mpi=pmi2 -n 3' 'salloc -n 3 mpirun.openmpi -n 3' 'salloc -n 3 mpirun.mpich -n 3'; do
		program=${start#salloc -n 3 }
		command -v "${program%% *}" >/dev/null || continue
		sh -c "$start $auto" >"$work/stdout" 2>"$work/stderr"
		status=$?
		ok "$start: status $status: $(cat "$work/stderr")" test $status -eq 0
		parts_make "$start" 3 "$work/out/p.*.json"
	done
}

# ---- without a cluster: what it would start is started here ----

test_kubernetes() {
	python=
	for python in "$root/build/venv/bin/python" python3 /usr/bin/python3; do
		"$python" -c 'import yaml' 2>/dev/null && break || python=
	done
	[ -n "$python" ] || return 77
	"$python" - "$examples/kubernetes.yaml" "$work" <<-'END' 2>"$work/log"
		import sys, yaml
		parts, merge = yaml.safe_load_all(open(sys.argv[1]))
		for job, name in (parts, "parts"), (merge, "merge"):
		    assert job["apiVersion"] == "batch/v1" and job["kind"] == "Job", name
		    assert job["metadata"]["labels"]["step"] == name
		    container, = job["spec"]["template"]["spec"]["containers"]
		    assert all(isinstance(e["value"], str) for e in container["env"]), "values are texts"
		    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
		    shell, option, command = container["command"]
		    assert (shell, option) == ("sh", "-c")
		    # Kubernetes replaces $(NAME) before the container starts, and makes $ of $$.
		    assert "$$" not in command
		    for name_of in [e["name"] for e in container["env"]]:
		        assert f"$({name_of})" not in command
		    open(f"{sys.argv[2]}/{name}.command", "w").write(command)
		spec = parts["spec"]
		assert spec["completionMode"] == "Indexed"
		env = {e["name"]: e["value"] for e in spec["template"]["spec"]["containers"][0]["env"]}
		assert env["PARTS"] == str(spec["completions"])
		open(f"{sys.argv[2]}/completions", "w").write(env["PARTS"])
	END
	ok "the document: $(cat "$work/log")" test -s "$work/completions"
	for failure in '' '6 kill'; do
		DATA="$work/out/kubernetes.${failure%% *}" PARTS=$(cat "$work/completions") OPTIONS=$bins
		export DATA PARTS OPTIONS
		mkdir -p "$DATA"
		ln -s "$work/data" "$DATA/in"
		echo "$failure" >"$work/fail"
		ended=0
		for JOB_COMPLETION_INDEX in $(seq 0 $((PARTS - 1))); do
			export JOB_COMPLETION_INDEX
			sh -c "$(cat "$work/parts.command")" >"$work/log" 2>&1 || ended=$?
		done
		unset JOB_COMPLETION_INDEX
		sh -c "$(cat "$work/merge.command")" >"$work/stdout" 2>"$work/stderr"
		status=$?
		if [ -z "$failure" ]; then
			ok "statuses $ended and $status" test $ended$status = 00
			equal 'a part for each index' "$DATA/all.json"
		else
			ok "$failure: statuses $ended and $status" test $ended,$status = 137,3
			says "$failure" 'part 6' "$work/stderr"
			absent "$failure" "$DATA/all.json"
		fi
	done
}

test_dask() {
	for python in "$root/build/venv/bin/python" python3 /usr/bin/python3; do
		"$python" -c 'import dask.bag' 2>/dev/null && break || python=
	done
	[ -n "$python" ] || return 77
	for failure in '' '3 kill' '2 exit 7' '4 lost'; do
		echo "$failure" >"$work/fail"
		rm -f "$work/out/all.json"
		"$python" "$examples/dask_count.py" 4 "$work/out/all.json" -q $bins "$work/data/a.u16" "$work/data/b b.u16" \
			>"$work/stdout" 2>"$work/stderr"
		status=$?
		if [ -z "$failure" ]; then
			ok "status $status: $(tail -n 3 "$work/stderr")" test $status -eq 0
			equal 'a task for each part' "$work/out/all.json"
			continue
		fi
		ok "$failure: a status other than $status" test $status -ne 0
		says "$failure" "part ${failure%% *}/4: status" "$work/stderr"
		absent "$failure" "$work/out/all.json"
	done
}

for launcher in ${asked:-openmpi mpich parallel ssh slurm kubernetes dask}; do
	before=$passed
	: >"$work/fail"
	"test_$launcher"
	if [ $? -eq 77 ]; then
		[ -z "$asked" ] || failed=$((failed + 1))
		echo "${asked:+FAILED: }left out: $launcher"
	else
		echo "$launcher: $((passed - before)) passed"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
