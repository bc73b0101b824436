/* SPDX-License-Identifier: MIT */
/* members: their names, and checks of plain values. */
#include "document/members.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROW(id, name, in) [id] = {name, in},
#define FIGURE_ROW(id, csv, json, ...) [OF_##id] = {json, sizeof(json) > 1 ? COUNTED : END},
const struct member_place MEMBERS[END] = {MEMBER_LIST(ROW, FIGURE_ROW)};

int members_refuse(const struct documents *d, struct fail *fail, const char *format, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(fail, STATUS_DATA, "%s: %s", d->in.label, why);
}

const char *members_text(const struct documents *d, enum document_member m)
{
	return d->value[m] > 0 ? d->in.text + d->value[m] : "";
}

uint64_t members_count(const struct documents *d, enum document_member m, uint64_t most,
		       struct fail *fail)
{
	const char *const text = members_text(d, m);
	struct number n;

	if (d->value[m] == 0)
		members_refuse(d, fail, "\"%s\" is missing", MEMBERS[m].name);
	else if (number_parse(&n, text, strlen(text)) == 0 && n.exact && n.integer >= 0 &&
		 n.integer <= (int128_t)most)
		return (uint64_t)n.integer;
	else
		members_refuse(d, fail, "\"%s\" must be a whole number from 0 to %llu, not %.60s",
			       MEMBERS[m].name, (unsigned long long)most, text);
	return 0;
}

bool members_flag(const struct documents *d, enum document_member m, struct fail *fail)
{
	const char *const text = members_text(d, m);

	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		members_refuse(d, fail, "\"%s\" must be true or false", MEMBERS[m].name);
	return text[0] == 't';
}
