#!/bin/sh
# SPDX-License-Identifier: MIT
# A function that may drop a lock of its caller must have a name that ends in _unlocks. That is a function of src whose first
# call on a lock drops it or waits with it, or one that calls such a function without having taken a lock itself.
# usage: tests/locks.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1

# shellcheck disable=SC2046 # no spaces in the names of sources
awk 'FNR == 1 { name = "" }
	/^[a-z].*\(/ && !/;$/ {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		takes = 0
	}
	FILENAME == "src/base/lock.h" || !/^\t.*(lock_(take|drop|wait)|_unlocks)\(/ { next }
	{ passed++ }
	/lock_take\(/ { takes = 1 }
	!takes && name !~ /_unlocks$/ {
		print "FAILED " FILENAME ":" FNR ": " name " drops a lock of its caller, and is not called _unlocks"
		failed++
	}
	END {
		if (!passed) failed++
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0
	}' $(find src -name '*.[ch]' | sort)
