#!/bin/sh
# SPDX-License-Identifier: MIT
# The Makefile's promises, tried in a directory with links to the sources, with compilers that only record their calls: the
# user's flags remove none of ours, flags are dependencies, a second make does nothing; and with real compilers: a missing
# zstd.h is reported once and first; install, uninstall, dist and release.
# usage: tests/makefile.sh
set -u
tree=$(dirname "$(dirname "$(realpath "$0")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

mkdir "$work/tree" "$work/tree/src" "$work/bin"
cd "$work/tree" || exit 1
for item in "$tree"/*; do case ${item##*/} in build | gpuhist | src) ;; *) ln -s "$item" . ;; esac; done
for item in "$tree"/src/*; do ln -s "$item" "src/${item##*/}"; done

# A stand-in for a compiler: it writes an empty file, which depends on the job's header.
cat >"$work/bin/fakecc" <<'EOF'
#!/bin/sh
case "$*" in
-dumpmachine) echo x86_64-linux-gnu; exit ;;
--version) echo 'fakecc 1'; exit ;;
--list-gpu-arch) printf 'compute_75\ncompute_80\ncompute_90\n'; exit ;;
*' -E '*) exit ;;
esac
echo " ${0##*/} $* " >>"$SCRIPTED/log"
for word; do case $word in --create=*) echo 'the kernels are here' >"${word#*=}" ;; esac; done
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || out=$2
	[ "$1" != -MF ] || deps=$2
	shift
done
[ -z "${out:-}" ] || { echo "$out: src/cli/job.h" >"${deps:-${out%.o}.d}" && : >"$out"; }
EOF
chmod +x "$work/bin/fakecc"
for name in fakecxx fakenvcc fatbinary; do ln -s fakecc "$work/bin/$name"; done

# build WORD...: run a make that inherits nothing from the one that runs this test. Words with = are
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
nothing() { build make "$@" && [ ! -s "$work/log" ] && grep -q 'Nothing to be done' "$work/out"; }
# lines PATTERN: print how many calls match it.
lines() { grep -c -e "$1" "$work/log"; }
once() { [ "$(lines "$1")" -eq 1 ]; }
never() { [ "$(lines "$1")" -eq 0 ]; }
# every PATTERN WORD...: succeed if a call matches the pattern, and each call that does contains all the words.
every() {
	[ "$(lines "$1")" -gt 0 ] || return 1
	grep -e "$1" "$work/log" >"$work/calls"
	shift
	for word in "$@"; do
		! grep -vqF -e " $word " "$work/calls" || { printf 'without %s\n' "$word" && return 1; }
	done
}
sources=$(find "$tree/src" -name '*.c' ! -name '*_loops.c' | wc -l)
# Every source; two files of loops for three instruction sets, and those of blocks and of text for two; and the program.
all_of_it() { [ "$(lines ' -c -o ')" -eq $((sources + 10)) ] && once ' -o gpuhist '; }

title='a full build; a second make'
check build make
check all_of_it
for arch in 75 80 90; do check once "^ fakenvcc .*code=sm_$arch -cubin -o build/kernels/sm_$arch.cubin"; done
check once '^ fakenvcc .*code=compute_75 -ptx'
check once '^ fatbinary .*kind=elf,sm=75,.*kind=elf,sm=80,.*kind=elf,sm=90,.*kind=ptx,sm=75,'
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
	check every '^ fakenvcc .*sm_80\.cubin' -std=c++17 -Isrc -Onv arch=compute_80,code=sm_80
done
title='a sanitizer, and a debugger'
check build make SAN=address CFLAGS=-Ouser
check every ' -c -o build/san-address/obj/src/.*\.o' -fsanitize=address -Ouser -DLOCKS_CHECKED
check every ' -o build/san-address/gpuhist ' -fsanitize=address
check build make DEBUG=1 CFLAGS=-DNDEBUG
check every ' -c -o build/debug/obj/src/.*\.o' '-DNDEBUG -UNDEBUG'

title='flags and headers are dependencies, and new files'
check build make CFLAGS=-Oother
check all_of_it
check never fakenvcc
check build make CFLAGS=-Oother GPU_ARCHS=80
check once '^ fatbinary .*kind=elf,sm=80,.*kind=ptx,sm=80,'
check test "$(lines ' -c -o '),$(lines 'gpu_image\.o src'),$(lines ' -o gpuhist ')" = 1,1,1
check nothing CFLAGS=-Oother GPU_ARCHS=80
check build make CFLAGS=-Oother GPU_ARCHS=80 FORM='wheel for Linux'
check once ' -DFORM="wheel for Linux" -DNEEDS="needs: for a GPU a driver of CUDA '
check build make CFLAGS=-Oother GPU_ARCHS=80 FORM='wheel for Linux' NEEDS_GLIBC=2.34
check once ' -DNEEDS="needs: glibc 2.34 or later; for a GPU a driver of CUDA '
check build make CFLAGS=-Oother NVCC=
check every 'gpu_image\.c' -Oother
check never GPU_IMAGE
check build make CFLAGS=-Oother NVCC= FORM='wheel for Linux' NEEDS_GLIBC=2.34
check once ' -DNEEDS="needs: glibc 2.34 or later$'
check never 'a driver'
programs='build/gpu_check build/bench_kernels build/test_edges build/random_jobs build/torture_preload.so build/fake/libcuda.so.1'
# shellcheck disable=SC2086 # words
check build make $programs
for program in $programs; do
	check build make -n V=1 -W src/cli/job.h "$program"
	check grep -q -e ' -c -o build/[a-z/_]*.o \(tests\|bench\)/' "$work/out"
	check grep -q -e "-o $program " "$work/out"
done
# So are those of the kernels.
check build make
check build make -n V=1 -W src/cli/job.h
for out in sm_75.cubin sm_80.cubin sm_90.cubin compute_75.ptx; do check grep -q -e "-o build/kernels/$out " "$work/out"; done
check grep -q -e '-o build/stream.o ' "$work/out"
mkdir src/new && : >src/new/new.c
check build make
check every ' -o gpuhist ' build/obj/src/new/new.o
rm -r src/new

title='no zstd.h, or an old one, or a compiler for 32 bits: said once and first, by the real compiler'
cc=$(command -v cc || command -v gcc || command -v clang)
mkdir "$work/old" && echo '#define ZSTD_VERSION_NUMBER 10399' >"$work/old/zstd.h"
for flag in "-I$work/old" -nostdinc -U__SIZEOF_INT128__; do
	rm -rf build
	check eval "! build make -j2 CC='$cc' CPPFLAGS='$flag'"
	check test "$(grep -c 'error: #error' "$work/err"),$(find build -name '*.o')" = 1,
	check grep -q 'libzstd-dev .*libzstd-devel\|for 64-bit systems' "$work/err"
done
title='the kernels are in the program'
check build make CC="$cc" CPPFLAGS=-DUSER build/obj/src/gpu_helper/gpu_image.o
check grep -rq "the kernels are here" build/obj

title='install and uninstall'
build make
files() { (cd "$work/$1" && find . -type f -printf '%P %m\n' | LC_ALL=C sort); }
{
	printf '%s 644\n' man/man1/gpuhist.1 man/man5/gpuhist-inputs.5 man/man5/gpuhist-json.5 man/man5/gpuhist-output.5 bash-completion/completions/gpuhist \
		fish/vendor_completions.d/gpuhist.fish zsh/site-functions/_gpuhist
	(cd "$tree" && printf 'doc/gpuhist/%s 644\n' README.md LICENSE examples/tour.md docs/cookbook.md docs/python.md docs/bells.svg docs/overlap.svg docs/router.svg examples/cluster/*.*)
} | sed 's,^,share/,' >"$work/want"
echo 'bin/gpuhist 755' >>"$work/want"
mkdir -p "$work/a root/opt/share/man/man1" "$work/a root/opt/share/doc/gpuhist/examples"
: >"$work/a root/opt/share/doc/gpuhist/examples/mine"
check build make install DESTDIR="$work/a root" PREFIX=/opt
check test "$(files 'a root/opt' | grep -v mine)" = "$(LC_ALL=C sort "$work/want")"
# linked DOCUMENT...: check every link of the documents, from their own directories, except to pages of the web.
linked() {
	find "$work/a root" -name '*.md' | while IFS= read -r document; do
		grep -o ']([^)]*)' "$document" | sed 's/^](//; s/[#)].*//' | grep -v '^https*:' | while IFS= read -r file; do
			[ -e "$(dirname "$document")/$file" ] || echo "${document##*/} links to $file"
		done
	done
}
check test -z "$(linked)"
# uninstall leaves files of others, and shared directories.
check build make uninstall DESTDIR="$work/a root" PREFIX=/opt
check test "$(files 'a root')" = "opt/share/doc/gpuhist/examples/mine 644" -a -d "$work/a root/opt/share/man/man1"
set -- PREFIX="$work/b" BINDIR="$work/b/x" DATADIR="$work/b/y" MANDIR="$work/b/z" DOCDIR="$work/b/d" ZSHDIR="$work/b/s"
check build make install "$@"
check test -x "$work/b/x/gpuhist" -a -e "$work/b/z/man1/gpuhist.1" -a -e "$work/b/z/man5/gpuhist-json.5" -a -e "$work/b/d/README.md" -a ! -e "$work/b/share"
check build make uninstall "$@"
check test "$(find "$work/b" -type f | wc -l)" -eq 0

title='dist: from a copy of the tree without git, and from its own tarball; times and modes are not packed'
name=gpuhist-$(sed -n 's/^VERSION = //p' Makefile)
mkdir "$work/copy"
(cd "$tree" && tar -cf - --exclude=./build --exclude=./.git --exclude=./gpuhist .) | tar -xf - -C "$work/copy"
(cd "$work/copy" && : >src/not.o && mkdir build && : >build/other && : >gpuhist && ln -s /etc link)
check build make -C "$work/copy" dist
cp "$work/copy/build/$name.tar.gz" "$work/first.tar.gz"
touch -d 2001-01-01 "$work/copy/src/main.c" && chmod 600 "$work/copy/src/main.c"
check build make -C "$work/copy" dist
check cmp "$work/first.tar.gz" "$work/copy/build/$name.tar.gz"
tar -xzf "$work/first.tar.gz" -C "$work"
check test -e "$work/$name/.ci/run" -a ! -e "$work/$name/src/not.o" -a ! -e "$work/$name/build/other"
check build make -C "$work/$name"
check all_of_it
# The same files as by git, if everything is committed.
if [ -e "$tree/.git" ] && [ -z "$(git -C "$tree" status --porcelain)" ]; then
	sh "$tree/packaging/dist.sh" "$name" "$work/one" >/dev/null
	check test "$(tar -tzf "$work/one/$name.tar.gz" | grep -v '/$' | LC_ALL=C sort)" = \
		"$(tar -tzf "$work/first.tar.gz" | LC_ALL=C sort)"
fi
title='release: the sources, notes of the newest section alone, sums; the same again'
printf '# Changes\n\n## %s, 2026-01-02\n\n- New.\n\n## 0.0.1, 2025-01-02\n\n- Old.\n' "${name#gpuhist-}" >"$work/copy/CHANGELOG.md"
release() { build make -s -C "$work/copy" release FORMS=source; }
check release
printf '## %s, 2026-01-02\n\n- New.\n\n## Files\n\n- \140%s.tar.gz\140: the sources\n' "${name#gpuhist-}" "$name" |
	check cmp - "$work/copy/build/release/NOTES.md"
check cp "$work/copy/build/release/SHA256SUMS" "$work/sums"
check test "$(cd "$work/copy/build/release" && sha256sum --check SHA256SUMS | grep -c ': OK$')" -eq 2
title='with -n, -q and -t nothing is run'
for flag in -n -q -t -nj2; do
	for target in dist-bin wheel release; do
		rm -rf "$work/copy/build"
		build make $flag -C "$work/copy" $target FORMS=source
		check test ! -e "$work/copy/build/release" -a -z "$(find "$work/copy" -name '*.tar.gz' -o -name '*.whl')"
	done
done
title='release: the same again, without files of an older one'
check release
: >"$work/copy/build/release/gpuhist-old"
check release
check cmp "$work/sums" "$work/copy/build/release/SHA256SUMS"
sed -i 's/, 2026-.*/, unreleased/' "$work/copy/CHANGELOG.md"
check eval '! release'
check grep -q '^release: CHANGELOG begins with .* unreleased' "$work/err"
title='packages have the version of the Makefile'
# Between two releases, the packages may name either one.
case $name in
*-dev) ;;
*)
	check grep -q "^gpuhist (${name#gpuhist-}[-)]" "$tree/debian/changelog"
	check grep -qx "  version: \"${name#gpuhist-}\"" "$tree/packaging/recipe.yaml"
	check grep -q "version(\"${name#gpuhist-}\")" "$tree/packaging/spack/package.py"
	;;
esac

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
