/* SPDX-License-Identifier: MIT */
/* picture: -p. */
#include "cli/picture.h"

#include <unistd.h>

#include "cli/msg.h"
#include "cli/terminal.h"

void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from)
{
	struct style style = job->style;
	struct fail unused;
	struct output *out;

	if (job->plot == PLOT_NONE || output_open(&out, "/dev/stderr", &unused) != 0)
		return;
	msg_progress("");
	terminal_picture(&style.picture, STDERR_FILENO);
	write_plot(out, hist, &style, from);
	output_commit(out, &unused);
}
