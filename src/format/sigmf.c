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

#define SUFFIX (sizeof(SIGMF_DATA) - 1)

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
	uint64_t n = 0;
	size_t at;

	if ((member > DATASET ? json_whole(&m->in, MEMBERS[member].name, &at, &n, fail)
			      : json_plain(&m->in, &at, fail)) != 0)
		return -1;
	const char *const text = m->in.text + at;
	m->in.used = 0;
	if (member == TYPE)
		m->typed = quoted && (*text == 'r' || *text == 'c') &&
			   sample_type_named(&m->type, &m->pair, text) == 0;
	if (n > 0 || member == CHANNELS)
		m->number[member] = n;
	const bool unknown = n > 0 && (member == TRAILING || (member == BEFORE && m->later));
	const char *const why =
		member == TYPE && !m->typed ? "is not a type that gpuhist counts"
		: member == DATASET         ? "names another file; count that with -t and -S"
		: unknown ? "is not supported; only bytes before all samples are skipped"
			  : NULL;
	return why ? json_bad(&m->in, fail, "%s %.200s %s", MEMBERS[member].name, text, why) : 0;
}

/* Take a name and the colon after it. OTHER: it is in no table. */
static int take_name(struct meta *m, enum member in, enum member *member, struct fail *fail)
{
	size_t at;

	if (json_name(&m->in, &at, fail) != 0)
		return -1;
	*member = COUNT - 1;
	while (*member > OTHER &&
	       (MEMBERS[*member].in != in || strcmp(MEMBERS[*member].name, m->in.text + at) != 0))
		--*member;
	m->in.used = 0;
	return 0;
}

static int take_value(struct meta *m, enum member member, struct fail *fail)
{
	const int open = json_peek(&m->in, fail);
	int more;

	if (member == OTHER || open < 0)
		return open < 0 ? -1 : json_skip(&m->in, fail);
	if (open != '{' && open != '[')
		return take_plain(m, member, fail);
	if (member >= TYPE)
		return json_unexpected(&m->in, "a plain value", fail);
	for (more = json_enter(&m->in, (char)open, fail); more > 0;
	     more = json_next(&m->in, fail)) {
		enum member inner = member;
		if ((open == '{' && take_name(m, member, &inner, fail) != 0) ||
		    take_value(m, inner, fail) != 0)
			return -1;
		m->later |= member == CAPTURES && open == '[';
	}
	return more;
}

static int take_meta(struct meta *m, struct header *h, struct fail *fail)
{
	m->number[CHANNELS] = 1;
	if (take_value(m, TOP, fail) != 0 || json_end(&m->in, fail) != 0)
		return -1;
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
