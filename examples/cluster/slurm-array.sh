#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm, an array: each part is a task of its own, and one job adds all parts up when all tasks have succeeded.
# usage: sh slurm-array.sh DIRECTORY PARTS OPTION... FILE...
#   sh slurm-array.sh /scratch/run1 64 -t f32 -r -1:1 -b 1000 /data/a.f32 /data/b.f32
#
# part.K.json for each part, and then all.json, go to DIRECTORY, which all nodes must see. If a task fails, Slurm cancels the
# last job, and no all.json is written. The same command again starts only the missing parts, so use one DIRECTORY for one
# set of inputs and options. The resources of a task are set here:
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
	# Without the second option, a merge that can never start would wait forever.
	after="--dependency=afterok:${array%;*} --kill-on-invalid-dep=yes"
fi
# shellcheck disable=SC2086 # two words, or none
sbatch --parsable --job-name=merge $after --output="$folder/%x.%j.log" "$0" merge "$folder"
