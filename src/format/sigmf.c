/* SPDX-License-Identifier: MIT */
/*
 * sigmf: walks the whole JSON, keeps the members of the table MEMBERS, and skips all others, such
 * as annotations. The file must be regular, so no read of it waits.
 */
#include "format/sigmf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "format/json.h"
#include "format/words.h"

#define SUFFIX (sizeof(SIGMF_DATA) - 1)
#define DEPTH 64u /* maximum nesting */

/* Plain values are TYPE and later. */
enum member { OTHER, TOP, GLOBAL, CAPTURES, TYPE, DATASET, CHANNELS, TRAILING, BEFORE, COUNT };

static const struct {
	const char *name;
	enum member in;
} MEMBERS[COUNT] = {
	[TOP] = {"", COUNT},
	[GLOBAL] = {"global", TOP},
	[CAPTURES] = {"captures", TOP},
	[TYPE] = {"core:datatype", GLOBAL},
	[CHANNELS] = {"core:num_channels", GLOBAL},
	[DATASET] = {"core:dataset", GLOBAL},
	[TRAILING] = {"core:trailing_bytes", GLOBAL},
	[BEFORE] = {"core:header_bytes", CAPTURES},
};

struct meta {
	struct json in;
	struct sample_type type;
	bool typed, pair; /* the type is known; it is complex */
	bool later;       /* the first capture has ended */
	uint64_t number[COUNT];
};

static int take_plain(struct meta *m, enum member member, struct fail *fail)
{
	const bool quoted = *m->in.at == '"';
	size_t at;

	if (json_plain(&m->in, &at, fail) != 0)
		return -1;
	const char *const text = m->in.text + at;
	struct words digits = {text, text + strlen(text)};
	m->in.used = 0;
	if (member == TYPE)
		m->typed = quoted && (*text == 'r' || *text == 'c') &&
			   sample_type_named(&m->type, &m->pair, text) == 0;
	bool whole = member > DATASET && !quoted;
	uint64_t n = 0;
	whole = whole && words_number(&digits, &n, &whole) && whole && !*digits.at;
	const bool unknown = n > 0 && (member == TRAILING || (member == BEFORE && m->later));
	if (n > 0 || member == CHANNELS)
		m->number[member] = n;
	const char *const why =
		member < TYPE || (member == TYPE && m->typed) ? NULL
		: member == TYPE                              ? "is not a type that gpuhist counts"
		: member == DATASET ? "names another file; count that with -t and -S"
		: !whole            ? "is not a whole number"
		: unknown           ? "is not supported; only bytes before all samples are skipped"
				    : NULL;
	return why ? json_bad(&m->in, fail, "%s %.200s %s", MEMBERS[member].name, text, why) : 0;
}

/* Take a name and the colon after it. OTHER: it is in no table, or *fail is set. */
static enum member take_name(struct meta *m, enum member in, struct fail *fail)
{
	enum member member = COUNT - 1;
	size_t at;

	if (json_peek(&m->in, fail) != '"' || json_plain(&m->in, &at, fail) != 0)
		return json_unexpected(&m->in, "a name", fail), OTHER;
	while (member > OTHER &&
	       (MEMBERS[member].in != in || strcmp(MEMBERS[member].name, m->in.text + at) != 0))
		member--;
	m->in.used = 0;
	return json_mark(&m->in, ":", fail) > 0 ? member : OTHER;
}

static int take_value(struct meta *m, enum member member, unsigned depth, struct fail *fail)
{
	const int open = json_peek(&m->in, fail);
	const char marks[] = {',', open == '{' ? '}' : ']', '\0'};
	int mark = ',';

	if (open != '{' && open != '[')
		return open < 0 ? -1 : take_plain(m, member, fail);
	if (depth == DEPTH || member >= TYPE)
		return json_unexpected(&m->in, "a plain value", fail);
	m->in.at++;
	if (json_peek(&m->in, fail) == marks[1])
		return m->in.at++, 0;
	while (mark == ',' && fail->status == STATUS_OK) {
		const enum member inner = open == '{' ? take_name(m, member, fail) : member;
		if (fail->status != STATUS_OK || take_value(m, inner, depth + 1, fail) != 0)
			return -1;
		m->later |= member == CAPTURES && open == '[';
		mark = json_mark(&m->in, marks, fail);
	}
	return mark == marks[1] ? 0 : -1;
}

static int take_meta(struct meta *m, struct header *h, struct fail *fail)
{
	m->number[CHANNELS] = 1;
	if (take_value(m, TOP, 0, fail) != 0)
		return -1;
	if (json_peek(&m->in, fail) != 0)
		return json_unexpected(&m->in, "the end", fail);
	if (!m->typed || m->number[CHANNELS] < 1 || m->number[CHANNELS] > UINT32_MAX / 2)
		return json_bad(&m->in, fail, "it has no %s%s", m->typed ? "useful " : "",
				MEMBERS[m->typed ? CHANNELS : TYPE].name);
	*h = (struct header){.format = "SigMF",
			     .type = m->type,
			     .channels = (uint32_t)m->number[CHANNELS] * (m->pair ? 2 : 1),
			     .pair = m->pair,
			     .begin = m->number[BEFORE],
			     .bytes = HEADER_TO_END,
			     .last = 1};
	return 1;
}

bool sigmf_names(const char *path, const char *suffix)
{
	const size_t length = strlen(path);

	return length > SUFFIX && strcmp(path + length - SUFFIX, suffix) == 0;
}

int sigmf_read(struct header *h, const char *path, struct fail *fail)
{
	const size_t length = strlen(path), end = length > 4 ? length - 4 : 0;
	struct meta m = {.later = false};
	char name[PATH_MAX];
	struct stat st;

	snprintf(name, sizeof(name), "%.*s", (int)(strcmp(path + end, ".zst") == 0 ? end : length),
		 path);
	if (length >= PATH_MAX || !sigmf_names(name, SIGMF_DATA))
		return 0;
	memcpy(name + strlen(name) - SUFFIX, SIGMF_META, SUFFIX);
	if (stat(name, &st) != 0)
		return errno == ENOENT ? 0 : fail_errno(fail, "%s", name);
	if (!S_ISREG(st.st_mode))
		return fail_set(fail, STATUS_DATA, "%s is not a regular file", name);
	const int rc = json_open(&m.in, name, fail) == 0 ? take_meta(&m, h, fail) : -1;
	json_close(&m.in);
	if (rc < 0 && fail->status == STATUS_DATA)
		strncat(fail->text, "; --raw ignores this file",
			sizeof(fail->text) - strlen(fail->text) - 1);
	return rc;
}
