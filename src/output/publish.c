/* SPDX-License-Identifier: MIT */
/* publish: write, or rescue. */
#include "output/publish.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/output_path.h"

/* Saves the counts to `out`, which is closed in any case; name is what they were saved as. */
static int save(struct output *out, const struct hist *hist, const struct provenance *from,
		char name[PATH_MAX], struct fail *fail)
{
	snprintf(name, PATH_MAX, "%s", output_name(out));
	write_json(out, hist, &(struct style){.counter = COUNTER_U64}, from);
	return output_commit(out, fail);
}

/*
 * Tries the working folder, which a service may not be allowed to write, then $TMPDIR, then /tmp.
 */
static int save_in_folders(const struct hist *hist, const struct provenance *from,
			   char name[PATH_MAX], struct fail *fail)
{
	char here[PATH_MAX];
	const char *const folders[] = {getcwd(here, sizeof(here)), getenv("TMPDIR"), "/tmp"};
	struct output *out;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (folders[i] && folders[i][0] != '\0' &&
		    output_open_rescue(&out, folders[i], i > 0, fail) == 0 &&
		    save(out, hist, from, name, fail) == 0)
			return 0;
	return -1;
}

/* Beside a file; if there is none, or that failed, in a folder. `out` is closed in any case. */
static int save_somewhere(struct output *out, const struct hist *hist,
			  const struct provenance *from, char name[PATH_MAX], struct fail *fail)
{
	if (!output_rescue(out))
		output_abort(out);
	else if (save(out, hist, from, name, fail) == 0)
		return 0;
	return save_in_folders(hist, from, name, fail);
}

/* FILE.rescue.json, FILE.2.rescue.json ...: the first name that is free. False: there is none. */
static bool free_name(char name[PATH_MAX], const char *target)
{
	struct stat st;

	for (unsigned i = 1; i <= 1000; i++) {
		const int n = i == 1 ? snprintf(name, PATH_MAX, "%s.rescue.json", target)
				     : snprintf(name, PATH_MAX, "%s.%u.rescue.json", target, i);
		if (n < 0 || n >= PATH_MAX)
			return false;
		if (stat(name, &st) != 0)
			return errno == ENOENT;
	}
	return false;
}

int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from,
		   char name[PATH_MAX], struct fail *fail)
{
	char target[PATH_MAX], beside[PATH_MAX];
	struct output *out;
	struct fail first = {.status = STATUS_OK};

	/* If no name beside FILE can be used but another name can, the reason is not reported. */
	if (output_resolve(target, path, &first) == 0 && free_name(beside, target) &&
	    output_open(&out, beside, &first) == 0 && save(out, hist, from, name, &first) == 0)
		return 0;
	return save_in_folders(hist, from, name, fail);
}

static int rescue(struct output *out, const struct hist *hist, const struct provenance *from,
		  uint64_t counts, struct fail *fail)
{
	char name[PATH_MAX];
	struct fail lost = {.status = STATUS_OK};
	const bool saved = save_somewhere(out, hist, from, name, &lost) == 0;

	return fail_set(fail, STATUS_LIMIT,
			"%llu count%s passed 4294967295, the largest value of a u32 counter (use "
			"-C u64)%s%s",
			(unsigned long long)counts, counts == 1 ? "" : "s",
			saved ? "; the exact histogram is saved in "
			      : ", and the rescue file failed: ",
			saved ? name : lost.text);
}

/*
 * Counts that would be written and do not fit. Under, over and NaN are included where they are
 * written: with --flow, and always in some formats.
 */
static uint64_t overflowing(const struct format *format, const struct style *style,
			    const struct hist *hist)
{
	const uint64_t most = counter_max(COUNTER_U32);
	const bool rows = style->flow || format->flow;

	if (style->counter != COUNTER_U32)
		return 0;
	return hist_exceeding(hist, most) + (rows ? hist_rows_exceeding(hist, most) : 0);
}

int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail)
{
	const uint64_t overflows = overflowing(format, style, hist);

	if (overflows > 0)
		return rescue(out, hist, from, overflows, fail);
	format->write(out, hist, style, from);
	return output_commit(out, fail);
}
