#!/bin/sh
# SPDX-License-Identifier: MIT
# Plants bugs of threads, one at a time, in a copy of the tree, and runs the schedules until they find it.
# usage: tests/planted.sh [SECONDS [NAME...]]    SECONDS: how long a bug may stay unseen (20)
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-20}
[ $# -eq 0 ] || shift
only=$*
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/tree"
git ls-files -z Makefile src tests kernels packaging/needs.c packaging/packaging.mk | xargs -0 cp --parents -t "$copy/tree"
passed=0 failed=0

# plant NAME FILE SED: the bug is what SED changes in FILE, two lines at most.
plant() {
	name=$1 file=$2 change=$3
	case " $only " in
	*" $name "* | '  ') ;;
	*) return ;;
	esac
	cp "$file" "$copy/tree/$file"
	sed -i "$change" "$copy/tree/$file"
	lines=$(diff "$file" "$copy/tree/$file" | grep -c '^>')
	if cmp -s "$file" "$copy/tree/$file" || [ "$lines" -gt 2 ]; then
		echo "$name: the bug cannot be planted in $file"
		failed=$((failed + 1))
	elif ! make -s -C "$copy/tree" SCHED=1 build/sched/schedules >"$copy/log" 2>&1; then
		tail -n 5 "$copy/log"
		echo "$name: the planted bug does not compile"
		failed=$((failed + 1))
	elif (cd "$copy/tree" && build/sched/schedules 1 "$seconds") >"$copy/log" 2>&1; then
		echo "$name: not seen by $(grep schedules "$copy/log")"
		failed=$((failed + 1))
	else
		echo "$name: seen after $(grep -c . "$copy/log") lines: $(grep -m 1 '^scene' "$copy/log")"
		passed=$((passed + 1))
	fi
	cp "$file" "$copy/tree/$file"
}

plant piece_free src/input/zstd_seam.c 's/^\tif (freed && !j->ended.*/\tif (0)/'
plant collected src/each/each.c 's/^\t\t\twake(r->owner);$/;/'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
