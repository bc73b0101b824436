#!/bin/sh
# SPDX-License-Identifier: MIT
# GNU parallel: the parts are spread over hosts by ssh, or over this one, then added up.
# usage: [HOSTS=1/a,1/b] sh parallel.sh DIRECTORY PARTS OPTION... FILE...
#   HOSTS=1/alpha,1/beta,1/: sh parallel.sh /nfs/run1 12 -t f32 -r -1:1 -b 1000 /nfs/big.f32
#
# "1/" is one part at a time on that host, which then counts on all its cores; ":" is this one. All hosts must see DIRECTORY
# and the FILEs. The first failure ends the rest. The same command again starts only the missing parts, so use one
# DIRECTORY for one set of inputs and options. SSH may name another ssh, with its options.
set -eu
folder=$(realpath -m "$1") parts=$2 && shift 2
mkdir -p "$folder"
status=0
seq "$parts" | while read -r k; do [ -e "$folder/part.$k.json" ] || echo "$k"; done |
	parallel --quote --no-run-if-empty --halt now,fail=1 --workdir . --ssh "${SSH:-ssh}" --sshlogin "${HOSTS:-1/:}" \
		gpuhist --part={}/"$parts" -o "$folder/part.{}.json" "$@" || status=$?
if [ "$status" -ne 0 ]; then
	for k in $(seq "$parts"); do
		[ -e "$folder/part.$k.json" ] || echo "parallel.sh: part $k of $parts is missing" >&2
	done
	exit "$status"
fi
gpuhist --merge -o "$folder/all.json" "$folder"/part.*.json
