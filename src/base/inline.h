/* SPDX-License-Identifier: MIT */
/* inline: functions that compilers must copy into their callers, so that arguments are constants. */
#ifndef GPUHIST_INLINE_H
#define GPUHIST_INLINE_H

#define INLINE static inline __attribute__((always_inline))

#endif
