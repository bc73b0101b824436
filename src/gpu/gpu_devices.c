/* SPDX-License-Identifier: MIT */
/* gpu_devices: lists of devices. */
#include "gpu/gpu_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned devices_named(const char *wanted)
{
	unsigned n = 1;

	if (strcmp(wanted, "all") == 0)
		return 0;
	for (const char *p = wanted; *p; p++)
		n += *p == ',';
	return n;
}

unsigned devices_nth(const char *wanted, unsigned nth)
{
	for (; nth > 0; nth--)
		wanted = strchr(wanted, ',') + 1;
	return (unsigned)strtoul(wanted, NULL, 10);
}

void devices_show(char *text, size_t size, const char *visible, unsigned number)
{
	const char *v = visible;

	if (!visible) {
		snprintf(text, size, "%u", number);
		return;
	}
	/* After an entry that names no device the driver shows none. */
	for (; v && (number > 0 || *v == '-' || *v == ',' || *v == '\0'); number--) {
		v = *v == '-' || *v == ',' ? NULL : strchr(v, ',');
		v = v ? v + 1 : NULL;
	}
	snprintf(text, size, "%.*s", v ? (int)strcspn(v, ",") : 2, v ? v : "-1");
}
