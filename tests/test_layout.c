/* SPDX-License-Identifier: MIT */
/* layout: open values are completed, impossible ones are refused, and gaps are noticed. */
#include "count/layout.h"

#include <string.h>

#include "check.h"

static const struct {
	struct layout asked;
	uint32_t sample;
	struct layout made;
	bool contiguous;
	uint32_t bytes;
} GOOD[] = {
	/*  record offset samples channels row pitch */
	{{0, 0, 0, 0, 0, 0}, 4, {4, 0, 1, 1, 0, 0}, true, 4},
	{{0, 0, 0, 0, 0, 0}, 3, {3, 0, 1, 1, 0, 0}, true, 3},
	{{0, 0, 0, 2, 0, 0}, 2, {4, 0, 2, 2, 0, 0}, true, 4},
	{{0, 0, 6, 3, 0, 0}, 1, {6, 0, 6, 3, 0, 0}, true, 6},
	{{8, 0, 0, 0, 0, 0}, 4, {8, 0, 1, 1, 0, 0}, false, 8},
	{{8, 4, 0, 0, 0, 0}, 4, {8, 4, 1, 1, 0, 0}, false, 8},
	{{8, 0, 2, 0, 0, 0}, 4, {8, 0, 2, 1, 0, 0}, true, 8},
	{{200000, 199992, 0, 0, 0, 0}, 8, {200000, 199992, 1, 1, 0, 0}, false, 200000},
	{{0, 0, 0, 0, 640, 0}, 1, {1, 0, 1, 1, 640, 640}, true, 640},
	{{0, 0, 0, 3, 100, 300}, 1, {3, 0, 3, 3, 100, 300}, true, 300},
	{{0, 0, 0, 3, 100, 304}, 1, {3, 0, 3, 3, 100, 304}, false, 304},
	{{4, 1, 0, 0, 10, 40}, 1, {4, 1, 1, 1, 10, 40}, false, 40},
	{{UINT32_MAX, 0, 0, 0, 0, 0}, 1, {UINT32_MAX, 0, 1, 1, 0, 0}, false, UINT32_MAX},
	{{0, 0, UINT32_MAX, 0, 0, 0}, 1, {UINT32_MAX, 0, UINT32_MAX, 1, 0, 0}, true, UINT32_MAX},
};

static const struct {
	struct layout asked;
	uint32_t sample;
	const char *why;
} BAD[] = {
	{{0, 0, 0, 65537, 0, 0}, 1, "channels"},
	{{0, 0, 3, 2, 0, 0}, 1, "multiple"},
	{{3, 0, 0, 0, 0, 0}, 4, "too small"},
	{{8, 5, 0, 0, 0, 0}, 4, "too small"},
	{{0, 4, 0, 0, 0, 0}, 4, "needs a record size"},
	{{8, UINT32_MAX, 0, 0, 0, 0}, 8, "too small"},
	{{0, 0, 1u << 30, 0, 0, 0}, 4, "too small"},
	{{4, 0, (1u << 30) + 1, 0, 0, 0}, 4, "too small"},
	{{0, 0, 0, 0, 0, 100}, 1, "needs a row length"},
	{{0, 0, 0, 0, 101, 100}, 1, "row is too small"},
	{{0, 0, 0, 0, 1u << 30, 0}, 4, "row is too small"},
	{{4, 0, 0, 0, (1u << 30) + 1, 4}, 4, "row is too small"},
};

int main(void)
{
	struct layout l;
	const char *why;

	for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		CHECK(layout_init(&l, &GOOD[i].asked, GOOD[i].sample, &why) == 0, "%zu: %s", i,
		      why);
		CHECK(memcmp(&l, &GOOD[i].made, sizeof(l)) == 0, "%zu: %u %u %u %u %u %u", i,
		      l.record, l.offset, l.samples, l.channels, l.row, l.pitch);
		CHECK(layout_is_contiguous(&l, GOOD[i].sample) == GOOD[i].contiguous, "%zu", i);
		CHECK(layout_bytes(&l) == GOOD[i].bytes, "%zu: %u bytes", i, layout_bytes(&l));
		CHECK(layout_samples(&l) == l.samples * (l.row > 0 ? l.row : 1), "%zu: %u samples",
		      i, layout_samples(&l));
		const struct layout made = l;
		CHECK(layout_init(&l, &made, GOOD[i].sample, &why) == 0 &&
			      memcmp(&l, &made, sizeof(l)) == 0,
		      "%zu: again", i);
	}
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		CHECK(layout_init(&l, &BAD[i].asked, BAD[i].sample, &why) == -1 &&
			      strstr(why, BAD[i].why),
		      "%zu: %s", i, why ? why : "taken");
	return check_report();
}
