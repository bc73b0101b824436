#!/bin/sh
# SPDX-License-Identifier: MIT
# The tree is as clang-format writes it; --fix writes it so.
# usage: tests/format.sh [--fix]
set -u
cd "$(dirname "$0")/.." || exit 1
if [ "${1:-}" = --fix ]; then
	set -- -i
else
	set -- --dry-run -Werror
fi
find src kernels tests bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' | sort | xargs clang-format "$@"
