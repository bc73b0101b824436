/* SPDX-License-Identifier: MIT */
/*
 * source: a job of the source (tests/source) that the fuzzer's bytes draw; what follows the first 64
 * may be what its first input holds, in frames, right or wrong. The model of the jobs decides.
 */
#include <signal.h>

#include "../source/job.h"
#include "../header_parse.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct job job;
	struct truth t;

	job_draw(&job, 1, data, size);
	model(&t, &job);
	/* fuzz_header.c covers everything that the first bytes show. */
	const bool known = t.view[0].data && !job.offer[0].format &&
			   header_known(t.view[0].data, t.view[0].bytes);
	if (!known)
		take_all(&job, &t);
	if (take_failed() > 0) {
		job_describe(&job);
		fflush(stdout);
	}
	REQUIRE(take_failed() == 0, "not as the model says");
	model_free(&t);
	job_free(&job);
	return 0;
}
