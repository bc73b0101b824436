/* SPDX-License-Identifier: MIT */
/*
 * zstd_cost: who decodes a frame, for each line of the table in zstd_cost.c; and the model compared
 * with measurements on 16 cores and an H100 (one frame of level 3, checked, whole runs): it picks
 * the faster engine, or one that is nearly as fast.
 */
#include <string.h>

#include "check.h"
#include "zstd/zstd_cost.h"

#define SIZES 6u

static const double MIB[SIZES] = {64, 256, 512, 1024, 2048, 4096};
static const struct {
	const char *data;
	double literals, sequences; /* for each byte, if the frame goes on */
	/* seconds for each size: with 16 threads, then with 4 */
	double cores[2][SIZES], device[2][SIZES];
} TABLE[] = {
	{"10-bit numbers in 32",
	 0.076,
	 0.126,
	 {{.10, .29, .75, 1.48, 2.52, 5.29}, {.08, .31, .73, 1.25, 2.46, 5.66}},
	 {{.27, .29, .32, .39, .52, .76}, {.20, .27, .27, .37, .48, .88}}},
	{"text",
	 0.028,
	 0.113,
	 {{.09, .22, .60, 1.31, 3.05, 4.84}, {.07, .27, .54, 1.27, 2.31, 4.65}},
	 {{.23, .27, .30, .40, .49, .72}, {.21, .26, .32, .38, .51, .73}}},
	{"floats of 18 bits",
	 0.836,
	 0.031,
	 {{.04, .15, .30, .49, 1.13, 1.77}, {.05, .17, .36, .70, 1.37, 2.65}},
	 {{.25, .31, .35, .37, .51, .67}, {.25, .30, .30, .34, .48, .65}}},
	{"noise of 8 bits",
	 1,
	 0,
	 {{.05, .05, .08, .16, .34, .62}, {.04, .18, .24, .51, .96, 1.90}},
	 {{.27, .40, .34, .38, .51, .75}, {.25, .35, .26, .35, .41, .64}}},
};

/* ---- who decodes a frame ---- */

/* Words are facts about the frame; a number is the number of threads. */
static const struct {
	const char *facts;
	enum zstd_way way;
} WAYS[] = {
	/* the device */
	{"large file ready demanded dense 1", WAY_DEVICE},
	{"large file ready demanded dense one_call few 8", WAY_DEVICE},
	{"large file ready sized dense 8", WAY_DEVICE},
	{"large file ready few dense pays 8", WAY_DEVICE},
	{"large file asleep few dense pays 8", WAY_START},
	{"large file asleep few dense pays one_call 1", WAY_START},
	/* not the device: demanded but not ready; of unknown size among many; no gain */
	{"large file asleep demanded few dense pays 8", WAY_BLOCKS},
	{"large file ready dense 8", WAY_STEPS},
	{"large file asleep sized dense pays 8", WAY_STEPS},
	{"large file ready few dense 8", WAY_BLOCKS},
	{"large file ready few 8", WAY_STEPS},
	{"file ready demanded few dense pays 8", WAY_STEPS},
	{"large ready demanded sized dense pays 8", WAY_BLOCKS},
	/* all cores */
	{"large file few dense 3", WAY_BLOCKS},
	{"large file ordered dense 3", WAY_BLOCKS},
	{"large dense 3", WAY_BLOCKS},
	{"large file few dense literals 2", WAY_BLOCKS},
	/* not all: two with sequences; one; many are left; only matches; read; one call; short */
	{"large file few dense 2", WAY_STEPS},
	{"large file few dense literals 1", WAY_STEPS},
	{"large file dense literals 8", WAY_STEPS},
	{"large file few 8", WAY_STEPS},
	{"large read dense literals 8", WAY_STEPS},
	{"large file few dense literals one_call 8", WAY_CALL},
	{"file few dense literals 8", WAY_STEPS},
	/* libzstd */
	{"one_call file 8", WAY_CALL},
	{"one_call 1", WAY_CALL},
	{"file sized few ordered 1", WAY_STEPS},
};

static bool has(const char *facts, const char *fact)
{
	const char *at = facts;

	while ((at = strstr(at, fact)) != NULL && at != facts && at[-1] != ' ')
		at++;
	return at;
}

static struct zstd_facts facts_of(const char *text)
{
	return (struct zstd_facts){
		.one_call = has(text, "one_call"),
		.file = has(text, "file"),
		.read = has(text, "read "),
		.large = has(text, "large"),
		.few = has(text, "few"),
		.sized = has(text, "sized"),
		.ordered = has(text, "ordered"),
		.threads = (unsigned)(text[strlen(text) - 1] - '0'),
		.device = has(text, "ready")    ? DEVICE_READY
			  : has(text, "asleep") ? DEVICE_ASLEEP
						: DEVICE_NONE,
		.demanded = has(text, "demanded"),
		.dense = has(text, "dense"),
		.literals = has(text, "literals"),
		.pays = has(text, "pays"),
	};
}

static void check_ways(void)
{
	for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
		struct zstd_facts f = facts_of(WAYS[i].facts);
		const enum zstd_way way = zstd_way(&f);
		CHECK(way == WAYS[i].way, "%s: %d, not %d", WAYS[i].facts, (int)way,
		      (int)WAYS[i].way);
		CHECK(zstd_asks(&f) || way == WAY_CALL || way == WAY_STEPS, "%s: not asked",
		      WAYS[i].facts);
		f.device = DEVICE_NONE; /* after a start that failed */
		CHECK(zstd_way(&f) != WAY_DEVICE && zstd_way(&f) != WAY_START, "%s", WAYS[i].facts);
	}
}

int main(void)
{
	unsigned faster = 0, cells = 0;

	for (unsigned d = 0; d < sizeof(TABLE) / sizeof(TABLE[0]); d++)
		for (unsigned t = 0; t < 2; t++)
			for (unsigned i = 0; i < SIZES; i++) {
				const unsigned threads = t ? 4 : 16;
				const double bytes = MIB[i] * (1 << 20);
				const struct zstd_work work = {
					.literals = TABLE[d].literals * bytes,
					.sequences = TABLE[d].sequences * bytes,
					.bytes = bytes,
					.checked = true};
				const double cores = TABLE[d].cores[t][i],
					     device = TABLE[d].device[t][i],
					     best = cores < device ? cores : device,
					     model = zstd_cores_seconds(&work, threads);
				const bool pays = zstd_device_pays(&work, threads, false);
				cells++;
				faster += (pays ? device : cores) == best;
				/* Below 0.1 s the clock decides; runs differ by a third. */
				CHECK(cores < 0.1 || (model > cores / 1.5 && model < cores * 1.5),
				      "%s, %g MiB, %u threads: %.2f s, not %.2f", TABLE[d].data,
				      MIB[i], threads, model, cores);
				CHECK((pays ? device : cores) < best * 1.1,
				      "%s, %g MiB, %u threads: %.2f and %.2f s, %d", TABLE[d].data,
				      MIB[i], threads, cores, device, pays);
				CHECK(zstd_device_pays(&work, threads, true) || !pays, "ready");
			}
	CHECK(faster + 1 >= cells, "%u of %u", faster, cells);
	check_ways();
	return check_report();
}
