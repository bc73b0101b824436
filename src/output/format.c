/* SPDX-License-Identifier: MIT */
/* format: the tables of counters and formats; publishing and rescue files. */
#include "output/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/path.h"

const struct counter_form COUNTERS[] = {
	[COUNTER_U64] = {"u64", 8, UINT64_MAX},     [COUNTER_U32] = {"u32", 4, UINT32_MAX},
	[COUNTER_SAT8] = {"sat8", 1, UINT8_MAX},    [COUNTER_SAT16] = {"sat16", 2, UINT16_MAX},
	[COUNTER_SAT32] = {"sat32", 4, UINT32_MAX},
};

static const struct format FORMATS[] = {
	{"csv", {".csv"}, write_csv, FORMAT_ROWS, COUNTER_U64},
	{"tsv", {".tsv"}, write_tsv, FORMAT_ROWS, COUNTER_U64},
	{"raw", {".bin", ".raw"}, write_raw, FORMAT_BINARY, COUNTER_U32},
	{"npy", {".npy"}, write_npy, FORMAT_BINARY, COUNTER_U64},
	{"json", {".json"}, write_json, FORMAT_DOCUMENT, COUNTER_U64},
	{"plot", {NULL}, write_plot, FORMAT_PICTURE, COUNTER_U64},
	{"svg", {".svg"}, write_svg, FORMAT_PICTURE, COUNTER_U64},
	{"prom", {".prom"}, write_prom, FORMAT_METRIC, COUNTER_U64},
};
#define ROWS (sizeof(FORMATS) / sizeof(FORMATS[0]))

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(FORMATS[i].name, name) == 0)
			return &FORMATS[i];
	return NULL;
}

const struct format *format_of_path(const char *path)
{
	const char *const name = path ? path_name(path) : "", *const dot = strrchr(name, '.');

	if (!dot || dot == name || dot[1] == '\0')
		return &FORMATS[0];
	for (size_t i = 0; i < ROWS; i++)
		for (const char *const *suffix = FORMATS[i].suffixes; *suffix; suffix++)
			if (strcasecmp(dot, *suffix) == 0)
				return &FORMATS[i];
	return NULL;
}

/* Save the counts to `out` and store its name in `name`. Closes `out`, even on failure. */
static int save_document(struct output *out, const struct hist *hist, const struct provenance *from,
			 char name[PATH_MAX], struct fail *fail)
{
	write_json(out, hist, &(struct style){.counter = COUNTER_U64}, from);
	return output_commit_rescue(out, name, fail);
}

/* Try the working directory first; a service may not be allowed to write there. */
static int save_in_folders(const struct hist *hist, const struct provenance *from,
			   char name[PATH_MAX], struct fail *fail)
{
	char here[PATH_MAX];
	const char *const folders[] = {getcwd(here, sizeof(here)), getenv("TMPDIR"), "/tmp"};
	struct output *out;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (folders[i] && folders[i][0] != '\0' &&
		    output_open_rescue(&out, folders[i], i > 0, fail) == 0 &&
		    save_document(out, hist, from, name, fail) == 0)
			return 0;
	return -1;
}

/* Save the counts next to the file that `out` would replace, or in a directory; close `out`. */
static int save_beside(struct output *out, const struct hist *hist, const struct provenance *from,
		       char name[PATH_MAX], struct fail *fail)
{
	if (!output_rescue(out))
		output_abort(out);
	else if (save_document(out, hist, from, name, fail) == 0)
		return 0;
	return save_in_folders(hist, from, name, fail);
}

int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from,
		   char name[PATH_MAX], struct fail *fail)
{
	struct output *out;

	return output_open(&out, path, fail) == 0 ? save_beside(out, hist, from, name, fail)
						  : save_in_folders(hist, from, name, fail);
}

/* Save the counts if some do not fit into their counters; close `out`. Return -1. */
static int rescue_counts(struct output *out, const struct hist *hist, const struct provenance *from,
			 uint64_t counts, struct fail *fail)
{
	char name[PATH_MAX];
	struct fail lost = {.status = STATUS_OK};
	const bool saved = save_beside(out, hist, from, name, &lost) == 0;

	return fail_set(
		fail, STATUS_LIMIT,
		"%llu count%s exceeded 4294967295, the maximum of a u32 counter (use -C u64)%s%s",
		(unsigned long long)counts, counts == 1 ? "" : "s",
		saved ? "; the exact histogram is saved in "
		      : "; the rescue file could not be written: ",
		saved ? name : lost.text);
}

int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail)
{
	const bool rows = style->flow || format->kind >= FORMAT_METRIC; /* with under, over, NaN */
	uint64_t overflows = 0;

	if (style->counter == COUNTER_U32)
		overflows = hist_exceeding(hist, UINT32_MAX) +
			    (rows ? hist_rows_exceeding(hist, UINT32_MAX) : 0);
	if (overflows > 0)
		return rescue_counts(out, hist, from, overflows, fail);
	format->write(out, hist, style, from);
	return output_commit_finally(out, fail);
}
