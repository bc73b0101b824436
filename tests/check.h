/* SPDX-License-Identifier: MIT */
/* check: the few lines that every unit test needs. A test program makes many checks. */
#ifndef GPUHIST_CHECK_H
#define GPUHIST_CHECK_H

#include <stdint.h>
#include <stdio.h>

/* Any thread of a test may check. */
static _Atomic unsigned long check_passed, check_failed;

/* Check a condition. If it fails, print the place and a message; the program continues. */
#define CHECK(condition, ...)                                                          \
	do {                                                                           \
		if (condition) {                                                       \
			check_passed++;                                                \
		} else if (check_failed++ < 20) {                                      \
			printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__);                                           \
			printf("\n");                                                  \
		}                                                                      \
	} while (0)

/* Print the last line of every test program, and return its exit status. */
static inline int check_report(void)
{
	printf("%lu passed, %lu failed\n", check_passed, check_failed);
	return check_failed ? 1 : 0;
}

/* Return the next number of a seeded generator (xorshift64*), so that a failure can be repeated. */
static inline uint64_t check_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
