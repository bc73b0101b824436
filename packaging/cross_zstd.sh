#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetch libzstd for another processor from Debian's archive, into DIRECTORY/zstd/include and DIRECTORY/zstd/lib, unless it
# has been fetched already. apt-get downloads it and installs nothing.
# usage: packaging/cross_zstd.sh aarch64 DIRECTORY
set -eu
triplet=$1-linux-gnu zstd=$2/zstd apt=$2/apt
[ ! -e "$zstd/lib/libzstd.a" ] || exit 0
case $1 in
aarch64) debian=arm64 ;;
*) debian=$1 ;;
esac
# apt-get keeps separate lists here, for this architecture only. Ubuntu has other architectures on another host.
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/sources" "$zstd/lib"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ ! -f "$file" ] || sed 's,//[a-z.]*\(archive\|security\)\.ubuntu\.com/ubuntu,//ports.ubuntu.com/ubuntu-ports,' \
		"$file" >"$apt/sources/${file##*/}"
done
set -- -qq -o APT::Architecture="$debian" -o APT::Architectures="$debian" -o Dir::State="$apt" \
	-o Dir::State::status=/dev/null -o Dir::Cache="$apt" -o APT::Sandbox::User=root \
	-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources"
apt-get "$@" update
(cd "$apt" && apt-get "$@" download "libzstd-dev:$debian")
dpkg-deb -x "$apt"/libzstd-dev_*.deb "$apt/unpacked"
rm -rf "$zstd/include"
cp -r "$apt/unpacked/usr/include" "$zstd/include"
# Only the static library, so that the emulator needs no shared one.
cp "$apt/unpacked/usr/lib/$triplet/libzstd.a" "$zstd/lib/libzstd.a"
rm -r "$apt"
