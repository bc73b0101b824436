/* SPDX-License-Identifier: MIT */
/* into: the lock, FILE's document, its replacement, the rescue. */
#include "document/into.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/again.h"
#include "document/sum.h"
#include "output/output.h"
#include "output/format.h"

/*
 * Open FILE's directory and lock it until the descriptor is closed; waits for other processes to
 * release the lock. -1: *fail says why.
 */
static int lock_folder(const char *path, struct fail *fail)
{
	char target[PATH_MAX], folder[PATH_MAX];

	if (output_resolve(target, path, fail) != 0)
		return -1;
	output_folder(folder, target);
	const int fd = open_again(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return fail_errno(fail, "the folder of %s", path);
	while (flock(fd, LOCK_EX) != 0) {
		if (errno == EINTR)
			continue;
		/* NFS needs a writable descriptor, which no directory has. */
		errno = errno == EBADF ? ENOLCK : errno;
		fail_errno(fail, "--into cannot lock the folder of %s", path);
		close(fd);
		return -1;
	}
	return fd;
}

/* 1: a nonempty regular file. 0: it does not exist. -1: anything else. */
static int find_file(const char *path, struct fail *fail)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : fail_errno(fail, "%s", path);
	if (!S_ISREG(st.st_mode))
		return fail_set(fail, STATUS_SYSTEM, "%s is not a regular file", path);
	if (st.st_size == 0)
		return fail_set(fail, STATUS_DATA,
				"%s is empty, not a histogram; remove it to start a new one", path);
	return 1;
}

int into_read(const char *path, struct document *document, struct fail *fail)
{
	const int there = find_file(path, fail);

	*document = (struct document){.options = NULL};
	/* The options refuse a FILE named "-". */
	return there <= 0 ? there : document_only(document, path, fail) == 0 ? 1 : -1;
}

int into_check(const char *path, struct fail *fail)
{
	struct output *out;
	const int there = find_file(path, fail);

	/* Open the output as into_add will, but neither write nor rename. */
	if (there < 0 || output_open(&out, path, fail) != 0)
		return -1;
	output_abort(out);
	const int folder = lock_folder(path, fail);
	if (folder < 0)
		return -1;
	close(folder);
	return 0;
}

int into_compare(const char *path, const struct hist *like, struct fail *fail)
{
	struct document document;
	const int there = into_read(path, &document, fail);

	if (there <= 0)
		return there;
	char why[AXIS_WHY];
	int rc = 0;
	if (document.from.partial || document.from.parts != 1)
		rc = fail_set(fail, STATUS_DATA,
			      "%s holds one part of a histogram, so no run can be added to it",
			      path);
	else if (!sum_fits(why, &document.hist, like))
		rc = fail_set(fail, STATUS_DATA, "this run cannot be added to %s: %s", path, why);
	document_free(&document);
	return rc;
}

/* Write the document to FILE. Return the result of output_commit. */
static int write_file(const char *path, const struct document *document, bool nonzero,
		      struct fail *fail)
{
	struct output *out;

	if (output_open(&out, path, fail) != 0)
		return -1;
	write_json(out, &document->hist,
		   &(struct style){.counter = COUNTER_U64, .nonzero = nonzero}, &document->from);
	return output_commit_finally(out, fail);
}

/* Add the run to FILE, whose directory is locked. Return the result of output_commit. */
static int add_locked(const char *path, struct document *run, bool nonzero, struct into_sum *total,
		      struct fail *fail)
{
	struct document document;
	struct sum sum = {.documents = 0};
	const int there = into_read(path, &document, fail);

	*total = (struct into_sum){run->hist.samples, run->from.inputs, NULL};
	if (there <= 0)
		return there < 0 ? -1 : write_file(path, run, nonzero, fail);
	const char *const bare =
		!document.hist.stats == !run->hist.stats ? NULL
		: run->hist.stats ? "no statistics, because runs before this one had none"
				  : "lost its statistics, because this run has none (--stats)";
	int rc = sum_add(&sum, &document, fail);
	/* sum_add does not take over the second document, so the run keeps its own. */
	if (rc == 0)
		rc = sum_add(&sum, run, fail);
	if (rc == 0)
		rc = sum_finish(&sum, fail);
	if (rc == 0 && sum.total.hist.stats)
		rc = hist_set_stats(&sum.total.hist, &run->hist.asked, fail);
	document_free(&document);
	*total = (struct into_sum){sum.total.hist.samples, sum.total.from.inputs,
				   sum.total.hist.stats ? NULL : bare};
	if (rc == 0)
		rc = write_file(path, &sum.total, nonzero, fail);
	sum_free(&sum);
	return rc;
}

int into_add(const char *path, const struct hist *hist, bool nonzero, const struct provenance *from,
	     struct into_sum *sum, struct fail *fail)
{
	char name[PATH_MAX], this_run[] = "this run";
	struct document run = {.hist = *hist, .from = *from, .name = this_run};
	struct fail why = {.status = STATUS_OK}, lost = {.status = STATUS_OK};
	run.hist.reference = NULL;
	run.hist.compared = NULL; /* with something else than the sum */
	run.hist.linearity = NULL;
	/* Keep the lock for the rescue, so that runs that fail together find different names. */
	const int folder = lock_folder(path, &why);

	const int rc = folder < 0 ? -1 : add_locked(path, &run, nonzero, sum, &why);
	if (rc > 0)
		fail_pass(fail, &why);
	else if (rc < 0 && publish_rescue(path, &run.hist, from, name, &lost) == 0)
		fail_set(fail, why.status,
			 "%s; nothing was added, and this run's histogram is saved in %s", why.text,
			 name);
	else if (rc < 0)
		fail_set(fail, why.status,
			 "%s; nothing was added, and the rescue file could not be written: %s",
			 why.text, lost.text);
	if (folder >= 0)
		close(folder);
	return rc == 0 ? 0 : -1;
}
