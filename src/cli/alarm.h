/* SPDX-License-Identifier: MIT */
/*
 * alarm: the limits of --alarm, and whether a finished histogram has passed one. Channels and keys
 * are judged one by one; each limit names the worst.
 */
#ifndef GPUHIST_ALARM_H
#define GPUHIST_ALARM_H

#include "base/fail.h"
#include "bins/number.h"
#include "hist/hist.h"

#define ALARMS_MAX 16u

struct alarm {
	enum {
		ALARM_KS,       /* 0.1: of --compare */
		ALARM_QUANTILE, /* p99:500 */
		ALARM_TIMES,    /* p99:2x: times the reference's */
		ALARM_OUT,      /* out:1%: share of samples out of range */
		ALARM_NAN,      /* nan:0.1% */
		ALARM_EMPTY,    /* empty */
	} kind;
	bool below;          /* QUANTILE, TIMES: passed if less, otherwise if greater */
	uint32_t quantile;   /* QUANTILE, TIMES: in units of struct quantiles */
	struct number limit; /* OUT, NAN: in the same units */
	int length;          /* of the text */
	const char *text;    /* as given */
};

struct alarms {
	unsigned n;
	struct alarm at[ALARMS_MAX];
	const struct hist *reference; /* of --compare; borrowed; NULL: none */
	const char *name;             /* its name */
};

/* Read a comma-separated list of limits. -1: it is malformed. */
int alarms_read(struct alarms *alarms, const char *text);

bool alarms_have(const struct alarms *alarms, int kind);

/* Add the quantiles that the limits need. False: there are too many. */
bool alarms_ask(const struct alarms *alarms, struct quantiles *asked);

/*
 * Take the reference, and find its quantiles for limits such as p99:2x. -1: it lacks
 * one (STATUS_DATA), or no memory.
 */
int alarms_take(struct alarms *alarms, struct hist *reference, const char *name, struct fail *fail);

/*
 * STATUS_ALARM, with a line for each limit that was passed; STATUS_DATA if the histogram cannot
 * tell, because it is a sum of documents without figures.
 */
void alarms_raise(const struct alarms *alarms, const struct hist *hist, struct fail *fail);

#endif
