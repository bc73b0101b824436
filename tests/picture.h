/* SPDX-License-Identifier: MIT */
/*
 * picture: a picture of text, read again by the plainest of readers: its lines, rows, and what
 * stands in them.
 */
#ifndef GPUHIST_TEST_PICTURE_H
#define GPUHIST_TEST_PICTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/write.h"

#define PICTURE_ROWS 1100

struct picture_row {
	char label[64];
	/* of the bar, in eighths or '#', and of the room for it, in characters */
	unsigned length, cells;
	char count[64], percent[64]; /* "" where there are none */
};

struct picture_text {
	char *text;
	unsigned lines, widest; /* in characters, without colours */
	unsigned escapes;
	char title[2048], footer[2048]; /* their lines with blanks between them */
	struct picture_row rows[PICTURE_ROWS];
	unsigned count;
	const char *wrong; /* NULL, or what no picture has */
};

/* What write_plot writes, as text that is freed by the caller; NULL where it cannot be written. */
static inline char *picture_draw_text(const struct hist *h, const struct picture *picture,
				      const struct provenance *from)
{
	const struct style style = {.picture = *picture};
	const int fd = memfd_create("picture", MFD_CLOEXEC), copy = dup(fd);
	struct fail fail;
	struct output *out;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy); /* commit closes it */
	if (output_open(&out, path, &fail) != 0)
		return NULL;
	write_plot(out, h, &style, from);
	if (output_commit(out, &fail) != 0)
		return NULL;
	const size_t bytes = (size_t)lseek(fd, 0, SEEK_END);
	char *text = malloc(bytes + 1);
	if (text && pread(fd, text, bytes, 0) != (ssize_t)bytes) {
		free(text);
		text = NULL;
	}
	if (text)
		text[bytes] = '\0';
	close(fd);
	return text;
}

/* The next character of a line: its bytes. 0 of an escape sequence, which *p is moved past. */
static inline size_t picture_character(const char **p, unsigned *escapes)
{
	if (**p == '\033') {
		*p += strcspn(*p, "m") + 1;
		++*escapes;
		return 0;
	}
	size_t n = 1;
	while (((unsigned char)(*p)[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Between the lines at both ends of a bar: eighths in a row, then blanks. */
static inline void picture_bar(struct picture_text *t, struct picture_row *row, const char **p,
			       const char *line, bool utf8)
{
	const char *const end = utf8 ? "\xe2\x94\x82" : "|";
	bool ended = false;

	while (*p < line && strncmp(*p, end, strlen(end)) != 0) {
		const size_t n = picture_character(p, &t->escapes);
		const unsigned char *const c = (const unsigned char *)*p;
		if (n == 0)
			continue;
		const unsigned part = n == 1 ? c[0] == '#' && !utf8 ? 1u : 0u
				      : n == 3 && utf8 && c[0] == 0xe2 && c[1] == 0x96 &&
						      c[2] >= 0x88 && c[2] <= 0x8f
					      ? 0x90u - c[2]
					      : 99u;
		if (part == 99 || (part == 0 && *c != ' ') || (ended && part > 0))
			t->wrong = "a bar";
		ended = ended || part < (utf8 ? 8 : 1);
		row->length += part;
		row->cells++;
		*p += n;
	}
	*p += strlen(end);
}

static inline void picture_line(struct picture_text *t, const char *p, const char *line, bool utf8)
{
	const char *const start = utf8 ? "\xe2\x94\x82" : "|";
	const char *const bar = strstr(p, start);
	char *const words = t->count == 0 ? t->title : t->footer;
	unsigned width = 0;

	unsigned escapes = 0; /* which are counted inside of bars */
	for (const char *c = p; c < line;) {
		const size_t n = picture_character(&c, &escapes);
		width += n > 0;
		c += n;
	}
	t->lines++;
	t->widest = width > t->widest ? width : t->widest;
	if (line > p && line[-1] == ' ')
		t->wrong = "a blank at the end of a line";
	if (!bar || bar >= line) {
		snprintf(words + strlen(words), sizeof(t->title) - strlen(words), "%s%.*s",
			 *words ? " " : "", (int)(line - p), p);
		return;
	}
	if (*t->footer)
		t->wrong = "a row below the footer";
	struct picture_row *const row = &t->rows[t->count++];
	*row = (struct picture_row){.length = 0};
	snprintf(row->label, sizeof(row->label), "%.*s", (int)(bar - p - 1), p + strspn(p, " "));
	row->label[strcspn(row->label, " ")] = '\0';
	p = bar + strlen(start);
	picture_bar(t, row, &p, line, utf8);
	char rest[128];
	snprintf(rest, sizeof(rest), "%.*s", (int)(line - p), p);
	sscanf(rest, "%63s %63s", row->count, row->percent);
}

/* Reads the text of one channel. The text stays the caller's. */
static inline void picture_read(struct picture_text *t, char *text, bool utf8)
{
	memset(t, 0, sizeof(*t));
	t->text = text;
	for (const char *p = text; *p;) {
		const char *const line = p + strcspn(p, "\n");
		if (*line != '\n' || t->count == PICTURE_ROWS) {
			t->wrong = "a line without an end, or too many";
			return;
		}
		picture_line(t, p, line, utf8);
		p = line + 1;
	}
}

#endif
