/* SPDX-License-Identifier: MIT */
/*
 * codes: samples of 8 and 16 bits to tables of their codes, one increment for each sample, except
 * for bytes on machines where positional.c is twice as fast.
 *
 * An increment is a load, an addition and a store, and stores limit the loop to one increment per
 * cycle. To get there, it must not spill a register (hence the constant stride), must not wait for
 * a word (it loads the next one first), and must add few instructions to the increments. A
 * group of words holds whole records, so the table of each sample in it is a constant, and
 * neighbouring samples of a channel go to different tables.
 */
#include "count/codes.h"

#include "base/little.h"

typedef uint32_t byte_table[BYTES_STRIDE];
typedef uint32_t code_table[CODES_STRIDE];

/*
 * Drop the two lowest bytes. The barrier keeps the compiler from merging this shift with the next,
 * which would need a copy of the word for each, a third more instructions.
 */
static inline uint64_t next_two(uint64_t w)
{
	w >>= 16;
	__asm__("" : "+r"(w));
	return w;
}

/* Count the bytes of a word; its first byte is byte `first` of a group. */
INLINE void add_word(byte_table *t, uint64_t w, unsigned first, unsigned tables)
{
	t[first % tables][w & 255]++;
	t[(first + 1) % tables][w >> 8 & 255]++;
	w = next_two(w);
	t[(first + 2) % tables][w & 255]++;
	t[(first + 3) % tables][w >> 8 & 255]++;
	w = next_two(w);
	t[(first + 4) % tables][w & 255]++;
	t[(first + 5) % tables][w >> 8 & 255]++;
	w = next_two(w);
	t[(first + 6) % tables][w & 255]++;
	t[(first + 7) % tables][w >> 8]++;
}

/* Count groups of `words` words; return the number of bytes counted. */
INLINE size_t add_groups(byte_table *t, const unsigned char *p, size_t n, unsigned words,
			 unsigned tables)
{
	const size_t group = 8 * words;
	uint64_t w = n >= 8 ? little64(p) : 0;
	size_t i = 0;

	for (; i + group + 8 <= n; i += group)
#pragma GCC unroll 8
		for (unsigned k = 0; k < words; k++) {
			const uint64_t next = little64(p + i + 8 * k + 8);
			add_word(t, w, 8 * k, tables);
			w = next;
		}
	return i;
}

/* A few words are whole records, for each of whose bytes there is a table; all fit L1. */
unsigned bytes_tables(uint32_t channels)
{
	if (channels <= 8 && 8 % channels == 0)
		return 8;
	return channels == 3 || channels == 6 ? 12 : channels == 5 ? 10 : channels;
}

void bytes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels)
{
	const unsigned count = bytes_tables(channels);
	byte_table *const t = (byte_table *)(void *)tables;
	size_t done = 0;

	if (positional_pays(n, channels)) {
		positional_add(tables, BYTES_STRIDE, p, n, channels);
		return;
	}
	if (count == 8)
		done = add_groups(t, p, n, 4, 8);
	else if (count == 10)
		done = add_groups(t, p, n, 5, 10);
	else if (count == 12)
		done = add_groups(t, p, n, 3, 12);

	while (done < n)
		for (uint32_t c = 0; c < channels; c++)
			t[c][p[done++]]++;
}

/* Like add_groups, for samples of 16 bits; return the number of samples counted. */
INLINE size_t add_code_groups(code_table *t, const unsigned char *p, size_t n, unsigned words,
			      unsigned tables)
{
	const size_t group = 4 * words;
	size_t i = 0;

	for (; i + group <= n; i += group) {
#pragma GCC unroll 3
		for (unsigned k = 0; k < words; k++) {
			const uint64_t w = little64(p + 2 * i + 8 * k);
			t[4 * k % tables][w & 65535]++;
			t[(4 * k + 1) % tables][w >> 16 & 65535]++;
			t[(4 * k + 2) % tables][w >> 32 & 65535]++;
			t[(4 * k + 3) % tables][w >> 48]++;
		}
	}
	return i;
}

void codes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels)
{
	code_table *const t = (code_table *)(void *)tables;
	size_t i = channels <= 2   ? add_code_groups(t, p, n, 1, 2)
		   : channels == 3 ? add_code_groups(t, p, n, 3, 3)
		   : channels == 4 ? add_code_groups(t, p, n, 1, 4)
		   : channels == 6 ? add_code_groups(t, p, n, 3, 6)
		   : channels == 8 ? add_code_groups(t, p, n, 2, 8)
				   : 0;

	while (i < n)
		for (uint32_t c = 0; c < channels; c++, i++)
			t[c][p[2 * i] | p[2 * i + 1] << 8]++;
}
