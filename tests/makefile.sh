#!/bin/sh
# SPDX-License-Identifier: MIT
# What the Makefile promises, tried in a folder with links to the sources, with compilers that only
# record how they were called: the user's flags remove none of ours, flags are dependencies, a second
# make does nothing, a missing zstd.h is reported in one line; install, uninstall and dist.
# usage: tests/makefile.sh
set -u
tree=$(dirname "$(dirname "$(realpath "$0")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

mkdir "$work/tree" "$work/tree/src" "$work/bin" "$work/old"
cd "$work/tree" || exit 1
for item in Makefile LICENSE README.md completions debian docs examples kernels packaging tests bench man; do [ ! -e "$tree/$item" ] || ln -s "$tree/$item" "$item"; done
for item in "$tree"/src/*; do ln -s "$item" "src/$(basename "$item")"; done

# A compiler: its output is an empty file, its dependency the job's header. Without zstd.h, while the
# file nozstd exists, it fails as one does that is only asked to preprocess it.
cat >"$work/bin/fakecc" <<'EOF'
#!/bin/sh
case "$*" in
-dumpmachine) echo x86_64-linux-gnu; exit ;;
--version) echo 'fakecc 1'; exit ;;
'-E -x c /dev/null') exit ;;
*' -E '*)
	text=$(cat)
	case $text in *INT128*) [ ! -e "$SCRIPTED/narrow" ]; exit ;; esac
	! { printf '%s' "$text" | grep -q zstd && [ -e "$SCRIPTED/nozstd" ]; }
	exit
	;;
esac
echo " $* " >>"$SCRIPTED/log"
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || out=$2
	shift
done
echo "$out: src/cli/job.h" >"${out%.o}.d"
: >"$out"
EOF
sed 's/fakecc/fakecxx/' "$work/bin/fakecc" >"$work/bin/fakecxx"
cat >"$work/bin/fakenvcc" <<'EOF'
#!/bin/sh
case "$*" in
--list-gpu-arch) printf 'compute_75\ncompute_80\ncompute_90\n'; exit ;;
--version) echo 'fakenvcc 1'; exit ;;
esac
echo "nvcc $* " >>"$SCRIPTED/log"
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || : >"$2"
	shift
done
EOF
cat >"$work/bin/fatbinary" <<'EOF'
#!/bin/sh
echo "fatbinary $* " >>"$SCRIPTED/log"
for word; do
	case $word in --create=*) echo 'the kernels are here' >"${word#*=}" ;; esac
done
EOF
chmod +x "$work/bin"/*

# build WORD...: a make that inherits nothing from the one that runs this test. Words with = are
# variables; before the word "make" they are put into the environment.
build() {
	: >"$work/log"
	env -i PATH="$work/bin:$PATH" SCRIPTED="$work" CC=fakecc CXX=fakecxx NVCC=fakenvcc timeout 60 \
		"$@" </dev/null >"$work/out" 2>"$work/err"
}

check() {
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: %s\n' "$title" "$*"
		tail -n 3 "$work/out" "$work/err"
	fi
}
nothing() { [ ! -s "$work/log" ] && grep -q 'Nothing to be done' "$work/out"; }
# lines PATTERN: how many calls match it.
lines() { grep -c -e "$1" "$work/log"; }
once() { [ "$(lines "$1")" -eq 1 ]; }
never() { [ "$(lines "$1")" -eq 0 ]; }
# every PATTERN WORD...: each call that matches the pattern, and there is one, has all the words.
every() {
	[ "$(lines "$1")" -gt 0 ] || return 1
	grep -e "$1" "$work/log" >"$work/calls"
	shift
	for word in "$@"; do
		! grep -vqF -e " $word " "$work/calls" || { printf 'without %s\n' "$word" && return 1; }
	done
}
# one_line: make ended with one line, which names the packages.
one_line() { [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q "libzstd-dev .*libzstd-devel" "$work/err"; }
sources=$(find "$tree/src" -name '*.c' ! -name '*_loops.c' | wc -l)
# all_of_it: every source was compiled, two kinds of loops for three instruction sets, those of blocks for two, and the program
# linked.
all_of_it() { [ "$(lines ' -c -o ')" -eq $((sources + 8)) ] && once ' -o gpuhist '; }

title='a full build'
check build make
check all_of_it
for arch in 75 80 90; do check once "^nvcc .*code=sm_$arch -cubin -o build/kernels/sm_$arch.cubin"; done
check once '^nvcc .*code=compute_75 -ptx'
check once '^fatbinary .*kind=elf,sm=75,.*kind=elf,sm=80,.*kind=elf,sm=90,.*kind=ptx,sm=75,'
check grep -q '^  CC   build/obj/src/main.o$' "$work/out"
check never '^Makefile'
title='a second make'
check build make
check nothing

title='the flags of the user, by the command line and by the environment'
user='CPPFLAGS=-DUSER CFLAGS=-Ouser LDFLAGS=-Luser LDLIBS=-luser CXXFLAGS=-Oxx NVCCFLAGS=-Onv'
for where in "make $user" "$user make"; do
	rm -rf build
	# shellcheck disable=SC2086 # words
	check build env $where
	check all_of_it
	check every ' -c -o ' -std=c11 -D_GNU_SOURCE -Isrc "-DGPUHIST_VERSION=\"$(sed -n 's/^VERSION = //p' Makefile)\"" \
		-DHAVE_X86_LOOPS -ffp-contract=off -pthread -Wconversion -fPIE -MMD -DUSER -Ouser
	check every 'gpu_image\.c' '-DGPU_IMAGE="build/kernels.fatbin"' -DUSER
	check every ' -c -o .*cells_avx2\.o ' -mavx2 -mbmi2 -mfma -DISA=avx2 -O3
	check every ' -o gpuhist ' -pie -pthread -Luser -luser -lzstd -lm
	check every '^nvcc' -std=c++17 -Isrc -Onv
	check every '-o build.kernels.sm_80\.cubin' arch=compute_80,code=sm_80
done
title='the flags of the user in a build with a sanitizer'
check build make SAN=address CFLAGS=-Ouser CPPFLAGS=-DUSER LDFLAGS=-Luser NVCCFLAGS=-Onv build/san-address/obj/src/main.o \
	build/san-address/gpuhist
check every 'main\.c' -fsanitize=address -Ouser -DUSER -DLOCKS_CHECKED
check every ' -o build/san-address/gpuhist ' -fsanitize=address -Luser
check never '^nvcc'
title='what the thread sanitizer looks at'
check build make SAN=thread compiled
check every ' -c -o build/san-thread/' -fsanitize=thread
check once ' tests/test_lock\.c '
check never ' tests/test_number\.c '
title='a debug build'
check build make DEBUG=1 CFLAGS=-DNDEBUG
check every ' -c -o build/debug/obj/src/.*\.o' '-DNDEBUG -UNDEBUG'
check once ' -o build/debug/gpuhist '

title='flags are dependencies'
build make
check build make CFLAGS=-Oother
check all_of_it
check never '^nvcc'
check build make CFLAGS=-Oother
check nothing
check build make CFLAGS=-Oother GPU_ARCHS=80
check once '^nvcc'
check once '^nvcc .*code=compute_80 -ptx'
check once '^fatbinary .*kind=elf,sm=80,.*kind=ptx,sm=80,'
check once ' -c -o '
check once 'gpu_image\.o src'
check once ' -o gpuhist '
check build make CFLAGS=-Oother GPU_ARCHS=80
check nothing
title='PTX of the oldest architecture, in whatever order they are given'
check build make CFLAGS=-Oother GPU_ARCHS='90 75'
check once '^fatbinary .*kind=elf,sm=90,.*kind=elf,sm=75,.*kind=ptx,sm=75,'
title='the GPUs of this machine'
printf '#!/bin/sh\nprintf "8.0\\n9.0\\n8.0\\n"\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
check build make CFLAGS=-Oother GPU_ARCHS=native
check once '^fatbinary .*kind=elf,sm=80,.*kind=elf,sm=90,.*kind=ptx,sm=80,'
printf '#!/bin/sh\nexit 9\n' >"$work/bin/nvidia-smi"
check eval '! build make CFLAGS=-Oother GPU_ARCHS=native'
check grep -q 'GPU_ARCHS=native: .*as in GPU_ARCHS=90.* NVCC=' "$work/err"
title='no kernels'
check build make CFLAGS=-Oother GPU_ARCHS=80 NVCC=
check every 'gpu_image\.c' -Oother
check never 'GPU_IMAGE'
check once ' -o gpuhist '

title='headers are dependencies of every program'
programs='build/gpu_check build/bench_kernels build/test_edges build/random_jobs build/torture_preload.so build/fake/libcuda.so.1'
# shellcheck disable=SC2086 # words
check build make $programs
for program in $programs; do
	check build make "$program"
	check grep -q 'is up to date' "$work/out"
	check build make -n V=1 -W src/cli/job.h "$program"
	check grep -q -e "-o $program " "$work/out"
	check grep -q -e ' -c -o build/[a-z/_]*.o \(tests\|bench\)/' "$work/out"
done

title='a new folder of src'
mkdir src/new
: >src/new/new.c
check build make
check once ' -c -o build/obj/src/new/new.o src/new/new.c'
check every ' -o gpuhist ' build/obj/src/new/new.o
rm -r src/new

title='no zstd.h'
rm -rf build
: >"$work/nozstd"
check eval '! build make -j2 all build/test_edges'
check one_line
check never .
rm "$work/nozstd"

title='a compiler for 32 bits'
: >"$work/narrow"
check eval '! build make -j2 all'
check grep -q 'fakecc has no 128-bit integers' "$work/err"
check test "$(wc -l <"$work/err")" -eq 1
check never .
rm "$work/narrow"

title='install and uninstall'
build make
installed() { (cd "$work/$1" && find . -type f -printf '%P %m\n' | LC_ALL=C sort) >"$work/out" && cmp "$work/out" "$work/want"; }
# Where each goes; the completions only where the tree has them.
{
	echo 'bin/gpuhist 755'
	[ ! -e completions/gpuhist.bash ] || echo 'share/bash-completion/completions/gpuhist 644'
	[ ! -e completions/gpuhist.fish ] || echo 'share/fish/vendor_completions.d/gpuhist.fish 644'
	[ ! -e completions/_gpuhist ] || echo 'share/zsh/site-functions/_gpuhist 644'
	(cd "$tree" && printf 'share/doc/gpuhist/%s 644\n' examples/cluster/*.*)
	printf 'share/%s 644\n' doc/gpuhist/LICENSE doc/gpuhist/README.md doc/gpuhist/docs/bells.svg doc/gpuhist/docs/router.svg \
		doc/gpuhist/examples/tour.md \
		man/man1/gpuhist.1
} | LC_ALL=C sort >"$work/want"
# Empty folders that were there before
mkdir -p "$work/a root/opt/share/man/man1" "$work/a root/opt/bin" "$work/a root/opt/share/doc"
check build make install DESTDIR="$work/a root" PREFIX=/opt
check installed 'a root/opt'
# Every link of the documents, from their own folders, but to pages of the web.
linked() {
	find "$work/a root" -name '*.md' | while IFS= read -r document; do
		grep -o ']([^)]*)' "$document" | sed 's/^](//; s/[#)].*//' | grep -v '^https*:' | while IFS= read -r file; do
			[ -e "$(dirname "$document")/$file" ] || echo "${document##*/} links to $file"
		done
	done >"$work/out"
	[ ! -s "$work/out" ]
}
check linked
check grep -q '](examples/tour.md)' "$work/a root/opt/share/doc/gpuhist/README.md"
folders() { (cd "$work/a root" && find . -type d -path '*doc*' | LC_ALL=C sort | tr '\n' ' '); }
check build make uninstall DESTDIR="$work/a root" PREFIX=/opt
: >"$work/want"
check installed 'a root/opt'
check test -d "$work/a root/opt/share/man/man1" -a -d "$work/a root/opt/bin"
check test "$(folders)" = './opt/share/doc '
# Files of other programs, one of them in a folder of ours
check build make install DESTDIR="$work/a root" PREFIX=/opt
touch "$work/a root/opt/bin/other" "$work/a root/opt/share/doc/gpuhist/examples/mine"
check build make uninstall DESTDIR="$work/a root" PREFIX=/opt
printf '%s\n' 'bin/other 644' 'share/doc/gpuhist/examples/mine 644' >"$work/want"
check installed 'a root/opt'
check test "$(folders)" = './opt/share/doc ./opt/share/doc/gpuhist ./opt/share/doc/gpuhist/examples '
check build make install PREFIX="$work/b" BINDIR="$work/b/x" DATADIR="$work/b/y" MANDIR="$work/b/z" DOCDIR="$work/b/d" \
	ZSHDIR="$work/b/s"
check test -x "$work/b/x/gpuhist" -a -e "$work/b/z/man1/gpuhist.1" -a -e "$work/b/d/README.md" -a ! -e "$work/b/share"
check build make uninstall PREFIX="$work/b" BINDIR="$work/b/x" DATADIR="$work/b/y" MANDIR="$work/b/z" DOCDIR="$work/b/d" \
	ZSHDIR="$work/b/s"
check test ! -e "$work/b/d" -a "$(find "$work/b" -type f | wc -l)" -eq 0

# From a copy of the tree without git, and from what it packs.
title='dist'
name=gpuhist-$(sed -n 's/^VERSION = //p' Makefile)
mkdir "$work/copy"
(cd "$tree" && tar -cf - --exclude=./build --exclude=./.git --exclude=./gpuhist .) | tar -xf - -C "$work/copy"
(cd "$work/copy" && : >src/not.o && mkdir build && : >build/other && : >gpuhist && ln -s /etc link)
check build make -C "$work/copy" dist
check cp "$work/copy/build/$name.tar.gz" "$work/first.tar.gz"
touch -d 2001-01-01 "$work/copy/src/main.c"
chmod 600 "$work/copy/src/main.c"
check build make -C "$work/copy" dist
check cmp "$work/first.tar.gz" "$work/copy/build/$name.tar.gz"
check tar -xzf "$work/first.tar.gz" -C "$work"
check build make -C "$work/$name" dist
check cmp "$work/first.tar.gz" "$work/$name/build/$name.tar.gz"
check test -e "$work/$name/.ci/run" -a ! -e "$work/$name/src/not.o" -a ! -e "$work/$name/build/other"
check test "$(tar -tvzf "$work/first.tar.gz" | awk '{ print $2 }' | sort -u)" = 0/0
check build make -C "$work/$name"
check all_of_it
cd "$work/tree" || exit 1
if [ -e "$tree/.git" ]; then
	check sh "$tree/packaging/dist.sh" "$name" "$work/one"
	check sh "$tree/packaging/dist.sh" "$name" "$work/two"
	check cmp "$work/one/$name.tar.gz" "$work/two/$name.tar.gz"
	# The same files as without git, where all is committed.
	if [ -z "$(git -C "$tree" status --porcelain)" ]; then
		tar -tzf "$work/one/$name.tar.gz" | grep -v '/$' | LC_ALL=C sort >"$work/out"
		tar -tzf "$work/first.tar.gz" | LC_ALL=C sort | check cmp - "$work/out"
	fi
fi
title='release: the sources, notes of the newest section alone, sums; the same again'
printf '# Changes\n\n## %s, 2026-01-02\n\n- New.\n\n## 0.0.1, 2025-01-02\n\n- Old.\n' "${name#gpuhist-}" >"$work/copy/CHANGELOG.md"
release() { build make -s -C "$work/copy" release FORMS=source; }
check release
printf '## %s, 2026-01-02\n\n- New.\n\n## Files\n\n- \140%s.tar.gz\140: the sources\n' "${name#gpuhist-}" "$name" |
	check cmp - "$work/copy/build/release/NOTES.md"
summed() { (cd "$work/copy/build/release" && sha256sum --check --status SHA256SUMS); }
check summed
check test "$(wc -l <"$work/copy/build/release/SHA256SUMS")" -eq 2
check cp "$work/copy/build/release/SHA256SUMS" "$work/sums"
touch -d 2001-01-01 "$work/copy/src/run.c"
: >"$work/copy/build/release/gpuhist-old"
check release
check cmp "$work/sums" "$work/copy/build/release/SHA256SUMS"
sed -i 's/, 2026-.*/, unreleased/' "$work/copy/CHANGELOG.md"
check eval '! release'
check grep -q '^release: CHANGELOG begins with .* unreleased' "$work/err"
check eval "! build make -s -C '$work/copy' release FORMS='source nothing'"
check grep -q '^dist-bin: no form is called nothing$' "$work/err"
title='the form of the program'
check build make FORM='wheel for Linux'
check once ' -c -o '
check every 'help\.c' '-DFORM="wheel for Linux"'
check build make FORM='wheel for Linux'
check nothing
title='packages have the version of the Makefile'
check grep -q "^gpuhist (${name#gpuhist-}[-)]" debian/changelog
check grep -qx "  version: \"${name#gpuhist-}\"" packaging/recipe.yaml

# The same and the kernels by the compiler of this machine, of one file.
title='an old zstd.h'
echo '#define ZSTD_VERSION_NUMBER 10399' >"$work/old/zstd.h"
real=$(command -v cc || command -v gcc || command -v clang)
check eval "! build make -j2 CC='$real' CPPFLAGS=-I'$work'/old"
check one_line
title='the kernels are in the program'
check build make CC="$real" CPPFLAGS=-DUSER "$(find -L src/ -name gpu_image.c | sed 's,.*,build/obj/&,; s/c$/o/')"
check grep -rq "the kernels are here" build/obj

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
