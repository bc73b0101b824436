/* SPDX-License-Identifier: MIT */
/* command: writes every option, in every spelling. */

#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void arg(struct command *c, const char *format, ...)
{
	va_list list;
	size_t left = sizeof(c->text) - c->used;
	int n;

	va_start(list, format);
	n = vsnprintf(c->text + c->used, left, format, list);
	va_end(list);
	if (n < 0 || (size_t)n >= left || c->args == MAX_ARGS) {
		errno = E2BIG;
		die("command line");
	}
	c->argv[c->args++] = c->text + c->used;
	c->used += (size_t)n + 1;
}

/* Add one option in one of its spellings. */
static void option(struct command *c, char letter, const char *word, const char *value)
{
	switch (below(3)) {
	case 0:
		arg(c, "-%c%s", letter, value);
		break;
	case 1:
		arg(c, "-%c", letter);
		arg(c, "%s", value);
		break;
	default:
		arg(c, "--%s=%s", word, value);
		break;
	}
}

/* Write a name that other tools use for the type: a prefix, the bits, the byte order. */
static void other_name(char *text, size_t size, const struct job *j)
{
	static const char *const begins[][4] = {
		{"u", "ru", "uint", "uint"}, {"i", "ri", "s", "int"},  {"f", "rf", "float", "f"},
		{"cu", "cu", "cu", "cu"},    {"ci", "cs", "sc", "ci"}, {"cf", "cf", "fc", "cf"},
		{"bf", "bf", "bfloat", "bf"}};
	static const char *const ends[] = {"le", "_le", "", "be", "_be", "be"};
	const struct type *t = j->type;
	size_t row = t->name[0] == 'b' ? 6 : (size_t)t->kind + (j->pair ? 3 : 0);
	const char *begin = begins[row][below(4)];
	const char *end = ends[below(3) + (j->big_endian ? 3 : 0)];
	bool capital = once_in(4);

	if (t->kind == FLOAT && t->bits == 8) {
		snprintf(text, size, "%s", t->finite ? "float8_e4m3fn" : "F8_E5M2");
		return;
	}
	if (t->bits == 24 && *end == '_') /* ALSA's u24_le has 32 bits */
		end++;
	if (t->bits % 8)
		snprintf(text, size, "%s%s", t->name, end);
	else
		snprintf(text, size, "%s%u%s%s", begin, t->bits,
			 strchr(begin, 't') && t->kind != FLOAT && once_in(2) ? "_t" : "", end);
	for (char *p = text; *p && capital; p++)
		*p = (char)toupper((unsigned char)*p);
}

static void type_option(struct command *c, const struct job *j)
{
	const struct type *t = j->type;
	char text[32];

	if (j->pair || once_in(3))
		other_name(text, sizeof(text), j);
	else if (t->numpy && once_in(3))
		snprintf(text, sizeof(text), "%c%s",
			 t->bits == 8 && once_in(2) ? '|'
			 : j->big_endian            ? '>'
						    : '<',
			 t->numpy);
	else
		snprintf(text, sizeof(text), "%s%s", t->name,
			 j->big_endian ? "be"
			 : once_in(4)  ? "le"
				       : "");
	/* u32 is the default; an input with a header may give it, too */
	if (strcmp(text, "u32") || j->header || j->text || once_in(2))
		option(c, 't', "type", text);
}

static void skip_option(struct command *c, const struct job *j)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)j->skip);
	if (j->skip % 1024 == 0 && once_in(2))
		snprintf(text, sizeof(text), "%llu%s", (unsigned long long)j->skip / 1024,
			 once_in(2) ? "K" : "KiB");
	else if (j->skip % 1000 == 0 && once_in(2))
		snprintf(text, sizeof(text), "%lluKB", (unsigned long long)j->skip / 1000);
	option(c, 'S', "skip", text);
}

/*
 * Is a flag refused? --clamp and --closed are, with --mod or if the samples decide the range; and
 * with rows, --nonzero and the options for text formats.
 */
static bool refused(const struct job *j, size_t flag)
{
	if (j->binless && flag != 2 && flag != 4) /* options for bins */
		return true;
	if (flag >= 3 && j->format && (!strcmp(j->format, "raw") || !strcmp(j->format, "npy")))
		return true;
	return (flag == 0 && (j->binning == MOD || is_automatic(j))) ||
	       (flag == 5 && ((j->each && j->slices == 0) || j->channels > 64 || j->key_bits)) ||
	       (flag == 1 && (j->binning == MOD || is_automatic(j)));
}

void shared_flags(struct command *a, struct command *output, struct command *b, const struct job *j)
{
	static const char *const flags[] = {
		"--clamp", "--closed", "--ignore-tail", "--flow", "--no-header", "--nonzero",
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		/* printing and comparing that many lines is slow */
		bool sparse = i == 5 && !j->each &&
			      (j->bins > 1 << 20 || (j->bins > 4096 && !once_in(8)));

		if (refused(j, i) && (j->implied || !once_in(20)))
			continue;
		if (sparse || once_in(i == 3 ? 2 : 4)) {
			arg(i < 3 ? a : output, "%s", flags[i]);
			arg(b, "%s", flags[i]);
		}
	}
	if (once_in(4) && !j->format) {
		const char *format = once_in(2) ? "csv" : "tsv";

		option(output, 'f', "format", format);
		arg(b, "-f");
		arg(b, "%s", format);
	}
}

/* Write the value of the option that chooses the bins. */
static void bins_value(char *text, size_t size, const struct job *j)
{
	if (j->binning == EDGES)
		snprintf(text, size, "%s", j->list);
	else if (j->binning == LOG_AUTO)
		snprintf(text, size, "auto");
	else if (j->full)
		snprintf(text, size, "full");
	else
		snprintf(text, size, "%s:%s%s%s", j->lo, j->hi, j->step[0] ? ":" : "", j->step);
}

static void bins_options(struct command *c, struct command *oracle, const struct job *j)
{
	static const char *const words[] = {"", "", "log", "edges", "mod", "auto", "log"};
	const char *word = words[j->binning];
	char text[LIST_BYTES];

	if (j->binless) {
		if (!j->implied)
			option(c, 'b', "bins", once_in(2) ? "0" : "0x0");
		arg(oracle, "--binless");
		arg(oracle, "-rfull");
		arg(oracle, "-b1");
		return;
	}
	bins_value(text, sizeof(text), j);
	if (j->binning == RANGE && (j->full || j->lo[0])) {
		option(c, 'r', "range", text);
		arg(oracle, "-r%s", text);
	} else if (j->binning == LOG || j->binning == LOG_AUTO || j->binning == EDGES) {
		arg(oracle, "--%s=%s", word, text);
		if (once_in(2)) {
			arg(c, "--%s=%s", word, text);
		} else {
			arg(c, "--%s", word);
			arg(c, "%s", text);
		}
	} else if (j->binning == MOD || j->binning == AUTO) {
		arg(c, "--%s", word);
		arg(oracle, "--%s", word);
	}
	const uint64_t bins = j->bins + (j->binning == EDGES && once_in(20));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(bins * j->finer));
	if (j->bins_given) {
		option(c, 'b', "bins", text);
		arg(oracle, "-b");
		arg(oracle, "%llu", (unsigned long long)bins);
	}
}

static void layout_options(struct command *c, struct command *oracle, const struct job *j)
{
	char text[80];

	const unsigned channels = j->channels / (j->magnitude ? 2 : 1);
	snprintf(text, sizeof(text), "%u", channels);
	if (j->last_axis)
		snprintf(text, sizeof(text), "last");
	/* a pair has two channels anyway */
	if ((j->channels_given || j->last_axis) && !j->apart &&
	    !(j->pair && !j->abs && channels == 2 && once_in(2)) &&
	    !(j->magnitude && channels == 1 && once_in(2)))
		option(c, 'c', "channels", text);
	if (j->channels_given || j->last_axis) {
		arg(oracle, "-c");
		arg(oracle, "%s", text);
	}
	if (j->layout == RECORDS) {
		arg(c, once_in(3) ? "--record=0x%llx" : "--record=%llu",
		    (unsigned long long)j->stride);
		arg(oracle, "--record=%llu", (unsigned long long)j->stride);
	}
	if (j->layout == RECORDS && (j->first_byte || once_in(3))) {
		arg(c, "--offset=%llu", (unsigned long long)j->first_byte);
		arg(oracle, "--offset=%llu", (unsigned long long)j->first_byte);
	}
	if (j->key_bits) {
		const bool big = j->key_bits > 8 && once_in(2);
		snprintf(text, sizeof(text), "--by=u%u%s@%llu", j->key_bits, big ? "be" : "",
			 (unsigned long long)j->key_byte);
		arg(c, "%s", text);
		arg(oracle, "%s", text);
	}
	if (j->layout == ROWS) {
		arg(c, "--rows=%llu:%llu", (unsigned long long)j->width,
		    (unsigned long long)j->stride);
		arg(oracle, "--rows=%llu:%llu", (unsigned long long)j->width,
		    (unsigned long long)j->stride);
	}
}

/* Draw neighbouring bits; at times bits apart, or of another type, which is a usage error. */
static void mask_options(struct command *c, struct command *oracle, const struct job *j)
{
	const unsigned bits = j->type->bits == 8 ? 8 : 16, low = (unsigned)below(bits);
	const unsigned own = 1 + (unsigned)below(bits - low);
	const uint64_t mask = once_in(20) ? draw() % 65536 : (((uint64_t)1 << own) - 1) << low;

	arg(c, once_in(2) ? "--mask=0x%llx" : "--mask=%llu", (unsigned long long)mask);
	arg(oracle, "--mask=%llu", (unsigned long long)mask);
}

void shared_options(struct command *c, struct command *oracle, const struct job *j)
{
	char columns[16 * MAX_READ], names[16 * MAX_READ];

	bins_options(c, oracle, j);
	layout_options(c, oracle, j);
	text_arguments(j, columns, names, sizeof(columns));
	if (j->text)
		arg(oracle, "--text%s%s", j->apart ? "=" : "", j->apart ? names : "");
	if (j->masked)
		mask_options(c, oracle, j);
	if (j->missing[0]) {
		arg(c, "--missing=%s", j->missing);
		arg(oracle, "--missing=%s", j->missing);
	}
	if (j->abs) {
		arg(c, "--abs");
		arg(oracle, j->magnitude ? "--abs=pair" : "--abs");
	} else if (j->pair) {
		arg(oracle, "--pairs");
	}
}

const char *input_name(const struct input *in)
{
	return in->route == BY_NAME ? in->file : in->route == BY_FIFO ? in->fifo : "-";
}

void each_options(struct command *c, struct command *oracle, const struct job *j,
		  const struct input *in, unsigned inputs, const char *file)
{
	arg(c, "--each=%s", j->row);
	arg(oracle, "--each=%s", j->row);
	for (unsigned k = 0; k < inputs; k++)
		arg(oracle, "--name=%s", input_name(&in[k]));
	if (j->counter) {
		option(c, 'C', "counter", j->counter);
		arg(oracle, "-C%s", j->counter);
	}
	if (j->format) {
		option(c, 'f', "format", j->format);
		arg(oracle, "-f%s", j->format);
	}
	if (j->format && !strcmp(j->format, "npy"))
		arg(c, "-o%s", file);
}

void oracle_options(struct command *c, const struct job *j)
{
	if (j->header == TENSORS)
		arg(c, "--tensor=" TENSOR_NAME);
	if (j->type_given) {
		arg(c, "-t");
		arg(c, "%s%s", j->type->name, j->big_endian ? "be" : "");
	}
	if (j->skip) {
		arg(c, "-S");
		arg(c, "%llu", (unsigned long long)j->skip);
	}
	if (j->limited) {
		arg(c, "-n");
		arg(c, "%llu", (unsigned long long)j->limit);
	}
}

void gpuhist_options(struct command *c, const struct job *j, char **more)
{
	static const unsigned threads[] = {1, 2, 3, 7, 8, 16};
	char text[200], columns[16 * MAX_READ], names[16 * MAX_READ];

	if (j->header == TENSORS)
		arg(c, "--tensor=" TENSOR_NAME);
	if (j->type_given &&
	    !(j->text && !strcmp(j->type->name, "f64") && !j->big_endian && once_in(2)))
		type_option(c, j);
	text_arguments(j, columns, names, sizeof(columns));
	if (j->text)
		arg(c, "--text%s%s", columns[0] ? "=" : "", columns);
	if (j->skip)
		skip_option(c, j);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)j->limit);
	if (j->limited)
		option(c, 'n', "count", text);
	if (j->quiet)
		arg(c, "-q");
	snprintf(text, sizeof(text), "%u", threads[below(6)]);
	if (once_in(2))
		option(c, 'T', "threads", text);
	/*
	 * Down to so little memory that frames are decoded piece by piece; windows and a worker's
	 * counters must fit, which may be one for each value of a channel.
	 */
	snprintf(text, sizeof(text), "%u%s", (j->channels > 8 ? 32u : 16u) << below(6),
		 once_in(2) ? "M" : "MiB");
	/*
	 * With --stats a worker needs about 160 KB for each channel of floats, 4 MB for rows of
	 * codes. Floats of any size need a complete digest: 32 MB for each channel of f64.
	 */
	if (j->quantiles[0] &&
	    (j->key_bits || j->magnitude || (j->type->bits > 16 && j->type->kind == FLOAT)))
		arg(c, "-M8G");
	else if (once_in(4) && j->bins * j->channels < 10000 && j->stride < 1 << 16 && !*more &&
		 ((!j->quantiles[0] && !j->each) || j->channels < 3))
		option(c, 'M', "memory", text);
	if (once_in(4) && !*more)
		arg(c, "--device=cpu");
	while (*more)
		arg(c, "%s", *more++);
}

void input_args(struct command *c, struct command *oracle, const struct input *in, unsigned inputs,
		const struct job *j)
{
	bool raw = once_in(20), some = false, all = true, text = false;

	raw &= !j->last_axis && j->header != TENSORS;
	for (unsigned k = 0; k < inputs; k++) {
		raw |= looks_compressed(&in[k]);
		some |= in[k].compressed;
		all &= in[k].compressed;
		text |= in[k].text;
	}
	if (text && j->type_given) /* again, or because it was left out as the default */
		arg(c, "-t%s%s%s", j->pair ? "c" : "", j->type->name, j->big_endian ? "be" : "");
	if (raw && !some && !j->text) {
		arg(c, "--raw");
		arg(oracle, "--raw");
	}
	if (all && !j->text && once_in(3))
		arg(c, "--zstd");
	if (j->no_check)
		arg(c, "--no-check");
	for (unsigned k = 0; k < inputs; k++) {
		if (in[k].route == BY_NAME)
			arg(c, "%s", in[k].file);
		else if (in[k].route == BY_FIFO)
			arg(c, "%s", in[k].fifo);
		else if (inputs > 1 || once_in(3))
			arg(c, "-");
		arg(oracle, "%s", in[k].plain);
	}
}
