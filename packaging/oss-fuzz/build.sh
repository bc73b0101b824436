#!/bin/bash
# SPDX-License-Identifier: MIT
# Build every fuzzer for OSS-Fuzz into $OUT, with its seeds and dictionary. That service runs this script in the sources and
# sets CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE and OUT; $CFLAGS has the sanitizers. Its runners have no libzstd, so
# the library is linked in.
set -eu
make -j"$(nproc)" BUILD=build/oss-fuzz NVCC= HARDEN= ZSTD=-l:libzstd.a LDFLAGS="$CXXFLAGS" FUZZ_LINK="$CXX" \
	FUZZ_ENGINE="$LIB_FUZZING_ENGINE" fuzzers
sh tests/fuzz/corpus.sh build/oss-fuzz/seeds
for source in tests/fuzz/fuzz_*.c; do
	fuzzer=$(basename "$source" .c)
	name=${fuzzer#fuzz_}
	cp "build/oss-fuzz/$fuzzer" "$OUT/"
	rm -f "$OUT/${fuzzer}_seed_corpus.zip"
	zip -q -j "$OUT/${fuzzer}_seed_corpus.zip" "build/oss-fuzz/seeds/$name"/*
	[ ! -f "tests/fuzz/$name.dict" ] || cp "tests/fuzz/$name.dict" "$OUT/$fuzzer.dict"
done
