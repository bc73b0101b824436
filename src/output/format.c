/* SPDX-License-Identifier: MIT */
/* format: the table of counters; publishing and rescue files. */
#include "output/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct counter_form COUNTERS[] = {
	[COUNTER_U64] = {"u64", 8, UINT64_MAX},     [COUNTER_U32] = {"u32", 4, UINT32_MAX},
	[COUNTER_SAT8] = {"sat8", 1, UINT8_MAX},    [COUNTER_SAT16] = {"sat16", 2, UINT16_MAX},
	[COUNTER_SAT32] = {"sat32", 4, UINT32_MAX},
};

void format_write(struct output *out, const struct format *format, const struct hist *hist,
		  const struct style *style, const struct provenance *from)
{
	const bool rows = hist_is_list(hist) || style->binless;

	/* Channels of an array are an array already. */
	if (format->list && rows && (hist->what == SERIES_KEYS || format->can & CAN_FIGURES))
		format->list(out, hist, style, from, format);
	else
		format->write(out, hist, style, from);
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

/* Save the counts because of `why`; close `out`. Return -1. */
static int save_counts(struct output *out, const struct hist *hist, const struct provenance *from,
		       const struct fail *why, struct fail *fail)
{
	char name[PATH_MAX];
	struct fail lost = {.status = STATUS_OK};
	const bool saved = save_beside(out, hist, from, name, &lost) == 0;

	return fail_set(fail, why->status, "%s%s%s", why->text,
			saved ? "; the exact histogram is saved in "
			      : "; the rescue file could not be written: ",
			saved ? name : lost.text);
}

/* -1: some counts do not fit into 32 bits. */
static int check_counts(const struct hist *hist, bool rows, struct fail *fail)
{
	const uint64_t counts = hist_exceeding(hist, UINT32_MAX) +
				(rows ? hist_rows_exceeding(hist, UINT32_MAX) : 0);

	if (counts == 0)
		return 0;
	return fail_set(
		fail, STATUS_LIMIT,
		"%llu count%s exceeded 4294967295, the maximum of a u32 counter (use -C u64)",
		(unsigned long long)counts, counts == 1 ? "" : "s");
}

int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail)
{
	const bool rows = style->flow || format->can & HAS_FLOW; /* with under, over, NaN */
	struct fail why = {.status = STATUS_OK};

	if ((style->counter == COUNTER_U32 && check_counts(hist, rows, &why) != 0) ||
	    (format->check && format->check(hist, &why) != 0))
		return save_counts(out, hist, from, &why, fail);
	format_write(out, format, hist, style, from);
	return output_commit_finally(out, fail);
}
