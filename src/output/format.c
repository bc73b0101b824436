/* SPDX-License-Identifier: MIT */
/* format: the table of formats, and suffixes that look like one. */
#include "output/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TAKES(kind) (1u << (kind))
#define EXACT (TAKES(COUNTER_U64) | TAKES(COUNTER_U32))
#define SATURATING (TAKES(COUNTER_SAT8) | TAKES(COUNTER_SAT16) | TAKES(COUNTER_SAT32))

static const struct format FORMATS[] = {
	{.name = "csv",
	 .suffixes = {".csv"},
	 .write = write_csv,
	 .counter = COUNTER_U64,
	 .counters = EXACT | SATURATING,
	 .rows = true},
	{.name = "tsv",
	 .suffixes = {".tsv"},
	 .write = write_tsv,
	 .counter = COUNTER_U64,
	 .counters = EXACT | SATURATING,
	 .rows = true},
	{.name = "raw",
	 .suffixes = {".bin", ".raw"},
	 .write = write_raw,
	 .counter = COUNTER_U32,
	 .counters = EXACT | SATURATING,
	 .binary = true},
	{.name = "npy",
	 .suffixes = {".npy"},
	 .write = write_npy,
	 .counter = COUNTER_U32,
	 .counters = EXACT | SATURATING,
	 .binary = true},
	{.name = "json",
	 .suffixes = {".json"},
	 .write = write_json,
	 .counter = COUNTER_U64,
	 .counters = EXACT,
	 .sparse = true,
	 .flow = true,
	 .partial = true},
	{.name = "plot",
	 .suffixes = {NULL},
	 .write = write_plot,
	 .counter = COUNTER_U64,
	 .counters = EXACT,
	 .flow = true,
	 .partial = true},
	{.name = "svg",
	 .suffixes = {".svg"},
	 .write = write_svg,
	 .counter = COUNTER_U64,
	 .counters = EXACT,
	 .flow = true,
	 .partial = true},
};
#define ROWS (sizeof(FORMATS) / sizeof(FORMATS[0]))

const struct format *format_row(size_t i)
{
	return i < ROWS ? &FORMATS[i] : NULL;
}

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(FORMATS[i].name, name) == 0)
			return &FORMATS[i];
	return NULL;
}

static bool is_one_of(const char *suffix, const char *const *list)
{
	for (; *list; list++)
		if (strcasecmp(suffix, *list) == 0)
			return true;
	return false;
}

/* A suffix that promises a format which is not written must not get csv. */
const struct format *format_of_path(const char *path, char why[FORMAT_WHY])
{
	static const char *const COMPRESSED[] = {".gz",  ".zst", ".xz",   ".bz2",
						 ".lz4", ".zip", ".svgz", NULL};
	static const char *const OTHERS[] = {
		".npz",  ".png",     ".jpg",     ".jpeg", ".gif",  ".webp", ".pdf",  ".h5",
		".hdf5", ".parquet", ".feather", ".mat",  ".root", ".xlsx", ".html", NULL};
	const char *const dot = path ? strrchr(path, '.') : NULL;
	char list[FORMAT_LIST];

	if (!dot)
		return &FORMATS[0];
	if (is_one_of(dot, COMPRESSED)) {
		snprintf(why, FORMAT_WHY,
			 "the output is not compressed: pipe it to a compressor (or choose by -f "
			 "what to write under "
			 "this name)");
		return NULL;
	}
	if (is_one_of(dot, OTHERS)) {
		format_list(list, FORMATS_ALL, "or");
		snprintf(why, FORMAT_WHY,
			 "not a format that can be written (-f %s writes that under this name)",
			 list);
		return NULL;
	}
	for (size_t i = 0; i < ROWS; i++)
		if (is_one_of(dot, FORMATS[i].suffixes))
			return &FORMATS[i];
	return &FORMATS[0];
}

static bool is_listed(const struct format *format, enum format_which which)
{
	return which == FORMATS_ALL || format->rows || (which == FORMATS_NONZERO && format->sparse);
}

void format_list(char list[FORMAT_LIST], enum format_which which, const char *last)
{
	size_t left = 0, used = 0;

	for (size_t i = 0; i < ROWS; i++)
		left += is_listed(&FORMATS[i], which);
	list[0] = '\0';
	for (size_t i = 0; i < ROWS && used < FORMAT_LIST; i++) {
		if (!is_listed(&FORMATS[i], which))
			continue;
		left--;
		used += (size_t)snprintf(list + used, FORMAT_LIST - used, "%s%s%s%s",
					 FORMATS[i].name,
					 left > 1    ? ", "
					 : left == 1 ? " "
						     : "",
					 left == 1 ? last : "", left == 1 ? " " : "");
	}
}
