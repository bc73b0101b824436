/* SPDX-License-Identifier: MIT */
/* verdict: find in the log what failed, and judge whether the program coped with it. */

#include "torture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bytes expected[JOBS_MAX], said[JOBS_MAX], passes[JOBS_MAX], counted[JOBS_MAX];

/* From the log: the worst effect that the faults may have, and their other effects. */
struct damage {
	enum effect effect;
	bool to_stderr; /* messages may be missing */
	bool to_out;    /* standard output may hold a beginning */
	bool leaves;    /* a temporary file may be left */
	bool renamed;   /* the new file is in place */
};

/* Are compressed files among the inputs? */
static bool in_frames(const struct job *job)
{
	static const char *const FILES_IN_FRAMES[] = {"../packed", "../single", "../long",
						      "../texts"};

	for (size_t i = 0; i < sizeof(FILES_IN_FRAMES) / sizeof(FILES_IN_FRAMES[0]); i++)
		if (strstr(job->arguments, FILES_IN_FRAMES[i]) ||
		    (job->input && job->route == REDIRECT &&
		     strcmp(job->input, FILES_IN_FRAMES[i] + strlen("../")) == 0))
			return true;
	return false;
}

static struct damage assess(const struct plan *plan, const struct result *r)
{
	struct damage d = {.effect = HARMLESS};
	char function[32], role[16], met[16], line[64];

	for (const char *p = r->log.data; p && *p; p += strcspn(p, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		const bool hit = sscanf(line, "%31s %15s %15s", function, role, met) == 3;
		const bool fails = hit && strcmp(met, "failed") == 0;
		const bool out = strcmp(role, "out") == 0;
		d.renamed |= strcmp(function, "rename") == 0 && !fails;
		d.to_out |= strcmp(function, "write") == 0 && out;
		if (!fails)
			continue;
		enum effect e = effect_of(&JOBS[plan->job], function, role, plan->error);
		const char *const name = JOBS[plan->job].name;
		/* Without a look at an input before the run, everything is counted too. */
		if (e == FATAL && name == LOOKS_AHEAD)
			e = EITHER;
		/*
		 * If a read of a frame's end fails, the thread that decodes the frame repeats it;
		 * for a long frame, libzstd does.
		 */
		if (e == FATAL && plan->how != FOR_GOOD && strcmp(function, "pread") == 0 &&
		    in_frames(&JOBS[plan->job]))
			e = EITHER;
		/* EITHER hides HARMLESS, FATAL hides both. */
		if (e == FATAL || (e == EITHER && d.effect == HARMLESS))
			d.effect = e;
		d.to_stderr |= strcmp(function, "write") == 0 && strcmp(role, "err") == 0;
		d.leaves |= strcmp(function, "unlink") == 0 || strcmp(function, "sigaction") == 0;
		/* A rescue file without a message: writing that failed, or a signal came first. */
		d.leaves |= (d.to_stderr || r->raised) && adds(&JOBS[plan->job]);
	}
	return d;
}

/* Is this one whole message, or the beginning of one that could not be written completely? */
static bool one_line(struct bytes err, bool cut)
{
	static const char START[] = "gpuhist: ";

	if (!err.data)
		return false;
	if (cut)
		return strncmp(err.data, START, err.n < strlen(START) ? err.n : strlen(START)) == 0;
	const char *end = strchr(err.data, '\n');
	return strncmp(err.data, START, strlen(START)) == 0 && end == err.data + err.n - 1;
}

static bool begins(struct bytes whole, struct bytes part)
{
	return part.n <= whole.n && memcmp(whole.data, part.data, part.n) == 0;
}

/* Judge the file: it must be complete and new, or as before. */
static const char *judge_file(const struct plan *plan, const struct result *r,
			      const struct damage *d, bool ok)
{
	const struct job *job = &JOBS[plan->job];
	const bool made = job->target == NEW || job->target == INTO_NEW;
	const struct bytes old = {(char *)(uintptr_t)old_bytes(job), strlen(old_bytes(job))};
	char line[64];
	const struct bytes ended = {
		line, (size_t)snprintf(line, sizeof(line), "0,0,256,%zu\n", r->out.n)};
	const bool finished = finishes(plan) && r->raised;
	const bool is_new =
		job->status == 0 && same(r->published, finished ? ended : expected[plan->job]);
	/* Bad input is no reason to pass on less than all of it. */
	const bool all =
		ok || (r->status >= 0 && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 3);
	const bool is_old = made ? !r->published.data : same(r->published, old);
	struct stat st;

	if (ok && !is_new)
		return "the file is wrong";
	if (!is_new && !is_old)
		return "the file is neither the old nor the new one";
	if (!ok && is_new && !d->renamed)
		return "a failed run has published";
	if (!job->passes && r->out.n > 0)
		return "something on standard output";
	if (job->passes && all && !finished ? !same(r->out, passes[plan->job])
					    : !begins(passes[plan->job], r->out))
		return "the bytes passed on are not the input";
	/* If the access list or the group cannot be kept, the group gets fewer permissions. */
	if (!made &&
	    (stat(FILES_OF[job->target], &st) != 0 || (st.st_mode & 07777 & ~(mode_t)OLD_MODE)))
		return "the file is more readable than it was";
	if (!made && (st.st_mode & 0600) != (OLD_MODE & 0600))
		return "the file has lost its mode";
	if (job->target == LINK && (lstat("link", &st) != 0 || !S_ISLNK(st.st_mode)))
		return "the link was replaced";
	return NULL;
}

/* Counts that could not be added must be in the file that the message names, if it was written. */
static const char *judge_rescue(const struct plan *plan, const struct result *r)
{
	static const char SAVED[] = "this run's histogram is saved in ";
	const char *const end = r->err.data ? strchr(r->err.data, '\n') : NULL;
	const char *const text = end ? strstr(r->err.data, SAVED) : NULL;
	char name[PATH_BYTES];

	/* A single fault must not lose the counts. */
	if (!text)
		return plan->how == ONCE && plan->resource < 0 && end &&
				       strstr(r->err.data, "the rescue file could not be written")
			       ? "one fault has cost the counts"
			       : NULL;
	if (same(r->published, expected[plan->job]))
		return "added, and saved to be added again";
	snprintf(name, sizeof(name), "%.*s", (int)(end - text - (long)strlen(SAVED)),
		 text + strlen(SAVED));
	struct bytes saved = slurp(name);
	const bool right = same(saved, counted[plan->job]);
	free(saved.data);
	unlink(name);
	return right ? NULL : "the rescue file has other counts";
}

/* Has a whole run replaced the file? */
static bool has_published(const struct plan *plan, const struct result *r)
{
	const struct job *const job = &JOBS[plan->job];

	return job->target != STDOUT && job->status == 0 && same(r->published, expected[plan->job]);
}

/* Judge the end of a run without a signal of ours. */
static const char *judge_exit(const struct plan *plan, const struct result *r,
			      const struct damage *d)
{
	const int status = WEXITSTATUS(r->status), usual = JOBS[plan->job].status;
	const bool harmless = d->effect == HARMLESS && plan->resource < 0 && !plan->closed;

	/* Once the file is replaced, a signal comes too late. */
	if (r->raised && !survives(plan) && !finishes(plan) && !has_published(plan, r))
		return "outlived the signal";
	/*
	 * The default of -M is a share of the process's memory, which may be too little for a
	 * decoder. The figures of a key may find no memory.
	 */
	const bool little = status == 5 && (plan->resource == RLIMIT_AS || plan->error == ENOMEM);

	if (status != usual && status != 1 && !little)
		return "exit status";
	if (status != usual && harmless)
		return "a harmless fault did harm";
	if (status == 0 && d->effect == FATAL)
		return "the fault was overlooked";
	if (status == 0 && plan->closed)
		return "nobody got the output";
	if (status != 0 && !one_line(r->err, d->to_stderr))
		return "not one line of message";
	if ((status == 0 || harmless) && !d->to_stderr && !same(r->err, said[plan->job]))
		return "other messages than without a fault";
	return NULL;
}

const char *judge(const struct plan *plan, const struct result *r)
{
	const struct damage d = assess(plan, r);
	const bool ended = r->status >= 0 && WIFEXITED(r->status);
	const bool ok = ended && WEXITSTATUS(r->status) == 0;
	const char *why = NULL;

	if (r->status == -1)
		return "hangs";
	if (ended)
		why = judge_exit(plan, r, &d);
	else if (survives(plan) || WTERMSIG(r->status) != plan->signal ||
		 !(r->raised || plan->closed))
		why = "died of a signal";
	if (!why && ended && !ok && adds(&JOBS[plan->job]))
		why = judge_rescue(plan, r);
	/* A retry would replace it, or add twice. Nothing can block KILL. */
	if (!why && !ended && plan->signal != SIGKILL && has_published(plan, r))
		why = "published, and died of a signal";
	if (why)
		return why;
	if (JOBS[plan->job].target != STDOUT)
		return judge_file(plan, r, &d, ok);
	if (ok && !same(r->out, expected[plan->job]))
		return "standard output is wrong";
	if (!ok && !begins(expected[plan->job], r->out))
		return "standard output is wrong as far as it goes";
	/* Without a fault, too, rows of --each that come before bad input are written. */
	const bool usual = JOBS[plan->job].status == 0 || expected[plan->job].n == 0;
	if (!ok && r->out.n > 0 && !d.to_out && plan->resource < 0 && usual)
		return "something on standard output";
	return NULL;
}

bool may_leave(const struct plan *plan, const struct result *r)
{
	return assess(plan, r).leaves;
}

const char *judge_order(size_t k, const char *log)
{
	static const char *const STEPS[] = {"fsync out\n", "close out\n", "rename -\n",
					    "open folder\n", "fsync folder\n"};
	size_t step = 0;

	for (const char *p = log; *p; p += strcspn(p, "\n") + 1) {
		if (strncmp(p, "write out\n", 10) == 0 && step > 0)
			return "written behind the sync";
		for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
			if (strncmp(p, STEPS[i], strlen(STEPS[i])) != 0)
				continue;
			if (i == 1 && step == 0) /* the old file, opened only to see whether it may
						    be written */
				continue;
			if (i == 3 && step == 0) /* the directory, to be locked */
				continue;
			if (i != step++)
				return "synced, closed and renamed in the wrong order";
		}
	}
	return JOBS[k].status == 0 && step != sizeof(STEPS) / sizeof(STEPS[0]) ? "not synced"
									       : NULL;
}
