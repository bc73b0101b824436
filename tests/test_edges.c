/* SPDX-License-Identifier: MIT */
/*
 * edges: the checks of fuzz_edges, on inputs from a seed: every type, every kind of bins but
 * --log and --auto, and samples on the edges, next to them and anywhere.
 */
#include "fuzz/fuzz_edges.c"

#include "check.h"

int main(void)
{
	static const int REACHED[2][BIN_KINDS] = {
		{[BIN_SHIFT] = 1,
		 [BIN_MAGIC] = 1,
		 [BIN_RATIO] = 1,
		 [BIN_LINEAR] = 1,
		 [BIN_SEARCH] = 1,
		 [BIN_NONE] = 1,
		 [BIN_TABLE] = 1,
		 [BIN_MOD] = 1},
		{[BIN_LINEAR] = 1, [BIN_SEARCH] = 1, [BIN_TABLE] = 1}};
	uint64_t state = 0x6564676573;
	uint8_t data[200];

	for (unsigned i = 0; i < 25000; i++) {
		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(check_random(&state) >> 40);
		/* Millions of bins take longer than they are worth: use them now and then. */
		if (i % 256 > 0)
			data[2] &= 0xfe;
		CHECK(LLVMFuzzerTestOneInput(data, 40 + check_random(&state) % 160) == 0, "%u", i);
	}
	for (int f = 0; f < 2; f++)
		for (int k = 0; k < BIN_KINDS; k++)
			CHECK((reached[f][k] > 0) == REACHED[f][k],
			      "kind %d of %s types: %lu samples", k, f ? "float" : "integer",
			      reached[f][k]);
	return check_report();
}
