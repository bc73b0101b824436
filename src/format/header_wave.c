/* SPDX-License-Identifier: MIT */
/*
 * header_wave: parses the headers of RIFF/WAVE, RIFX (big endian), RF64 and BW64 (64-bit sizes in a
 * ds64 chunk): EBU Tech 3306, ITU-R BS.2088.
 *
 *	"RIFF", size, "WAVE", then chunks: a name, a size, that many bytes, a pad byte if the size
 *	  is odd
 *
 * The chunk fmt comes before the chunk data; other chunks, of any length, may be anywhere. The size
 * of the file is used for two things only: if it reaches past a data chunk of 0 bytes, there are no
 * samples, but other chunks; and bytes up to it belong to the file.
 */
#include "format/header.h"

#include <string.h>

#include "base/little.h"
#include "format/first.h"

#define CHUNKS_MOST 1024u /* each costs a read */
#define DS64_BYTES 24u    /* sizes of the file and of the data, number of samples */
#define FMT_LEAST 16u
#define FMT_MOST 40u /* size of an extensible fmt */

enum { FORM, CHUNK, DS64, FMT };
enum { TAG_PCM = 1, TAG_FLOAT = 3, TAG_EXTENSIBLE = 0xfffe };

/* largest size of a file; a larger one is the placeholder of a writer that cannot seek back */
#define RIFF_MOST 0x7f000000u

static uint32_t word32(const struct header_scan *h, const unsigned char *p)
{
	return (uint32_t)word_at(p, 4, h->big);
}

static uint32_t word16(const struct header_scan *h, const unsigned char *p)
{
	return (uint32_t)word_at(p, 2, h->big);
}

/* Ask for the header of the next chunk, `left` bytes after the bytes of this step. */
static enum header_result next_chunk(struct header_scan *h, uint64_t left)
{
	h->state = CHUNK;
	return header_want(h, left, 8);
}

/* The format tag in the first two bytes of the extensible fmt's GUID; 0: it is another GUID. */
static uint32_t tag_of_guid(const struct header_scan *h, const unsigned char *p)
{
	static const unsigned char REST_OF_IT[] = {0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
	const uint32_t first = word32(h, p);

	return first <= 0xffff && word16(h, p + 4) == 0 && word16(h, p + 6) == 0x10 &&
			       memcmp(p + 8, REST_OF_IT, 8) == 0
		       ? first
		       : 0;
}

static enum header_result take_fmt(struct header_scan *h, const unsigned char *p, size_t n)
{
	struct header *found = &h->header;
	const uint32_t channels = word16(h, p + 2), block = word16(h, p + 12),
		       bits = word16(h, p + 14);
	uint32_t tag = word16(h, p), valid = bits;

	if (tag == TAG_EXTENSIBLE) {
		if (n < FMT_MOST)
			return header_bad(h, "its extensible fmt chunk has %zu bytes, not 40", n);
		tag = tag_of_guid(h, p + 24);
		valid = word16(h, p + 18) > 0 ? word16(h, p + 18) : bits;
	}
	if (tag != TAG_PCM && tag != TAG_FLOAT)
		return header_bad(h, "format %lu is neither PCM (1) nor float (3); decode it first",
				  (unsigned long)tag);
	if (channels == 0)
		return header_bad(h, "it has 0 channels");
	if (block == 0 || block % channels != 0)
		return header_bad(h, "it has blocks of %lu bytes for %lu channels",
				  (unsigned long)block, (unsigned long)channels);
	/* The container size decides: 20 valid bits are the upper 20 of 24. */
	const uint32_t bytes = block / channels;
	if (tag == TAG_FLOAT ? bytes != 4 && bytes != 8 : bytes == 0 || (bytes > 4 && bytes != 8))
		return header_bad(h, "it has %s of %lu bytes",
				  tag == TAG_FLOAT ? "floats" : "integers", (unsigned long)bytes);
	if (tag == TAG_FLOAT && valid < 8 * bytes)
		return header_bad(h, "it has %lu valid bits in floats of %lu bytes",
				  (unsigned long)valid, (unsigned long)bytes);
	if (bits == 0 || bits > 8 * bytes || valid > 8 * bytes)
		return header_bad(h, "it has %lu bits in %lu bytes",
				  (unsigned long)(valid > bits ? valid : bits),
				  (unsigned long)bytes);
	header_type(h, tag == TAG_FLOAT ? 'f' : bytes == 1 ? 'u' : 'i', bytes, h->big);
	found->channels = channels;
	found->valid_bits = valid < 8 * bytes ? valid : 0;
	h->block = block;
	return HEADER_MORE;
}

/*
 * End the scan at the data chunk. Writers to a pipe cannot seek back, so they leave 0 or all ones
 * as its size; sox leaves the largest number of whole blocks up to 2^31 - 4096.
 */
static enum header_result found_data(struct header_scan *h, uint32_t size)
{
	struct header *found = &h->header;

	if (h->block == 0)
		return header_bad(h, "the data chunk at offset %llu comes before the fmt chunk",
				  (unsigned long long)h->at);
	found->begin = h->at + 8;
	found->bytes = size;
	/* Is the size of the file no placeholder, and does it reach past this chunk's header? */
	const bool reaches = h->number[1] + 8 > found->begin && h->number[1] < h->number[2];
	found->open = (size == 0 && !reaches) || size == UINT32_MAX ||
		      size == 0x7ffff000 - 0x7ffff000 % h->block;
	if (h->wide && size == UINT32_MAX && h->data != HEADER_TO_END) {
		found->bytes = h->data;
		found->open =
			(h->data == 0 && !reaches) || h->data == UINT32_MAX || h->data > INT64_MAX;
	}
	if (found->bytes > INT64_MAX) {
		found->bytes = HEADER_TO_END;
		return HEADER_FOUND;
	}
	/* Other chunks may follow the samples; the size may leave out the last pad byte. */
	found->end = found->begin + found->bytes;
	if (h->number[1] < h->number[2] && h->number[1] + 8 > found->end)
		found->end = h->number[1] + 8;
	found->end += found->end % 2;
	return HEADER_FOUND;
}

static enum header_result take_chunk(struct header_scan *h, const unsigned char *p)
{
	const uint32_t size = word32(h, p + 4);
	const uint64_t padded = (uint64_t)size + size % 2;

	if (memcmp(p, "data", 4) == 0)
		return found_data(h, size);
	if (h->chunks++ == CHUNKS_MOST)
		return header_bad(h, "there are more than %u chunks before the samples",
				  CHUNKS_MOST);
	if (memcmp(p, "ds64", 4) == 0 && h->wide) {
		if (size < DS64_BYTES)
			return header_bad(h, "the ds64 chunk has %lu bytes, not 24 or more",
					  (unsigned long)size);
		h->state = DS64;
		h->number[0] = padded;
		return header_want(h, 0, DS64_BYTES);
	}
	if (memcmp(p, "fmt ", 4) == 0) {
		if (size < FMT_LEAST || h->block > 0)
			return header_bad(h, "it has %s fmt chunk of %lu bytes",
					  h->block > 0 ? "a second" : "a", (unsigned long)size);
		h->state = FMT;
		h->number[0] = padded;
		return header_want(h, 0, size < FMT_MOST ? size : FMT_MOST);
	}
	return next_chunk(h, padded);
}

static enum header_result wave_step(struct header_scan *h, const unsigned char *p)
{
	switch (h->state) {
	case FORM:
		h->big = memcmp(p, "RIFX", 4) == 0;
		h->wide = memcmp(p, "RF64", 4) == 0 || memcmp(p, "BW64", 4) == 0;
		h->header.format = "WAVE";
		h->number[1] = word32(h, p + 4);
		h->number[2] = RIFF_MOST;
		return next_chunk(h, 0);
	case CHUNK:
		return take_chunk(h, p);
	case DS64:
		if (h->number[1] == UINT32_MAX && little64(p) != UINT32_MAX) {
			h->number[1] = little64(p);
			h->number[2] = INT64_MAX;
		}
		h->data = little64(p + 8);
		return next_chunk(h, h->number[0] - h->want);
	default:
		if (take_fmt(h, p, h->want) == HEADER_BAD)
			return HEADER_BAD;
		return next_chunk(h, h->number[0] - h->want);
	}
}

const struct header_format header_wave = {wave_step};
