/* SPDX-License-Identifier: MIT */
/* picture: -p. */
#include "cli/picture.h"

#include <unistd.h>

#include "cli/msg.h"
#include "cli/terminal.h"

void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from,
		  struct fail *fail)
{
	struct style style = job->style;
	struct fail lost = {.status = STATUS_OK};
	struct output *out;

	if (job->plot == PLOT_NONE)
		return;
	if (output_open(&out, "/dev/stderr", &lost) == 0) {
		msg_progress("");
		terminal_picture(&style.picture, STDERR_FILENO);
		write_plot(out, hist, &style, from);
		output_commit(out, &lost);
	}
	if (fail->status == STATUS_OK)
		*fail = lost;
}
