/* publish: what reaches the asked name, in which counters, and the rescue of counts past u32. */
#include "publish.h"

#include "check.h"
#include "scratch.h"

#define OVER_U32 ((uint64_t)UINT32_MAX + 1)

static struct job make_job(const char *output, enum format format, enum counter_kind counter,
			   uint32_t bins)
{
	struct job job = {.output = output, .output_named = true, .format = format,
			  .counter = counter, .header = true};
	struct edges_spec spec = {.bins = bins};
	const char *why;

	sample_type_parse(&job.type, "u32");
	edges_init(&job.edges, &spec, &job.type, &why);
	return job;
}

static int publish_to(const struct job *job, const struct hist *h, struct fail *fail)
{
	struct output *out;

	*fail = (struct fail){0};
	if (output_open(&out, job->output, fail) != 0)
		return -1;
	return publish(out, job, h, fail);
}

static void overflow(void)
{
	uint64_t count[3] = {7, OVER_U32, UINT64_MAX / 4};
	const struct hist h = {.bins = 3, .count = count, .under = 1, .over = 2,
			       .samples = 7 + OVER_U32 + UINT64_MAX / 4 + 3};
	static const char JSON[] =
		"{\"uhi_schema\": 1,\n\"writer_info\": {\"gpuhist\": {\"version\": \"" GPUHIST_VERSION
		"\"}},\n\"metadata\": {\"type\": \"u32\", \"binning\": \"range\", \"closed\": false, "
		"\"clamp\": false, \"samples\": 4611686022722355209, \"under\": 1, \"over\": 2, \"nan\": 0},\n"
		"\"axes\": [{\"type\": \"regular\", \"lower\": 0, \"upper\": 3, \"bins\": 3, "
		"\"underflow\": true, \"overflow\": true, \"circular\": false}],\n"
		"\"storage\": {\"type\": \"int\", \"values\": [\n"
		"1,\n7, 4294967296, 4611686018427387903,\n2\n]}}\n";
	static const enum format FORMATS[] = {FORMAT_RAW, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON};
	struct fail fail;

	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
		const struct job job = make_job("h", FORMATS[i], COUNTER_U32, 3);
		CHECK(publish_to(&job, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
		CHECK(strstr(fail.text, "h.rescue.json"), "'%s' does not name the file", fail.text);
		CHECK(access("h", F_OK) != 0, "something stands under the asked name");
		CHECK(scratch_holds("h.rescue.json", JSON), "the rescue file");
		CHECK(scratch_files() == 1, "%u files", scratch_files());
		scratch_clean();

		scratch_write("h", "old", 3);
		CHECK(publish_to(&job, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
		CHECK(scratch_holds("h", "old"), "the old file was touched");
		scratch_clean();
	}
	/* One less is no overflow, and other counters have none. */
	const struct job u32 = make_job("h", FORMAT_CSV, COUNTER_U32, 3);
	count[1] = count[2] = UINT32_MAX;
	CHECK(publish_to(&u32, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("h", "bin,lower,upper,count\n0,0,1,7\n1,1,2,4294967295\n2,2,3,4294967295\n"), "u32");
	CHECK(scratch_files() == 1, "no rescue");
	scratch_clean();
}

/* The same bound holds for the rows under, over, nan: they must not saturate in silence. */
static void overflow_of_flow_rows(void)
{
	uint64_t count[1] = {7};
	struct job job = make_job("h", FORMAT_CSV, COUNTER_U32, 1);
	struct fail fail;

	job.flow = true;
	for (int which = 0; which < 3; which++) {
		struct hist h = {.bins = 1, .count = count, .samples = 7 + OVER_U32};
		*(which == 0 ? &h.under : which == 1 ? &h.over : &h.nan) = OVER_U32;
		CHECK(publish_to(&job, &h, &fail) == -1 && fail.status == STATUS_LIMIT,
		      "row %d past u32 was published", which);
		CHECK(access("h", F_OK) != 0, "something stands under the asked name");
		scratch_clean();
		/* Where those rows are not written, they overflow nothing. */
		job.flow = false;
		CHECK(publish_to(&job, &h, &fail) == 0, "%s", fail.text);
		job.flow = true;
		scratch_clean();
	}
}

/* A name that is nearly as long as the folder takes has no room for ".rescue.json". */
static void rescue_of_long_name(void)
{
	uint64_t count[1] = {OVER_U32};
	const struct hist h = {.bins = 1, .count = count, .samples = OVER_U32};
	char name[251];
	struct fail fail;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	const struct job job = make_job(name, FORMAT_RAW, COUNTER_U32, 1);
	CHECK(publish_to(&job, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
	CHECK(scratch_files() == 1, "the exact histogram is lost: %.120s", fail.text);
	scratch_clean();
}

static void rescue_of_device(void)
{
	uint64_t count[1] = {OVER_U32};
	const struct hist h = {.bins = 1, .count = count, .samples = OVER_U32};
	const struct job job = make_job("/dev/null", FORMAT_RAW, COUNTER_U32, 1);
	struct fail fail;
	char name[64];

	CHECK(publish_to(&job, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
	snprintf(name, sizeof(name), "gpuhist-%ld.rescue.json", (long)getpid());
	CHECK(strstr(fail.text, name) && access(name, F_OK) == 0, "%s: %s", name, fail.text);
	scratch_clean();
}

static void raw(void)
{
	uint64_t count[5] = {0, 255, 256, 0x0102030405060708, OVER_U32};
	const struct hist h = {.bins = 5, .count = count};
	static const struct {
		enum counter_kind counter;
		size_t bytes;
		const char *data;
	} CASES[] = {
		{COUNTER_SAT8, 5, "\x00\xff\xff\xff\xff"},
		{COUNTER_SAT16, 10, "\x00\x00\xff\x00\x00\x01\xff\xff\xff\xff"},
		{COUNTER_SAT32, 20, "\0\0\0\0\xff\0\0\0\0\x01\0\0\xff\xff\xff\xff\xff\xff\xff\xff"},
		{COUNTER_U64, 40, "\0\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0"
				  "\x08\x07\x06\x05\x04\x03\x02\x01\0\0\0\0\x01\0\0\0"},
		{COUNTER_U32, 8, "\0\0\0\0\xff\0\0\0"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct hist part = h;
		if (CASES[i].counter == COUNTER_U32)
			part.bins = 2;
		const struct job job = make_job("r", FORMAT_RAW, CASES[i].counter, part.bins);
		struct fail fail;
		size_t bytes;
		CHECK(publish_to(&job, &part, &fail) == 0, "%s", fail.text);
		char *data = scratch_read("r", &bytes);
		CHECK(data && bytes == CASES[i].bytes && memcmp(data, CASES[i].data, bytes) == 0,
		      "counter %d: %zu bytes", (int)CASES[i].counter, bytes);
		free(data);
		scratch_clean();
	}
}

static void text(void)
{
	uint64_t count[3] = {0, 300, 70000};
	const struct hist h = {.bins = 3, .count = count, .under = 999, .over = 1, .nan = 2, .samples = 71302};
	struct job job = make_job("t", FORMAT_CSV, COUNTER_U64, 3);
	struct fail fail;

	CHECK(publish_to(&job, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t", "bin,lower,upper,count\n0,0,1,0\n1,1,2,300\n2,2,3,70000\n"), "csv");
	job.flow = job.nonzero = true;
	job.header = false;
	job.format = FORMAT_TSV;
	CHECK(publish_to(&job, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t", "under\t-inf\t0\t999\n1\t1\t2\t300\n2\t2\t3\t70000\n"
				 "over\t3\tinf\t1\nnan\tnan\tnan\t2\n"), "tsv");
	job.counter = COUNTER_SAT8;
	job.flow = false;
	CHECK(publish_to(&job, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("t", "1\t1\t2\t255\n2\t2\t3\t255\n"), "saturated");
	scratch_clean();
}

int main(void)
{
	output_init();
	scratch_enter();
	overflow();
	overflow_of_flow_rows();
	rescue_of_long_name();
	rescue_of_device();
	raw();
	text();
	scratch_leave();
	return check_report();
}
