#!/bin/sh
# SPDX-License-Identifier: MIT
# The files of make dist-bin and make wheel: built again from the packed sources in another directory, they have the same
# bytes; -V names the right glibc; the program runs in an image of packaging/Containerfile, on a bare Debian 12 without
# libzstd; pip installs the wheel offline. As root.
# usage: tests/dist.sh [VARIABLE=VALUE]...     variables for make
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
version=$(sed -n 's/^VERSION = //p' Makefile)
name=gpuhist-$version-linux-$(uname -m)
fail() {
	echo "dist: $*" >&2
	exit 1
}

rm -f build/gpuhist-*
make "$@" dist dist-bin wheel
tarball=$tree/build/$name.tar.gz wheel=$(echo "$tree/build/gpuhist-${version%-dev}"*-py3-none-*.whl)
[ -e "$wheel" ] || fail 'more than one wheel, or none'
tar -xzf "build/gpuhist-$version.tar.gz" -C "$work"
(umask 077 && cd "$work/gpuhist-$version" && TZ=Asia/Tokyo make "$@" dist-bin wheel)
cmp "$tarball" "$work/gpuhist-$version/build/$name.tar.gz"
cmp "$wheel" "$work/gpuhist-$version/build/${wheel##*/}"

# The files in it, and their owners.
mkdir "$work/out"
tar -xzf "$tarball" -C "$work/out"
for file in bin/gpuhist share/man/man1/gpuhist.1 share/man/man5/gpuhist-inputs.5 share/man/man5/gpuhist-json.5 \
	share/man/man5/gpuhist-output.5 share/bash-completion/completions/gpuhist share/zsh/site-functions/_gpuhist \
	share/fish/vendor_completions.d/gpuhist.fish share/doc/gpuhist/README.md \
	share/doc/gpuhist/LICENSE share/doc/gpuhist/LICENSE.zstd; do
	[ -s "$work/out/$name/$file" ] || fail "$file is missing"
done
[ "$(tar -tvzf "$tarball" | awk '{ print $1, $2 }' | sort -u)" = '-rw-r--r-- 0/0
-rwxr-xr-x 0/0' ] || fail 'modes or owners'
program=$work/out/$name/bin/gpuhist
! grep -aqe "$HOME/" -e "$work" -e "$tree" -e "$(id -un)@" "$program" || fail 'a path of this computer'
# The glibc that it needs, found by another tool than the build's.
glibc=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
"$program" -V | grep -q "^needs: glibc ${glibc#GLIBC_} or later" || fail "it needs $glibc, and says $("$program" -V)"

# The image; its base is a bare root from which every libzstd was removed. Inputs are compressed outside.
images() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
base=$(images from scratch)
root=$(images mount "$base")
sh tests/root.sh "$root"
find "$root" -name 'libzstd.so*' -exec rm {} +
[ -z "$(find "$root" -name 'libcuda*')" ]
printf abca >"$work/text"
zstd -q "$work/text"
cp "$work/text" "$work/text.zst" "$root"
cat >"$root/commands" <<'END'
set -eu
test "$(gpuhist -t u8 -r 97:100 -b 3 --no-header text text.zst)" = '0,97,98,4
1,98,99,2
2,99,100,2'
gpuhist -t u8 -f plot /usr/local/bin/gpuhist | tail -n 1
status=0
gpuhist -t u8 --device=gpu text 2>message || status=$?
cat message
test $status -eq 4
grep -q -e 'no NVIDIA driver found' -e 'built without GPU kernels' message
gpuhist -V
END
images unmount "$base" >/dev/null
images commit --quiet "$base" "$(sed -n 's/^FROM //p' packaging/Containerfile)"
mkdir "$work/context"
cp "$tarball" "$work/context"
images build --quiet --isolation chroot --pull-never --tag gpuhist --file packaging/Containerfile "$work/context"
image=$(sed -n 's/^ *image: //p' examples/cluster/kubernetes.yaml | sort -u)
container=$(images from --pull-never "$image")
images run --isolation chroot "$container" -- sh -x commands

# pip installs the wheel here, and refuses it on a glibc older than the wheel needs.
[ "$(stat -c %s "$wheel")" -lt 10000000 ] || fail 'a wheel of 10 MB'
python3 -m venv "$work/venv"
pip() { "$work/venv/bin/pip" --quiet --disable-pip-version-check --no-input "$@"; }
pip install --no-index "$wheel"
"$work/venv/bin/gpuhist" -V >"$work/installed"
sed 's/wheel/tarball/' "$work/installed" >"$work/wheel"
"$program" -V | cmp - "$work/wheel"
for file in share/man/man1/gpuhist.1 share/man/man5/gpuhist-inputs.5 share/man/man5/gpuhist-json.5 share/man/man5/gpuhist-output.5 \
	share/bash-completion/completions/gpuhist share/zsh/site-functions/_gpuhist share/fish/vendor_completions.d/gpuhist.fish; do
	cmp "$work/out/$name/$file" "$work/venv/$file"
done
[ "$("$work/venv/bin/gpuhist" -t u8 -r 97:98 -b 1 --no-header --clamp "$work/text")" = 0,97,98,4 ] || fail 'a wrong count'
"$work/venv/bin/python" -m gpuhist -V | cmp - "$work/installed"
"$work/venv/bin/python" -c 'import gpuhist; assert gpuhist.run(b"abca", type="u8", bins=256)["storage"]["values"][98] == 2'
pip uninstall --yes gpuhist
[ ! -e "$(echo "$work"/venv/lib/python3*/site-packages/gpuhist)" ] || fail 'pip left the module'
[ ! -e "$work/venv/bin/gpuhist" ] || fail 'pip left the program'
[ ! -e "$work/venv/share/man/man1/gpuhist.1" ] || fail 'pip left the manual'
# pip builds the same from the sources, without a network, and downloads nothing.
pip install --no-index "$work/gpuhist-$version"
"$work/venv/bin/gpuhist" -V | grep -qx 'build: from source' || fail "pip built $("$work/venv/bin/gpuhist" -V)"
"$work/venv/bin/python" -c 'import gpuhist; assert gpuhist.run(b"abca", type="u8", bins=256)["storage"]["values"][98] == 2'
cmp man/gpuhist.1 "$work/venv/share/man/man1/gpuhist.1"
pip uninstall --yes gpuhist
minor=${glibc#GLIBC_2.}
for platform in $((minor - 1)) "$minor"; do
	status=0
	pip install --no-index --target="$work/target" --only-binary=:all: --platform="manylinux_2_${platform}_$(uname -m)" \
		"$wheel" >"$work/pip" 2>&1 || status=$?
	[ "$status" -eq $((platform < minor)) ] || fail "pip for glibc 2.$platform: $(cat "$work/pip")"
done
ls -l "$tarball" "$wheel"
