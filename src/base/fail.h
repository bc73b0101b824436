/* SPDX-License-Identifier: MIT */
/* fail: an error, passed up to main, which reports it. */
#ifndef GPUHIST_FAIL_H
#define GPUHIST_FAIL_H

#include <stdbool.h>

typedef unsigned long long ull; /* for numbers printed with %llu */

/* Exit statuses, as in the manual page. */
enum status {
	STATUS_OK = 0,
	STATUS_SYSTEM = 1, /* cannot open, read, write; out of memory */
	STATUS_USAGE = 2,
	STATUS_DATA = 3,      /* partial record, compressed or truncated input */
	STATUS_DEVICE = 4,    /* the device of --device is unavailable */
	STATUS_LIMIT = 5,     /* counter overflow under u32, memory limit */
	STATUS_ALARM = 6,     /* --alarm: a limit was passed */
	STATUS_INTERNAL = 70, /* the audit failed: a bug in gpuhist */
};

#define FAIL_TEXT 4608 /* fits the longest path and its reason */

struct fail {
	enum status status;   /* STATUS_OK until something fails */
	bool lines;           /* keep line feeds in the text */
	char text[FAIL_TEXT]; /* "what: why" */
};

/*
 * Record a failure, unless one is recorded already: the first error wins. Always returns -1, so
 * that callers can end with `return fail_set(...)`. Takes no lock: a struct fail belongs to one
 * thread, or to the holder of a lock.
 */
int fail_set(struct fail *f, enum status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like fail_set, for a failed system call: STATUS_SYSTEM; appends ": " and the text of errno. */
int fail_errno(struct fail *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like fail_set, with the status and the text of `from`. */
int fail_pass(struct fail *f, const struct fail *from);

#endif
