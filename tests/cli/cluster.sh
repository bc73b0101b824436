# SPDX-License-Identifier: MIT
# examples/cluster with stand-ins for the launchers, so that none need be installed: the sum is the same as one run's, to the
# byte; if a part fails, a message names it, and nothing is added up.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2086 # other shells expand them; words
examples=$(realpath "$1/../../examples/cluster")
mkdir .bin
# mpirun -n 3 COMMAND, of Open MPI and of MPICH; srun [OPTION]... sh ...: run one task after another, until one fails.
printf '#!/bin/sh\nshift 2\nfor k in 0 1 2; do OMPI_COMM_WORLD_RANK=$k "$@" || exit; done\n' >.bin/mpirun
printf '#!/bin/sh\nshift 2\nfor k in 0 1 2; do PMI_RANK=$k "$@" || exit; done\n' >.bin/mpiexec
printf '#!/bin/sh\nshift 2\nfor k in 0 1 2; do SLURM_PROCID=$k SLURM_LOCALID=$k SLURM_NTASKS=3 "$@" || exit; done\n' >.bin/srun
# sbatch OPTION... SCRIPT WORD...: run the script, once for each number of --array, and print a job's number.
cat >.bin/sbatch <<'END'
#!/bin/sh
array=none
while case $1 in --*) true ;; *) false ;; esac do
	case $1 in --array=*) array=${1#--array=} ;; esac
	shift
done
for k in $(echo "$array" | tr , ' '); do
	SLURM_ARRAY_TASK_ID=$k sh "$@" || echo "task $k: status $?" >&2
done
echo 7
END
# parallel [OPTION [VALUE]]... gpuhist WORD...: replace {} by each line of standard input.
cat >.bin/parallel <<'END'
#!/bin/sh
until [ "$1" = gpuhist ]; do shift; done
while read -r k; do
	(for word; do shift; set -- "$@" "$(echo "$word" | sed "s/{}/$k/g")"; done; exec "$@") || exit
done
END
chmod +x .bin/*
PATH=$PWD/.bin:$PATH
bytes 'abcdefghijklmnopqrstuvwxyz' >a
bytes 'ABCD' >'b b'
options='-t u8 -b 32 -r 64:128 -q'
shell "gpuhist $options -o whole.json a 'b b'"
for command in 'MPIRUN=mpirun sh mpirun.sh DIRECTORY 3' 'MPIRUN=mpiexec sh mpirun.sh DIRECTORY 3' 'SLURM_NTASKS=3 sh slurm-step.sh DIRECTORY' \
	'sh slurm-array.sh DIRECTORY 3' 'sh parallel.sh DIRECTORY 3'; do
	script=$(echo "$command" | sed "s,sh \([a-z]\),sh $examples/\1,")
	for last in 'b b' none; do
		printf '$ %s %s a "%s"\n' "$command" "$options" "$last"
		sh -c "$(echo "$script" | sed "s/DIRECTORY/out/") $options a '$last'" >.out 2>.err
		show $?
		[ ! -e out/all.json ] || cmp out/all.json whole.json
		(cd out && ls)
		rm -r out
	done
done
# Only the missing parts are counted again
mkdir out
gpuhist $options --part=2/3 -o out/part.2.json a 'b b'
printf '#!/bin/sh\necho "$*" | grep -o "part=[0-9/]*" >>parts; exec %s "$@"\n' "$(command -v gpuhist)" >.bin/gpuhist
chmod +x .bin/gpuhist
sh "$examples/parallel.sh" out 3 $options a 'b b' && cmp out/all.json whole.json && cat parts
# Kubernetes starts the command of each index
rm -r out && mkdir -p out/in && cp a 'b b' out/in
for k in 0 1 2; do
	JOB_COMPLETION_INDEX=$k PARTS=3 DATA=out OPTIONS=$options \
		sh -c "$(sed -n '/k=\$((JOB/,/in\/\*$/p' "$examples/kubernetes.yaml" | tr '\n' ' ')"
done
gpuhist --merge -o out/all.json out/part.*.json && cmp out/all.json whole.json && ls out
