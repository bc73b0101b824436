/* SPDX-License-Identifier: MIT */
/* chance: splitmix64, one stream for each job. */
#ifndef JOBS_CHANCE_H
#define JOBS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

/* All that is drawn from now on follows from these two. */
void chance_begin(uint64_t seed, uint64_t number);

uint64_t draw(void);
uint64_t below(uint64_t n); /* 0 to n - 1 */
bool once_in(uint64_t n);
uint64_t draw_magnitude(unsigned bits); /* below 2^bits; each length as likely as every other */

/* Says what failed, with errno, and ends the program. */
void die(const char *what) __attribute__((noreturn));

#endif
