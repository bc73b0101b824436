/* SPDX-License-Identifier: MIT */
/*
 * source_open: opens a source and its first input, whose header may decide the type; starts it;
 * opens, as a task, each of the inputs; closes it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/signals.h"
#include "base/tally.h"
#include "format/first.h"
#include "input/source_input.h"
#include "input/source_open.h"
#include "input/source_text.h"
#include "frames/zstd_job.h"
#include "bytes/tee.h"

/* ---- the first input ---- */

/* Set the number of a stream's bytes that may be kept, if decoders may take `memory` bytes. */
static void set_keep_most(struct source *s, uint64_t memory)
{
	s->shared.keep_most = lesser(memory / 4, FIND_MAX) + 2 * PACKED_BYTES;
}

static int no_tensor(const struct source *s, const char *near, struct fail *fail)
{
	const bool several = s->spec.path_count > 1;

	return fail_set(fail, STATUS_DATA, "%s has %stensor %s%s%s%s",
			several ? "none of the inputs" : path_shown(s->spec.paths[0]),
			several ? "" : "no ", s->spec.tensor,
			*near ? "; did you mean "
			      : " (gpuhist lists the first ones if --tensor is left out)",
			near, *near ? "?" : "");
}

/*
 * If neither -t nor the first input's header or name gives the type, take it from the header of a
 * later file whose name promises one. That file's samples are read later.
 */
static int look_further(struct source *s, struct fail *fail)
{
	char suffix[FIRST_SUFFIX];
	struct sample_type type;
	struct input *in = NULL;
	struct stat st;
	bool pair;
	int rc = 0;

	if (s->spec.typed || s->spec.tee || first_named(&type, &pair, s->spec.paths[0], suffix))
		return 0;
	for (size_t i = 1; i < s->spec.path_count && rc == 0 && !s->first.said.format; i++) {
		const char *const path = s->spec.paths[i];
		if (!input_promises_header(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		rc = input_open(s, i, &in, fail);
		if (rc == 0 && in->content.header.format) {
			s->first.name = in->name;
			s->first.said = in->content.header;
			s->first.said.input = in->name;
		}
		if (in)
			input_free(s, in);
	}
	return rc == 0 ? 0 : -1;
}

/*
 * Open the first input and read its header; with --tensor, the first input that has the tensor,
 * passing over the inputs before it.
 */
static int describe_first(struct source *s, struct fail *fail)
{
	char near[TENSOR_NEAR] = "";
	struct input *in = NULL;
	int rc = 0;

	if (s->spec.raw || s->spec.path_count == 0)
		return 0;
	for (; rc == 0 && s->next.path < s->spec.path_count && !s->first.input; s->next.path++) {
		rc = input_open(s, s->next.path, &in, fail);
		if (rc == 0 && in->content.absent) {
			if (in->content.near[0])
				memcpy(near, in->content.near, sizeof(near));
			rc = bytes_pass(in->bytes, NO_END, fail);
		} else if (rc == 0) {
			s->first.input = in;
			break;
		}
		if (in)
			input_free(s, in);
	}
	if (rc != 0)
		return -1;
	if (!s->first.input)
		return no_tensor(s, near, fail);
	s->first.name = s->totals.first = in->name;
	s->first.said = in->content.header;
	s->first.said.input = in->name;
	return in->content.header.format ? 0 : look_further(s, fail);
}

/* ---- the task ---- */

/*
 * With -n, an input's limit is known once all chunks of earlier inputs have returned. --tee copies
 * inputs one after another, so the earlier ones must be copied to their ends.
 */
static bool open_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && !s->current && !s->next.opening && source_more_inputs(s) &&
	       (s->left == NO_LIMIT || !s->inputs) &&
	       (!s->spec.tee || tally_read(&s->spec.tee->passed) >= s->next.path);
}

/* No lock. */
static int open_next(struct source *s, size_t path, struct input **in, struct fail *fail)
{
	int rc = 0;

	if (!*in)
		rc = input_open(s, path, in, fail);
	if (rc == 0)
		rc = input_agrees(s, *in, fail);
	if (rc == 0)
		rc = input_begin(s, *in, s->left, fail);
	return rc;
}

/* Append an input to the list and make it the current one. */
static void append_input(struct source *s, struct input *in)
{
	struct input **link = &s->inputs;
	const bool begins = in->part.begins && !in->content.absent;

	while (*link)
		link = &(*link)->next;
	*link = in;
	s->current = in;
	tally_add(&s->totals.inputs, begins); /* one thread at a time: under the lock */
	s->totals.headers += begins && in->content.header.format;
	s->totals.streamed |= !in->is_file;
}

static void open_run_unlocks(struct source *s, struct request *q)
{
	struct input *in = s->first.input;
	struct fail fail = {.status = STATUS_OK};

	(void)q;
	s->first.input = NULL;
	s->next.opening = true;
	source_unlocks(s);
	const size_t path = s->next.path;
	const int rc = open_next(s, path, &in, &fail);
	lock_take(&s->lock);
	s->next.opening = false;
	s->next.path++;
	if (rc < 0)
		source_fail(s, in ? in : &(struct input){.index = path}, 0, &fail);
	if (rc == 0 && s->failure.fail.status == STATUS_OK)
		append_input(s, in);
	else if (in)
		input_free(s, in);
}

static const struct task open_task = {open_ready, open_run_unlocks};

/* ---- the source ---- */

/*
 * The most urgent tasks first: tasks that free memory before new work, and the device, which is
 * served quickly, before tasks that take long.
 */
static const struct task *const TASKS[] = {
	&text_task,  &execute_task, &device_task, &feed_task, &decode_task, &piece_task,
	&short_task, &block_task,   &plain_task,  &cut_task,  &open_task,   NULL,
};

static const struct tasks ALL_TASKS = {TASKS, device_waits, jobs_wait_unlocks};

int source_open(struct source **out, const struct source_spec *spec, struct fail *fail)
{
	uint64_t length;

	*out = NULL;
	if (input_check_all(spec, &length, fail) != 0)
		return -1;
	struct source *s = calloc(1, sizeof(*s));
	struct jobs *const jobs = jobs_make();
	if (!s || !jobs || pipe(s->wait.pipe) != 0) {
		fail_errno(fail, "inputs");
		jobs_free(jobs);
		free(s);
		return -1;
	}
	s->jobs = jobs;
	s->tasks = &ALL_TASKS;
	s->spec = *spec;
	s->length = length;
	set_keep_most(s, spec->memory);
	s->shared.wake = s->wait.pipe[0];
	s->shared.finish = signals_finish_fd;
	/* Such text may be endless: its bad lines are reported at once. */
	s->spec.prompt |= spec->text.on && signals_finish_fd >= 0;
	s->shared.tee = spec->tee;
	lock_init(&s->lock, LOCK_SOURCE);
	pthread_cond_init(&s->wait.wake, NULL);
	if (describe_first(s, fail) != 0) {
		source_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

const struct header *source_said(const struct source *s)
{
	return &s->first.said;
}

int source_start(struct source *s, const struct source_use *use, struct fail *fail)
{
	if (use->record == 0 || use->record > SOURCE_RECORD_MAX)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: records of %lu bytes; please report this",
				(unsigned long)use->record);
	s->use = *use;
	s->use.packed += use->packed == 0;
	if (use->decoders == 0 || use->decoders > use->threads)
		s->use.decoders = use->threads;
	s->jobs->budget.memory = use->memory;
	set_keep_most(s, use->memory);
	s->left = use->limit;
	if (s->spec.parts > 0 && part_start(s, fail) != 0)
		return -1;
	return s->first.input ? input_agrees(s, s->first.input, fail) : 0;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	for (struct reader *r; (r = s->readers.head) != NULL;) {
		s->readers.head = r->next;
		text_work_free(r->work);
		free(r);
	}
	for (struct input *in; (in = s->inputs) != NULL;) { /* after source_stop or a failure */
		s->inputs = in->next;
		input_close(s, in);
	}
	if (s->first.input)
		input_free(s, s->first.input);
	jobs_free(s->jobs);
	close(s->wait.pipe[0]);
	close(s->wait.pipe[1]);
	pthread_cond_destroy(&s->wait.wake);
	lock_destroy(&s->lock);
	free(s->identity);
	free(s);
}
