/* SPDX-License-Identifier: MIT */
/* options_read: reads the values of options. */
#include "cli/options_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bins/number.h"
#include "cli/edges_arg.h"
#include "each/formats.h"
#include "each/row.h"
#include "hist/quantile.h"

#define PARTS_MAX ((uint32_t)1 << 31)

/* Return the address for the value of a row's option. */
static void *option_place(struct given *g, const struct known *o)
{
	return (char *)g + o->to;
}

int given_refuse(const char *name, const char *text, const char *why, struct fail *fail)
{
	return fail_set(fail, STATUS_USAGE, "--%s %s %s", name, *text ? text : "''", why);
}

int read_flag(struct given *g, const struct known *o, const char *text)
{
	(void)text;
	*(bool *)option_place(g, o) = !o->off;
	return 0;
}

/* The last of several mutually exclusive options wins. */
int read_choice(struct given *g, const struct known *o, const char *text)
{
	(void)text;
	*(int *)option_place(g, o) = o->choice; /* an enum */
	return 0;
}

int read_type(struct given *g, const struct known *o, const char *text)
{
	if (sample_type_named(&g->job.type, &g->pair, text) != 0)
		return given_refuse(o->name, text, sample_type_refused(text), g->fail);
	g->job.source.typed = true;
	return 0;
}

/* Columns, by number or by name. */
int read_text(struct given *g, const struct known *o, const char *text)
{
	struct text_spec *const spec = option_place(g, o);
	char twice[TEXT_NAME];

	spec->on = true;
	if (text_columns(spec, text, twice))
		return 0;
	return *twice ? fail_set(g->fail, STATUS_USAGE, "--%s %s names column %s twice", o->name,
				 text, twice)
		      : -1;
}

/* Parse a size; if the value is a count (=N), an exponent is allowed (1e6). */
static int parse_number(uint64_t *number, const struct known *o, const char *text)
{
	struct number n;

	if (number_parse_size(number, text) == 0)
		return 0;
	if (strncmp(o->value, "=N", 2) != 0 || *text < '0' || *text > '9' ||
	    text[strcspn(text, "eE")] == '\0' || number_parse(&n, text, strlen(text)) != 0 ||
	    !n.exact || n.integer > UINT64_MAX)
		return -1;
	*number = (uint64_t)n.integer;
	return 0;
}

int read_number(struct given *g, const struct known *o, const char *text)
{
	uint64_t number;

	if (parse_number(&number, o, text) != 0 || number < o->least || number > o->most)
		return -1;
	if (o->most <= UINT32_MAX)
		*(uint32_t *)option_place(g, o) = (uint32_t)number;
	else
		*(uint64_t *)option_place(g, o) = number;
	return 0;
}

int read_each(struct given *g, const struct known *o, const char *text)
{
	uint64_t *const records = option_place(g, o);

	if (strcmp(text, "file") == 0)
		*records = ROW_IS_INPUT;
	else if (strcmp(text, "tensor") == 0)
		*records = ROW_IS_TENSOR;
	else if (parse_number(records, o, text) != 0 || *records == 0 || *records > ROW_RECORDS_MAX)
		return -1;
	return 0;
}

/* Number of STEPs from LO to HI, rounded; 0: HI is not above LO. */
static double count_steps(const struct number *lo, const struct number *hi,
			  const struct number *step, bool *divides)
{
	const double unit = isinf(hi->value - lo->value) ? 2 : 1; /* HI - LO may overflow */
	const double width = lo->exact && hi->exact ? (double)(hi->integer - lo->integer)
						    : hi->value / unit - lo->value / unit;
	const double steps = fmax(floor(width / (step->value / unit) + 0.5), 1);

	*divides = fabs(steps * (step->value / unit) - width) <= 1e-9 * width;
	return width > 0 ? steps : 0;
}

static int refuse_step(const struct given *g, const struct known *o, const char *text,
		       const struct number *step, double steps)
{
	const struct number *const lo = &g->job.bins.lo;
	char end[NUMBER_TEXT];
	struct number hi;
	bool divides;

	if (lo->exact && step->exact)
		number_format_integer(end, lo->integer + (int128_t)steps * step->integer);
	else
		snprintf(end, sizeof(end), "%.15g", lo->value + steps * step->value);
	if (number_parse(&hi, end, strlen(end)) != 0 || count_steps(lo, &hi, step, &divides) == 0 ||
	    !divides)
		return given_refuse(o->name, text, "needs a STEP that divides the range", g->fail);
	return fail_set(g->fail, STATUS_USAGE,
			"--%s %s needs a STEP that divides the range; try %.*s:%s%s", o->name, text,
			(int)strcspn(text, ":"), text, end, strrchr(text, ':'));
}

/* Turn the STEP of LO:HI:STEP into the number of bins; nothing else uses STEP. */
static int read_step(struct given *g, const struct known *o, const char *text,
		     const char *step_text)
{
	const struct axis_spec *const spec = &g->job.bins;
	struct number step;
	const char *why = NULL;
	bool divides;

	if (number_parse(&step, step_text, strlen(step_text)) != 0)
		return -1;
	const double steps = count_steps(&spec->lo, &spec->hi, &step, &divides);
	if (!(step.value > 0))
		why = "needs a STEP above 0";
	else if (steps == 0)
		why = "needs LO below HI";
	else if (steps > BINS_MAX)
		why = "makes more than 268435456 bins (2^28); use a larger STEP";
	if (why)
		return given_refuse(o->name, text, why, g->fail);
	if (!divides)
		return refuse_step(g, o, text, &step, steps);
	g->steps = (uint32_t)steps;
	return 0;
}

/* Read --range and --log. */
int read_ends(struct given *g, const struct known *o, const char *text)
{
	struct axis_spec *const spec = &g->job.bins;
	const bool log = strcmp(o->name, "log") == 0;
	const size_t lo_length = strcspn(text, ":");
	const char *const hi = text + lo_length + (text[lo_length] == ':');
	const size_t hi_length = strcspn(hi, log ? "" : ":");

	g->steps = 0;
	spec->full = !log && strcmp(text, "full") == 0;
	g->ranks = log && strcmp(text, "auto") == 0;
	if (spec->full || g->ranks)
		return 0;
	if (number_parse(&spec->lo, text, lo_length) != 0 ||
	    number_parse(&spec->hi, hi, hi_length) != 0)
		return access(text, F_OK) != 0
			       ? -1
			       : fail_set(g->fail, STATUS_USAGE,
					  "--%s took the file %s for its value; give LO:HI or %s "
					  "before it",
					  o->name, text, log ? "auto" : "full");
	if (log && !(spec->lo.value > 0 && spec->lo.value < spec->hi.value))
		return given_refuse(o->name, text, "needs LO above 0 and below HI", g->fail);
	return hi[hi_length] == ':' ? read_step(g, o, text, hi + hi_length + 1) : 0;
}

int read_edges(struct given *g, const struct known *o, const char *text)
{
	(void)o;
	free(g->job.edges);
	return edges_arg_read(&g->job.edges, &g->edges, text, g->fail);
}

int read_channels(struct given *g, const struct known *o, const char *text)
{
	g->job.layout_options.last = strcmp(text, "last") == 0;
	g->job.layout_options.channels = 0;
	return g->job.layout_options.last ? 0 : read_number(g, o, text);
}

typedef int parse_fn(uint64_t *n, const char *text);

/* Read two numbers from 1 to most, with a character between them. */
static bool read_two(uint64_t n[2], const char *text, char between, parse_fn *parse, uint64_t most)
{
	const char *const at = strchr(text, between);
	char first[32];

	if (!at || at - text >= 32)
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(at - text), text);
	return parse(&n[0], first) == 0 && parse(&n[1], at + 1) == 0 && n[0] >= 1 && n[1] >= 1 &&
	       n[0] <= most && n[1] <= most;
}

int read_rows(struct given *g, const struct known *o, const char *text)
{
	struct layout_options *const layout = &g->job.layout_options;
	uint64_t n[2];

	(void)o;
	if (!read_two(n, text, ':', number_parse_size, LAYOUT_BYTES_MAX))
		return -1;
	layout->width = (uint32_t)n[0];
	layout->pitch = (uint32_t)n[1];
	return 0;
}

int read_part(struct given *g, const struct known *o, const char *text)
{
	struct source_spec *const source = option_place(g, o);
	uint64_t n[2];

	if (strcmp(text, "auto") == 0)
		return given_refuse(
			o->name, text,
			"is no longer supported; the shell of each task has the numbers, as in "
			"srun sh -c 'gpuhist --part=$((SLURM_PROCID+1))/$SLURM_NTASKS -o "
			"part.$SLURM_PROCID.json ...'",
			g->fail);
	if (!read_two(n, text, '/', number_parse_count, PARTS_MAX) || n[0] > n[1])
		return -1;
	source->part = (uint32_t)n[0];
	source->parts = (uint32_t)n[1];
	return 0;
}

int read_format(struct given *g, const struct known *o, const char *text)
{
	const struct format **const format = option_place(g, o);

	*format = format_find(text);
	return *format ? 0 : -1;
}

int read_counter(struct given *g, const struct known *o, const char *text)
{
	enum counter_kind *const counter = option_place(g, o);

	for (*counter = COUNTER_U64; *counter <= COUNTER_SAT32; ++*counter)
		if (strcmp(COUNTERS[*counter].name, text) == 0)
			return 0;
	return -1;
}

int read_color(struct given *g, const struct known *o, const char *text)
{
	enum color *const color = option_place(g, o);

	*color = strcmp(text, "always") == 0  ? COLOR_ALWAYS
		 : strcmp(text, "never") == 0 ? COLOR_NEVER
					      : COLOR_AUTO;
	return *color == COLOR_AUTO && strcmp(text, "auto") != 0 ? -1 : 0;
}

int read_wave(struct given *g, const struct known *o, const char *text)
{
	enum waveform *const wave = option_place(g, o);

	*wave = strcmp(text, "sine") == 0   ? WAVE_SINE
		: strcmp(text, "ramp") == 0 ? WAVE_RAMP
					    : WAVE_NONE;
	return *wave == WAVE_NONE ? -1 : 0;
}

int read_every(struct given *g, const struct known *o, const char *text)
{
	static const struct {
		const char *name;
		double seconds;
	} UNITS[] = {{"", 1},     {"s", 1},    {"ms", 1e-3}, {"m", 60},
		     {"min", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	const double n = strtod(text, &end);

	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		const double seconds = n * UNITS[i].seconds;
		if (end == text || strcmp(end, UNITS[i].name) != 0 || !(seconds >= 0.1) ||
		    !(seconds <= 366 * 86400.0))
			continue;
		*(double *)option_place(g, o) = seconds;
		return 0;
	}
	return -1;
}

int read_plot(struct given *g, const struct known *o, const char *text)
{
	if (text && text[0] == '=') /* -p=log, as in --plot=log */
		text++;
	if (text && strcmp(text, "log") != 0)
		return -1;
	*(bool *)option_place(g, o) = true;
	g->job.style.canvas.log = text != NULL;
	return 0;
}

/* Percentages have only digits and a dot; e4 converts them to whole 1/10000ths of a percent. */
int read_stats(struct given *g, const struct known *o, const char *text)
{
	struct quantiles *const asked = option_place(g, o);
	const char *p = text ? text : "1,5,25,50,75,95,99";
	char word[16];
	struct number n;

	asked->n = 0;
	asked->named = text != NULL;
	for (;; p++) {
		const size_t length = strspn(p, "0123456789.");
		snprintf(word, sizeof(word), "%.*se4", (int)length, p);
		if (length > 12 || number_parse(&n, word, strlen(word)) != 0 || !n.exact ||
		    n.integer > QUANTILE_ALL || !quantiles_add(asked, (uint32_t)n.integer))
			break;
		p += length;
		if (*p == '\0')
			return 0;
		if (*p != ',')
			break;
	}
	return -1;
}

int read_alarm(struct given *g, const struct known *o, const char *text)
{
	return alarms_read(option_place(g, o), text);
}

int read_device(struct given *g, const struct known *o, const char *text)
{
	struct job *const job = option_place(g, o);
	const bool gpu = strncmp(text, "gpu", 3) == 0 && (text[3] == '\0' || text[3] == ':');
	const char *const number = gpu && text[3] == ':' ? text + 4 : "0";
	const size_t digits = strspn(number, "0123456789");

	job->machine.device = strcmp(text, "cpu") == 0 ? DEVICE_CPU
			      : gpu                    ? DEVICE_GPU
						       : DEVICE_AUTO;
	job->machine.gpu = (unsigned)strtoul(number, NULL, 10);
	if (!gpu)
		return job->machine.device == DEVICE_CPU || strcmp(text, "auto") == 0 ? 0 : -1;
	return digits > 0 && digits < 5 && number[digits] == '\0' ? 0 : -1;
}
