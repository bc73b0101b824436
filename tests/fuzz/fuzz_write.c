/*
 * writers: a small histogram of any counts over any bins, written in every format and read
 * again by the plainest of parsers, is the same histogram.
 */
#include "write.h"

#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define BINS 40

static char *text;      /* what was written, a zero behind it */
static const char *at;  /* how far it was read */

static void expect(const char *word)
{
	REQUIRE(strncmp(at, word, strlen(word)) == 0, "'%s' expected, not '%.40s'", word, at);
	at += strlen(word);
}

static void expect_count(uint64_t count)
{
	char *end;

	REQUIRE(isdigit((unsigned char)*at), "a count expected, not '%.40s'", at);
	const unsigned long long v = strtoull(at, &end, 10);
	REQUIRE(v == count && end - at <= 20 && (*at != '0' || end == at + 1), "%llu, not %llu", v,
		(unsigned long long)count);
	at = end;
}

static void expect_edge(const struct edges *e, uint32_t i)
{
	char *end;
	const double x = strtod(at, &end);

	REQUIRE(end > at && x == edges_value(e, i), "edge %lu is %a, not '%.40s'", (unsigned long)i,
		edges_value(e, i), at);
	at = end;
}

static uint64_t clipped(const struct job *job, uint64_t count)
{
	static const unsigned BITS[] = {64, 32, 8, 16, 32};
	const uint64_t most = UINT64_MAX >> (64 - BITS[job->counter]);

	return count > most ? most : count;
}

static void read_text(const struct job *job, const struct hist *h)
{
	const char comma[2] = {job->format == FORMAT_TSV ? '\t' : ',', '\0'};

	if (job->header) {
		const char *const names[] = {"bin", "lower", "upper", "count"};
		for (int i = 0; i < 4; i++) {
			expect(names[i]);
			expect(i < 3 ? comma : "\n");
		}
	}
	for (int64_t i = job->flow ? -1 : 0; i < h->bins + (job->flow ? 2 : 0); i++) {
		const bool bin = i >= 0 && i < h->bins;
		if (bin && job->nonzero && h->count[i] == 0)
			continue;
		if (bin)
			expect_count((uint64_t)i);
		else
			expect(i < 0 ? "under" : i == h->bins ? "over" : "nan");
		expect(comma);
		if (bin || i == h->bins)
			expect_edge(&job->edges, (uint32_t)i);
		else
			expect(i < 0 ? "-inf" : "nan");
		expect(comma);
		if (i < h->bins)
			expect_edge(&job->edges, (uint32_t)(i + 1));
		else
			expect(i == h->bins ? "inf" : "nan");
		expect(comma);
		const uint64_t count = bin ? h->count[i] : i < 0 ? h->under : i == h->bins ? h->over : h->nan;
		expect_count(clipped(job, count));
		expect("\n");
	}
}

static void read_raw(const struct job *job, const struct hist *h, size_t bytes)
{
	static const unsigned WIDTH[] = {8, 4, 1, 2, 4};
	struct bytes b = {(const uint8_t *)text, bytes};

	REQUIRE(bytes == (size_t)h->bins * WIDTH[job->counter], "%zu bytes", bytes);
	for (uint32_t i = 0; i < h->bins; i++) {
		const uint64_t count = take(&b, WIDTH[job->counter]);
		REQUIRE(count == clipped(job, h->count[i]), "bin %lu: %llu", (unsigned long)i,
			(unsigned long long)count);
	}
	at = text + bytes;
}

static void skip_space(void)
{
	at += strspn(at, " \n\t\r");
}

/* Any JSON value is walked over: braces, commas and quotes must be where they belong. */
static void json_value(void)
{
	skip_space();
	if (*at == '{' || *at == '[') {
		const char close = *at == '{' ? '}' : ']';
		at++;
		skip_space();
		for (bool first = true; *at != close; first = false) {
			if (!first)
				expect(",");
			skip_space();
			if (close == '}') {
				REQUIRE(*at == '"', "a name expected, not '%.40s'", at);
				json_value();
				expect(":");
			}
			json_value();
		}
		at++;
	} else if (*at == '"') {
		at += 1 + strcspn(at + 1, "\"\\\n");
		expect("\"");
	} else if (*at == 't' || *at == 'f') {
		expect(*at == 't' ? "true" : "false");
	} else { /* a number as JSON has them: no '+', no "inf", digits on both sides of a point */
		char *end;
		REQUIRE(*at == '-' || isdigit((unsigned char)*at), "a value expected, not '%.40s'", at);
		(void)strtod(at, &end);
		REQUIRE(isdigit((unsigned char)end[-1]), "no number: '%.40s'", at);
		at = end;
	}
	skip_space();
}

static void find(const char *word)
{
	at = strstr(text, word);
	REQUIRE(at, "no %s", word);
	at += strlen(word);
	skip_space();
}

static void read_json(const struct job *job, const struct hist *h, size_t bytes)
{
	at = text;
	json_value();
	REQUIRE(at == text + bytes, "more behind the object: '%.40s'", at);
	const struct {
		const char *name;
		uint64_t count;
	} MEMBERS[] = {{"\"samples\":", h->samples}, {"\"under\":", h->under}, {"\"over\":", h->over},
		       {"\"nan\":", h->nan}, {"\"bins\":", h->bins}};
	for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
		find(MEMBERS[i].name);
		expect_count(MEMBERS[i].count);
	}
	find("\"type\":");
	expect("\"");
	expect(job->type.name);
	expect("\"");
	find("\"closed\":");
	expect(job->edges.closed ? "true" : "false");
	find("\"clamp\":");
	expect(job->clamp ? "true" : "false");
	find("\"lower\":");
	expect_edge(&job->edges, 0);
	find("\"upper\":");
	expect_edge(&job->edges, h->bins);
	find("\"values\": [");
	for (int64_t i = -1; i <= h->bins; i++) {
		expect_count(i < 0 ? h->under : i == h->bins ? h->over : h->count[i]);
		skip_space();
		expect(i == h->bins ? "]" : ",");
		skip_space();
	}
	at = text + bytes;
}

static void write_and_read(const struct job *job, const struct hist *h)
{
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	char path[32];
	const int fd = memfd_create("output", MFD_CLOEXEC), copy = dup(fd);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy); /* commit closes it */
	REQUIRE(output_open(&out, path, &fail) == 0, "%s", fail.text);
	write_choose(job->format)(out, job, h);
	REQUIRE(!output_failed(out) && output_commit(out, &fail) == 0, "%s", fail.text);
	const size_t bytes = (size_t)lseek(fd, 0, SEEK_END);
	text = malloc(bytes + 1);
	REQUIRE(pread(fd, text, bytes, 0) == (ssize_t)bytes, "%zu bytes", bytes);
	text[bytes] = '\0';
	at = text;
	if (job->format == FORMAT_RAW)
		read_raw(job, h, bytes);
	else if (job->format == FORMAT_JSON)
		read_json(job, h, bytes);
	else
		read_text(job, h);
	REQUIRE(at == text + bytes, "more than was expected: '%.40s'", at);
	free(text);
	close(fd);
}

/* A count of any magnitude: the borders of the counters are near powers of two. */
static uint64_t take_count(struct bytes *b)
{
	const unsigned how = (unsigned)take(b, 1);

	if (how < 64)
		return how % 4 ? 0 : 1;
	return how < 128 ? take(b, 2) : how < 192 ? take(b, 8) : ((uint64_t)1 << how % 64) - how / 64 % 2;
}

/* Edges as options.c would make them, of two numbers that are any binary64 or small. */
static bool take_edges(struct job *job, struct bytes *b, uint32_t bins, unsigned flags)
{
	static const char *const TYPES[] = {"u8", "i16be", "u24", "u32", "i64", "u64be", "f16", "f32", "f64be"};
	struct edges_spec spec = {.bins = bins, .ranged = true, .closed = flags & 1, .full = flags & 2};
	char lo[NUMBER_TEXT], hi[NUMBER_TEXT];
	const char *why;

	const double x = take_double(b), y = take_double(b);
	snprintf(lo, sizeof(lo), "%.17g", flags & 4 ? x : (double)(int16_t)take(b, 2));
	snprintf(hi, sizeof(hi), "%.17g", flags & 4 ? y : 32768 + (double)take(b, 2));
	REQUIRE(sample_type_parse(&job->type, TYPES[take(b, 1) % 9]) == 0, "a type");
	return (spec.full || (number_parse(&spec.lo, lo, strlen(lo)) == 0 &&
			      number_parse(&spec.hi, hi, strlen(hi)) == 0)) &&
	       edges_init(&job->edges, &spec, &job->type, &why) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};
	struct job job = {.quiet = false};
	uint64_t counts[BINS];
	const unsigned flags = (unsigned)take(&b, 2);
	struct hist hist = {.bins = 1 + (uint32_t)take(&b, 1) % BINS, .count = counts};

	if (!take_edges(&job, &b, hist.bins, flags))
		return 0;
	job.header = flags & 8;
	job.nonzero = flags & 16;
	job.flow = flags & 32;
	job.clamp = flags & 64;
	job.counter = (enum counter_kind)((flags >> 8) % 5);
	hist.under = take_count(&b);
	hist.over = take_count(&b);
	hist.nan = take_count(&b);
	hist.samples = take_count(&b);
	for (uint32_t i = 0; i < hist.bins; i++)
		counts[i] = take_count(&b);
	for (int format = FORMAT_CSV; format <= FORMAT_JSON; format++) {
		job.format = (enum format)format;
		write_and_read(&job, &hist);
	}
	return 0;
}
