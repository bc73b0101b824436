/* SPDX-License-Identifier: MIT */
/* alarm: reads limits, and compares figures with them. */
#include "cli/alarm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/msg.h"
#include "hist/compare.h"
#include "hist/figures.h"
#include "hist/quantile.h"
#include "hist/series.h"

/* ---- the option ---- */

/* Read a percentage of up to 100 with up to four decimals, as millionths. */
static bool read_percent(struct number *n, const char *text, size_t length)
{
	char word[20];

	if (length == 0 || length > 12 || strspn(text, "0123456789.") < length)
		return false;
	snprintf(word, sizeof(word), "%.*se4", (int)length, text);
	return number_parse(n, word, strlen(word)) == 0 && n->exact && n->integer <= QUANTILE_ALL;
}

/* Read pQ:LIMIT, pQ:<LIMIT, and the same with x at the end. */
static bool read_quantile(struct alarm *a, const char *text, size_t length)
{
	const char *const colon = memchr(text, ':', length), *const end = text + length;
	struct number percent;

	if (!colon || !read_percent(&percent, text + 1, (size_t)(colon - text - 1)))
		return false;
	const char *p = colon + 1;
	a->below = p < end && *p == '<';
	p += a->below;
	const bool times = p < end && end[-1] == 'x';
	a->kind = times ? ALARM_TIMES : ALARM_QUANTILE;
	a->quantile = (uint32_t)percent.integer;
	return number_parse(&a->limit, p, (size_t)(end - times - p)) == 0 &&
	       (!times || a->limit.value > 0);
}

static bool read_one(struct alarm *a, const char *text, size_t length)
{
	*a = (struct alarm){.kind = ALARM_EMPTY, .text = text, .length = (int)length};
	if (length == 5 && memcmp(text, "empty", 5) == 0)
		return true;
	if (length > 0 && *text == 'p')
		return read_quantile(a, text, length);
	if (length > 5 && text[length - 1] == '%' &&
	    (memcmp(text, "out:", 4) == 0 || memcmp(text, "nan:", 4) == 0)) {
		a->kind = *text == 'o' ? ALARM_OUT : ALARM_NAN;
		return read_percent(&a->limit, text + 4, length - 5);
	}
	a->kind = ALARM_KS;
	return number_parse(&a->limit, text, length) == 0 && a->limit.value >= 0 &&
	       a->limit.value <= 1;
}

int alarms_read(struct alarms *alarms, const char *text)
{
	*alarms = (struct alarms){.n = 0};
	for (;; text++) {
		const size_t length = strcspn(text, ",");
		if (alarms->n == ALARMS_MAX || !read_one(&alarms->at[alarms->n++], text, length))
			return -1;
		text += length;
		if (*text == '\0')
			return 0;
	}
}

bool alarms_have(const struct alarms *alarms, int kind)
{
	bool found = false;

	for (unsigned i = 0; i < alarms->n; i++)
		found |= (int)alarms->at[i].kind == kind;
	return found;
}

static bool has_quantile(const struct alarm *a)
{
	return a->kind == ALARM_QUANTILE || a->kind == ALARM_TIMES;
}

bool alarms_ask(const struct alarms *alarms, struct quantiles *asked)
{
	bool fit = true;

	for (unsigned i = 0; i < alarms->n; i++) {
		fit &= !has_quantile(&alarms->at[i]) ||
		       quantiles_add(asked, alarms->at[i].quantile);
		asked->named |= has_quantile(&alarms->at[i]);
	}
	return fit;
}

/* ---- the reference ---- */

/* A quantile of a channel, or NULL if the histogram was not asked for it. */
static const struct hist_quantile *quantile_of(const struct hist *hist, uint32_t channel,
					       uint32_t at, struct figure_value *value)
{
	for (unsigned i = 0; hist->stats && i < hist->asked.n; i++)
		if (hist->asked.at[i] == at) {
			*value = figure_quantile(hist, channel, i);
			return hist_quantile_of(hist, channel, i);
		}
	return NULL;
}

/* Is the quantile unknown though there are finite samples? */
static bool lacks(const struct hist *hist, uint32_t channel, uint32_t at)
{
	struct figure_value value;
	const struct hist_quantile *const q = quantile_of(hist, channel, at, &value);

	return !q || (!q->known && hist->stats[channel].of.number > 0);
}

int alarms_take(struct alarms *alarms, struct hist *reference, const char *name, struct fail *fail)
{
	struct quantiles asked = {.n = 0};

	alarms->reference = reference;
	alarms->name = name;
	if (!alarms_have(alarms, ALARM_TIMES))
		return 0;
	(void)alarms_ask(alarms, &asked);
	if (hist_set_stats(reference, &asked, fail) != 0)
		return -1;
	for (unsigned i = 0; i < alarms->n; i++)
		for (uint32_t c = 0; c < reference->channels; c++)
			if (alarms->at[i].kind == ALARM_TIMES &&
			    lacks(reference, c, alarms->at[i].quantile))
				return fail_set(fail, STATUS_DATA,
						"--alarm %.*s needs the quantile of %s, which was "
						"written without --stats",
						alarms->at[i].length, alarms->at[i].text, name);
	return 0;
}

/* ---- limits ---- */

/* The value that is compared with a limit, for a channel. */
struct judged {
	bool passed;
	double excess; /* to find the worst */
	char value[NUMBER_TEXT], limit[NUMBER_TEXT];
};

static void alarm_judge(struct judged *j, double value, double limit, bool below)
{
	j->excess = below ? limit - value : value - limit;
	j->passed = j->excess > 0;
}

/* A share is compared exactly. */
static void judge_share(struct judged *j, const struct alarm *a, uint64_t part, uint64_t all)
{
	const double share = all > 0 ? (double)part / (double)all : 0;

	j->excess = share;
	j->passed = (uint128_t)part * QUANTILE_ALL > (uint128_t)a->limit.integer * all;
	snprintf(j->value, sizeof(j->value), "%.3g%%", 100 * share);
}

static void judge_quantile(struct judged *j, const struct alarm *a, struct figure_value value)
{
	const double real = figure_real(value);
	const int128_t whole = value.kind == VALUE_COUNT ? (int128_t)value.count : value.whole;

	figure_format(j->value, value);
	alarm_judge(j, real, a->limit.value, a->below);
	if (value.kind != VALUE_REAL && a->limit.exact) /* binary64 may not hold it */
		j->passed = a->below ? whole < a->limit.integer : whole > a->limit.integer;
}

static struct judged judge_channel(const struct alarms *alarms, const struct alarm *a,
				   const struct hist *hist, uint32_t channel)
{
	const struct hist_flow *const flow = &hist->flow[channel];
	const uint64_t samples = hist_samples(hist, channel);
	struct judged j = {.passed = false};
	struct figure_value value = {.kind = VALUE_NONE}, other = value;
	uint32_t there;

	switch (a->kind) {
	case ALARM_KS: /* no divergence for a key that only one side has */
		if (!hist->compared || isnan(hist->compared[channel].divergence))
			break;
		snprintf(j.value, sizeof(j.value), "%.6g", hist->compared[channel].ks);
		alarm_judge(&j, hist->compared[channel].ks, a->limit.value, false);
		break;
	case ALARM_QUANTILE:
		if (quantile_of(hist, channel, a->quantile, &value) && value.kind != VALUE_NONE)
			judge_quantile(&j, a, value);
		break;
	case ALARM_TIMES:
		if (!series_find(alarms->reference, hist, channel, &there) ||
		    !quantile_of(hist, channel, a->quantile, &value) ||
		    !quantile_of(alarms->reference, there, a->quantile, &other) ||
		    value.kind == VALUE_NONE || other.kind == VALUE_NONE)
			break;
		figure_format(j.value, value);
		figure_format(j.limit, other);
		alarm_judge(&j, figure_real(value), a->limit.value * figure_real(other), a->below);
		break;
	case ALARM_OUT:
		judge_share(&j, a, flow->under + flow->over, samples);
		break;
	case ALARM_NAN:
		judge_share(&j, a, flow->nan, samples);
		break;
	case ALARM_EMPTY:
		break;
	}
	return j;
}

/* Append a line on the worst channel that passed the limit. */
static void say_passed(struct fail *to, const struct alarms *alarms, const struct alarm *a,
		       const struct hist *hist, uint32_t channel, const struct judged *j)
{
	const size_t used = to->status == STATUS_OK ? 0 : strlen(to->text);
	char label[SERIES_LABEL] = "", than[2 * FAIL_TEXT / 8] = "", percent[NUMBER_TEXT];
	const char *const compared = a->below ? "less" : "more";

	const char *const of = *series_label(label, hist, channel) ? " of " : "";
	number_format(percent, a->quantile * 100.0 / QUANTILE_ALL);
	if (a->kind == ALARM_TIMES)
		snprintf(than, sizeof(than), " (%.30s in %.200s)", j->limit, alarms->name);
	else if (a->kind == ALARM_KS)
		snprintf(than, sizeof(than), " (%.200s)", alarms->name);
	to->status = STATUS_ALARM;
	to->lines = true;
	char *const text = to->text + used;
	const size_t room = sizeof(to->text) - used;
	const char *const line = used > 0 ? "\n" : "";
	if (a->kind == ALARM_EMPTY)
		snprintf(text, room, "%sthere are no samples (--alarm empty)", line);
	else if (a->kind == ALARM_OUT || a->kind == ALARM_NAN)
		snprintf(text, room,
			 "%s%s of the samples%s%s are %s, more than --alarm %.*s allows", line,
			 j->value, of, label, a->kind == ALARM_OUT ? "out of range" : "NaN",
			 a->length, a->text);
	else
		snprintf(text, room, "%s%s%s%s%s is %.30s, %s than --alarm %.*s allows%s", line,
			 a->kind == ALARM_KS ? "KS" : percent, a->kind == ALARM_KS ? "" : "%", of,
			 label, j->value, compared, a->length, a->text, than);
}

/* Warn of keys that only one side has: they cannot be compared with the reference. */
static void warn_apart(const struct alarms *alarms, const struct hist *hist)
{
	const struct hist *const other = alarms->reference;
	uint32_t first;

	if (!other || hist->compared)
		return;
	const uint64_t lacking = (uint64_t)hist_keys_lacking(hist, other, &first) +
				 hist_keys_lacking(other, hist, &first);
	if (lacking > 0)
		msg_warning(COUNTED " %s on one side only, so --alarm does not compare %s",
			    COUNT(lacking, "key"), lacking == 1 ? "is" : "are",
			    lacking == 1 ? "it" : "them");
}

void alarms_raise(const struct alarms *alarms, const struct hist *hist, struct fail *fail)
{
	struct fail passed = {.status = STATUS_OK};

	if (alarms->n == 0 || fail->status != STATUS_OK)
		return;
	warn_apart(alarms, hist);
	for (unsigned i = 0; i < alarms->n; i++) {
		const struct alarm *const a = &alarms->at[i];
		struct judged worst = {.passed = false};
		uint32_t at = 0;
		worst.passed = a->kind == ALARM_EMPTY && hist->samples == 0;
		for (uint32_t c = 0; c < hist->channels; c++) {
			if (has_quantile(a) && lacks(hist, c, a->quantile)) {
				fail_set(fail, STATUS_DATA, "--alarm %.*s needs a quantile, but %s",
					 a->length, a->text,
					 layout_is_many(hist->channels) && hist->what != SERIES_KEYS
						 ? "more than 64 channels have only those that "
						   "--stats named when they were counted"
						 : "these histograms were written without --stats");
				return;
			}
			const struct judged j = judge_channel(alarms, a, hist, c);
			if (j.passed && (!worst.passed || j.excess > worst.excess)) {
				worst = j;
				at = c;
			}
		}
		if (worst.passed)
			say_passed(&passed, alarms, a, hist, at, &worst);
	}
	if (passed.status != STATUS_OK)
		fail_pass(fail, &passed);
}
