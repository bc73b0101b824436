/* SPDX-License-Identifier: MIT */
/* doorbell: some threads use the GPU process's loop. Run it under a schedule. */
#ifndef TESTS_DOORBELL_H
#define TESTS_DOORBELL_H

#include <stdint.h>

void doorbell(uint64_t seed, unsigned threads);

#endif
