#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs what `make install` installs into FOLDER/NAME-linux-MACHINE.tar.gz, for other computers: the program has libzstd
# inside, and `gpuhist -V` says which glibc and which driver it needs. Built from what packaging/dist.sh packs; always the
# same bytes from the same tree, compilers and libzstd.
# usage: packaging/binary.sh NAME FOLDER       by make, whose variables are those of the build
set -eu
LC_ALL=C
export LC_ALL
name=$1
cd "$(dirname "$0")/.."
tree=$PWD
mkdir -p "$2"
out=$(realpath "$2")/$name-linux-$(uname -m)
# The licence of what is linked in goes with it.
zstd_licence=/usr/share/doc/libzstd-dev/copyright
[ -e $zstd_licence ] || {
	echo "dist-bin: $zstd_licence is missing: apt-get install libzstd-dev, on Debian or Ubuntu" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh packaging/dist.sh "$name" "$work" >/dev/null
tar -xzf "$work/$name.tar.gz" -C "$work"
cd "$work/$name"

# Nothing in it names this folder: there is no debug information, and kernels do so only where nvcc optimises less.
build() {
	make CPPFLAGS= CFLAGS=-O2 LDFLAGS=-s LDLIBS= ZSTD=-l:libzstd.a NVCCFLAGS=-O3 "$@"
}
# The newest version of glibc whose symbols the program uses.
needed() {
	readelf --version-info gpuhist | sed -n 's/.* Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV | tail -n 1
}
# Once to see what it needs, then that line of -V anew.
build gpuhist
glibc=$(needed)
build -W src/cli/options.c NEEDS_GLIBC="$glibc" gpuhist
[ "$(needed)" = "$glibc" ]
./gpuhist -V | grep "^needs: glibc $glibc or later"
libraries=$(readelf --dynamic gpuhist | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $libraries; do
	case $library in
	libc.so.* | libm.so.* | ld-linux*) ;;
	*)
		echo "dist-bin: the program needs $library" >&2
		exit 1
		;;
	esac
done

stage=$work/stage/${out##*/}
build DESTDIR= PREFIX="$stage" install >/dev/null
cp $zstd_licence "$stage/share/doc/gpuhist/LICENSE.zstd"
# Files alone: where it is unpacked, folders that are there already stay as they are.
cd "$work/stage"
find . -type f | sort >"$work/files"
tar --create --file="$work/tar" --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
	--mtime="@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$work/$name/Makefile")}" --transform='s,^\./,,' --files-from="$work/files"
gzip -9n <"$work/tar" >"$work/gz"
mv "$work/gz" "$out.tar.gz"
echo "${out#"$tree/"}.tar.gz"
