/* SPDX-License-Identifier: MIT */
/* picture: -p; the character set, and colour. */
#include "cli/picture.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/msg.h"

/* The character set is after the point, up to an @; a name without a point may be one alone. */
static bool names_utf8(const char *locale)
{
	const char *const point = strchr(locale, '.');
	const char *const set = point ? point + 1 : locale;
	const size_t length = strcspn(set, "@");

	return (length == 5 && strncasecmp(set, "utf-8", length) == 0) ||
	       (length == 4 && strncasecmp(set, "utf8", length) == 0);
}

void picture_settle(struct picture *picture, int fd)
{
	static const char *const LOCALES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *const no = getenv("NO_COLOR"), *const term = getenv("TERM"), *locale = NULL;

	for (size_t i = 0; i < 3 && !(locale && *locale); i++)
		locale = getenv(LOCALES[i]);
	picture->utf8 = locale && names_utf8(locale);
	picture->colour =
		fd >= 0 && isatty(fd) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

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
		picture_settle(&style.picture, STDERR_FILENO);
		write_plot(out, hist, &style, from);
		output_commit(out, &lost);
	}
	if (fail->status == STATUS_OK)
		*fail = lost;
}
