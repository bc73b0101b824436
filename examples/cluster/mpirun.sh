#!/bin/sh
# SPDX-License-Identifier: MIT
# mpirun or mpiexec of any MPI, as a launcher: a part for each rank, then the sum. gpuhist itself is no MPI program.
# usage: [MPIRUN='mpirun --hostfile hosts'] sh mpirun.sh DIRECTORY RANKS OPTION... FILE...
#   MPIRUN='mpirun --hostfile hosts --map-by node --bind-to none' sh mpirun.sh /scratch/run1 8 -t f32 -r -1:1 -b 1000 /data/big.f32
#
# All hosts must see DIRECTORY. Results go to files, not through mpirun, which would be much slower and may mix messages of
# the launcher into them. If a rank fails, the launcher ends the others, and nothing is added up.
set -eu
folder=$1 ranks=$2 && shift 2
mkdir -p "$folder"
rm -f "$folder"/part.*.json "$folder"/.part.*.tmp # of an earlier run; a killed run leaves the latter
status=0
# Open MPI numbers its ranks in one variable, MPICH, Intel MPI and Cray in another.
# shellcheck disable=SC2016,SC2086 # for the ranks' shells; options of the launcher
${MPIRUN:-mpirun} -n "$ranks" sh -uc 'k=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} + 1)) folder=$1 n=$2
	shift 2
	exec gpuhist --part="$k/$n" -o "$folder/part.$k.json" "$@"' sh "$folder" "$ranks" "$@" >"$folder/launcher.log" || status=$?
if [ "$status" -ne 0 ]; then
	for k in $(seq "$ranks"); do
		[ -e "$folder/part.$k.json" ] || echo "mpirun.sh: part $k of $ranks is missing" >&2
	done
	exit "$status"
fi
gpuhist --merge -o "$folder/all.json" "$folder"/part.*.json
