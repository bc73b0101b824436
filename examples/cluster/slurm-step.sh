#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm, one job on whole nodes: a task for each GPU of each node, then the sum. Without GPUs: a task for each node.
# usage: sbatch [OPTION]... slurm-step.sh DIRECTORY OPTION... FILE...
#   sbatch --nodes=2 --gpus-per-node=4 --ntasks-per-node=4 --cpus-per-task=8 slurm-step.sh /scratch/run1 --device=gpu -t f32 /data/*
#
# srun numbers the tasks from 0. Each task sees one GPU of its node: the one that Slurm bound to it, or the one with its
# number on the node. The first task that fails ends the others and the job, with its status, and nothing is added up.
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=1
#SBATCH --time=1:00:00
set -eu
folder=$1 && shift
mkdir -p "$folder"
rm -f "$folder"/part.*.json "$folder"/.part.*.tmp # of an earlier run; a killed run leaves the latter
status=0
# shellcheck disable=SC2016 # for the tasks' shells
srun --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" sh -c '
	if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
		CUDA_VISIBLE_DEVICES=$(echo "$CUDA_VISIBLE_DEVICES" | cut -d , -f $((SLURM_LOCALID + 1)))
	fi
	k=$((SLURM_PROCID + 1)) folder=$1 && shift
	exec gpuhist --part="$k/$SLURM_NTASKS" -o "$folder/part.$k.json" "$@"' \
	sh "$folder" -T "${SLURM_CPUS_PER_TASK:-1}" "$@" || status=$?
if [ "$status" -ne 0 ]; then
	for k in $(seq "$SLURM_NTASKS"); do
		[ -e "$folder/part.$k.json" ] || echo "slurm-step.sh: part $k of $SLURM_NTASKS is missing" >&2
	done
	exit "$status"
fi
gpuhist --merge -o "$folder/all.json" "$folder"/part.*.json
