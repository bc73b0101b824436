/* SPDX-License-Identifier: MIT */
/*
 * counter: what -C writes of a count. Inside the program a count is always exact and has 64 bits.
 */
#ifndef GPUHIST_COUNTER_H
#define GPUHIST_COUNTER_H

#include <stdint.h>

enum counter_kind { COUNTER_U64, COUNTER_U32, COUNTER_SAT8, COUNTER_SAT16, COUNTER_SAT32 };

/* -1: there is no counter of this name; COUNTER_NAMES lists all of them, for a message. */
int counter_parse(enum counter_kind *kind, const char *name);
#define COUNTER_NAMES "u64, u32, sat8, sat16 or sat32"
const char *counter_name(enum counter_kind kind);

/* The largest count that it can hold, and its size in bytes. */
uint64_t counter_max(enum counter_kind kind);
uint32_t counter_bytes(enum counter_kind kind);

/* What it shows for a count: the count, or the largest that it can hold. */
uint64_t counter_clip(enum counter_kind kind, uint64_t count);

#endif
