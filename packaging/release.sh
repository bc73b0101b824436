#!/bin/sh
# SPDX-License-Identifier: MIT
# Fill DIRECTORY, after emptying it, with the files of a release page: each FORM, tried in a directory of its own; NOTES.md,
# from CHANGELOG's newest section and the -V of each file; SHA256SUMS. The same commit and tools give the same bytes.
# A line names each file that could not be made or tried here; then the exit status is not 0.
# usage: packaging/release.sh NAME DIRECTORY FORM...       source, deb, or one of packaging/binary.sh; by make
set -eu
LC_ALL=C
export LC_ALL
name=$1
cd "$(dirname "$0")/.."
rm -rf "$2"
mkdir -p "$2"
folder=$(realpath "$2")
shift 2
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
lacks() {
	echo "release: $*" >&2
	status=1
}
# has FORM TOOL PACKAGES: succeed if FORM can be made here.
has() {
	command -v "$2" >/dev/null && return
	lacks "$1 is left out: $2 is missing: apt-get install $3"
	return 1
}

# Make everything from one copy of the sources, even if the tree changes meanwhile.
binary=
sh packaging/dist.sh "$name" "$work" >/dev/null
tar -xzf "$work/$name.tar.gz" -C "$work"
for form; do
	case $form in
	source) cp "$work/$name.tar.gz" "$folder" && continue ;;
	# .ci/deep runs the package's tests.
	deb) has deb dh 'dpkg-dev debhelper' || continue
		if (cd "$work/$name" && DEB_BUILD_OPTIONS=nocheck make deb) >"$work/log" 2>&1; then
			cp "$work/$name/build"/gpuhist_[0-9]*.deb "$folder"
		else
			tail -n 20 "$work/log" >&2
			lacks 'the deb was not made'
		fi
		continue ;;
	aarch64-*) has "$form" aarch64-linux-gnu-gcc 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' || continue ;;
	esac
	case $form in *wheel) has "$form" python3 python3 || continue ;; esac
	binary="$binary $form"
done
# shellcheck disable=SC2086 # words
[ -z "$binary" ] || sh "$work/$name/packaging/binary.sh" "$name" "$folder" $binary || lacks "not all of$binary were made"

# tried FILE FORM [EMULATOR]...: succeed if the program runs and FILE has everything that is installed.
tried() {
	file=$1 form=$2 root=$work/root
	shift 2
	rm -rf "$root"
	mkdir "$root"
	case $file in
	*.deb) dpkg-deb -x "$file" "$root" ;;
	*.whl) python3 -m zipfile -e "$file" "$root" ;;
	*) tar -xzf "$file" -C "$root" ;;
	esac || return
	program=$(find "$root" -path '*/bin/gpuhist' -o -path '*/scripts/gpuhist')
	# Only pip applies the modes of a zip.
	chmod +x "$program"
	for part in man1/gpuhist.1 man5/gpuhist-inputs.5 man5/gpuhist-json.5 man5/gpuhist-output.5 completions/gpuhist site-functions/_gpuhist \
		vendor_completions.d/gpuhist.fish LICENSE LICENSE.glibc; do
		case $file:$part in
		*-static.*:LICENSE.glibc) ;;
		*:LICENSE.glibc) continue ;;
		*.deb:LICENSE) part=copyright ;;
		*.deb:*/_gpuhist) part=vendor-completions/_gpuhist ;;
		esac
		[ -n "$(find "$root" -type f -path "*/$part*")" ] || { echo "$part is missing" && return 1; }
	done
	"$@" "$program" -V >"$work/version" && grep -qx "build: $form" "$work/version" &&
		[ "$(printf abca | "$@" "$program" -t u8 -r 97:100 -b 3 --no-header | tr '\n' ' ')" = '0,97,98,2 1,98,99,1 2,99,100,1 ' ]
}

# The newest section of CHANGELOG, which should be this version's; then the files.
awk '/^## / && n++ { exit } n' CHANGELOG.md >"$folder/NOTES.md"
grep -q "^## ${name#gpuhist-}, 2[-0-9]*$" "$folder/NOTES.md" ||
	lacks "CHANGELOG begins with '$(head -n 1 "$folder/NOTES.md")', not with ${name#gpuhist-} and a date"
printf '## Files\n\n' >>"$folder/NOTES.md"
for file in "$folder"/gpuhist*; do
	emulator='' form="tarball for Linux" says='the sources'
	case $file in
	*.deb) form='Debian package' ;;
	*.whl) form='wheel for Linux' ;;
	*-static.*) form='static for Linux' ;;
	esac
	case $file in *aarch64*) [ "$(uname -m)" = aarch64 ] || emulator='qemu-aarch64 -L /usr/aarch64-linux-gnu' ;; esac
	if [ "$file" != "$folder/$name.tar.gz" ]; then
		: >"$work/version"
		# shellcheck disable=SC2086 # words
		if [ -n "$emulator" ] && ! command -v ${emulator%% *} >/dev/null; then
			lacks "${file##*/} was not tried: ${emulator%% *} is missing: apt-get install qemu-user"
		else
			tried "$file" "$form" $emulator || lacks "${file##*/} does not work"
		fi
		says=$(sed 1d "$work/version" | paste -s -d '|' | sed 's/|/; /g')
	fi
	echo "- \`${file##*/}\`: $says" >>"$folder/NOTES.md"
done
cd "$folder"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
cat SHA256SUMS
exit $status
