/* SPDX-License-Identifier: MIT */
/* wide: 128-bit integers, for products of a sample and a number of bins that must not round. */
#ifndef GPUHIST_WIDE_H
#define GPUHIST_WIDE_H

#include <stdint.h>

__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 uint128_t;

#endif
