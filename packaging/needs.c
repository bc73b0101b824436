/* SPDX-License-Identifier: MIT */
/* Check the compiler: this file is preprocessed once, before anything is compiled. */
#ifndef __SIZEOF_INT128__
#error this compiler has no 128-bit integers: gpuhist is for 64-bit systems
#endif

#if __has_include(<zstd.h>) && __has_include(<zstd_errors.h>)
#include <zstd.h>
#endif
#if !defined(ZSTD_VERSION_NUMBER) || ZSTD_VERSION_NUMBER < 10400
#error zstd.h of zstd 1.4.0 or later was not found: install libzstd-dev (Debian, Ubuntu) or libzstd-devel (Fedora)
#endif
