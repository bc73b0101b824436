#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm, an array: each part is a task of its own, and one job adds all parts up when all tasks have succeeded.
# usage: sh slurm-array.sh FOLDER PARTS OPTION... FILE...
#   sh slurm-array.sh /scratch/run1 64 -t f32 -r -1:1 -b 1000 /data/a.f32 /data/b.f32
#
# FOLDER, which all nodes must see, gets part.K.json of each part and then all.json. If a task fails the last job is
# cancelled, and there is no all.json; the same command starts again, and only the parts that are not there. So each FOLDER
# is for one set of inputs and options. What a task takes of the cluster is said here:
#SBATCH --cpus-per-task=2
#SBATCH --time=1:00:00
set -eu
case $1 in
task)
	folder=$2 parts=$3 k=$SLURM_ARRAY_TASK_ID && shift 3
	exec gpuhist --part="$k/$parts" -T "${SLURM_CPUS_PER_TASK:-1}" -o "$folder/part.$k.json" "$@"
	;;
merge) exec gpuhist --merge -o "$2/all.json" "$2"/part.*.json ;;
esac
folder=$1 parts=$2
mkdir -p "$folder"
missing=$(seq "$parts" | while read -r k; do [ -e "$folder/part.$k.json" ] || echo "$k"; done | paste -sd, -)
log=--output=$folder/%x.%A.%a.log
after=
if [ -n "$missing" ]; then
	shift 2
	array=$(sbatch --parsable --job-name=part --array="$missing" "$log" "$0" task "$folder" "$parts" "$@")
	# Without the second option a sum that can never start waits for ever.
	after="--dependency=afterok:${array%;*} --kill-on-invalid-dep=yes"
fi
# shellcheck disable=SC2086 # two words, or none
sbatch --parsable --job-name=merge $after --output="$folder/%x.%j.log" "$0" merge "$folder"
