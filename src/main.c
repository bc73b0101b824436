/* gpuhist: count binary samples into a histogram. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "msg.h"
#include "options.h"
#include "output.h"
#include "publish.h"
#include "report.h"
#include "run.h"

/*
 * A shell may start us with 0, 1 or 2 closed; the next file opened would then be taken for
 * standard output. The gaps are filled by a file that fails in the direction that counts.
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

/* The output is opened first: a folder that cannot be written is told of at once. */
static void histogram(const struct job *job, struct fail *fail)
{
	struct output *out;
	struct hist hist;
	struct run_report report;

	if (output_open(&out, job->output, fail) != 0)
		return;
	if (run_job(job, &hist, &report, fail) == 0) {
		publish(out, job, &hist, fail);
		report_warnings(job, &hist, &report);
		report_verbose(job, &report);
		hist_free(&hist);
	} else {
		output_abort(out);
	}
	/* A driver may still be starting, or hang: all is published, nobody waits for it. */
	if (report.gpu.started) {
		if (fail->status != STATUS_OK)
			msg_error("%s", fail->text);
		_exit((int)fail->status);
	}
}

int main(int argc, char **argv)
{
	struct job job;
	struct fail fail = {.status = STATUS_OK};

	fill_standard_fds();
	output_init();
	switch (options_parse(&job, argc, argv, &fail)) {
	case OPTIONS_RUN:
		msg_set_quiet(job.quiet);
		histogram(&job, &fail);
		break;
	case OPTIONS_HELP:
		print(options_help, &fail);
		break;
	case OPTIONS_VERSION:
		print(options_version, &fail);
		break;
	case OPTIONS_FAILED:
		break;
	}
	if (fail.status != STATUS_OK)
		msg_error("%s", fail.text);
	return (int)fail.status;
}
