#!/bin/sh
# SPDX-License-Identifier: MIT
# Pack the committed sources into DIRECTORY/NAME.tar.gz. The same tree always gives the same bytes.
# Without git or .git, pack all files, in order, owned by root, with the Makefile's time.
# usage: packaging/dist.sh NAME DIRECTORY
set -eu
name=$1 folder=$2
cd "$(dirname "$0")/.."
mkdir -p "$folder"
out=$folder/$name.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A tree inside another checkout has no .git.
if [ -e .git ] && git rev-parse --quiet --verify HEAD >/dev/null 2>&1; then
	[ -z "$(git status --porcelain)" ] || echo 'dist: changes that are not committed are left out' >&2
	git archive --format=tar --prefix="$name/" HEAD >"$work/tar"
else
	find . \( -path ./build -o -path ./.git -o -path ./gpuhist -o -path ./debian/.debhelper -o -name '*.o' -o -name __pycache__ \) \
		-prune -o -type f -print |
		LC_ALL=C sort >"$work/files"
	tar --create --file="$work/tar" --format=ustar --no-recursion --owner=0 --group=0 --numeric-owner \
		--mode=u+rw,go+r-w --mtime="@${SOURCE_DATE_EPOCH:-$(stat -c %Y Makefile)}" --transform="s,^\.,$name," \
		--files-from="$work/files"
fi
gzip -9n <"$work/tar" >"$work/gz"
mv "$work/gz" "$out"
echo "$out"
