/* SPDX-License-Identifier: MIT */
/* progress: formats figures as a line, the most important first. */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

#define TIME_TEXT 24
/* A longer estimate is meaningless. */
#define LONGEST_SECONDS (100 * 86400.0)

void size_text(char text[SIZE_TEXT], double bytes)
{
	static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	size_t unit = 0;

	while (bytes >= 999.5 && unit + 1 < sizeof(UNITS) / sizeof(UNITS[0])) {
		bytes /= 1000;
		unit++;
	}
	const int digits = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
	snprintf(text, SIZE_TEXT, "%.*f %s", digits, bytes, UNITS[unit]);
}

/* 0:07, 12:34, 1:02:03. */
static void put_time(char text[TIME_TEXT], double seconds)
{
	const unsigned long s = (unsigned long)seconds;

	if (s < 3600)
		snprintf(text, TIME_TEXT, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(text, TIME_TEXT, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

/* Append a part if it fits. */
static void progress_append(char text[PROGRESS_TEXT], unsigned columns, const char *part)
{
	const size_t used = strlen(text);
	const size_t most = columns < PROGRESS_TEXT ? columns : PROGRESS_TEXT - 1;
	const char *const comma = used > 0 ? ", " : "";
	const size_t length = used + strlen(comma) + strlen(part);

	if (length <= most)
		strcat(strcat(text, comma), part);
	else if (used == 0)
		strncat(text, part, most);
}

void progress_text(char text[PROGRESS_TEXT], const struct progress_now *p, unsigned columns)
{
	const uint64_t bytes = p->length > 0 && p->bytes > p->length ? p->length : p->bytes;
	char size[SIZE_TEXT], whole[SIZE_TEXT], time[TIME_TEXT], part[64];

	text[0] = '\0';
	put_time(time, p->seconds);
	if (p->bytes == 0) {
		snprintf(part, sizeof(part), "nothing counted yet after %s", time);
		progress_append(text, columns, part);
		return;
	}
	size_text(size, (double)p->bytes);
	if (p->length > 0) {
		const double percent = 100.0 * (double)bytes / (double)p->length;
		size_text(whole, (double)p->length);
		/* Round down, so that 100 means finished. */
		snprintf(part, sizeof(part), "%u %%", (unsigned)percent);
		progress_append(text, columns, part);
		snprintf(part, sizeof(part), "%s of %s", size, whole);
	} else {
		snprintf(part, sizeof(part), "%s in %s", size, time);
	}
	progress_append(text, columns, part);
	size_text(size, p->rate);
	snprintf(part, sizeof(part), "%s/s", size);
	progress_append(text, columns, part);
	const double left = p->rate > 0 ? (double)(p->length - bytes) / p->rate : LONGEST_SECONDS;
	if (p->length > 0 && (left < LONGEST_SECONDS || bytes == p->length)) {
		if (bytes < p->length)
			put_time(time, left);
		snprintf(part, sizeof(part), bytes < p->length ? "%s left" : "in %s", time);
		progress_append(text, columns, part);
	}
	if (p->gpu_records > 0 && p->records > 0) {
		const uint64_t gpu = p->gpu_records < p->records ? p->gpu_records : p->records;
		const unsigned share = (unsigned)(100.0 * (double)gpu / (double)p->records + 0.5);
		snprintf(part, sizeof(part), "GPU %u %%, CPU %u %%", share, 100 - share);
		progress_append(text, columns, part);
	}
}

double rate_look(struct rate *rate, double now, uint64_t bytes)
{
	for (int k = 0; k < 2 && (!rate->begun || now - rate->at[1] >= RATE_SECONDS); k++) {
		rate->at[0] = rate->at[1];
		rate->bytes[0] = rate->bytes[1];
		rate->at[1] = now;
		rate->bytes[1] = bytes;
	}
	rate->begun = true;
	const double seconds = now - rate->at[0];
	return seconds > 0 && bytes >= rate->bytes[0] ? (double)(bytes - rate->bytes[0]) / seconds
						      : 0;
}
