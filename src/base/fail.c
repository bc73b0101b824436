/* SPDX-License-Identifier: MIT */
/* fail: keeps the first error and its text. */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail_set(struct fail *f, enum status status, const char *format, ...)
{
	va_list ap;

	if (f->status != STATUS_OK)
		return -1;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	f->status = status;
	return -1;
}

int fail_errno(struct fail *f, const char *format, ...)
{
	const int error = errno;
	va_list ap;
	char why[128];

	if (f->status != STATUS_OK)
		return -1;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	f->status = STATUS_SYSTEM;
	const size_t used = strlen(f->text);
	/* strerror is not thread-safe. */
	snprintf(f->text + used, sizeof(f->text) - used, ": %s",
		 strerror_r(error, why, sizeof(why)));
	return -1;
}

int fail_pass(struct fail *f, const struct fail *from)
{
	if (f->status == STATUS_OK)
		f->lines = from->lines;
	return fail_set(f, from->status, "%s", from->text);
}
