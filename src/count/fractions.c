/* SPDX-License-Identifier: MIT */
/* fractions: which channels have numbers that are not whole, or beyond 2^53. */
#include "count/counter.h"

#include <math.h>

#include "base/little.h"

/* Return 0 if adjacent binary64 are surely whole numbers; not for NaN, -0, or 2^51 and more. */
INLINE uint64_t unlike_whole(const unsigned char *p, size_t n)
{
	const double top = 0x1.8p52; /* adding it rounds to a whole number with the same exponent */
	const uint64_t exponent = (uint64_t)0xfff << 52;
	uint64_t differ = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t bits = little64(p + 8 * i);
		const double sum = double_of_bits(bits) + top;
		differ |= (bits_of_double(sum - top) ^ bits) |
			  ((bits_of_double(sum) ^ bits_of_double(top)) & exponent);
	}
	return differ;
}

/* Groups of a constant size become vectors at any level of optimisation. */
static bool surely_whole(const unsigned char *p, size_t n)
{
	enum { GROUP = 16 };
	uint64_t differ = unlike_whole(p + n / GROUP * GROUP * 8, n % GROUP);

	for (size_t i = 0; i < n / GROUP; i++)
		differ |= unlike_whole(p + i * GROUP * 8, GROUP);
	return differ == 0;
}

/* Is any number of a channel, whose samples are `stride` bytes apart, not whole or too big? */
INLINE bool has_fraction(const unsigned char *p, size_t n, size_t stride, uint32_t bytes, bool big)
{
	bool found = false;

	for (size_t i = 0; i < n; i++, p += stride) {
		const uint64_t bits = word_at(p, bytes, big);
		const double x =
			bytes == 8 ? double_of_bits(bits) : (double)float_of_bits((uint32_t)bits);
		const double size = fabs(x), low = size < 0x1p52 ? size : 0; /* of NaN, too */
		found |= low + 0x1p52 - 0x1p52 != low || size > 0x1p53;
	}
	return found;
}

void fractions_find(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *const c = counter->c;
	const uint32_t channels = layout_is_many(c->channels) ? 1 : c->channels,
		       bytes = c->counted.code_bytes;
	const uint64_t known = __atomic_load_n(&counter->counts->fractions, __ATOMIC_RELAXED);
	const size_t stride = (size_t)channels * bytes;
	uint64_t found = 0;

	if (known == 0 && bytes == 8 && !c->counted.big && surely_whole(samples, n))
		return;
	for (uint32_t i = 0; i < channels; i++, samples += bytes) {
		if (known >> i & 1)
			continue;
		const bool any =
			bytes == 8 ? has_fraction(samples, n / channels, stride, 8, c->counted.big)
				   : has_fraction(samples, n / channels, stride, 4, c->counted.big);
		found |= (uint64_t)any << i;
	}
	if (found > 0)
		__atomic_fetch_or(&counter->counts->fractions, found, __ATOMIC_RELAXED);
}
