/* publish: write, or rescue. */
#include "publish.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write.h"

/* NAME.rescue.json beside a file; plain, in the working folder, for what is not a file. */
static void rescue_name(char name[PATH_MAX], const struct job *job, bool plain)
{
	struct stat st;
	const bool file = !plain && job->output && strcmp(job->output, "-") != 0 &&
			  (stat(job->output, &st) != 0 || S_ISREG(st.st_mode));

	if (file)
		snprintf(name, PATH_MAX, "%s.rescue.json", job->output);
	else
		snprintf(name, PATH_MAX, "gpuhist-%ld.rescue.json", (long)getpid());
}

static int rescue(const struct job *job, const struct hist *hist, uint64_t counts, struct fail *fail)
{
	char name[PATH_MAX];
	struct output *out;
	struct fail lost = {0};

	/* A name that is too long with its suffix must not cost the counts. */
	for (int plain = 0; plain <= 1; plain++) {
		lost = (struct fail){.status = STATUS_OK};
		rescue_name(name, job, plain);
		if (output_open(&out, name, &lost) != 0)
			continue;
		write_json(out, job, hist);
		if (output_commit(out, &lost) == 0)
			break;
	}
	if (lost.status != STATUS_OK)
		return fail_set(fail, STATUS_LIMIT,
				"%llu count%s passed 4294967295, the most of a u32 counter (use -C u64), and the rescue file failed: %s",
				(unsigned long long)counts, counts == 1 ? "" : "s", lost.text);
	return fail_set(fail, STATUS_LIMIT,
			"%llu count%s passed 4294967295, the most of a u32 counter (use -C u64); the exact histogram is saved in %s",
			(unsigned long long)counts, counts == 1 ? "" : "s", name);
}

/* Counts that would be written and that do not fit: the rows of --flow are counts too. */
static uint64_t overflowing(const struct job *job, const struct hist *hist)
{
	uint64_t n = 0;

	if (job->counter != COUNTER_U32)
		return 0;
	if (job->flow)
		n += (uint64_t)(hist->under > UINT32_MAX) + (hist->over > UINT32_MAX) +
		     (hist->nan > UINT32_MAX);
	return n + hist_exceeding(hist, COUNTER_U32);
}

int publish(struct output *out, const struct job *job, const struct hist *hist,
	    struct fail *fail)
{
	const uint64_t overflows = overflowing(job, hist);

	if (overflows > 0) {
		output_abort(out);
		return rescue(job, hist, overflows, fail);
	}
	write_choose(job->format)(out, job, hist);
	return output_commit(out, fail);
}
