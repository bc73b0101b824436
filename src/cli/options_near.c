/* SPDX-License-Identifier: MIT */
/*
 * options_near: what a refused value most likely means: a word of a list, or a number in another
 * spelling.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/near.h"
#include "bins/number.h"
#include "cli/options_given.h"

#define WHY 256
#define NAMES_MAX 31 /* the most formats */

/* Other tools' words with ours: pairs, then NULL. */
static const char *const FORMATS[] = {"txt",    "csv",  "text", "csv",  "numpy", "npy",
				      "binary", "raw",  "bin",  "raw",  "png",   "svg",
				      "ascii",  "plot", "term", "plot", "uhi",   "json",
				      "jsonl",  "json", "tab",  "tsv",  NULL};
static const char *const COUNTERS[] = {"uint64", "u64",   "uint32", "u32",   "u8",
				       "sat8",   "u16",   "sat16",  "uint8", "sat8",
				       "uint16", "sat16", NULL};
static const char *const DEVICES[] = {"cuda", "gpu",     "nvidia", "gpu",   "all",  "gpu:all",
				      "gpus", "gpu:all", "cuda:0", "gpu:0", "gpu0", "gpu:0",
				      "0",    "gpu:0",   "host",   "cpu",   "none", "cpu",
				      "any",  "auto",    NULL};

/* The word that is most likely meant, or NULL. */
static const char *meant(const char *text, const char *const *ours, const char *const *pairs)
{
	char lower[NEAR_WORD + 1];
	struct near near = {0};

	if (strlen(text) >= sizeof(lower))
		return NULL;
	for (size_t i = 0; i <= strlen(text); i++)
		lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 32 : text[i]);
	for (size_t i = 0; pairs[i]; i += 2)
		if (strcmp(lower, pairs[i]) == 0)
			return pairs[i + 1];
	for (; *ours; ours++)
		near_ask(&near, lower, *ours);
	return near.word;
}

static int refuse(struct fail *fail, const char *option, const char *text, const char *why,
		  const char *word)
{
	char more[WHY];

	if (!word)
		return options_usage(fail, option, text, why);
	snprintf(more, sizeof(more), "%s; did you mean %s?", why, word);
	return options_usage(fail, option, text, more);
}

int options_refuse_format(struct fail *fail, const char *text)
{
	const char *names[NAMES_MAX + 1];
	char list[FORMAT_LIST], why[FORMAT_LIST + 16];
	size_t n = 0;

	for (const struct format *row; n < NAMES_MAX && (row = format_row(n)) != NULL;)
		names[n++] = row->name;
	names[n] = NULL;
	format_list(list, FORMATS_ALL, "or");
	snprintf(why, sizeof(why), "must be %s", list);
	return refuse(fail, "--format", text, why, meant(text, names, FORMATS));
}

int options_refuse_counter(struct fail *fail, const char *text)
{
	static const char *const NAMES[] = {"u64", "u32", "sat8", "sat16", "sat32", NULL};

	return refuse(fail, "--counter", text, "must be " COUNTER_NAMES,
		      meant(text, NAMES, COUNTERS));
}

int options_refuse_device(struct fail *fail, const char *text)
{
	static const char *const NAMES[] = {"auto", "cpu", "gpu", "gpu:all", NULL};
	char list[32];

	/* cuda:1, gpu1, GPU:0: keep the numbers. */
	const size_t name = strncasecmp(text, "gpu", 3) == 0    ? 3
			    : strncasecmp(text, "cuda", 4) == 0 ? 4
								: 0;
	const char *const numbers = text + name + (name > 0 && text[name] == ':');
	const size_t digits = strspn(numbers, "0123456789");
	if (name > 0 && digits > 0 && digits < 8 && numbers[digits] == '\0') {
		snprintf(list, sizeof(list), "gpu:%s", numbers);
		return refuse(fail, "--device", text, "must be auto, cpu, gpu, gpu:0,2 or gpu:all",
			      list);
	}
	return refuse(fail, "--device", text, "must be auto, cpu, gpu, gpu:0,2 or gpu:all",
		      meant(text, NAMES, DEVICES));
}

int options_refuse_ends(struct fail *fail, const char *option, const char *text, const char *form)
{
	char ends[96];
	struct number number;
	const size_t lo = strcspn(text, ",;"), hi = strlen(text);

	if (strcasecmp(text, "full") == 0 || strcasecmp(text, "all") == 0)
		return refuse(fail, option, text, form,
			      strcmp(option, "--range") == 0 ? "full" : NULL);
	if (lo == hi || hi >= sizeof(ends) || number_parse(&number, text, lo) != 0 ||
	    number_parse(&number, text + lo + 1, hi - lo - 1) != 0)
		return options_usage(fail, option, text, form);
	snprintf(ends, sizeof(ends), "%.*s:%s", (int)lo, text, text + lo + 1);
	return refuse(fail, option, text, form, ends);
}

/*
 * Removes from a size what other programs write in it: blanks, underscores, commas between
 * thousands, = before it.
 */
static int plain_size(char *plain, size_t room, const char *text)
{
	size_t n = 0;

	for (text += *text == '='; *text; text++) {
		const bool thousands = *text == ',' && strspn(text + 1, "0123456789") == 3 &&
				       (text[4] == '\0' || text[4] == ',');
		if (*text == ' ' || *text == '_' || thousands)
			continue;
		if (n + 1 >= room)
			return -1;
		plain[n++] = *text;
	}
	plain[n] = '\0';
	return n > 0 ? 0 : -1;
}

/*
 * K, KiB or KB for a unit that begins with the letter and is none of these: 64k stays, 64kib, 64Ki
 * and 64Kb change.
 */
static const char *unit_for(const char *unit)
{
	static const char *const UNITS[][3] = {
		{"K", "KiB", "KB"}, {"M", "MiB", "MB"}, {"G", "GiB", "GB"}, {"T", "TiB", "TB"}};
	char lower[8] = "";

	for (size_t i = 0; i < sizeof(lower) - 1 && unit[i]; i++)
		lower[i] = (char)(unit[i] >= 'A' && unit[i] <= 'Z' ? unit[i] | 32 : unit[i]);
	if (lower[0] == '\0' || strcmp(lower, "b") == 0 || strcmp(lower, "bytes") == 0)
		return strlen(unit) < sizeof(lower) ? "" : NULL;
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		if (lower[0] != (UNITS[i][0][0] | 32))
			continue;
		const char *const rest = lower + 1;
		return *rest == '\0'                                       ? UNITS[i][0]
		       : strcmp(rest, "i") == 0 || strcmp(rest, "ib") == 0 ? UNITS[i][1]
		       : strcmp(rest, "b") == 0                            ? UNITS[i][2]
									   : NULL;
	}
	return NULL;
}

/* The number that is most likely meant, as a text that is accepted; false: it cannot be guessed. */
static bool meant_size(char out[NUMBER_TEXT], const char *text, uint64_t least, uint64_t most)
{
	char plain[NUMBER_TEXT], one[NUMBER_TEXT];
	uint64_t n = 0, unit = 0;

	if (plain_size(plain, sizeof(plain), text) != 0)
		return false;
	char *end = plain + strspn(plain, "0123456789.");
	/* 1e6; not the E of 2EB. */
	if ((*end == 'e' || *end == 'E') && end > plain)
		end += 1 + strspn(end + 1, "0123456789");
	const char *const name = unit_for(end);
	if (end == plain || !name || strspn(plain, "0123456789") == 0)
		return false;
	snprintf(one, sizeof(one), "1%s", name);
	if (number_parse_size(&unit, one) != 0)
		return false;
	struct number number;
	if (number_parse(&number, plain, (size_t)(end - plain)) != 0)
		return false;
	/* Only if binary64 holds it as a whole number of bytes. */
	const double bytes = number.value * (double)unit;
	if (!(bytes >= 0 && bytes < 9e15) || bytes != (double)(uint64_t)bytes)
		return false;
	n = (uint64_t)bytes;
	if (n < least || n > most)
		return false;
	if (strspn(plain, "0123456789") == (size_t)(end - plain))
		snprintf(out, NUMBER_TEXT, "%.*s%s", (int)(end - plain), plain, name);
	else
		number_format_count(out, n);
	return true;
}

int options_refuse_size(struct fail *fail, const char *option, const char *text, const char *why,
			uint64_t least, uint64_t most)
{
	char size[NUMBER_TEXT];
	uint64_t n;
	/* A text that is a size, but too small or too large, does not mean another size. */
	const bool written = number_parse_size(&n, text) == 0;

	return refuse(fail, option, text, why,
		      !written && meant_size(size, text, least, most) ? size : NULL);
}
