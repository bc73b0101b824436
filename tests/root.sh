#!/bin/sh
# SPDX-License-Identifier: MIT
# Fill DIRECTORY, which is empty, with the root of a bare Debian 12, by debootstrap and apt's archive. As root.
# usage: tests/root.sh DIRECTORY
set -eu
apt_of() { # FORMAT: print apt's data on the main archive
	apt-get indextargets --format "$1" 'Created-By: Packages' 'Component: main' 'Codename: bookworm' | head -n 1
}
# shellcheck disable=SC2016 # apt expands the variable
mirror=$(apt_of '$(REPO_URI)')
debootstrap --variant=minbase bookworm "$1" "$mirror" >"$1.log" 2>&1 || { cat "$1.log" && exit 1; }
rm "$1.log"
