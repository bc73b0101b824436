/* SPDX-License-Identifier: MIT */
/* formats: the table, and the refusals. */
#include "each/formats.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "each/list.h"
#include "each/row.h"
#include "hist/series.h"

#define ROWS (CAN_EACH | CAN_FIGURES | CAN_STREAM)
#define TEXT (CAN_TERMINAL | CAN_RESIDUES | CAN_KEYS | CAN_NAMES)
#define LINES (TEXT | ROWS | CAN_LINES | CAN_NONZERO | CAN_CLIP | CAN_UNLIKE | CAN_BINLESS)
#define ARRAY (CAN_RESIDUES | CAN_EACH | CAN_CLIP | CAN_UNLIKE | CAN_SPARSE)
#define LIVE (TEXT | CAN_SPARSE | CAN_PARTIAL | HAS_FLOW)
#define PICTURE (LIVE | ROWS | CAN_TITLE | IS_PICTURE)
#define DOCUMENT (LIVE | ROWS | CAN_NONZERO | CAN_UNLIKE | CAN_BINLESS | IS_DOCUMENT)
#define METRIC ((LIVE & ~CAN_RESIDUES) | CAN_TITLE | CAN_UNLIKE | CAN_BINLESS | NEEDS_STATS)

/* clang-format off */
static const struct format FORMATS[] = {
	{"csv",  {".csv"},         COUNTER_U64, LINES,              write_csv,  NULL,           list_rows, row_lines_begin, row_lines_add,  NULL},
	{"tsv",  {".tsv"},         COUNTER_U64, LINES,              write_tsv,  NULL,           list_rows, row_lines_begin, row_lines_add,  NULL},
	{"raw",  {".bin", ".raw"}, COUNTER_U32, ARRAY | CAN_STREAM, write_raw,  NULL,           NULL,      NULL,            row_raw_add,    NULL},
	{"npy",  {".npy"},         COUNTER_U64, ARRAY | CAN_KEYS,   write_npy,  list_check_npy, list_npy,  row_npy_begin,   row_raw_add,    row_npy_end},
	{"json", {".json"},        COUNTER_U64, DOCUMENT,           write_json, NULL,           NULL,      NULL,            row_json_add,   NULL},
	{"plot", {NULL},           COUNTER_U64, PICTURE | CAN_BINLESS, write_plot, NULL,           list_rows, row_plot_begin,  row_plot_write, row_plot_end},
	{"svg",  {".svg"},         COUNTER_U64, PICTURE,            write_svg,  NULL,           list_rows, NULL,            row_svg_add,    row_svg_end},
	{"prom", {".prom"},        COUNTER_U64, METRIC,             write_prom, prom_check,     NULL,      NULL,            NULL,           NULL},
};
/* clang-format on */
#define FORMATS_N (sizeof(FORMATS) / sizeof(FORMATS[0]))

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS_N; i++)
		if (strcmp(FORMATS[i].name, name) == 0)
			return &FORMATS[i];
	return NULL;
}

const struct format *format_of_path(const char *path)
{
	const char *const name = path ? path_name(path) : "", *const dot = strrchr(name, '.');

	if (!dot || dot == name || dot[1] == '\0')
		return &FORMATS[0];
	for (size_t i = 0; i < FORMATS_N; i++)
		for (const char *const *suffix = FORMATS[i].suffixes; *suffix; suffix++)
			if (strcasecmp(dot, *suffix) == 0)
				return &FORMATS[i];
	return NULL;
}

/* ---- refusals ---- */

/*
 * Why a format that cannot do this is refused. %f: the format; %a, %o: the formats that can, with
 * "and" or "or"; %c, %r: counter and rows of struct format_asks.
 */
static const struct {
	unsigned can;
	const char *why;
} REFUSALS[] = {
	{CAN_RESIDUES,
	 "--mod cannot be combined with %f: residues are not the samples; for the "
	 "low bits of words, use --mask=0xfff"},
	{CAN_TITLE, "--title works only with %a, not %f"},
	{CAN_LINES, "--flow and --no-header work only with %a, not %f"},
	{CAN_NONZERO, "--nonzero works only with %a, not %f"},
	{CAN_CLIP, "-C %c cannot be combined with %f, which holds exact counts"},
	{CAN_TERMINAL,
	 "standard output is a terminal, and %f counters are binary; use -o FILE, or "
	 "-o - to write them anyway"},
	{CAN_PARTIAL, "--every works only with %a"},
	{CAN_UNLIKE,
	 "%r cannot be drawn as %f, because tensors have no bins in common; use -f csv, "
	 "tsv, json or plot"},
	{CAN_SPARSE, "--nonzero cannot be combined with %r: each line has a column for each bin"},
	{CAN_BINLESS, "--bins 0 writes statistics and no bins; it needs %o, not %f"},
	{CAN_EACH, "%r needs %o"},
	{CAN_FIGURES, "%r with --stats needs %o"},
	{CAN_STREAM,
	 "%r needs a regular file for %f, whose header gives the number of rows; use "
	 "-o FILE"},
	{CAN_KEYS, "%r needs %o as its format"},
	{CAN_NAMES, "%r has names as keys, but %f has a row for each number; use csv or tsv"},
};

/* Append the names of the formats that can do this. */
static void put_names(char text[FAIL_TEXT], unsigned can, const char *last)
{
	size_t left = 0;

	for (size_t i = 0; i < FORMATS_N; i++)
		left += (FORMATS[i].can & can) > 0;
	for (size_t i = 0; i < FORMATS_N; i++)
		if (FORMATS[i].can & can) {
			strcat(text, FORMATS[i].name);
			left--;
			strcat(text, left > 1 ? ", " : left == 1 ? last : "");
		}
}

static int refuse(const char *why, unsigned can, const struct format *format,
		  const struct format_asks *asks, struct fail *fail)
{
	char text[FAIL_TEXT] = "";

	for (; *why; why++) {
		if (*why != '%')
			strncat(text, why, 1);
		else if (*++why == 'a' || *why == 'o')
			put_names(text, can, *why == 'a' ? " and " : " or ");
		else
			strncat(text,
				*why == 'f'   ? format->name
				: *why == 'c' ? asks->counter
					      : asks->rows,
				FAIL_TEXT / 2);
	}
	return fail_set(fail, STATUS_USAGE, "%s", text);
}

int format_refuses(const struct format *format, const struct format_asks *asks, struct fail *fail)
{
	const unsigned lacking = asks->can & ~format->can;

	for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++)
		if (lacking & REFUSALS[i].can)
			return refuse(REFUSALS[i].why, REFUSALS[i].can, format, asks, fail);
	return 0;
}

int format_refuses_sum(const struct format *format, const struct style *style,
		       const struct hist *hist, struct fail *fail)
{
	const bool keys = hist->what == SERIES_KEYS;
	char rows[FAIL_TEXT / 2];
	const struct format_asks asks = {
		.can = (keys ? CAN_KEYS : 0) | (keys && !hist->whole_keys ? CAN_NAMES : 0) |
		       (hist_is_list(hist) && style->nonzero ? CAN_SPARSE : 0) |
		       (style->binless && !series_many(hist) ? CAN_BINLESS : 0),
		.rows = rows,
	};

	if (keys)
		snprintf(rows, sizeof(rows), "--by %s", hist->by);
	else
		snprintf(rows, sizeof(rows), "%lu channels", (unsigned long)hist->channels);
	return format_refuses(format, &asks, fail);
}
