/* SPDX-License-Identifier: MIT */
/* keyboard: says that the program waits for standard input, or how it is used. */
#include "cli/keyboard.h"

#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/msg.h"

int keyboard_check(const struct job *job, int words, struct fail *fail)
{
	bool reads = false;

	for (size_t i = 0; i < job->source.path_count; i++)
		reads |= strcmp(job->source.paths[i], "-") == 0;
	if (!reads || !isatty(STDIN_FILENO))
		return 0;
	if (words <= 1) {
		msg_text(help_text);
		return fail_set(
			fail, STATUS_USAGE,
			"nothing to count: name a FILE, or pipe samples in: COMMAND | gpuhist");
	}
	if (job->merge)
		msg_note(
			"waiting for JSON histograms on standard input, a terminal: end with "
			"Ctrl-D; or gpuhist "
			"--merge FILE.json..., or COMMAND | gpuhist --merge");
	else
		msg_note(
			"waiting for samples on standard input, a terminal: end with Ctrl-D; or "
			"gpuhist FILE, or "
			"COMMAND | gpuhist");
	return 0;
}
