/* SPDX-License-Identifier: MIT */
/* fail: keeps the first error and its text. */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail_set(struct fail *f, enum status status, const char *format, ...)
{
	if (f->status != STATUS_OK)
		return -1;
	va_list ap;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	f->status = status;
	return -1;
}

int fail_errno(struct fail *f, const char *format, ...)
{
	int error = errno;

	if (f->status != STATUS_OK)
		return -1;
	va_list ap;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	size_t used = strlen(f->text);
	char why[128];
	/* strerror_r has two signatures; strerror is not thread-safe. */
#if defined(__GLIBC__)
	snprintf(f->text + used, sizeof(f->text) - used, ": %s",
		 strerror_r(error, why, sizeof(why)));
#else
	if (strerror_r(error, why, sizeof(why)) != 0)
		snprintf(why, sizeof(why), "error %d", error);
	snprintf(f->text + used, sizeof(f->text) - used, ": %s", why);
#endif
	f->status = STATUS_SYSTEM;
	return -1;
}

int fail_pass(struct fail *f, const struct fail *from)
{
	if (f->status == STATUS_OK)
		f->lines = from->lines;
	return fail_set(f, from->status, "%s", from->text);
}
