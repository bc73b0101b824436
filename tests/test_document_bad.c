/* SPDX-License-Identifier: MIT */
/* document: what is read all the same, and what is refused, with the place and the reason. */
#include "document.h"

#include <pthread.h>
#include <sys/socket.h>

#include "base/signals.h"
#include "document/json.h"
#include "scratch.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define COUNTED "\"samples\": 10, \"under\": 0, \"over\": 3, \"nan\": 0"
#define RUN_END ", \"skipped\": 0, \"tail\": 0, \"inputs\": 1, \"part\": 2, \"parts\": 5, "
#define RUN "\"bytes\": 40" RUN_END
#define BINNING "\"type\": \"u32\", \"binning\": \"range\", \"range\": \"0:4\", "
#define FLAGS                                                                         \
	"\"closed\": false, \"clamp\": false, \"counter\": \"u64\", \"channel\": 0, " \
	"\"channels\": 1, "
#define VERSION "\"version\": \"0\"}"
#define UP_TO_OPTIONS RUN_END VERSION "}, \"metadata\": {" BINNING FLAGS "\"options\": \""
#define REST                                                                                 \
	"\"options\": \"--bins=4\", " VERSION                                                \
	", \"axes\": [{\"type\": \"regular\", "                                              \
	"\"lower\": 0, \"upper\": 4, \"bins\": 4, \"underflow\": true, \"overflow\": true, " \
	"\"circular\": false}], \"storage\": {\"type\": \"int\", \"values\": [0,1,2,3,1,3]}}"

static const char BASE[] = "{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {" COUNTED
			   ", " RUN VERSION "}, \"metadata\": {" BINNING FLAGS REST;

/* The base with its first `from` replaced; an empty one: `to` comes in front. */
static char *replaced(const char *from, const char *to)
{
	const char *const at = strstr(BASE, from);
	char *const text = malloc(sizeof(BASE) + strlen(to));

	CHECK(at, "no %s", from);
	sprintf(text, "%.*s%s%s", (int)(at - BASE), BASE, to, at + strlen(from));
	return text;
}

static void is_base(const struct document *document, const char *what)
{
	static const uint64_t COUNTS[] = {1, 2, 3, 1};
	const struct hist *const h = &document->hist;

	CHECK(h->channels == 1 && axis_bins(&h->axis) == 4 &&
		      memcmp(h->count, COUNTS, sizeof(COUNTS)) == 0 && h->flow[0].over == 3 &&
		      h->samples == 10 && document->from.part == 2 && document->from.parts == 5 &&
		      document->from.bytes == 40 && strcmp(document->options, "--bins=4") == 0 &&
		      document->from.options == document->options,
	      "%s", what);
}

static void accepted(void)
{
	static const struct {
		const char *from, *to;
	} CASES[] = {
		{"", ""},
		{"", " \n\t\r "},
		{"[0,1,2,3", "[ 0 ,\n1,\t2 , 3"},
		{"[0,1,2,3,", "[0, 1, 2, 3, "},
		{"\"u32\"", "\"\\u00753\\u0032\""},
		{"\"lower\": 0", "\"lower\": -0.0e5"},
		{"\"bytes\"", "\"stats_mean\": 2.5, \"bytes\""},
		{"\"version\": \"0\"}}", "\"version\": \"\\ud83d\\ude00\"}}"},
		{"\"lower\": 0, \"upper\": 4,", "\"lower\": 0e1, \"upper\": 4.0 ,"},
		{"\"axes\": [{\"type\": \"regular\", \"lower\": 0, \"upper\": 4, \"bins\": 4",
		 "\"axes\": [{\"type\": \"variable\", \"edges\": [0,1,2.0,3e0,4]"},
		{"\"values\": [0,1,2,3,1,3]", "\"index\": [[1,2,3,4,5]], \"values\": [1,2,3,1,3]"},
		{"\"values\": [0,1,2,3,1,3]",
		 "\"index\": [ [0, 1,2 ,3,4,5] ], \"values\": [0,1,2,3,1,3]"},
	};

	for (size_t i = 0; i < LENGTH(CASES); i++) {
		struct document document;
		struct fail fail;
		char *const text = replaced(CASES[i].from, CASES[i].to);
		CHECK(read_one(text, strlen(text), &document, &fail) == 1, "%s: %s", text,
		      fail.text);
		if (document.options)
			is_base(&document, text);
		document_free(&document);
		free(text);
	}
}

static void refused(void)
{
	static const struct {
		const char *from, *to, *why;
	} CASES[] = {
		{"{\"uhi", "[{\"uhi", "byte 1: an object expected, not '['"},
		{"3]}}", "3]}", "byte 544: more of a histogram expected, not the end"},
		{"\"uhi_schema\": 1", "\"uhi_schema\": 2", "byte 16: \"uhi_schema\" is 2, not 1"},
		{BASE, "{\"uhi_schema\": 1, \"metadata\": {" BINNING FLAGS REST,
		 "byte 1: gpuhist did not write it"},
		{"}, \"metadata\"", ", \"uhi\": {}}, \"metadata\"", "'}' expected, not ','"},
		{"\"uhi_schema\": 1", "\"uhi_schema\": 1, \"uhi_schema\": 1",
		 "byte 19: 'writer_info' expected, not 'uhi_schema'"},
		{"\"metadata\"", "\"about\"", "byte 1: gpuhist did not write it"},
		{"\"part\"", "\"part\": 2, \"part\"", "'parts' expected, not 'part'"},
		{"\"nan\": 0", "\"nan\": 1", "are not the 10 samples that gpuhist counted"},
		{"\"samples\": 10", "\"samples\": 18446744073709551616", "must be a whole number"},
		{"\"samples\": 10", "\"samples\": 1e1", "of digits alone"},
		{"\"under\": 0", "\"under\": 1", "its under and over are not"},
		{"3,1,3]", "3,1,3,0]", "more values than the 6 of its axis"},
		{"1,3]", "1,]", "a number expected, not ']'"},
		{"1,3]", "1.0,3]", "of digits alone"},
		{"[0,", "[-0,", "of digits alone"},
		/* 2^64 too many. */
		{"1,2,3,1,3]", "18446744073709551615,2,3,3,3]",
		 "are not the 10 samples that gpuhist counted"},
		{"\"u64\"", "\"u32\"", "\"counter\" is u32, not u64"},
		{"\"u32\"", "\"u33\"", "a type that is not known"},
		{"\"binning\": \"range\"", "\"binning\": \"ranges\"",
		 "a binning that is not known"},
		{"\"binning\": \"range\"", "\"binning\": \"log\"", "LO must be above 0"},
		{"\"binning\": \"range\"", "\"binning\": \"edges\"",
		 "a number of bins that such an axis"},
		{"\"binning\": \"range\"", "\"binning\": \"mod\"",
		 "\"underflow\" is true, not false"},
		{"\"binning\": \"range\"", "\"binning\": \"auto\"", "no \"most\""},
		{"\"binning\": \"range\"", "\"most\": 3, \"binning\": \"auto\"",
		 "bins that --auto does not make"},
		{"\"binning\": \"range\", \"range\": \"0:4\"",
		 "\"binning\": \"auto\", \"range\": \"0:8\", \"most\": 4", "\"upper\" is 4, not 8"},
		{"\"binning\": \"range\", \"range\": \"0:4\"",
		 "\"most\": 4, \"binning\": \"auto\", \"range\": \"1:17\"",
		 "bins that --auto does not make"},
		{"\"binning\": \"range\", \"range\": \"0:4\"",
		 "\"most\": 4, \"binning\": \"auto\", \"range\": \"0:4294967297\"",
		 "bins that --auto does not make"},
		{"\"0:4\"", "\"0:5\"", "\"upper\" is 4, not 5"},
		{"\"0:4\"", "\"4:0\"", "LO must be less than HI"},
		{"\"0:4\"", "\"04\"", "a range that is not LO:HI"},
		{"\"closed\": false", "\"closed\": true", NULL}, /* the same bins, the same edges */
		{"\"clamp\": false", "\"clamp\": true", "where they are clamped"},
		{"\"clamp\": false", "\"clamp\": 0", "\"clamp\" is of another kind"},
		{"\"upper\": 4", "\"upper\": 4.000000000000001",
		 "\"upper\" is 4.000000000000001, not 4"},
		{"\"bins\": 4", "\"bins\": 3", "more values than the 5 of its axis"},
		{"\"bins\": 4", "\"bins\": 268435457",
		 "\"bins\" must be a whole number from 0 to 268435456"},
		{"\"bins\": 4", "\"bins\": 268435456",
		 "fewer values than the 268435458 of its axis"},
		{"\"bins\": 4", "\"bins\": 0", "a number of bins that such an axis"},
		{"\"regular\"", "\"boolean\"", "\"type\" is boolean, not regular"},
		{"\"regular\", \"lower\": 0, \"upper\": 4, \"bins\": 4",
		 "\"variable\", \"edges\": [0,1,2,3.5,4]", "\"edges\" is not that of the metadata"},
		{"\"regular\", \"lower\": 0, \"upper\": 4, \"bins\": 4",
		 "\"variable\", \"edges\": [0,1,2,1e999,4]", "a number past the largest binary64"},
		{"\"regular\", \"lower\": 0, \"upper\": 4, \"bins\": 4",
		 "\"variable\", \"edges\": [0]", "an axis of 0 bins"},
		{"\"circular\": false", "\"circular\": true", "\"circular\" is true, not false"},
		{"\"int\"", "\"double\"", "\"type\" is double, not int"},
		{"\"values\": [0,1,2,3,1,3]", "\"index\": [[1,2,3,4]], \"values\": [1,2,3,1,3]",
		 "5 values, where the index has 4 places"},
		{"\"values\": [0,1,2,3,1,3]", "\"index\": [[1,2,3,3,5]], \"values\": [1,2,3,1,3]",
		 "must rise, from 0 to 5 at most"},
		{"\"values\": [0,1,2,3,1,3]", "\"index\": [[1,2,3,4,6]], \"values\": [1,2,3,1,3]",
		 "must rise, from 0 to 5 at most"},
		{"\"values\": [0,1,2,3,1,3]", "\"index\": [[0,1,2,3,4]], \"values\": [1,2,3,1,3]",
		 "its under and over are not"},
		{"\"values\": [0,1,2,3,1,3]",
		 "\"index\": [[1,2,3,4,5],[1,2,3,4,5]], \"values\": [1,2,3,1,3]",
		 "']' expected, not ','"},
		{"\"channels\": 1", "\"channels\": 2", "'channel0' expected, not 'uhi_schema'"},
		{"\"channels\": 1", "\"channels\": 65",
		 "\"channels\" must be a whole number from 0 to 64"},
		{"\"part\": 2", "\"part\": 0", "part 0 of 5"},
		{"\"part\": 2", "\"part\": 6", "part 6 of 5"},
		{"\"parts\": 5", "\"parts\": 5, \"inputs_state\": \"0123456789abcdef\"", NULL},
		{"\"parts\": 5", "\"parts\": 5, \"inputs_state\": \"0123456789ABCDEF\"",
		 "\"inputs_state\" is 0123456789ABCDEF, not 0123456789abcdef"},
		{"\"nan\": 0", "\"nan\": 0, \"clamped_under\": 0",
		 "'bytes' expected, not 'clamped_under'"},
		{"\"--bins=4\"", "\"--bins=4\\u0000\"", "\"options\" has a zero byte"},
		/* Statistics are left out only where they are members, each once. */
		{"\"bytes\"", "\"stats_a\": 1, \"stats_std\" } / 0.7, \"bytes\"", "expected, not"},
		{"\"bytes\"", "\"stats_a\": 1, \"stats_b\": 2, \"stats_\\u0061\": 1, \"bytes\"",
		 "\"stats_a\" twice"},
		{"\"version\": ", "\"version\": \"stats_a\": 1, ", "'}' expected, not ':'"},
		{"{\"type\": \"u32\"", "{\"stats_a\": 1, \"type\": \"u32\"",
		 "'type' expected, not 'stats_a'"},
		/* Bytes, samples and inputs agree, as far as the options say what a record is. */
		{"\"bytes\": 40", "\"bytes\": 9999999", "do not agree"},
		{"40, \"skipped\": 0", "47, \"skipped\": 7", NULL},
		{"\"skipped\": 0", "\"skipped\": 18446744073709551615",
		 "more is skipped and left over than there are bytes"},
		{"40, \"skipped\": 0, \"tail\": 0", "43, \"skipped\": 0, \"tail\": 3", NULL},
		{RUN,
		 "\"bytes\": 44, \"skipped\": 0, \"tail\": 4, \"inputs\": 1, \"part\": 1, "
		 "\"parts\": 1, ",
		 "its tail is longer"},
		{"\"inputs\": 1, \"part\": 2, \"parts\": 5",
		 "\"inputs\": 0, \"part\": 1, \"parts\": 1", "bytes of no input"},
		{"\"inputs\": 1", "\"inputs\": 0", NULL}, /* a part may begin inside one */
		/* Records may be of any size, which must hold the samples. */
		{"\"bytes\": 40" UP_TO_OPTIONS, "\"bytes\": 41" UP_TO_OPTIONS "--record=9 ", NULL},
		{"\"bytes\": 40" UP_TO_OPTIONS, "\"bytes\": 39" UP_TO_OPTIONS "--rows=5:99 ",
		 "do not agree"},
	};

	for (size_t i = 0; i < LENGTH(CASES); i++) {
		struct document document;
		struct fail fail;
		char *const text = replaced(CASES[i].from, CASES[i].to);
		const int rc = read_one(text, strlen(text), &document, &fail);
		if (!CASES[i].why) {
			CHECK(rc == 1, "%s", fail.text);
			document_free(&document);
		} else {
			CHECK(rc == -1 && fail.status == STATUS_DATA &&
				      strstr(fail.text, CASES[i].why) &&
				      strncmp(fail.text, "/proc/self/fd/", 14) == 0 &&
				      strstr(fail.text, ": document "),
			      "%s, not %s: %s", fail.text, CASES[i].why, text);
			CHECK(!document.options && !document.hist.count, "something is left");
		}
		free(text);
	}
}

/* Of --auto that clamps, the ends must hold what was clamped to them, and a sample of their own. */
static void clamped_ends(void)
{
	static const struct {
		const char *under, *over, *why;
	} CASES[] = {{"0", "0", NULL},
		     {"0", "2", NULL},
		     {"0", "3", NULL},
		     {"2", "0", "more samples clamped to a bin than it holds"},
		     {"0", "4", "more samples clamped to a bin than it holds"},
		     {"18446744073709551615", "18446744073709551615",
		      "more samples clamped to a bin than it holds"}};

	for (size_t i = 0; i < LENGTH(CASES); i++) {
		struct document document;
		struct fail fail;
		char flow[200], whole[2 * sizeof(BASE)];
		snprintf(flow, sizeof(flow),
			 "\"samples\": 10, \"under\": 0, \"over\": 0, \"nan\": 0, "
			 "\"clamped_under\": %s, \"clamped_over\": %s, ",
			 CASES[i].under, CASES[i].over);
		sprintf(whole, "{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {%s%s", flow,
			RUN VERSION "}, \"metadata\": {" BINNING "\"most\": 5, " FLAGS REST);
		char *const text = replaced(BASE, whole);
		memcpy(strstr(text, "range\""), "auto\" ", 6);
		memcpy(strstr(text, "clamp\": false"), "clamp\": true ", 13);
		memcpy(strstr(text, "0,1,2,3,1,3"), "0,1,2,4,3,0", 11);
		const int rc = read_one(text, strlen(text), &document, &fail);
		CHECK(CASES[i].why ? rc == -1 && strstr(fail.text, CASES[i].why)
				   : rc == 1 && document.hist.clamped[0].over ==
							(uint64_t)atoi(CASES[i].over),
		      "%s and %s: %s", CASES[i].under, CASES[i].over, fail.text);
		document_free(&document);
		free(text);
	}
	/* Without bins there are none to hold them. */
	struct document document;
	struct fail fail;
	struct hist h;
	size_t bytes;
	scratch_write("whole", "", 0);
	count_files("-t f32 --auto -b 4 --clamp whole", &h);
	const struct provenance from = origin(&h, 1);
	char *const text = written(write_json, &h, &from, &bytes);
	*(strstr(text, "clamped_under\": 0") + 16) = '5';
	CHECK(read_one(text, bytes, &document, &fail) == -1 &&
		      strstr(fail.text, "more samples clamped to a bin than it holds"),
	      "%s", fail.text);
	document_free(&document);
	free(text);
	hist_free(&h);
}

/* Channels by their names, in any order; all of them, and of one run. */
static void channels(void)
{
	static const struct {
		const char *format, *why; /* @1, @2: the channels; @3: the second, of another run */
	} CASES[] = {
		{"{\"channel0\": @1, \"channel1\": @2}", NULL},
		{"{\"channel1\": @2, \"channel0\": @1}", "not a UHI histogram"},
		{"{\"channel0\": @2, \"channel1\": @1}", "\"channel\" is 1, not 0"},
		{"{\"channel0\": @1}", "a value expected, not the end of the input"},
		{"{\"channel1\": @2}", "not a UHI histogram"},
		{"{\"channel0\": @1, \"channel01\": @2}", "'channel1' expected, not 'channel01'"},
		{"{\"channel0\": @1, \"channel1\": @3}", "\"inputs\" is 4, not 3"},
		{"{\"channel0\": @1, \"channel1\": @2, \"channel1\": @2}", "'}' expected, not ','"},
	};
	struct hist h;
	size_t bytes;

	scratch_write("whole", "abcdef", 6);
	count_files("-t i16 --mod -b 3 -c 3 -n 1 whole", &h);
	h.channels = 2;
	h.samples = 2;
	const struct provenance of = origin(&h, 1);
	char *const whole = written(write_json, &h, &of, &bytes), *const second = strstr(
									  whole, "\"channel1\"");
	char *const one = strstr(whole, "{\"uhi"), *const two = strstr(second, "{\"uhi");
	second[-2] = '\0';
	whole[bytes - 2] = '\0';
	char *const other = strdup(two);
	*strstr(other, "\"inputs\": 3") = ' ';
	memcpy(strstr(other, "inputs\": 3") - 1, "\"inputs\": 4", 11);
	for (size_t i = 0; i < LENGTH(CASES); i++) {
		struct document document;
		struct fail fail;
		char text[8000], *to = text;
		for (const char *from = CASES[i].format; *from != '\0'; from++)
			to += *from != '@' ? sprintf(to, "%c", *from)
					   : sprintf(to, "%s",
						     *++from == '1' ? one
						     : *from == '2' ? two
								    : other);
		const int rc = read_one(text, strlen(text), &document, &fail);
		CHECK(CASES[i].why ? rc == -1 && strstr(fail.text, CASES[i].why)
				   : rc == 1 && same_counts(&document.hist, &h),
		      "%s: %s: %s", CASES[i].format, fail.text, text);
		document_free(&document);
	}
	free(other);
	free(whole);
	hist_free(&h);
}

/* The second channel lists fewer edges than the first. */
static void fewer_edges(void)
{
	struct hist h;
	struct document document;
	struct fail fail;
	size_t bytes;

	scratch_write("whole", "", 0);
	count_files("-t f64 --edges=0,1,7 -c 2 whole", &h);
	const struct provenance from = origin(&h, 1);
	char *const text = written(write_json, &h, &from, &bytes);
	char *const edges = strstr(strstr(text, "channel1"), ",7]");
	CHECK(edges != NULL, "%s", text);
	memcpy(edges, "]  ", 3);
	CHECK(read_one(text, bytes, &document, &fail) == -1 &&
		      strstr(fail.text, "\"edges\" is not that of the metadata"),
	      "%s", fail.text);
	free(text);
	hist_free(&h);
}

/* The base with a text as its options, or with another value as a statistic. */
static char *with_value(const char *value)
{
	char *const member = malloc(strlen(value) + 32);

	sprintf(member, value[0] == '"' ? "%s" : "\"stats_x\": %s, \"bytes\"", value);
	char *const text = replaced(value[0] == '"' ? "\"--bins=4\"" : "\"bytes\"", member);
	free(member);
	return text;
}

/* What JSON has, and what it has not. */
static void values(void)
{
	static const struct {
		const char *value;
		bool json;
	} CASES[] = {
		{"0", true},
		{"-0", true},
		{"1E5", true},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff\"", true},
		{"\"\x7f\xc2\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\"", true},
		{"[1]", false},
		{"true", false},
		{"01", false},
		{".5", false},
		{"1.", false},
		{"1e", false},
		{"0x10", false},
		{"NaN", false},
		{"'a'", false},
		{"\"\\x\"", false},
		{"\"\\u12g4\"", false},
		{"\"\\ud800\"", false},
		{"\"\\ud800\\u0041\"", false},
		{"\"\\udc00\\ud800\"", false},
		{"\"\\ud83d\\ud83d\"", false},
		{"\"\n\"", false},
		{"\"\xc0\xaf\"", false},
		{"\"\xed\xa0\x80\"", false},
		{"\"\xf4\x90\x80\x80\"", false},
		{"\"\xe2\x82\"", false},
		{"", false},
		{"\"", false},
		{"\"\\", false},
		{"\"\\u12", false},
		{"/**/1", false},
	};

	for (size_t i = 0; i < LENGTH(CASES); i++) {
		struct document document;
		struct fail fail;
		char *const text = with_value(CASES[i].value);
		CHECK((read_one(text, strlen(text), &document, &fail) == 1) == CASES[i].json,
		      "%s: %s", CASES[i].value, fail.text);
		document_free(&document);
		/* It is where the input ends. */
		const char *const name = strstr(text, "stats_x\": "), *const options = strstr(
									      text, "options\": ");
		const size_t cut =
			(size_t)((name ? name : options) - text) + 10 + strlen(CASES[i].value);
		CHECK(read_one(text, cut, &document, &fail) == -1 && fail.status == STATUS_DATA,
		      "%.*s", (int)cut, text);
		free(text);
	}
}

/* A value that is `part`, `times`, between two ends. */
static void repeated(const char *begin, const char *part, size_t times, const char *end,
		     const char *why)
{
	const size_t n = strlen(part), head = strlen(begin);
	char *const value = malloc(head + n * times + strlen(end) + 1);
	struct document document;
	struct fail fail;
	char *to = value + sprintf(value, "%s", begin);

	for (size_t i = 0; i < times; i++, to += n)
		memcpy(to, part, n);
	strcpy(to, end);
	char *const text = with_value(value);
	const int rc = read_one(text, strlen(text), &document, &fail);
	CHECK(why ? rc == -1 && fail.status == STATUS_DATA && strstr(fail.text, why) : rc == 1,
	      "%s %zu times: %s", part, times, fail.text);
	document_free(&document);
	free(text);
	free(value);
}

/* What memory could grow by is bounded. */
static void bounds(void)
{
	repeated("", "[", 3000000, "", "more than 256 tokens");
	repeated("", "{\"a\":", 3000000, "", "more than 256 tokens");
	repeated("\"", "0123456789abcdef", (JSON_TEXT - 1024) / 16, "0123456789abcde\"", NULL);
	repeated("\"", "0123456789abcdef", JSON_TEXT / 16, "\"", "texts of more than");
	repeated("\"", "\\u00e9", JSON_TEXT / 2, "\"", "texts of more than");
	repeated("1", "0", JSON_NUMBER - 1, "", NULL);
	repeated("1", "0", JSON_NUMBER, "", "a number of more than");
	repeated("1", "0", 3000000, "", "a number of more than");
	repeated("1", ", \"stats_y\": 1", 20000, "", "\"stats_y\" twice");

	char member[9000], *to = member;
	struct document document;
	struct fail fail;
	for (int i = 0; i < 400; i++)
		to += sprintf(to, "\"stats_%d\": 1, ", i);
	strcpy(to, "\"bytes\"");
	char *const text = replaced("\"bytes\"", member);
	CHECK(read_one(text, strlen(text), &document, &fail) == -1 &&
		      strstr(fail.text, "more than 396 statistics"),
	      "%s", fail.text);
	free(text);
}

/* ---- documents in pieces ---- */

struct writer {
	int fd;
	const char *text;
	size_t bytes, piece;
};

static void *write_pieces(void *arg)
{
	const struct writer *const w = arg;

	for (size_t at = 0; at < w->bytes; at += w->piece) {
		const size_t n = w->bytes - at < w->piece ? w->bytes - at : w->piece;
		if (write(w->fd, w->text + at, n) != (ssize_t)n)
			break;
	}
	close(w->fd);
	return NULL;
}

/* Four documents that follow one another, as a pipe brings them, on standard input. */
static void pieces(void)
{
	static const size_t PIECES[] = {1, 2, 3, 7, 64, 1000, 100000};
	char text[5 * sizeof(BASE)];
	const int saved = dup(STDIN_FILENO);

	snprintf(text, sizeof(text), "\n%s%s \n\n%s\n%s\t", BASE, BASE, BASE, BASE);
	for (size_t i = 0; i < LENGTH(PIECES); i++) {
		int fds[2], rc;
		pthread_t thread;
		struct documents *d;
		struct document document;
		struct fail fail = {.status = STATUS_OK};
		unsigned n = 0;
		CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0, "no pair");
		struct writer w = {fds[1], text, strlen(text), PIECES[i]};
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		pthread_create(&thread, NULL, write_pieces, &w);
		CHECK(documents_open(&d, "-", &fail) == 0, "%s", fail.text);
		while ((rc = documents_next(d, &document, &fail)) == 1) {
			is_base(&document, "in pieces");
			document_free(&document);
			n++;
		}
		CHECK(rc == 0 && n == 4, "%zu bytes a piece: %u documents: %s", PIECES[i], n,
		      fail.text);
		documents_close(d);
		pthread_join(thread, NULL);
	}
	dup2(saved, STDIN_FILENO);
	close(saved);
}

int main(void)
{
	signals_init();
	scratch_enter();
	accepted();
	refused();
	clamped_ends();
	channels();
	fewer_edges();
	values();
	bounds();
	pieces();
	scratch_leave();
	return check_report();
}
