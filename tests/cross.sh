#!/bin/sh
# SPDX-License-Identifier: MIT
# The quick tests and some random jobs for another processor: built by Debian's cross compiler, run by
# qemu-user. s390x is big endian.
# usage: tests/cross.sh aarch64|s390x [JOBS [SECONDS]]     in the environment: LONG=1, the long unit tests too
#
# Wants the packages gcc-TRIPLET, libc6-dev-ARCH-cross and qemu-user. libzstd for the other processor is
# fetched from Debian's archive by apt-get and unpacked in build/cross; nothing is installed.
set -eu
cd "$(dirname "$0")/.."
arch=${1:-} jobs=${2:-150} seconds=${3:-60}
case $arch in
aarch64) debian=arm64 ;;
s390x) debian=s390x ;;
*)
	echo 'cross: ARCH must be aarch64 or s390x (a 32-bit compiler has no __int128, which the edges need)' >&2
	exit 2
	;;
esac
triplet=$arch-linux-gnu folder=$PWD/build/cross/$arch
for tool in "$triplet-gcc" "qemu-$arch" apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || {
		echo "cross: $tool is missing: apt-get install gcc-$triplet libc6-dev-$debian-cross qemu-user" >&2
		exit 1
	}
done

# Below this folder apt-get has lists of its own, of this architecture alone.
zstd=$folder/zstd
if [ ! -e "$zstd/lib/libzstd.a" ]; then
	apt=$folder/apt
	mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$zstd/lib"
	set -- -qq -o APT::Architecture="$debian" -o APT::Architectures="$debian" -o Dir::State="$apt" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$apt" -o APT::Sandbox::User=root
	apt-get "$@" update
	(cd "$apt" && apt-get "$@" download "libzstd-dev:$debian")
	dpkg-deb -x "$apt"/libzstd-dev_*.deb "$apt/unpacked"
	cp -r "$apt/unpacked/usr/include" "$zstd/include"
	# The static library alone, so that qemu need not find the other one.
	cp "$apt/unpacked/usr/lib/$triplet/libzstd.a" "$zstd/lib/libzstd.a"
	rm -r "$apt"
fi

tests=
for test in tests/test_*.c; do
	tests="$tests build/cross/$arch/$(basename "$test" .c)"
done
# shellcheck disable=SC2086 # words
make -j"$(nproc)" NVCC= CC="$triplet-gcc" BUILD="build/cross/$arch" PROGRAM="build/cross/$arch/gpuhist" \
	CPPFLAGS="-I$zstd/include" LDFLAGS="-L$zstd/lib" CFLAGS='-O2 -g -Werror' "build/cross/$arch/gpuhist" $tests \
	"build/cross/$arch/random_jobs" "build/cross/$arch/oracle"

# under_qemu NAME FILE: a script NAME that runs FILE as this machine's program would run.
run=$folder/run
rm -rf "$run"
mkdir "$run"
under_qemu() {
	printf '#!/bin/sh\nexec qemu-%s -L /usr/%s %s "$@"\n' "$arch" "$triplet" "$2" >"$run/$1"
	chmod +x "$run/$1"
}
under_qemu gpuhist "$folder/gpuhist"
under_qemu oracle "$folder/oracle"
for test in $tests; do
	name=$(basename "$test")
	case $name in
	# qemu-user keeps the last real-time signals for itself.
	test_signals) continue ;;
	# Minutes there, and nothing in them that the byte order or the processor could change.
	test_plan | test_run | test_repeat | test_source_header | test_source_zstd | test_zstd_ahead | test_zstd_bad | \
		test_zstd_limit | test_zstd_mixed | test_zstd_turns) [ -n "${LONG:-}" ] || continue ;;
	esac
	under_qemu "$name" "$folder/${test##*/}"
done
sh tests/run.sh --quick "$run/gpuhist" "$run"
# The jobs are drawn and compared by a program of this machine, if there is one.
make -j"$(nproc)" NVCC= CC="${CC:-cc}" BUILD=build/cross/here PROGRAM=build/cross/here/gpuhist build/cross/here/random_jobs \
	build/cross/here/oracle
build/cross/here/random_jobs "$run/gpuhist" build/cross/here/oracle 1 "$jobs" "$seconds"
