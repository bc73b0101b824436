/* SPDX-License-Identifier: MIT */
/* first: magic numbers of what is not read; characters. */
#include "input/first.h"

#include <string.h>

/* ---- formats ---- */

/* A byte of a magic number that may be any, such as those of a length. */
#define ANY '?'

static const struct {
	const char *magic;
	size_t length;
	const char *advice;
} FORMATS[] = {
	{"\x1f\x8b\x08", 3, "compressed by gzip: pipe it through `gzip -dc`"},
	{"\xfd"
	 "7zXZ\0",
	 6, "compressed by xz: pipe it through `xz -dc`"},
	/* a digit, and then those of pi, which begin a block */
	{"BZh?1AY&SY", 10, "compressed by bzip2: pipe it through `bzip2 -dc`"},
	{"\x04\x22\x4d\x18", 4, "compressed by lz4: pipe it through `lz4 -dc`"},
	{"PK\3\4", 4,
	 "a zip archive, as .npz files are: `unzip -p ARCHIVE MEMBER | gpuhist` counts a member of "
	 "it"},
	{"FORM????AIFF", 12, "an AIFF file: pipe it through `sox -t aiff - -t wav -`"},
	{"FORM????AIFC", 12, "an AIFF file: pipe it through `sox -t aiff - -t wav -`"},
	{".snd", 4, "an AU file: pipe it through `sox -t au - -t wav -`"},
	{"fLaC", 4, "a FLAC file: pipe it through `flac -dc -`"},
	{"OggS", 4, "an Ogg file: pipe it through `ffmpeg -i - -f wav -`"},
	/* sox reads these two from files only */
	{"riff\x2e\x91\xcf\x11", 8, "a W64 file: `sox FILE -t wav - | gpuhist` counts it"},
	{"caff\0\1", 6, "a CAF file: `sox FILE -t wav - | gpuhist` counts it"},
};

enum header_result first_refused(const unsigned char *bytes, size_t n, const char **advice)
{
	enum header_result result = HEADER_NONE;

	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
		const char *const magic = FORMATS[i].magic;
		size_t same = 0;
		while (same < n && same < FORMATS[i].length &&
		       (magic[same] == ANY || bytes[same] == (unsigned char)magic[same]))
			same++;
		if (same == FORMATS[i].length) {
			*advice = FORMATS[i].advice;
			return HEADER_FOUND;
		}
		if (same == n)
			result = HEADER_MORE;
	}
	return result;
}

/* ---- text ---- */

static const char DOCUMENT[] = "\"uhi_schema\"";

/* Takes a byte that begins a character; false: none does, or it is not printed. */
static bool begin_character(struct text *t, unsigned char c)
{
	t->least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80; /* no longer than it must be */
	t->most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;  /* no half of UTF-16; to U+10FFFF */
	t->rest = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;
	return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r') || (c >= 0xc2 && c <= 0xf4);
}

static bool go_on_character(struct text *t, unsigned char c)
{
	const bool right = c >= t->least && c <= t->most;

	t->least = 0x80;
	t->most = 0xbf;
	t->rest--;
	return right;
}

void text_add(struct text *t, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n && text_open(t); i++) {
		const unsigned char c = bytes[i];
		t->other = !(t->rest > 0 ? go_on_character(t, c) : begin_character(t, c));
		t->seen++;
		/* Only its last character is its first one again. */
		t->alike = c == (unsigned char)DOCUMENT[t->alike] ? t->alike + 1 : c == '"';
		t->document |= t->alike == sizeof(DOCUMENT) - 1;
		if (!DOCUMENT[t->alike])
			t->alike = 1;
	}
}

bool text_found(const struct text *t, bool ended)
{
	return !t->other && (t->seen == FIRST_TEXT || (ended && t->seen > 0 && t->rest == 0));
}
