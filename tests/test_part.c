/* SPDX-License-Identifier: MIT */
/*
 * part: the borders of slices compared with long division: each record, and each place between
 * records, belongs to one slice; no slice is larger than allowed; large slices of records that fill
 * a MiB begin at whole MiB.
 */
#include "source/part.h"

#include <stdbool.h>

#include "check.h"

#define MIB ((uint64_t)1 << 20)

typedef unsigned long long ull;

/* Return a * b / n, rounded down, by adding and halving: no product is formed. */
static uint64_t quotient(uint64_t a, uint32_t b, uint32_t n)
{
	const uint64_t each = a / n;
	uint64_t rest = 0, q = 0;

	/* b * (a % n) / n, bit by bit: both are below 2^32. */
	for (unsigned bit = 32; bit-- > 0;) {
		q = 2 * q;
		rest = 2 * rest + (b >> bit & 1) * (a % n);
		q += rest / n;
		rest %= n;
	}
	return each * b + q;
}

static void is_partition(uint64_t records, uint32_t bytes, uint32_t n, const uint32_t *some,
			 unsigned count)
{
	const bool rounds = MIB % bytes == 0 && records / n >= 16 * (MIB / bytes);

	for (unsigned i = 0; i < count; i++) {
		const struct share p = part_of(records, bytes, some[i], n);
		const uint64_t begin = quotient(records, some[i] - 1, n),
			       end = quotient(records, some[i], n);
		const uint64_t step = rounds ? MIB / bytes : 1;
		CHECK(p.begin == begin / step * step,
		      "%u/%u of %llu of %u bytes begins at %llu, not %llu", some[i], n,
		      (ull)records, bytes, (ull)p.begin, (ull)(begin / step * step));
		CHECK(p.end == (some[i] == n ? records : end / step * step),
		      "%u/%u of %llu of %u bytes ends at %llu", some[i], n, (ull)records, bytes,
		      (ull)p.end);
		CHECK(p.begin <= p.end, "%u/%u of %llu", some[i], n, (ull)records);
		if (some[i] > 1)
			CHECK(part_of(records, bytes, some[i] - 1, n).end == p.begin,
			      "%u/%u of %llu", some[i], n, (ull)records);
	}
}

static void partitions(void)
{
	static const uint32_t BYTES[] = {1, 2, 3, 4, 8, 24, 1 << 20, (1 << 20) + 1, 16 << 20};
	uint64_t state = 3;

	for (unsigned i = 0; i < 20000; i++) {
		const uint64_t records = check_random(&state) >> check_random(&state) % 64;
		const uint32_t n =
			(uint32_t)(1 + (check_random(&state) >> (32 + check_random(&state) % 32)) %
					       UINT32_MAX);
		const uint32_t some[] = {1, n, 1 + (uint32_t)(check_random(&state) % n), n / 2 + 1};
		is_partition(records, BYTES[i % 9], n, some, 4);
	}
	is_partition(UINT64_MAX, 1, UINT32_MAX,
		     (const uint32_t[]){1, 2, UINT32_MAX - 1, UINT32_MAX}, 4);
}

/* With few records: every slice. */
static void few_records(void)
{
	for (uint64_t records = 0; records < 12; records++)
		for (uint32_t n = 1; n < 20; n++) {
			uint64_t at = 0;
			for (uint32_t k = 1; k <= n; k++) {
				const struct share p = part_of(records, 4, k, n);
				CHECK(p.begin == at && p.end >= at, "%u/%u of %llu", k, n,
				      (ull)records);
				at = p.end;
			}
			CHECK(at == records, "%llu of %llu records", (ull)at, (ull)records);
		}
}

/* Rounding moves a border by less than a MiB, and so changes no slice by more than a sixteenth. */
static void sizes(void)
{
	uint64_t state = 9;

	for (unsigned i = 0; i < 5000; i++) {
		const uint32_t bytes = (uint32_t)1 << check_random(&state) % 21;
		const uint32_t n = 1 + (uint32_t)(check_random(&state) % 1000);
		const uint64_t records = check_random(&state) % (64 * n * (MIB / bytes)) + n;
		const struct share p =
			part_of(records, bytes, 1 + (uint32_t)(check_random(&state) % n), n);
		const uint64_t fair = records / n, held = p.end - p.begin;
		CHECK(held <= fair + fair / 16 + 1 && held + fair / 16 + 1 >= fair,
		      "%llu records, where %llu are fair", (ull)held, (ull)fair);
	}
}

int main(void)
{
	partitions();
	few_records();
	sizes();
	return check_report();
}
