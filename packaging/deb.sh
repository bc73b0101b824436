#!/bin/sh
# SPDX-License-Identifier: MIT
# Make a Debian package of this tree as it is: dpkg-buildpackage builds a copy of it in DIRECTORY, as root or by fakeroot.
# usage: packaging/deb.sh NAME DIRECTORY [PROFILE]
set -eu
name=$1 profile=${3:-}
cd "$(dirname "$0")/.."
for tool in dpkg-buildpackage dh; do
	command -v $tool >/dev/null || {
		echo "deb: $tool is missing: apt-get install dpkg-dev debhelper" >&2
		exit 1
	}
done
version=${name#gpuhist-}
case $version:$(head -n 1 debian/changelog) in
*-dev:* | "$version:gpuhist ($version)"* | "$version:gpuhist ($version-"*) ;;
*)
	echo "deb: the first entry of debian/changelog is not for $version" >&2
	exit 1
	;;
esac
mkdir -p "$2"
folder=$(realpath "$2")
rm -rf "$folder/deb"
mkdir -p "$folder/deb/$name"
tar --create --exclude=./build --exclude=./.git --exclude=./gpuhist . | tar --extract --directory="$folder/deb/$name"
# Between releases, add a changelog entry for the development version.
case $version in *-dev)
	printf 'gpuhist (%s~dev) UNRELEASED; urgency=medium\n\n  * A development build.\n\n%s\n\n' "${version%-dev}" \
		"$(sed -n '/^ -- /{p;q;}' debian/changelog)" | cat - debian/changelog >"$folder/deb/$name/debian/changelog"
	;;
esac
# The package's own make must not inherit flags and variables from the make that runs this script.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES NVCC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
cd "$folder/deb/$name"
dpkg-buildpackage -us -uc -b ${profile:+"--build-profiles=$profile"}
mv "$folder/deb"/*.deb "$folder/deb"/*.buildinfo "$folder/deb"/*.changes "$folder"
ls "$folder"/gpuhist_*.deb
