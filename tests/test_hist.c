/* SPDX-License-Identifier: MIT */
/* hist: an audit must notice wrong counts. */
#include "hist/hist.h"

#include "check.h"

int main(void)
{
	uint64_t count[3] = {5, 0, UINT64_C(1) << 40};
	struct hist_flow flow = {1, 2, 3};
	struct hist h = {.channels = 1, .count = count, .flow = &flow};
	const uint64_t sum = 11 + (UINT64_C(1) << 40);

	h.axis.edges.binning.bins = 3;
	for (int off = -1; off <= 1; off++) {
		struct fail fail = {0};
		h.samples = sum + (uint64_t)off;
		CHECK((hist_audit(&h, &fail) == 0) == (off == 0), "off by %d", off);
		CHECK(fail.status == (off == 0 ? STATUS_OK : STATUS_INTERNAL), "off by %d: %s", off,
		      fail.text);
	}
	return check_report();
}
