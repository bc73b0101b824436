/* SPDX-License-Identifier: MIT */
/*
 * hist_hint: floats of many shapes counted as integers, and integers counted as floats, are told;
 * integers of many shapes counted as integers, and floats as floats, are not mistaken, nor are
 * noise, zeros and text.
 */
#include "hist/hist_hint.h"

#include <getopt.h>
#include <math.h>

#include "check.h"
#include "cli/options.h"
#include "run.h"
#include "scratch.h"

#define SAMPLES 40000u

static unsigned char bytes[SAMPLES * 8];
static uint64_t seed = 1;

static double uniform(void)
{
	return (double)(check_random(&seed) >> 11) * 0x1p-53;
}

static double bell(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

static double falling(void)
{
	return -log(1 - uniform());
}

/* The hint for what is in bytes, `size` each. */
static struct hint hint_for(const char *type, const char *option, size_t size, bool certain)
{
	char *argv[] = {"gpuhist", "-t", (char[8]){0}, "--device=cpu", (char[24]){0}, "x", NULL};
	struct hint hint = {.kind = HINT_NONE};
	struct run_report report;
	struct fail fail = {.status = STATUS_OK};
	struct hist h;
	struct job job;

	scratch_write("x", bytes, SAMPLES * size);
	strcpy(argv[2], type);
	strcpy(argv[4], option);
	optind = 0;
	if (options_parse(&job, 6, argv, &fail) == OPTIONS_RUN &&
	    run_job(&job, &h, &report, &fail) == 0) {
		hint = hist_hint(&h, certain);
		hist_free(&h);
	}
	CHECK(fail.status == STATUS_OK, "%s %s: %s", type, option, fail.text);
	options_free(&job);
	return hint;
}

static uint64_t code_of(const char *type, double x)
{
	const float narrow = (float)x;
	uint64_t wide;
	uint32_t code;

	memcpy(&wide, &x, sizeof(wide));
	memcpy(&code, &narrow, sizeof(code));
	if (strcmp(type, "f64") == 0)
		return wide;
	if (strcmp(type, "f32") == 0)
		return code;
	if (strcmp(type, "bf16") == 0)
		return code >> 16;
	/* f16, cut: below 2^-14 in steps of 2^-24. */
	const uint32_t sign = code >> 16 & 0x8000, magnitude = code & 0x7fffffff;
	if (fabs(x) < 0x1p-14)
		return sign | (uint32_t)(fabs(x) * 0x1p24);
	return sign | ((magnitude >> 13) - ((127 - 15) << 10));
}

static void store(size_t size, bool big, uint32_t i, uint64_t code)
{
	for (size_t k = 0; k < size; k++)
		bytes[i * size + k] = (unsigned char)(code >> 8 * (big ? size - 1 - k : k));
}

/* Shapes of floats whose density near 0 is neither 0 nor infinite. */
static double shape(unsigned which, uint32_t i)
{
	switch (which) {
	case 0:
		return 2 * uniform() - 1;
	case 1:
		return uniform();
	case 2:
		return bell();
	case 3:
		return falling();
	case 4:
		return uniform() < 0.3 ? (i % 2 == 0 ? 0 : -0.0)
				       : 0.05 * bell(); /* with zeros of both signs */
	case 5:
		return sin(0.1234 * i);
	case 6:
		return floor(32768 * 0.3 * sin(0.1234 * i)) / 32768; /* of 16 bits */
	default:
		return floor(256 * uniform()); /* a picture */
	}
}

static void floats_are_told(void)
{
	static const struct {
		const char *is, *as[2];
		size_t size;
	} TYPES[] = {{"f16", {"u16", "i16"}, 2},
		     {"bf16", {"u16", "i16"}, 2},
		     {"f32", {"u32", "i32"}, 4},
		     {"f64", {"u64", "i64"}, 8}};

	for (size_t t = 0; t < 4; t++)
		for (unsigned s = 0; s < 8; s++) {
			/* A picture's zeros make bins too wide for bf16 and f64. */
			if (s == 7 && (t == 1 || t == 3))
				continue;
			for (unsigned big = 0; big < 2; big++)
				for (unsigned as = 0; as < 2; as++) {
					char type[8], wanted[8];
					snprintf(type, sizeof(type), "%s%s", TYPES[t].as[as],
						 big ? "be" : "");
					snprintf(wanted, sizeof(wanted), "%s%s", TYPES[t].is,
						 big ? "be" : "");
					for (uint32_t i = 0; i < SAMPLES; i++)
						store(TYPES[t].size, big, i,
						      code_of(TYPES[t].is, shape(s, i)));
					struct hint hint =
						hint_for(type, "-q", TYPES[t].size, false);
					CHECK(hint.kind == HINT_FLOATS &&
						      strcmp(hint.type, wanted) == 0,
					      "%s of shape %u as %s: %d %s", wanted, s, type,
					      hint.kind, hint.type);
					hint = hint_for(type, "-q", TYPES[t].size, true);
					CHECK(hint.kind == HINT_NONE, "%s is certain, and %d", type,
					      hint.kind);
					if (as == 1)
						continue;
					hint = hint_for(wanted, "-q", TYPES[t].size, false);
					CHECK(hint.kind == HINT_NONE, "%s as it is: %d", wanted,
					      hint.kind);
				}
		}
}

/* A shape of integers, in parts of the largest one. */
static double integer_shape(unsigned which, uint32_t i, double part)
{
	switch (which) {
	case 0:
		return part * bell();
	case 1:
		return part * falling();
	case 2:
		return 0.3 + 0.1 * part * bell();
	case 3:
		return 0.5 + 0.1 * part * bell();
	case 4:
		return 0.7 - 0.1 * part * falling(); /* pulses below a level */
	case 5:
		return part * uniform();
	case 6:
		return sin(0.01 * i) > 0 ? 0.5 : -0.5;
	case 7:
		return 0.5 * sin(0.01 * i);
	case 8:
		return exp(-30 * uniform());
	default:
		return 0;
	}
}

static void integers_are_not_mistaken(void)
{
	static const double PARTS[] = {1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.4, 1};
	unsigned jobs = 0;

	for (unsigned size = 2; size <= 8; size *= 2)
		for (unsigned s = 0; s < 10; s++)
			for (size_t p = 0; p < sizeof(PARTS) / sizeof(PARTS[0]); p++) {
				const double most = ldexp(1, (int)(8 * size - 1));
				for (unsigned as = 0; as < 3; as++) {
					char type[8];
					snprintf(type, sizeof(type), "%c%u", as == 1 ? 'i' : 'u',
						 8 * size);
					for (uint32_t i = 0; i < SAMPLES; i++) {
						const double x = integer_shape(s, i, PARTS[p]);
						const double n =
							floor(fmax(-1, fmin(x, 0.999)) * most);
						/*
						 * 2: from the middle of the range, as converters
						 * give
						 */
						store(size, false, i,
						      (uint64_t)(int64_t)n +
							      (as == 2 ? (uint64_t)1
										 << (8 * size - 1)
								       : 0));
					}
					const struct hint hint = hint_for(type, "-q", size, false);
					CHECK(hint.kind == HINT_NONE, "%s of shape %u, %g: %d %s",
					      type, s, PARTS[p], hint.kind, hint.type);
					jobs++;
				}
			}
	CHECK(jobs == 720, "%u jobs", jobs);
}

/*
 * Pulses below a level fall by halves as floats do. Bins of --range=full are too coarse to see that
 * they do not in steps.
 */
static void coarse_bins_show_less(void)
{
	static const double SCALES[] = {0.002, 0.004, 0.0056, 0.008, 0.016, 0.03, 0.045, 0.06};
	static const double LEVELS[] = {0.3, 0.45, 0.5, 0.7};

	for (unsigned size = 2; size <= 8; size *= 2)
		for (size_t s = 0; s < sizeof(SCALES) / sizeof(SCALES[0]); s++)
			for (size_t l = 0; l < sizeof(LEVELS) / sizeof(LEVELS[0]); l++) {
				char type[8];
				snprintf(type, sizeof(type), "u%u", 8 * size);
				for (uint32_t i = 0; i < SAMPLES; i++)
					store(size, false, i,
					      (uint64_t)(fmax(0,
							      LEVELS[l] - SCALES[s] * falling()) *
							 ldexp(1, (int)(8 * size - 1))));
				const struct hint hint = hint_for(type, "-rfull", size, false);
				CHECK(hint.kind == HINT_NONE || hint.kind == HINT_ONE_BIN,
				      "%s, %g below %g: %d %s", type, SCALES[s], LEVELS[l],
				      hint.kind, hint.type);
			}
	/* Values of both signs show enough. */
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(4, false, i, code_of("f32", shape(0, i)));
	CHECK(hint_for("u32", "-rfull", 4, false).kind == HINT_FLOATS,
	      "f32 of both signs, --range=full");
}

/*
 * Floats of exponents that are rare are left alone; denormals of f16 are as many as the block above
 * them.
 */
static void small_floats(void)
{
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(4, false, i, code_of("f32", 1e-30 * shape(0, i)));
	CHECK(hint_for("u32", "-q", 4, false).kind == HINT_NONE, "f32 near 1e-30");
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(2, false, i, code_of("f16", 0x1p-7 * shape(0, i)));
	CHECK(hint_for("u16", "-q", 2, false).kind == HINT_FLOATS, "f16 below 2^-7");
}

static void noise_is_nothing(void)
{
	static const char *const TYPES[] = {"u8",  "u16", "i16", "u24", "u32",  "i32",  "u64",
					    "i64", "f16", "f32", "f64", "bf16", "u32be"};
	static const unsigned char TEXT[] = " etaoinshrdlu\n";

	for (unsigned fill = 0; fill < 4; fill++)
		for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++) {
			for (size_t i = 0; i < sizeof(bytes); i++)
				bytes[i] = fill == 0   ? (unsigned char)(check_random(&seed) >> 32)
					   : fill == 1 ? 0
					   : fill == 2 ? 255
						       : TEXT[(check_random(&seed) >> 32) %
							      (sizeof(TEXT) - 1)];
			const struct hint hint = hint_for(TYPES[t], "-q", 6, false);
			CHECK(hint.kind == HINT_NONE, "%s of fill %u: %d %s", TYPES[t], fill,
			      hint.kind, hint.type);
		}
}

static void integers_are_told(void)
{
	static const struct {
		const char *as, *is[2];
		size_t size;
		double most;
	} TYPES[] = {{"f32", {"u32", "i32"}, 4, 8e6},
		     {"f64", {"u64", "i64"}, 8, 4e15},
		     {"bf16", {"u16", "i16"}, 2, 100},
		     {"f32", {"u32", "i32"}, 4, 255}};

	for (size_t t = 0; t < 4; t++)
		for (unsigned sign = 0; sign < 2; sign++)
			for (unsigned big = 0; big < 2; big++) {
				char as[8], is[8];
				snprintf(as, sizeof(as), "%s%s", TYPES[t].as, big ? "be" : "");
				snprintf(is, sizeof(is), "%s%s", TYPES[t].is[sign],
					 big ? "be" : "");
				for (uint32_t i = 0; i < SAMPLES; i++)
					store(TYPES[t].size, big, i,
					      (uint64_t)(int64_t)((uniform() - (sign ? 0.5 : 0)) *
								  TYPES[t].most));
				const struct hint hint = hint_for(as, "-q", TYPES[t].size, false);
				CHECK(hint.kind == HINT_INTEGERS && strcmp(hint.type, is) == 0,
				      "%s up to %g as %s: %d %s", is, TYPES[t].most, as, hint.kind,
				      hint.type);
			}
	/* Denormals of f16 are numbers that are in use; so are small floats. */
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(2, false, i, code_of("f16", 1e-5 * uniform()));
	CHECK(hint_for("f16", "-q", 2, false).kind == HINT_NONE, "small f16");
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(4, false, i, code_of("f32", 1e-30 * uniform()));
	CHECK(hint_for("f32", "-q", 4, false).kind == HINT_NONE, "small f32");
}

static void ranges(void)
{
	for (uint32_t i = 0; i < SAMPLES; i++)
		store(4, false, i, i % 1000 + 500);
	static const struct {
		const char *option;
		enum hint_kind kind;
		uint32_t bin;
	} CASES[] = {{"-r0:500", HINT_OUTSIDE, 0},
		     {"-r1000:1e6", HINT_NONE, 0},
		     {"-r1001:1e6", HINT_OUTSIDE, 0},
		     {"-rfull", HINT_ONE_BIN, 0},
		     {"-r-1e6:1e6", HINT_ONE_BIN, 128},
		     {"-b1500", HINT_NONE, 0},
		     {"--edges=0,1e4,2e4", HINT_NONE, 0},
		     {"--edges=0,1,2,1e4,2e4", HINT_ONE_BIN, 2},
		     {"-b1000", HINT_NONE, 0},
		     {"-b999", HINT_OUTSIDE, 0},
		     {"--auto", HINT_NONE, 0}};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct hint hint = hint_for("u32", CASES[i].option, 4, false);
		CHECK(hint.kind == CASES[i].kind &&
			      (hint.kind != HINT_ONE_BIN || hint.bin == CASES[i].bin),
		      "%s: %d %u", CASES[i].option, hint.kind, hint.bin);
	}
}

int main(void)
{
	scratch_enter();
	floats_are_told();
	integers_are_told();
	integers_are_not_mistaken();
	coarse_bins_show_less();
	small_floats();
	noise_is_nothing();
	ranges();
	scratch_leave();
	return check_report();
}
