/* SPDX-License-Identifier: MIT */
/*
 * codes: samples of 8 and 16 bits to tables of their codes. Of 8 bits: one increment for each byte
 * of a word, or one for each run of equal bytes.
 *
 * An increment is a load, an addition and a store. A processor makes one store a cycle here, and
 * that bounds the loop as long as it does nothing else: it must not spill a register (hence the
 * constant stride), must not wait for a word (each is loaded before the increments of the one
 * before it), and must have few instructions beside the increments.
 *
 * Where samples repeat there is less to store: if the five bytes in the middle of a group of 64 are
 * equal, the runs of the group are counted instead of its bytes, with one increment each. On noise
 * that test costs three instructions a group. It is made one group ahead, so that the processor
 * notices a wrong prediction while it still has the increments of the group before to do.
 */
#include "count/codes.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/little.h"

#define TABLES 8u /* of one channel */
#define GROUP 64u
#define NOISE UINT64_MAX

typedef uint32_t table[BYTES_STRIDE];

/*
 * The barrier keeps the compiler from merging this shift with the next one: each would then need
 * its own copy of the word, a third more instructions in all.
 */
static inline uint64_t next_two(uint64_t w)
{
	w >>= 16;
	__asm__("" : "+r"(w));
	return w;
}

static inline void add_word(table *t, uint64_t w)
{
	t[0][w & 255]++;
	t[1][w >> 8 & 255]++;
	w = next_two(w);
	t[2][w & 255]++;
	t[3][w >> 8 & 255]++;
	w = next_two(w);
	t[4][w & 255]++;
	t[5][w >> 8 & 255]++;
	w = next_two(w);
	t[6][w & 255]++;
	t[7][w >> 8]++;
}

#ifdef __SSE2__
/* Bit i: byte i differs from byte i + 1, i < 16. */
static inline uint64_t changes_16(const unsigned char *p)
{
	const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
	const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));

	return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) ^ 0xffff;
}

/* Bit i: a run ends at byte i of a group, i < 63; or NOISE. Reads the byte after the group, too. */
static inline uint64_t run_ends(const unsigned char *p)
{
	if (__builtin_expect(little32(p + 28) != little32(p + 29), 1))
		return NOISE;
	const uint64_t ends = changes_16(p) | changes_16(p + 16) << 16 | changes_16(p + 32) << 32 |
			      changes_16(p + 48) << 48;
	return ends & UINT64_MAX >> 1; /* where the last run ends does not matter */
}
#else
static inline uint64_t run_ends(const unsigned char *p)
{
	(void)p;
	return NOISE;
}
#endif

/*
 * No end or one end is counted without a branch, because which of the two it is cannot be
 * predicted. The last run goes to a table of its own: if there is a single run, its two additions
 * need not wait for each other.
 */
static inline void add_runs(table *t, const unsigned char *p, uint64_t ends)
{
	uint32_t begin = (uint32_t)__builtin_ctzll(ends | UINT64_C(1) << 63) + 1;

	t[0][*p] += begin;
	for (ends &= ends - 1; ends != 0; ends &= ends - 1) {
		const uint32_t end = (uint32_t)__builtin_ctzll(ends) + 1;
		t[0][p[begin]] += end - begin;
		begin = end;
	}
	t[1][p[GROUP - 1]] += GROUP - begin;
}

static void add_bytes(uint32_t *tables, const unsigned char *p, size_t n)
{
	table *const t = (table *)(void *)tables;

	if (n > 2 * GROUP) {
		uint64_t ends = run_ends(p), a = little64(p), b = little64(p + 8), c, d;
		for (; n > 2 * GROUP; n -= GROUP, p += GROUP) {
			const uint64_t next = run_ends(p + GROUP);
			if (__builtin_expect(ends != NOISE, 0)) {
				add_runs(t, p, ends);
				a = little64(p + GROUP);
				b = little64(p + GROUP + 8);
			} else {
				c = little64(p + 16);
				d = little64(p + 24);
				add_word(t, a);
				add_word(t, b);
				a = little64(p + 32);
				b = little64(p + 40);
				add_word(t, c);
				add_word(t, d);
				c = little64(p + 48);
				d = little64(p + 56);
				add_word(t, a);
				add_word(t, b);
				a = little64(p + 64);
				b = little64(p + 72);
				add_word(t, c);
				add_word(t, d);
			}
			ends = next;
		}
	}
	for (; n >= 8; n -= 8, p += 8)
		add_word(t, little64(p));
	for (; n > 0; n--, p++)
		tables[*p]++;
}

/* ---- channels ---- */

/*
 * As many tables as there are bytes in the whole records that a few words hold. Then a byte's table
 * is constant in an unrolled loop, neighbours of one channel go to different tables, and all tables
 * fit L1.
 */
unsigned bytes_tables(uint32_t channels)
{
	if (channels <= TABLES && TABLES % channels == 0)
		return TABLES;
	return channels == 3 || channels == 6 ? 12 : channels == 5 ? 10 : channels;
}

/* Counts the bytes of a word; its first byte is byte number `first` of a group. */
__attribute__((always_inline)) static inline void add_word_at(table *t, uint64_t w, unsigned first,
							      unsigned tables)
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

/* Groups of `words` words, whole sets of tables; returns how many bytes that were. */
__attribute__((always_inline)) static inline size_t
add_groups(table *t, const unsigned char *p, size_t n, unsigned words, unsigned tables)
{
	const size_t group = 8 * words;
	size_t i = 0;

	for (; i + group <= n; i += group) {
		uint64_t w[5];
		for (unsigned k = 0; k < words; k++)
			w[k] = little64(p + i + 8 * k);
#pragma GCC unroll 5
		for (unsigned k = 0; k < words; k++)
			add_word_at(t, w[k], 8 * k, tables);
	}
	return i;
}

void bytes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels)
{
	if (channels == 1) {
		add_bytes(tables, p, n);
		return;
	}
	const unsigned count = bytes_tables(channels);
	table *const t = (table *)(void *)tables;
	size_t done = 0;

	/* Groups are whole records, so the next sample is of the first channel again. */
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

/* ---- 16 bits ---- */

static void add_codes(uint32_t *tables, const unsigned char *p, size_t n)
{
	uint32_t *const t = tables, *const u = t + CODES_STRIDE;
	size_t i = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; i + 4 <= n; i += 4) {
		uint64_t w;
		memcpy(&w, p + 2 * i, sizeof(w));
		t[w & 65535]++;
		u[w >> 16 & 65535]++;
		t[w >> 32 & 65535]++;
		u[w >> 48]++;
	}
#endif
	for (; i < n; i++)
		(i % 2 ? u : t)[p[2 * i] | p[2 * i + 1] << 8]++;
}

/* Groups of `words` words, each of whole records; returns how many samples that were. */
__attribute__((always_inline)) static inline size_t add_code_groups(uint32_t *tables,
								    const unsigned char *p,
								    size_t n, unsigned words,
								    unsigned channels)
{
	uint32_t(*const t)[CODES_STRIDE] = (uint32_t(*)[CODES_STRIDE])(void *)tables;
	const size_t group = 4 * words;
	size_t i = 0;

	for (; i + group <= n; i += group) {
#pragma GCC unroll 3
		for (unsigned k = 0; k < words; k++) {
			const uint64_t w = little64(p + 2 * i + 8 * k);
			t[4 * k % channels][w & 65535]++;
			t[(4 * k + 1) % channels][w >> 16 & 65535]++;
			t[(4 * k + 2) % channels][w >> 32 & 65535]++;
			t[(4 * k + 3) % channels][w >> 48]++;
		}
	}
	return i;
}

bool codes_by_words(uint32_t channels)
{
	return channels <= 4 || channels == 6 || channels == 8;
}

void codes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels)
{
	if (channels <= 2) {
		add_codes(tables, p, n);
		return;
	}
	size_t i = channels == 3   ? add_code_groups(tables, p, n, 3, 3)
		   : channels == 4 ? add_code_groups(tables, p, n, 1, 4)
		   : channels == 6 ? add_code_groups(tables, p, n, 3, 6)
		   : channels == 8 ? add_code_groups(tables, p, n, 2, 8)
				   : 0;

	while (i < n) {
		uint32_t *t = tables;
		for (uint32_t c = 0; c < channels; c++, t += CODES_STRIDE, i++)
			t[p[2 * i] | p[2 * i + 1] << 8]++;
	}
}
