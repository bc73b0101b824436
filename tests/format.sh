#!/bin/sh
# SPDX-License-Identifier: MIT
# Check that the tree is formatted as clang-format formats it; --fix formats it.
# usage: tests/format.sh [--fix]
set -u
cd "$(dirname "$0")/.." || exit 1
if [ "${1:-}" = --fix ]; then
	set -- -i
else
	set -- --dry-run -Werror
fi
find src kernels tests bench examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' | sort | xargs clang-format "$@"
