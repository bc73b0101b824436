/* SPDX-License-Identifier: MIT */
/*
 * picture: the model of a histogram's picture. plot.c draws it as text, svg.c as SVG.
 *
 * BARS. With --auto and --log=auto, bars are the bins that the same rule makes for a smaller number
 * of bins (auto.h). So all bars of --auto are equally wide and begin at multiples of their width,
 * even if bins of the first and the last lie beyond the samples, and those of --log=auto mirror
 * each other and leave zero a bar of its own. Rows of --log=auto are whole powers of two if at
 * least OCTAVES rows are.
 *
 * With other bins, a bar holds `per` of them, a divisor of their number. Only if that would make
 * fewer than half of the bars that fit, the last bar has fewer bins than the others ("short").
 * Rows of --log=LO:HI are whole octaves if these make OCTAVES rows or more; if powers of two are
 * not among the edges of the bins, they are any equal parts.
 *
 * VALUES. The height of a bar is its value, a density: samples divided by its width in `unit`.
 * That is a doubling if the axis is logarithmic, else `per` bins if all are equally wide, else 1.
 * So equal counts in equal bars look equal, and smooth data smooth. All channels share one scale,
 * up to the largest value of any bar; samples out of range do not affect it.
 *
 * A picture has the same bytes on every system: all operations are exact or correctly rounded,
 * except libm's logarithms, which may differ in the last bit. That bit does not matter, because
 * picture_round adds a little before rounding.
 */
#ifndef GPUHIST_OUTPUT_PICTURE_H
#define GPUHIST_OUTPUT_PICTURE_H

#include "hist/hist.h"
#include "output/output.h"
#include "output/ruler.h"

/* ---- bars ---- */

struct bar {
	uint32_t first, end; /* bins first .. end - 1 of the histogram */
	uint32_t from, to;   /* bins from .. to - 1 of the picture's axis */
	double weight;       /* value / samples */
};

#define BARS_MOST 1024u
struct picture {
	const struct hist *hist;
	struct axis axis;    /* of the bars: the histogram's, or one with wider bins; borrows */
	bool all;            /* show empty bins at the ends, and do not prefer powers of two */
	uint32_t first, end; /* bins to show: all, or up to the last used one of any channel */
	uint32_t per;        /* bins per bar; --log=auto: at most, and 0 if 2^32 or more */
	uint32_t bars;       /* 0 if there are no bins or all are empty */
	struct bar *bar;
	struct ruler ruler; /* the axis from the first bar to the last */
	double unit;        /* width of the unit of values (ruler_width) */
	/* Set by picture_count. */
	double least, most; /* range of nonzero values over all channels; most is 0 if none */
	uint64_t *sum;      /* samples in bar k of channel c: sum[c * bars + k] */
	struct facts {
		uint64_t samples; /* in all bins */
		uint32_t filled;  /* number of bins that are not empty */
		uint32_t fullest; /* first bin with the largest count */
		uint64_t most;    /* largest count */
	} facts[LAYOUT_CHANNELS_FEW];
};

/*
 * Begin a picture of at most `most` bars, over all bins or from the first nonempty bin to the last.
 * picture_join makes the bars, and may be called again for fewer; picture_count then counts them.
 * -1: out of memory; there is nothing to free.
 */
int picture_open(struct picture *p, const struct hist *hist, bool all, uint32_t most);
void picture_join(struct picture *p, uint32_t most);
void picture_count(struct picture *p);
void picture_free(struct picture *p);

static inline uint64_t picture_sum(const struct picture *p, uint32_t channel, uint32_t k)
{
	return p->sum[(size_t)channel * p->bars + k];
}

/* The value of bar k: above 0 if any sample is in it. */
double picture_value(const struct picture *p, uint32_t channel, uint32_t k);

/* The value of the reference (--compare) in bar k, if it had as many samples; 0: none. */
double picture_reference(const struct picture *p, uint32_t channel, uint32_t k);

/* The start of a logarithmic scale of values: the power of ten below the smallest. */
double picture_base(const struct picture *p);

/* Has bar k fewer bins than the others, which are equally wide? */
bool picture_is_short(const struct picture *p, uint32_t k);

/* Explain the "*" at a last bar with fewer bins; "" if no bar is short. */
#define SHORT_TEXT 96
void picture_say_short(char text[SHORT_TEXT], const struct picture *p);

/* Is bar k the band? */
static inline bool picture_is_band(const struct picture *p, uint32_t k)
{
	return p->ruler.x.log && p->ruler.zero <= p->bar[k].from &&
	       p->bar[k].to <= p->ruler.positive;
}

/* Number of gaps between the band and its neighbours. */
uint32_t picture_gaps(const struct picture *p);

/* The unit of values: "bin", "16 bins", "doubling", or "unit". */
#define UNIT_TEXT 32
void picture_unit(char text[UNIT_TEXT], const struct picture *p);

/* ---- numbers as text ---- */

/* Round x to a whole number; halves go up, even if a logarithm left them slightly too small. */
double picture_round(double x);

size_t picture_cut(const char *text, size_t columns); /* bytes of the characters that fit */
size_t picture_width(const char *text);               /* columns of a terminal */

/* Copy a name; if it is wider than `columns`, cut out its middle. */
void picture_shorten(char *text, size_t size, const char *name, size_t columns, const char *dots);

/* Write the label of a channel above its panel: its name if there is no room for more. */
void picture_series(struct output *out, const struct hist *hist, uint32_t channel, unsigned columns,
		    bool last);

/* One decimal, but "0.0%" only if the count is 0, and "100.0%" only if it is all samples. */
void percent_text(char text[NUMBER_TEXT], uint64_t count, uint64_t samples);

bool edge_is_whole(const char *text); /* a whole number, not longer than a 64-bit integer */
/* Edge i for display: whole numbers in full, long fractions to six digits. */
void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i);

/* "[LOWER, UPPER)", or the bin's only value. */
#define BIN_TEXT (2 * NUMBER_TEXT + 4)
void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin);

/* Does the bin cover exactly one whole number? */
bool bin_is_value(const struct axis *axis, uint32_t bin);

#endif
