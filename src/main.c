/* SPDX-License-Identifier: MIT */
/* gpuhist: count binary samples into a histogram. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/huge.h"
#include "base/signals.h"
#include "cli/msg.h"
#include "cli/options.h"
#include "command.h"
#include "gpu/gpu.h"
#include "gpu_helper/helper.h"
#include "each/row.h"
#include "output/output.h"

/*
 * A shell may start us with descriptor 0, 1 or 2 closed; the next file opened would then pass for
 * standard output, for example. Fill the gaps with a file that fails when used.
 */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int print(const char *text, struct fail *fail)
{
	struct output *out;

	if (output_open(&out, NULL, fail) != 0)
		return -1;
	output_text(out, text);
	return output_commit(out, fail);
}

static void report(const struct fail *fail)
{
	const char *line = fail->text;

	for (const char *end; fail->lines && (end = strchr(line, '\n')); line = end + 1)
		msg_always("%.*s", (int)(end - line), line);
	msg_always("%s", line);
}

int main(int argc, char **argv)
{
	struct job job;
	struct fail fail = {.status = STATUS_OK};

	if (helper_asked(argc, argv))
		return helper_main(argv);
	huge_returns();
	fill_standard_fds();
	signals_init();
	const enum options_result asked = options_parse(&job, argc, argv, &fail);
	if (asked == OPTIONS_RUN) {
		msg_set_quiet(job.voice == VOICE_QUIET);
		/* Runs for several parts often share one standard error. */
		if (job.source.parts > 1)
			msg_set_part(job.source.part, job.source.parts);
		if (options_wait(&job, argc, &fail) == 0)
			(job.merge                   ? command_merge
			 : job.each == ROW_IS_TENSOR ? command_tensors
						     : command_count)(&job, &fail);
	} else if (asked != OPTIONS_FAILED) {
		print(options_text(asked), &fail);
	}
	options_free(&job);
	if (fail.status != STATUS_OK)
		report(&fail);
	gpu_reap();
	return (int)fail.status;
}
