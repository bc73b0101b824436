#!/bin/sh
# SPDX-License-Identifier: MIT
# Pack an installed program for other computers. It contains libzstd; `gpuhist -V` names its form and the glibc and driver
# that it needs. It is built from the sources that packaging/dist.sh packs, and all forms share one set of kernels. The same
# tree, compilers and libzstd always give the same bytes.
#
#   tarball           DIRECTORY/NAME-linux-MACHINE.tar.gz
#   wheel             DIRECTORY/NAME-py3-none-manylinux_X_Y_MACHINE.whl, for pip
#   static            DIRECTORY/NAME-linux-MACHINE-static.tar.gz: needs no library, and has no kernels for GPUs
#   aarch64-tarball   and aarch64-wheel: by Debian's cross compiler, without kernels
#
# usage: packaging/binary.sh NAME DIRECTORY FORM...       by make, whose variables configure the build
set -eu
LC_ALL=C
export LC_ALL
name=$1
cd "$(dirname "$0")/.."
tree=$PWD
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
forms=$*
# A library that is linked in brings its licence.
licence_of() { echo "/usr/share/doc/$1/copyright"; }
for package in libzstd-dev libc6-dev; do
	[ -e "$(licence_of $package)" ] || {
		echo "dist-bin: $(licence_of $package) is missing: apt-get install $package, on Debian or Ubuntu" >&2
		exit 1
	}
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh packaging/dist.sh "$name" "$work" >/dev/null
tar -xzf "$work/$name.tar.gz" -C "$work"
cd "$work/$name"

# The newest version of glibc whose symbols the program uses.
needed() {
	readelf --version-info "$program" | sed -n 's/.* Name: GLIBC_\([0-9.]*\) .*/\1/p' | sort -uV | tail -n 1
}
# install_as NAME VARIABLE=VALUE...: install the program into the directory $stage, called NAME.
install_as() {
	stage=$work/stage/$1
	shift
	make "$@" DESTDIR= PREFIX="$stage" install >/dev/null
	cp "$(licence_of libzstd-dev)" "$stage/share/doc/gpuhist/LICENSE.zstd"
	[ "$kind" != static ] || cp "$(licence_of libc6-dev)" "$stage/share/doc/gpuhist/LICENSE.glibc"
}
# pack: the directory $stage becomes a tarball of its name.
pack() {
	where=$folder/${stage##*/}
	# Only files: unpacking leaves directories that exist as they are.
	(cd "$work/stage" && find . -type f | sort) >"$work/files"
	tar --create --file="$work/tar" --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		--mtime="@${SOURCE_DATE_EPOCH:-$(stat -c %Y Makefile)}" --transform='s,^\./,,' --directory="$work/stage" \
		--files-from="$work/files"
	gzip -9n <"$work/tar" >"$work/gz"
	mv "$work/gz" "$where.tar.gz"
	echo "${where#"$tree/"}.tar.gz"
}

for form in $forms; do
	case $form in
	tarball | wheel | static | aarch64-tarball | aarch64-wheel) ;;
	*) echo "dist-bin: no form is called $form" >&2 && exit 2 ;;
	esac
	machine=$(uname -m) kind=${form#*-}
	[ "$kind" = "$form" ] || machine=${form%%-*}
	built=build/$machine
	[ "$kind" != static ] || built=build/static
	program=$built/gpuhist
	# The program must not name this directory: no debug information, and kernels fully optimised, which drops the name.
	set -- BUILD="$built" PROGRAM="$program" FORM="$kind for Linux" CFLAGS=-O2 CPPFLAGS= LDFLAGS=-s LDLIBS= \
		ZSTD=-l:libzstd.a NVCCFLAGS=-O3
	if [ "$kind" = static ]; then
		# The linker warns of dlopen, which a program without kernels never calls.
		set -- "$@" LDFLAGS='-s -static-pie' NVCC=
	elif [ "$kind" != "$form" ]; then
		cross=$tree/build/cross/$machine
		sh "$tree/packaging/cross_zstd.sh" "$machine" "$cross"
		# Without kernels: memory shared with the GPU process was never tested on a machine with weak memory ordering.
		set -- "$@" CC="$machine-linux-gnu-gcc" CPPFLAGS="-I$cross/zstd/include" LDFLAGS="-s -L$cross/zstd/lib" NVCC=
	fi
	make "$@" "$program"
	if [ "$kind" != static ]; then
		# The first build shows which glibc it needs; the second one reports that in -V.
		glibc=$(needed)
		set -- "$@" NEEDS_GLIBC="$glibc"
		make "$@" "$program"
		[ "$(needed)" = "$glibc" ]
	fi
	libraries=$(readelf --dynamic "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	for library in $libraries; do
		case $kind:$library in
		tarball:lib[cm].so.* | wheel:lib[cm].so.* | *:ld-linux*) ;;
		*)
			echo "dist-bin: the program needs $library" >&2
			exit 1
			;;
		esac
	done

	suffix=
	[ "$kind" != static ] || suffix=-static
	install_as "$name-linux-$machine$suffix" "$@"
	case $kind in
	wheel) python3 packaging/wheel.py "$stage" "$machine" "$folder" ;;
	*) pack ;;
	esac
	rm -r "$stage"
done
