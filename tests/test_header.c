/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * header: the facts found in headers of every kind, and the reasons why others are refused; and the
 * checks of fuzz_header on an input with a header, cut and changed at every byte, from a seed.
 */
#include "fuzz/fuzz_header.c"

#include "check.h"
#include "say.h"

typedef unsigned long long ull;

static uint64_t state = 0x686561646572;

/* Try an input of this size: a file, a pipe or a frame, with or without -S, -n, --ignore-tail. */
static void input(const struct made *m, size_t bytes)
{
	uint8_t data[6000];

	if (bytes + 3 > sizeof(data))
		return;
	for (unsigned i = 0; i < 3; i++)
		data[i] = (uint8_t)(check_random(&state) >> 40 & (i == 0 ? 255 : 31));
	memcpy(data + 3, m->at, bytes);
	CHECK(LLVMFuzzerTestOneInput(data, 3 + bytes) == 0, "%zu bytes", bytes);
}

/* Try it with all of its samples, with or without bytes after them; cut and changed at any byte. */
static void inputs(const struct made *m, uint64_t samples)
{
	static const char *const BEHIND[] = {"",
					     "a",
					     "ab",
					     "LIST\2\0\0\0ab",
					     "data\2\0\0\0ab",
					     "RIFF\2\0\0\0WAVE",
					     "P5 1 1 255\n"};
	static const size_t BYTES[] = {0, 1, 2, 10, 10, 12, 11};

	for (unsigned k = 0; k < 3 * sizeof(BYTES) / sizeof(BYTES[0]); k++) {
		struct made whole = {.at = NULL};
		put(&whole, m->at, m->bytes);
		for (uint64_t i = 0; i < samples && i < 1000; i++)
			put_number(&whole, i, 1);
		put(&whole, "", samples % 2);
		put(&whole, BEHIND[k / 3], BYTES[k / 3]);
		input(&whole, whole.bytes);
		for (size_t i = k; i <= whole.bytes; i += 21) {
			input(&whole, i);
			const unsigned char was = whole.at[i - (i == whole.bytes)];
			whole.at[i - (i == whole.bytes)] = (unsigned char)check_random(&state);
			input(&whole, whole.bytes);
			whole.at[i - (i == whole.bytes)] = was;
		}
		free(whole.at);
	}
}

/* A good header is found, but not in fewer bytes. */
static void good(const struct made *m, const char *text, uint64_t bytes)
{
	struct header_scan h;
	char found[HEADER_TEXT] = "";

	const enum header_result result = header_parse(&h, m->at, m->bytes);
	CHECK(result == HEADER_FOUND, "%s: %d: %s", text, result, h.why);
	if (result != HEADER_FOUND)
		return;
	header_text(found, &h.header);
	CHECK(strcmp(found, text) == 0, "%s: found %s", text, found);
	CHECK(h.header.begin == m->bytes && h.header.bytes == bytes,
	      "%s: begins at %llu, %llu bytes", text, (ull)h.header.begin, (ull)h.header.bytes);
	for (size_t n = 0; n < m->bytes && m->bytes < 5000; n++) {
		const enum header_result cut = header_parse(&h, m->at, n);
		CHECK(cut == (header_known(m->at, n) ? HEADER_BAD : HEADER_NONE) &&
			      (n < 12 || cut == HEADER_BAD),
		      "%s cut at %zu", text, n);
	}
	inputs(m, bytes);
}

static void npy_good(unsigned version, const char *dictionary, const char *text, uint64_t bytes)
{
	struct made m = {.at = NULL};

	put_npy(&m, version, dictionary);
	good(&m, text, bytes);
	free(m.at);
}

static void arrays(void)
{
	static const struct {
		const char *descr, *type;
		unsigned bytes;
	} TYPES[] = {
		{"|u1", "u8", 1},    {"|i1", "i8", 1},    {"<u2", "u16", 2}, {">u2", "u16be", 2},
		{"<i2", "i16", 2},   {">i4", "i32be", 4}, {"<u4", "u32", 4}, {"=u8", "u64", 8},
		{">i8", "i64be", 8}, {"|b1", "u8", 1},    {"<f2", "f16", 2}, {">f4", "f32be", 4},
		{"<f8", "f64", 8},   {"u1", "u8", 1},     {"<c8", "f32", 8}, {">c16", "f64be", 16},
	};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
		for (unsigned version = 1; version <= 3; version++) {
			char dictionary[128], text[HEADER_TEXT];
			const bool complex = strchr(TYPES[i].descr, 'c');
			snprintf(dictionary, sizeof(dictionary),
				 "{'descr': '%s', 'fortran_order': False, 'shape': (3, 5), }",
				 TYPES[i].descr);
			snprintf(text, sizeof(text), ".npy, %s, %s%u samples", TYPES[i].type,
				 complex ? "2 channels, " : "", complex ? 30u : 15u);
			npy_good(version, dictionary, text, 15 * TYPES[i].bytes);
		}
	npy_good(1, "{\"shape\":(7,),\"descr\":\"<f4\",\"fortran_order\":True}",
		 ".npy, f32, 7 samples", 28);
	npy_good(1, "{ 'shape' : () , 'descr' : '<f4' , 'fortran_order' : False , }",
		 ".npy, f32, 1 sample", 4);
	npy_good(1, "{'shape': (3L, 4L), 'descr': '<f4', 'fortran_order': False}",
		 ".npy, f32, 12 samples", 48);
	npy_good(1,
		 "{'shape': (9223372036854775807, 0, 99), 'descr': '<f4', 'fortran_order': False}",
		 ".npy, f32, 0 samples", 0);
	npy_good(1, "{'shape': (18446744073709551614,), 'descr': '|u1', 'fortran_order': False}",
		 ".npy, u8, 18446744073709551614 samples", 18446744073709551614u);

	struct made m = {.at = NULL};
	struct header_scan h;
	put_npy(&m, 1, "{'shape': (2, 3, 4), 'descr': '<f4', 'fortran_order': True}");
	CHECK(header_parse(&h, m.at, m.bytes) == HEADER_FOUND && h.header.last == 4 &&
		      h.header.fortran,
	      "%s", h.why);
	free(m.at);
}

static void waves(void)
{
	static const struct {
		struct wave wave;
		const char *text;
		uint64_t bytes;
	} WAVES[] = {
		{{"RIFF", 1, 2, 2, 16, false, 0, 400, 0, 0},
		 "WAVE, i16, 2 channels, 200 samples",
		 400},
		{{"RIFF", 1, 1, 1, 8, false, 0, 7, 0, 0}, "WAVE, u8, 7 samples", 7},
		{{"RIFF", 1, 6, 3, 24, true, 0, 36, 0, 0}, "WAVE, i24, 6 channels, 12 samples", 36},
		{{"RIFF", 1, 1, 3, 20, true, 0, 36, 0, 0},
		 "WAVE, i24, 12 samples, the upper 20 bits valid",
		 36},
		{{"RIFF", 1, 2, 4, 24, true, 0, 16, 0, 0},
		 "WAVE, i32, 2 channels, 4 samples, the upper 24 bits valid",
		 16},
		{{"RIFF", 1, 1, 8, 64, true, 0, 16, 0, 0}, "WAVE, i64, 2 samples", 16},
		{{"RIFF", 3, 2, 4, 32, false, 0, 16, 0, 0}, "WAVE, f32, 2 channels, 4 samples", 16},
		{{"RIFF", 3, 1, 8, 64, true, 26, 16, 0, 0}, "WAVE, f64, 2 samples", 16},
		{{"RIFX", 1, 2, 2, 16, false, 3, 400, 0, 0},
		 "WAVE, i16be, 2 channels, 200 samples",
		 400},
		{{"RIFX", 3, 1, 4, 32, true, 0, 400, 0, 0}, "WAVE, f32be, 100 samples", 400},
		{{"RF64", 1, 2, 2, 16, false, 0, UINT32_MAX, 6000000000, 0},
		 "WAVE, i16, 2 channels, 3000000000 samples",
		 6000000000},
		{{"BW64", 1, 1, 3, 24, true, 130001, UINT32_MAX, 6000000000, 0},
		 "WAVE, i24, 2000000000 samples",
		 6000000000},
		{{"RF64", 1, 1, 2, 16, false, 0, 8, 0, 0}, "WAVE, i16, 4 samples", 8},
	};

	for (size_t i = 0; i < sizeof(WAVES) / sizeof(WAVES[0]); i++) {
		struct made m = {.at = NULL};
		put_wave(&m, &WAVES[i].wave);
		good(&m, WAVES[i].text, WAVES[i].bytes);
		free(m.at);
	}

	struct made m;
	struct header_scan h;
	/* Sizes that writers to a pipe leave. */
	static const struct {
		uint32_t size, bytes;
		bool open;
		uint32_t after;
	} SIZES[] = {{0, 2, true, 0},
		     {0, 2, false, 12},
		     {0, 2, true, 0x7fffffff},
		     {0, 2, true, UINT32_MAX - 36},
		     {UINT32_MAX, 2, true, 0},
		     {0x7ffff000, 2, true, 0},
		     {0x7ffff000 - 1, 3, true, 0},
		     {0x7ffff000, 3, false, 0},
		     {0x7fffeffe, 2, false, 0},
		     {4, 2, false, 0}};
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		m = (struct made){.at = NULL};
		put_wave(&m, &(struct wave){.form = "RIFF",
					    .tag = 1,
					    .channels = 1,
					    .bytes = SIZES[i].bytes,
					    .bits = 8 * SIZES[i].bytes,
					    .size = SIZES[i].size,
					    .after = SIZES[i].after});
		CHECK(header_parse(&h, m.at, m.bytes) == HEADER_FOUND &&
			      h.header.open == SIZES[i].open,
		      "%zu: %s", i, h.why);
		free(m.at);
	}
}

static void pictures(void)
{
	static const struct {
		const char *header, *text;
		uint64_t bytes;
	} PICTURES[] = {
		{"P5 4 3 255\n", "PGM, u8, 12 samples", 12},
		{"P5\n# a comment, 1 2 3\n4 # and one\r3\n255 ", "PGM, u8, 12 samples", 12},
		{"P6\t4\n3\r255\f", "PPM, u8, 3 channels, 36 samples", 36},
		{"P6 4 3 256\n", "PPM, u16be, 3 channels, 36 samples", 72},
		{"P5 4 3 1\v", "PGM, u8, 12 samples", 12},
		{"P5   0004 003 65535\n", "PGM, u16be, 12 samples", 24},
		{"P5#1\n4#2\n3# 3\r255#4\n", "PGM, u8, 12 samples", 12},
	};

	for (size_t i = 0; i < sizeof(PICTURES) / sizeof(PICTURES[0]); i++) {
		const struct made m = {.at = (unsigned char *)strdup(PICTURES[i].header),
				       .bytes = strlen(PICTURES[i].header)};
		good(&m, PICTURES[i].text, PICTURES[i].bytes);
		free(m.at);
	}
}

/* A header is refused, with this reason in the message. */
static void refused(const struct made *m, const char *why)
{
	struct header_scan h;
	const enum header_result result = header_parse(&h, m->at, m->bytes);

	CHECK(result == HEADER_BAD && strstr(h.why, why), "%s: %d: %s", why, result, h.why);
	free(m->at);
}

static void bad_arrays(void)
{
	static const char *const BAD[][2] = {
		{"{'descr': '|b2', 'fortran_order': False, 'shape': (3,)}", "not a type"},
		{"{'descr': '>V2', 'fortran_order': False, 'shape': (3,)}", "not a type"},
		{"{'descr': '|V4', 'fortran_order': False, 'shape': (3,)}", "not a type"},
		{"{'descr': '>M8[ns]', 'fortran_order': False, 'shape': (3,)}",
		 "--raw -t i64be -S 128"},
		{"{'descr': '<m8', 'fortran_order': False, 'shape': (3,)}", "--raw -t i64 -S 128"},
		{"{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "Python object"},
		{"{'descr': '<U7', 'fortran_order': False, 'shape': (3,)}", "dtype '<U7' is text"},
		{"{'descr': '|S7', 'fortran_order': False, 'shape': (3,)}", "text"},
		{"{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}",
		 "dtype '<f16' is not a type"},
		{"{'descr': '<c32', 'fortran_order': False, 'shape': (3,)}", "'<c32'"},
		{"{'descr': '<c9', 'fortran_order': False, 'shape': (3,)}", "'<c9'"},
		{"{'descr': '|u2', 'fortran_order': False, 'shape': (3,)}", "'|u2'"},
		{"{'descr': '<u3', 'fortran_order': False, 'shape': (3,)}", "'<u3'"},
		{"{'descr': '<f', 'fortran_order': False, 'shape': (3,)}", "'<f'"},
		{"{'descr': '', 'fortran_order': False, 'shape': (3,)}", "dtype ''"},
		{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
		 " --record=4 --offset"},
		{"{'descr': [ (\"a\", '<f4') , ('b','>u2'),], 'shape': (3,)}",
		 " --record=6 --offset"},
		{"{'descr': [('a', '<M8[ns]'), ('b', '|S3'), ('c', '<U3'), ('d', '<c16')]}",
		 " --record=39 --offset"},
		{"{'descr': [('a', '<f4', (3,)), ('b', '<f4')]}", " --record=SIZE --offset"},
		{"{'descr': [('a', [('b', '<f4')])]}", " --record=SIZE --offset"},
		{"{'descr': [(('title', 'a'), '<f4')]}", " --record=SIZE --offset"},
		{"{'descr': [('a', '<f4'", " --record=SIZE --offset"},
		{"{'descr': ('<f4', (2,))}", " --record=SIZE --offset"},
		{"{'descr': 7, 'fortran_order': False, 'shape': (3,)}", "no dtype in quotes"},
		{"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}", "neither True nor False"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
		 "not a tuple of lengths"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3, -1)}",
		 "not a tuple of lengths"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}",
		 "not a tuple of lengths"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': [3]}", "no tuple after"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,", "not a tuple of lengths"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
		 "more than 2^64 bytes"},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
		 "more than 2^64 bytes"},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551616,)}",
		 "more than 2^64 bytes"},
		{"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
		 "more than 2^64 bytes"},
		{"{'descr': '<f4', 'fortran_order': False}", "no 'shape'"},
		{"{'descr': '<f4', 'shape': (3,)}", "no 'fortran_order'"},
		{"{'fortran_order': False, 'shape': (3,)}", "no 'descr'"},
		{"{}", "no 'descr'"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}",
		 "an unknown key 'x'"},
		{"{'descr': '<f4', 'fortran_order': False, 'descr': '<f4'}",
		 "a second key 'descr'"},
		{"{'descr' '<f4'}", "not a dictionary of"},
		{"{'descr': '<f4' 'fortran_order': False}", "no comma after 'descr'"},
		{"('descr', '<f4')", "not a dictionary"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x",
		 "more than a dictionary"},
	};

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct made m = {.at = NULL};
		put_npy(&m, 1, BAD[i][0]);
		refused(&m, BAD[i][1]);
	}
	struct made m = {.at = NULL};
	put(&m, "\x93NUMPY\4\0\0\0", 10);
	refused(&m, "version is 4.0");
	m = (struct made){.at = NULL};
	put(&m, "\x93NUMPY\1\0\0\0", 10);
	refused(&m, "0 bytes long");
	m = (struct made){.at = NULL};
	put(&m, "\x93NUMPY\2\0\x11\x27\0\0", 12);
	refused(&m, "10001 bytes long");
	m = (struct made){.at = NULL};
	put(&m, "\x93NUMPY\3\0\xff\xff\xff\xff", 12);
	refused(&m, "4294967295 bytes long");
	/* A header of 10000 bytes is accepted. */
	m = (struct made){.at = NULL};
	put(&m, "\x93NUMPY\2\0\x10\x27\0\0", 12);
	put_text(&m, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}");
	while (m.bytes < 10012)
		put_text(&m, " ");
	good(&m, ".npy, f32, 3 samples", 12);
	free(m.at);
}

/*
 * A 64-bit size of zero samples: the bytes after it are a chunk, if the size of the whole file is
 * larger.
 */
static void empty_wide_wave(uint64_t whole, uint64_t bytes)
{
	struct made m = {.at = NULL};

	put(&m, "BW64\xff\xff\xff\xffWAVEds64", 16);
	put_number(&m, 28, 4);
	put_number(&m, whole, 8);
	put_number(&m, 0, 8);
	put_number(&m, 0, 8);
	put_number(&m, 0, 4);
	put_text(&m, "fmt ");
	put_number(&m, 16, 4);
	put(&m, "\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0", 16);
	put(&m, "data\xff\xff\xff\xffLIST\2\0\0\0ab", 18);
	struct header_scan scan;
	CHECK(header_parse(&scan, m.at, m.bytes) == HEADER_FOUND && scan.header.open == (bytes > 0),
	      "%llu bytes in all", (unsigned long long)whole);
	free(m.at);
}

static void bad_waves(void)
{
	static const struct {
		struct wave wave;
		const char *why;
	} BAD[] = {
		{{"RIFF", 6, 1, 1, 8, false, 0, 8, 0, 0}, "format 6 is neither"},
		{{"RIFF", 0x55, 1, 2, 16, true, 0, 8, 0, 0}, "format 85 is neither"},
		{{"RIFF", 1, 0, 2, 16, false, 0, 8, 0, 0}, "0 channels"},
		{{"RIFF", 1, 3, 0, 16, false, 0, 8, 0, 0}, "blocks of 0 bytes for 3 channels"},
		{{"RIFF", 1, 1, 5, 40, false, 0, 8, 0, 0}, "integers of 5 bytes"},
		{{"RIFF", 3, 1, 2, 16, false, 0, 8, 0, 0}, "floats of 2 bytes"},
		{{"RIFF", 1, 1, 2, 17, false, 0, 8, 0, 0}, "17 bits in 2 bytes"},
		{{"RIFF", 1, 1, 2, 0, false, 0, 8, 0, 0}, "0 bits in 2 bytes"},
		{{"RIFF", 3, 1, 4, 24, true, 0, 8, 0, 0}, "24 valid bits in floats of 4 bytes"},
	};

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct made m = {.at = NULL};
		put_wave(&m, &BAD[i].wave);
		refused(&m, BAD[i].why);
	}
	struct made m = {.at = NULL};
	put(&m, "RIFF\0\0\0\0WAVEdata\4\0\0\0abcd", 24);
	refused(&m, "data chunk at offset 12 comes before the fmt chunk");
	m = (struct made){.at = NULL};
	put(&m, "RIFF\0\0\0\0WAVEfmt \4\0\0\0abcd", 24);
	refused(&m, "a fmt chunk of 4 bytes");
	m = (struct made){.at = NULL};
	put(&m, "RF64\0\0\0\0WAVEds64\4\0\0\0abcd", 24);
	refused(&m, "ds64 chunk has 4 bytes");
	m = (struct made){.at = NULL};
	put(&m, "RIFF\0\0\0\0WAVE", 12);
	for (unsigned i = 0; i < 1025; i++)
		put_chunk(&m, "abcd", 0, "x");
	refused(&m, "more than 1024 chunks");
	m = (struct made){.at = NULL};
	put_wave(&m,
		 &(struct wave){.form = "RIFF", .tag = 1, .channels = 1, .bytes = 2, .bits = 16});
	m.bytes -= 8;
	put_chunk(&m, "fmt ", 16, "x");
	refused(&m, "a second fmt chunk");
	m = (struct made){.at = NULL};
	put_wave(&m,
		 &(struct wave){.form = "RIFF", .tag = 1, .channels = 1, .bytes = 2, .bits = 16});
	m.bytes -= 8;
	refused(&m, "the input ends inside it, after 36 bytes");
}

static void bad_pictures(void)
{
	static const char *const BAD[][2] = {
		{"P5 0 3 255\n", "the width is 0"},
		{"P6 3 0 255\n", "the height is 0"},
		{"P5 3 3 0\n", "the maximum value is 0"},
		{"P5 3 3 65536\n", "the maximum value is 65536"},
		{"P5 3x3 255\n", "byte 0x78 at offset 4"},
		{"P5 3 3 255x", "maximum value"},
		{"P5 18446744073709551616 3 255\n", "the width is more than 2^64"},
		{"P6 4294967296 4294967296 255\n", "more than 2^64 bytes"},
		{"P6 4294967296 2147483648 255\n", "more than 2^64 bytes"},
		{"P5 3 3", "ends inside it, after 6 bytes"},
	};

	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct made m = {.at = NULL};
		put_text(&m, BAD[i][0]);
		refused(&m, BAD[i][1]);
	}
	struct made m = {.at = NULL};
	put_text(&m, "P5 # ");
	while (m.bytes < 5000)
		put_text(&m, "x");
	refused(&m, "longer than 4096 bytes");
}

/* Inputs without a known header, of every length. */
static void none(void)
{
	static const char *const NONE[] = {
		"RIFFabcdAVI LIST",    "RIFF\1\1\1\1WAVX", "P4 3 3 abcdefg",     "P5abcdefghijkl",
		"P7\nWIDTH 4\nHEIGHT", "P5 xabcdefghi",    "\x93NUMPX abcdefgh", "RIFZ\1\1\1\1WAVE",
		"abcdefghijklmn",      "BW65\1\1\1\1WAVE", "p5 4 4 255\n"};

	for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
		const unsigned char *p = (const unsigned char *)NONE[i];
		const struct input_format *format;
		struct header_scan h;
		CHECK(first_format(p, 12, FORMATS_TYPED, &format) == HEADER_NONE, "%s", NONE[i]);
		CHECK(header_parse(&h, p, strlen(NONE[i])) == HEADER_NONE, "%s", NONE[i]);
		for (size_t n = 0; n < 12; n++)
			CHECK(!header_known(p, n), "%s at %zu", NONE[i], n);
	}
}

int main(int argc, char **argv)
{
	LLVMFuzzerInitialize(&argc, &argv);
	arrays();
	waves();
	pictures();
	bad_arrays();
	empty_wide_wave(82, 0);
	empty_wide_wave(72, 10);
	empty_wide_wave(UINT64_MAX, 10);
	bad_waves();
	bad_pictures();
	none();
	return check_report();
}
