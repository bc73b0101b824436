#!/bin/sh
# SPDX-License-Identifier: MIT
# README's commands, word by word, in the root of a bare Debian 12: no /dev/pts, and under
# nohup, as in a container or a cron job. As root. usage: tests/bare.sh
set -eu
cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
sh tests/root.sh "$root"
mkdir "$root/gpuhist"
git ls-files -z | tar c --null -T - | tar x -C "$root/gpuhist"
# The indented lines of its section "Get it": one installs and builds, one tests.
sed -n '/^## Get it/,/^## /s/^    //p' README.md >"$root/commands"
grep -q '^apt-get update && apt-get install .* && make && make demo$' "$root/commands"
grep -qx 'make check' "$root/commands"
cat "$root/commands"
# shellcheck disable=SC2016 # the inner shell expands them
# The mounts end with the namespace that unshare makes. They are those of every container, without terminals.
unshare --mount --pid --fork sh -eu -c '
	root=$1
	mount -t proc proc "$root/proc"
	mount -t tmpfs tmpfs "$root/dev"
	for device in null zero full random urandom; do
		: >"$root/dev/$device"
		mount --bind "/dev/$device" "$root/dev/$device"
	done
	mkdir "$root/dev/shm" && ln -s /proc/self/fd "$root/dev/fd"
	ln -s fd/0 "$root/dev/stdin" && ln -s fd/1 "$root/dev/stdout" && ln -s fd/2 "$root/dev/stderr"
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	exec nohup chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		SEED="${SEED:-1}" sh -c "cd /gpuhist && set -eu && . /commands" </dev/null
' sh "$root"
