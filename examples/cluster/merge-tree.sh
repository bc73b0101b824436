#!/bin/sh
# SPDX-License-Identifier: MIT
# A sum of very many or very large parts in two steps: groups of parts at the same time, then the groups' sums.
# usage: sh merge-tree.sh FOLDER GROUP AT_ONCE
#   sh merge-tree.sh /scratch/run1 100 8
#
# FOLDER has part.K.json, and gets all.json, the same to the byte as from one `gpuhist --merge FOLDER/part.*.json`. In its
# own folder, sums, lie what groups make; a step that fails ends it all. The groups could be tasks on other nodes as well.
set -eu
folder=$1 group=$2 at_once=$3
rm -rf "$folder/sums"
mkdir "$folder/sums"
# shellcheck disable=SC2016 # for the shells of the groups
find "$folder" -maxdepth 1 -name 'part.*.json' -print0 |
	xargs -0 -n "$group" -P "$at_once" sh -c 'exec gpuhist --merge=some -o "$0/sums/$$.json" "$@"' "$folder"
gpuhist --merge -o "$folder/all.json" "$folder"/sums/*.json
rm -r "$folder/sums"
