#!/bin/sh
# SPDX-License-Identifier: MIT
# For another processor: the unit tests and transcripts that its compiler could break, and some random jobs. They are built
# by Debian's cross compiler and run by qemu-user.
# usage: tests/cross.sh aarch64 [JOBS [SECONDS]]     in the environment: LONG=1, all unit tests and transcripts
#
# Needs the packages gcc-TRIPLET, libc6-dev-ARCH-cross and qemu-user. packaging/cross_zstd.sh
# fetches libzstd for the other processor.
set -eu
cd "$(dirname "$0")/.."
arch=${1:-} jobs=${2:-150} seconds=${3:-60}
case $arch in
aarch64) debian=arm64 ;;
*)
	echo 'cross: ARCH must be aarch64 (gpuhist is for 64-bit little-endian processors)' >&2
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

zstd=$folder/zstd
sh packaging/cross_zstd.sh "$arch" "$folder"

# qemu-user keeps the last real-time signals for itself.
slow=${LONG:+no line is this}
tests=$(grep -L "${slow:-^/\* slow \*}" tests/test_*.c | sed '/_signals\.c/d; s,tests/\(.*\)\.c,build/cross/'"$arch/\\1,")
transcripts='basics bins formats headers layouts merge ranges stats svg types zstd'
if [ -n "${LONG:-}" ]; then
	transcripts=$(cd tests/cli && echo ./*.exp | sed 's/\.exp//g; s,\./,,g')
fi
# shellcheck disable=SC2086 # words
make -j"$(nproc)" NVCC= CC="$triplet-gcc" BUILD="build/cross/$arch" PROGRAM="build/cross/$arch/gpuhist" \
	CPPFLAGS="-I$zstd/include" LDFLAGS="-L$zstd/lib" CFLAGS='-O2 -g -Werror' "build/cross/$arch/gpuhist" $tests
# The jobs are drawn and compared by programs of this machine.
make -j"$(nproc)" NVCC= CC="${CC:-cc}" BUILD="build/cross/$arch/here" \
	PROGRAM="build/cross/$arch/here/gpuhist" "build/cross/$arch/here/random_jobs" "build/cross/$arch/here/oracle"

# A script that stands for the program, and runs it by qemu.
qemu="qemu-$arch -L /usr/$triplet"
run=$folder/run
mkdir -p "$run"
printf '#!/bin/sh\nexec %s %s "$@"\n' "$qemu" "$folder/gpuhist" >"$run/gpuhist"
chmod +x "$run/gpuhist"

# one NAME COMMAND...: run a test, and show its output if it fails.
passed=0 failed=0
one() {
	name=$1
	shift
	if timeout 300 "$@" >"$run/out" 2>&1; then
		passed=$((passed + 1))
		echo "ok $name: $(tail -n 1 "$run/out")"
	else
		failed=$((failed + 1))
		cat "$run/out"
		echo "FAILED $name for $arch"
	fi
}
for test in $tests; do
	# shellcheck disable=SC2086 # words
	one "${test##*/}" $qemu "$test"
done
for transcript in $transcripts; do
	one "cli/$transcript" sh tests/cli.sh "$run/gpuhist" "$transcript"
done
one 'random jobs' "$folder/here/random_jobs" "$run/gpuhist" "$folder/here/oracle" 1 "$jobs" "$seconds"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
