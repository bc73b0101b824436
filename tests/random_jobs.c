/* random_jobs.c - gives gpuhist and the oracle the same random jobs
 *
 *   random_jobs GPUHIST ORACLE SEED JOBS [SECONDS] [-- OPTION...]
 *   random_jobs GPUHIST ORACLE SEED --only K [-- OPTION...]
 *
 * A job is a type, a binning, flags, data that sits on the edges, and a route
 * by which the data comes. Each follows from SEED and its number alone, so
 * that --only K repeats job K. gpuhist gets the inputs by that route, the
 * oracle gets plain files of the same bytes; standard output and exit status
 * must be the same. The OPTIONs after -- are given to gpuhist in every job,
 * in the place of a device drawn by chance.
 *
 * The inputs of a failed job stay in a folder that the report names.
 *
 * Contents: chance, types, ranges, data, inputs, command lines, processes,
 * the verdict. Each part knows only those above it.
 */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pack.h"

__extension__ typedef __int128 wide;

enum {
	HANG_SECONDS = 60,	/* gpuhist is then taken to be stuck */
	MAX_INPUTS = 4,
	MAX_ARGS = 64,
	MAX_EDGE_KEYS = 256,	/* edges of a job that its data sits on */
	MAX_KEPT = 20,		/* folders of failed jobs that stay */
	PATH_BYTES = 512,
};

/* Lies in the oracle's reach: it takes whole bounds below 2^96. */
#define FAR_OUT ((wide)1 << 90)

static void die(const char *what)
{
	fprintf(stderr, "random_jobs: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- chance: splitmix64, one stream for each job ---- */

static uint64_t chance_state;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t draw(void)
{
	return mix(chance_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* 0 to n - 1; the bias of the remainder does not matter here. */
static uint64_t below(uint64_t n)
{
	return draw() % n;
}

/* True once in n. */
static bool once_in(uint64_t n)
{
	return below(n) == 0;
}

/* Every magnitude below 2^bits is as likely as every other. */
static uint64_t draw_magnitude(unsigned bits)
{
	unsigned length = (unsigned)below(bits + 1);

	return length ? draw() >> (64 - length) : 0;
}

/* ---- types: codes, and keys, which are codes in the order of values ---- */

enum kind { UNSIGNED, SIGNED, FLOAT };

struct type {
	const char *name;	/* the SPEC's */
	const char *numpy;	/* behind the order character; NULL: has none */
	const char *word;	/* numpy's long name; NULL: has none */
	unsigned bits;		/* of a sample */
	enum kind kind;		/* what they mean */
	unsigned exponent_bits;	/* FLOAT: width of the exponent field */
};

static const struct type types[] = {
	{ "u8", "u1", "uint8", 8, UNSIGNED, 0 },
	{ "i8", "i1", "int8", 8, SIGNED, 0 },
	{ "u16", "u2", "uint16", 16, UNSIGNED, 0 },
	{ "i16", "i2", "int16", 16, SIGNED, 0 },
	{ "u24", NULL, NULL, 24, UNSIGNED, 0 },
	{ "i24", NULL, NULL, 24, SIGNED, 0 },
	{ "u32", "u4", "uint32", 32, UNSIGNED, 0 },
	{ "i32", "i4", "int32", 32, SIGNED, 0 },
	{ "u64", "u8", "uint64", 64, UNSIGNED, 0 },
	{ "i64", "i8", "int64", 64, SIGNED, 0 },
	{ "f16", "f2", "float16", 16, FLOAT, 5 },
	{ "bf16", NULL, NULL, 16, FLOAT, 8 },
	{ "f32", "f4", "float32", 32, FLOAT, 8 },
	{ "f64", "f8", "float64", 64, FLOAT, 11 },
};

static uint64_t sign_of(const struct type *t)
{
	return (uint64_t)1 << (t->bits - 1);
}

static uint64_t mask_of(const struct type *t)
{
	return sign_of(t) * 2 - 1;
}

static uint64_t infinity_of(const struct type *t)
{
	return sign_of(t) - ((uint64_t)1 << (t->bits - 1 - t->exponent_bits));
}

static uint64_t code_of_key(const struct type *t, uint64_t key)
{
	key &= mask_of(t);
	if (t->kind == UNSIGNED)
		return key;
	if (t->kind == SIGNED || key & sign_of(t))
		return key ^ sign_of(t);
	return ~key & mask_of(t);
}

static wide min_of(const struct type *t)
{
	return t->kind == SIGNED ? -(wide)sign_of(t) : 0;
}

static wide max_of(const struct type *t)
{
	return min_of(t) + (wide)mask_of(t);
}

static uint64_t key_of_whole(const struct type *t, wide x)
{
	if (x < min_of(t))
		x = min_of(t);
	if (x > max_of(t))
		x = max_of(t);
	return (uint64_t)(x - min_of(t));
}

static double real_of_key(const struct type *t, uint64_t key)
{
	uint64_t code = code_of_key(t, key);
	int places = (int)(t->bits - 1 - t->exponent_bits);
	uint64_t one = (uint64_t)1 << places;
	int exponent = (int)((code & ~sign_of(t)) >> places);
	int bias = (1 << (t->exponent_bits - 1)) - 1;
	double x;

	if ((code & ~sign_of(t)) == infinity_of(t))
		x = (double)INFINITY;
	else if (exponent)
		x = ldexp((double)((code & (one - 1)) | one), exponent - bias - places);
	else
		x = ldexp((double)(code & (one - 1)), 1 - bias - places);
	return code & sign_of(t) ? -x : x;
}

/* The key of the smallest sample that is not below x. */
static uint64_t key_of_real(const struct type *t, double x)
{
	uint64_t low = ~(infinity_of(t) | sign_of(t)) & mask_of(t);
	uint64_t high = infinity_of(t) | sign_of(t);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (real_of_key(t, middle) < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Any finite sample of a float type. */
static uint64_t draw_finite_key(const struct type *t)
{
	uint64_t magnitude = once_in(2) ? below(infinity_of(t)) :
			     draw_magnitude(t->bits - 1) % infinity_of(t);

	return once_in(2) ? sign_of(t) + magnitude : sign_of(t) - 1 - magnitude;
}

/* ---- ranges ---- */

struct job {
	const struct type *type;	/* of the samples */
	bool big_endian;	/* their byte order */
	uint64_t bins;		/* N */
	char lo[80], hi[80];	/* the range as written; "" and "": none, or full */
	bool full;		/* --range=full */
	bool exact;		/* whole bounds, integer samples */
	wide whole_lo, whole_hi;	/* exact: the bounds */
	double real_lo, real_hi;	/* not exact: the bounds */
	uint64_t edge_key[MAX_EDGE_KEYS];	/* first samples of some bins */
	unsigned edge_keys;	/* how many there are */
	uint64_t skip;		/* --skip */
	bool limited;		/* --count is given */
	uint64_t limit;		/* --count */
	bool quiet;		/* -q */
};

static void write_whole(char *text, size_t size, wide x)
{
	char digits[64];
	size_t at = sizeof(digits) - 1, zeros = 0;
	bool negative = x < 0;

	digits[at] = '\0';
	for (wide rest = x; rest || !digits[at]; rest /= 10)
		digits[--at] = (char)('0' + abs((int)(rest % 10)));
	if (negative)
		digits[--at] = '-';
	while (x != 0 && digits[sizeof(digits) - 2 - zeros] == '0')
		zeros++;
	if (zeros && once_in(3)) {
		digits[sizeof(digits) - 1 - zeros] = '\0';
		snprintf(text, size, "%se%zu", digits + at, zeros);
	} else {
		snprintf(text, size, "%s%s", digits + at, once_in(20) ? ".0" : "");
	}
}

static void set_whole_range(struct job *j, wide lo, wide hi)
{
	if (lo < -FAR_OUT)
		lo = -FAR_OUT;
	if (hi <= lo && !once_in(20))	/* a usage error at times */
		hi = lo + 1;
	j->exact = true;
	j->whole_lo = lo;
	j->whole_hi = hi;
	write_whole(j->lo, sizeof(j->lo), lo);
	write_whole(j->hi, sizeof(j->hi), hi);
}

/* Where something in the program or the machine changes its width. */
static wide draw_landmark(void)
{
	static const unsigned bits[] = { 0, 7, 8, 10, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64 };
	wide x = (wide)1 << bits[below(sizeof(bits) / sizeof(bits[0]))];

	return once_in(3) ? -x : x;
}

static wide draw_whole(const struct type *t)
{
	return once_in(2) ? min_of(t) + (wide)(draw() & mask_of(t)) :
	       once_in(2) ? -(wide)draw_magnitude(t->bits) : (wide)draw_magnitude(t->bits);
}

static void draw_whole_range(struct job *j)
{
	const struct type *t = j->type;
	wide n = (wide)j->bins, lo = draw_whole(t), hi;

	switch (below(8)) {
	case 0:	/* bins of one value, or of a few */
		set_whole_range(j, lo, lo + n * (wide)(1 + below(4)));
		break;
	case 1:	/* every width */
		set_whole_range(j, lo, lo + (wide)draw_magnitude(t->bits) * 2 + 1);
		break;
	case 2:	/* bins finer than whole numbers */
		set_whole_range(j, lo, lo + 1 + (wide)below(j->bins));
		break;
	case 3:	/* about a landmark */
		lo = draw_landmark() - (wide)below(j->bins + 5);
		set_whole_range(j, lo, lo + 1 + (wide)below(2 * j->bins + 2));
		break;
	case 4:	/* between two landmarks */
		hi = draw_landmark() + (wide)below(5) - 2;
		lo = draw_landmark() + (wide)below(5) - 2;
		set_whole_range(j, lo < hi ? lo : hi, lo < hi ? hi : lo);
		break;
	case 5:	/* beyond the type */
		lo = min_of(t) - (wide)draw_magnitude(63) * (wide)(draw_magnitude(26) + 1);
		hi = max_of(t) + (wide)draw_magnitude(63) * (wide)(draw_magnitude(26) + 1);
		set_whole_range(j, lo, hi);
		break;
	case 6:	/* about the whole type */
		lo = min_of(t) + (wide)below(3) - 1;
		set_whole_range(j, lo, max_of(t) + (wide)below(4) - 1);
		break;
	default:	/* small numbers */
		lo = (wide)below(300) - 150;
		set_whole_range(j, lo, lo + 1 + (wide)below(500));
		break;
	}
}

static bool set_real_range(struct job *j, double lo, double hi)
{
	if (!(lo < hi) || isinf(lo) || isinf(hi))
		return false;
	j->exact = false;
	j->real_lo = lo == 0 ? 0 : lo;
	j->real_hi = hi == 0 ? 0 : hi;
	snprintf(j->lo, sizeof(j->lo), "%.17g", j->real_lo);
	snprintf(j->hi, sizeof(j->hi), "%.17g", j->real_hi);
	return true;
}

/* Integer samples, at least one bound with a fraction. */
static void draw_fractional_range(struct job *j)
{
	static const double parts[] = { 2, 3, 7, 8, 10, 1000 };
	double n = (double)j->bins;
	double part = parts[below(sizeof(parts) / sizeof(parts[0]))];
	double lo = (double)draw_magnitude(j->type->bits > 48 ? 48 : j->type->bits);
	double hi;

	lo = (once_in(3) ? -lo : lo) + (1 + (double)below(3)) / part;
	switch (below(4)) {
	case 0: hi = lo + n / part; break;
	case 1: hi = lo + n * (1 + (double)below(5)); break;
	case 2:	/* up to where binary64 skips whole numbers */
		hi = ldexp(1, (int)(once_in(3) ? below(66) : j->type->bits + 1 - below(5)));
		hi += fabs(lo);
		break;
	default: hi = lo + (1 + (double)draw_magnitude(20)) / part; break;
	}
	if (lo == floor(lo))
		lo -= 0.5;
	if (!set_real_range(j, lo, hi))
		set_real_range(j, lo, lo + 1);
}

/* x moved up by some of its units in the last place. */
static double step_up(double x, uint64_t steps)
{
	while (steps--)
		x = nextafter(x, (double)INFINITY);
	return x;
}

static double draw_real(int least, int greatest)
{
	double x = ldexp((double)draw(), least - 64 + (int)below((uint64_t)(greatest - least)));

	return once_in(2) ? -x : x;
}

static bool draw_float_range(struct job *j)
{
	static const double plain[][2] = {
		{ 0, 1 }, { -1, 1 }, { -3.7, 12.25 }, { 0, 0.1 }, { -0.5, 0.5 },
		{ 0, 1000 }, { 1, 2 }, { 0.1, 0.7 }, { -1e6, 1e6 }, { -2, 0 },
	};
	const struct type *t = j->type;
	uint64_t key = draw_finite_key(t), other = draw_finite_key(t);
	double greatest = real_of_key(t, (infinity_of(t) | sign_of(t)) - 1);
	double x = real_of_key(t, key), y = real_of_key(t, other);
	double least = real_of_key(t, sign_of(t) + 1);
	size_t i = below(sizeof(plain) / sizeof(plain[0]));

	switch (below(9)) {
	case 0:	/* two samples */
		return set_real_range(j, fmin(x, y), fmax(x, y));
	case 1:	/* neighbours, in the type */
		key += 1 + below(2 * (j->bins < 5000 ? j->bins : 5000));
		return set_real_range(j, x, key > mask_of(t) ? x : real_of_key(t, key));
	case 2:	/* neighbours, in binary64: bins too fine for it */
		return set_real_range(j, x, step_up(x, 1 + below(50)));
	case 3:	/* subnormal in binary64 */
		x = ldexp((double)below(2000) - 1000, -1074);
		return set_real_range(j, x, x + ldexp(1 + (double)below(3 * j->bins), -1074));
	case 4:	/* subnormal in the type */
		x = least * ((double)below(200) - 100);
		return set_real_range(j, x, x + least * (1 + (double)below(3 * j->bins)) / 2);
	case 5:	/* near overflow, in the type or in binary64 */
		if (once_in(2))
			greatest = DBL_MAX;
		x = greatest * (1 - ldexp((double)draw_magnitude(40), -42));
		return set_real_range(j, once_in(2) ? -greatest : -x, x);
	case 6:	/* beyond the type */
		return set_real_range(j, -greatest * 3, greatest * 5);
	case 7:	/* every size */
		x = draw_real(-60, 60);
		return set_real_range(j, x, x + fabs(draw_real(-60, 60)));
	default:
		return set_real_range(j, plain[i][0], plain[i][1]);
	}
}

static void draw_range(struct job *j)
{
	const struct type *t = j->type;

	if (once_in(9)) {
		j->full = true;
		j->exact = t->kind != FLOAT;
		j->whole_lo = min_of(t);
		j->whole_hi = max_of(t) + 1;
		if (t->kind == FLOAT)
			j->real_hi = real_of_key(t, (infinity_of(t) | sign_of(t)) - 1);
		j->real_lo = -j->real_hi;
	} else if (t->kind == FLOAT) {
		while (!draw_float_range(j))
			;
	} else if (once_in(4)) {
		j->exact = true;
		j->whole_hi = (wide)j->bins;
	} else if (once_in(4)) {
		draw_fractional_range(j);
	} else {
		draw_whole_range(j);
	}
}

static double real_edge(const struct job *j, uint64_t i)
{
	double half = isinf(j->real_hi - j->real_lo) ? 0.5 : 1;
	double span = j->real_hi * half - j->real_lo * half;
	double step = span / (double)j->bins;
	volatile double product = step == 0 ? (double)i / (double)j->bins * span :
				  (double)i * step;

	return i == j->bins ? j->real_hi : (product + j->real_lo * half) / half;
}

/* The key of the smallest sample that is not below edge i. */
static uint64_t key_at_edge(const struct job *j, uint64_t i)
{
	wide n = (wide)j->bins, times, edge;
	double real;

	if (j->exact) {
		times = j->whole_lo * n + (wide)i * (j->whole_hi - j->whole_lo);
		edge = times / n + (times % n > 0);
		return key_of_whole(j->type, edge);
	}
	real = real_edge(j, i);
	if (j->type->kind == FLOAT)
		return key_of_real(j->type, real);
	real = fmax(fmin(ceil(real), ldexp(1, 70)), -ldexp(1, 70));
	return key_of_whole(j->type, (wide)real);
}

static void draw_edge_keys(struct job *j)
{
	j->edge_key[0] = key_at_edge(j, 0);
	j->edge_key[1] = key_at_edge(j, j->bins);
	for (j->edge_keys = 2; j->edge_keys < MAX_EDGE_KEYS; j->edge_keys++) {
		uint64_t i = j->edge_keys - 1;

		if (j->bins > MAX_EDGE_KEYS)
			i = below(j->bins + 1);
		else if (i >= j->bins)
			break;
		j->edge_key[j->edge_keys] = key_at_edge(j, i);
	}
}

/* ---- data ---- */

/* What only floats have: NaN of every sign and payload, infinities, subnormal
 * numbers, both zeros. */
static uint64_t draw_special(const struct type *t)
{
	uint64_t sign = once_in(2) ? sign_of(t) : 0;
	uint64_t fraction = draw() & (sign_of(t) - infinity_of(t) - 1);

	switch (below(6)) {
	case 0: return sign | infinity_of(t) | fraction;
	case 1: return sign | (sign_of(t) - 1);
	case 2: return sign | (infinity_of(t) + 1);
	case 3: return sign | infinity_of(t);
	case 4: return sign | fraction;
	default: return sign;
	}
}

enum pattern { NOISE, INSIDE, ON_EDGES, ON_ENDS, EXTREMES, SPECIALS, PATTERNS };

static uint64_t draw_code(const struct job *j, enum pattern pattern)
{
	const struct type *t = j->type;
	uint64_t first = j->edge_key[0], width = j->edge_key[1] - first;
	wide key;

	switch (pattern) {
	case INSIDE:
		return code_of_key(t, first + (width == UINT64_MAX ? draw() : below(width + 1)));
	case ON_EDGES:
		key = (wide)j->edge_key[below(j->edge_keys)] + (wide)below(4) - 2;
		break;
	case ON_ENDS:
		key = (wide)j->edge_key[below(2)] + (wide)below(4) - 2;
		break;
	case EXTREMES:
		key = (wide)(once_in(2) ? 0 : mask_of(t)) + (wide)below(4) - 2;
		break;
	case SPECIALS:
		if (t->kind == FLOAT)
			return draw_special(t);
		return draw_magnitude(t->bits);
	default:
		return draw() & mask_of(t);
	}
	if (key < 0)
		key = 0;
	if (key > (wide)mask_of(t))
		key = (wide)mask_of(t);
	return code_of_key(t, (uint64_t)key);
}

static void put_code(const struct job *j, unsigned char *at, uint64_t code)
{
	unsigned bytes = j->type->bits / 8;

	for (unsigned i = 0; i < bytes; i++)
		at[j->big_endian ? bytes - 1 - i : i] = (unsigned char)(code >> 8 * i);
}

/* Stretches of one pattern each: sample by sample, constant, in runs, or
 * rising through neighbouring samples. */
static void fill_samples(const struct job *j, unsigned char *at, size_t samples)
{
	const struct type *t = j->type;
	size_t bytes = t->bits / 8;

	while (samples) {
		size_t left = 1 + below(once_in(2) ? samples : 1 + samples / 5);
		enum pattern pattern = (enum pattern)below(PATTERNS);
		unsigned texture = (unsigned)below(8);
		uint64_t code = draw_code(j, pattern);
		uint64_t key = j->edge_key[below(j->edge_keys)] - below(left);

		for (; left; left--, samples--, at += bytes) {
			if (texture == 0)
				code = code_of_key(t, key++);
			else if (texture == 1 ? once_in(30) : texture > 2)
				code = draw_code(j, pattern);
			put_code(j, at, code);
		}
	}
}

static void fill_noise(unsigned char *at, size_t bytes)
{
	while (bytes--)
		*at++ = (unsigned char)draw();
}

/* ---- inputs: the bytes, and the way they take ---- */

enum route { BY_NAME, BY_FIFO, REDIRECT, REDIRECT_INSIDE, PIPE_WHOLE, PIPE_TRICKLE };

struct input {
	enum route route;	/* from REDIRECT on: standard input */
	unsigned char *data;	/* owned */
	size_t bytes;		/* of data */
	size_t before;		/* REDIRECT_INSIDE: bytes before the file offset */
	bool compressed;	/* data is zstd's, from before on */
	char file[PATH_BYTES];	/* all of data */
	char fifo[PATH_BYTES];	/* BY_FIFO: what gpuhist opens */
	char plain[PATH_BYTES];	/* what the oracle opens */
};

static const char *const route_names[] = {
	"", "FIFO", "redirected", "redirected at an offset", "pipe", "trickling pipe",
};

static size_t draw_bytes(void)
{
	uint64_t kind = below(100);

	if (kind < 5)
		return below(10);
	if (kind < 80)
		return below(5000);
	if (kind < 96)
		return below(60000);
	if (kind < 99)
		return below(200000);
	/* about the end of a block of the program, up to 4 MiB */
	return ((size_t)65536 << below(5)) * (1 + below(4)) + below(11) - 5;
}

static void write_file(const char *path, const unsigned char *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || close(fd))
		die(path);
}

static void make_input(const struct job *j, struct input *in, const char *folder, unsigned k)
{
	size_t size = j->type->bits / 8;
	size_t want = draw_bytes(), samples = want / size;
	size_t tail = once_in(12) ? below(size) : 0;
	size_t front = j->skip;

	if (j->skip && once_in(60)) {	/* ends before the skip does */
		front = below(j->skip);
		samples = tail = 0;
	}
	in->compressed = false;
	in->before = in->route == REDIRECT_INSIDE ? 1 + below(9000) : 0;
	in->bytes = in->before + front + samples * size + tail;
	in->data = malloc(in->bytes + 1);
	if (!in->data)
		die("memory");
	fill_noise(in->data, in->before + front);
	fill_samples(j, in->data + in->before + front, samples);
	fill_noise(in->data + in->bytes - tail, tail);

	snprintf(in->file, PATH_BYTES, "%s/in%u", folder, k);
	snprintf(in->fifo, PATH_BYTES, "%s/fifo%u", folder, k);
	snprintf(in->plain, PATH_BYTES, "%s/%s%u", folder, in->before ? "cut" : "in", k);
	write_file(in->file, in->data, in->bytes);
	if (in->before)
		write_file(in->plain, in->data + in->before, in->bytes - in->before);
	if (in->route == BY_FIFO && mkfifo(in->fifo, 0600))
		die(in->fifo);
}

/* The same samples as gpuhist alone gets them: compressed, behind what lies in front of the offset. */
static void compress_input(struct input *in, const char *folder, unsigned k)
{
	struct pack p = pack_all(in->data + in->before, in->bytes - in->before, draw());
	unsigned char *all = malloc(in->before + p.bytes);

	if (!all)
		die("memory");
	if (!in->before) {	/* until now the oracle's is the same file */
		snprintf(in->plain, PATH_BYTES, "%s/cut%u", folder, k);
		write_file(in->plain, in->data, in->bytes);
	}
	memcpy(all, in->data, in->before);
	memcpy(all + in->before, p.data, p.bytes);
	free(p.data);
	free(in->data);
	in->data = all;
	in->bytes = in->before + p.bytes;
	in->compressed = true;
	write_file(in->file, in->data, in->bytes);
}

static bool looks_compressed(const struct input *in);

/* Draws the inputs of a job; at most one is standard input. */
static unsigned make_inputs(const struct job *j, struct input *in, const char *folder)
{
	unsigned inputs = once_in(4) ? 2 + (unsigned)below(MAX_INPUTS - 1) : 1;
	unsigned piped = (unsigned)below(inputs + inputs / 2);	/* or none */

	for (unsigned k = 0; k < inputs; k++) {
		in[k].route = once_in(6) ? BY_FIFO : BY_NAME;
		if (k == piped && !once_in(4))
			in[k].route = (enum route)(REDIRECT + below(4));
		make_input(j, &in[k], folder, k);
	}
	bool plain = !once_in(3);
	for (unsigned k = 0; k < inputs; k++)
		plain |= looks_compressed(&in[k]);
	bool all = once_in(2);
	for (unsigned k = 0; k < inputs && !plain; k++)
		if (all || once_in(2))
			compress_input(&in[k], folder, k);
	return inputs;
}

/* Chance may begin an input with the magic of a compressor. */
static bool looks_compressed(const struct input *in)
{
	static const struct {
		size_t bytes;
		unsigned char magic[4];
	} formats[] = {
		{ 4, { 0x28, 0xb5, 0x2f, 0xfd } },	/* zstd */
		{ 2, { 0x1f, 0x8b } },	/* gzip */
		{ 4, { 0xfd, '7', 'z', 'X' } },	/* xz */
		{ 3, { 'B', 'Z', 'h' } },	/* bzip2 */
		{ 4, { 0x04, 0x22, 0x4d, 0x18 } },	/* lz4 */
		{ 4, { 0x02, 0x21, 0x4c, 0x18 } },	/* lz4, legacy */
	};
	static const unsigned char skippable[] = { 0x2a, 0x4d, 0x18 };
	const unsigned char *at = in->data + in->before;
	size_t bytes = in->bytes - in->before;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (bytes >= formats[i].bytes && !memcmp(at, formats[i].magic, formats[i].bytes))
			return true;
	/* zstd's frames to be skipped: 0x184d2a50 to 5f, little endian */
	return bytes >= 4 && at[0] >> 4 == 5 && !memcmp(at + 1, skippable, sizeof(skippable));
}

/* ---- command lines ---- */

struct command {
	char *argv[MAX_ARGS + 1];	/* for execv; points into text */
	unsigned args;		/* how many */
	char text[8192];	/* the arguments themselves */
	size_t used;		/* of text */
};

__attribute__((format(printf, 2, 3)))
static void arg(struct command *c, const char *format, ...)
{
	va_list list;
	size_t left = sizeof(c->text) - c->used;
	int n;

	va_start(list, format);
	n = vsnprintf(c->text + c->used, left, format, list);
	va_end(list);
	if (n < 0 || (size_t)n >= left || c->args == MAX_ARGS) {
		errno = E2BIG;
		die("command line");
	}
	c->argv[c->args++] = c->text + c->used;
	c->used += (size_t)n + 1;
}

/* One option in one of the ways to write it. */
static void option(struct command *c, char letter, const char *word, const char *value)
{
	switch (below(3)) {
	case 0:
		arg(c, "-%c%s", letter, value);
		break;
	case 1:
		arg(c, "-%c", letter);
		arg(c, "%s", value);
		break;
	default:
		arg(c, "--%s=%s", word, value);
		break;
	}
}

static void type_option(struct command *c, const struct job *j)
{
	const struct type *t = j->type;
	char text[32];

	if (t->numpy && once_in(3))
		snprintf(text, sizeof(text), "%c%s",
			 t->bits == 8 && once_in(2) ? '|' : j->big_endian ? '>' : '<', t->numpy);
	else if (t->word && !j->big_endian && once_in(3))
		snprintf(text, sizeof(text), "%s", t->word);
	else
		snprintf(text, sizeof(text), "%s%s", t->name,
			 j->big_endian ? "be" : once_in(4) ? "le" : "");
	if (strcmp(text, "u32") || once_in(2))	/* the default */
		option(c, 't', "type", text);
}

static void skip_option(struct command *c, const struct job *j)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)j->skip);
	if (j->skip % 1024 == 0 && once_in(2))
		snprintf(text, sizeof(text), "%llu%s", (unsigned long long)j->skip / 1024,
			 once_in(2) ? "K" : "KiB");
	else if (j->skip % 1000 == 0 && once_in(2))
		snprintf(text, sizeof(text), "%lluKB", (unsigned long long)j->skip / 1000);
	option(c, 'S', "skip", text);
}

/* What both programs are told in the same words. */
static void shared_flags(struct command *a, struct command *b, const struct job *j)
{
	static const char *const flags[] = {
		"--clamp", "--closed", "--ignore-tail", "--flow", "--no-header", "--nonzero",
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		/* so many lines are slow to print and to compare */
		bool sparse = i == 5 && (j->bins > 1 << 20 ||
					 (j->bins > 4096 && !once_in(8)));

		if (sparse || once_in(i == 3 ? 2 : 4)) {
			arg(a, "%s", flags[i]);
			arg(b, "%s", flags[i]);
		}
	}
	if (once_in(4)) {
		const char *format = once_in(2) ? "csv" : "tsv";

		option(a, 'f', "format", format);
		arg(b, "-f");
		arg(b, "%s", format);
	}
}

static void oracle_options(struct command *c, const struct job *j)
{
	arg(c, "-t");
	arg(c, "%s%s", j->type->name, j->big_endian ? "be" : "");
	arg(c, "-b");
	arg(c, "%llu", (unsigned long long)j->bins);
	if (j->full || j->lo[0]) {
		arg(c, "-r");
		arg(c, "%s%s%s", j->full ? "full" : j->lo, j->full ? "" : ":", j->hi);
	}
	if (j->skip) {
		arg(c, "-S");
		arg(c, "%llu", (unsigned long long)j->skip);
	}
	if (j->limited) {
		arg(c, "-n");
		arg(c, "%llu", (unsigned long long)j->limit);
	}
}

static void gpuhist_options(struct command *c, const struct job *j, char **more)
{
	char text[200];

	type_option(c, j);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)j->bins);
	if (j->bins != 256 || once_in(2))	/* the default */
		option(c, 'b', "bins", text);
	snprintf(text, sizeof(text), "%s%s%s", j->full ? "full" : j->lo, j->full ? "" : ":", j->hi);
	if (j->full || j->lo[0])
		option(c, 'r', "range", text);
	if (j->skip)
		skip_option(c, j);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)j->limit);
	if (j->limited)
		option(c, 'n', "count", text);
	if (j->quiet)
		arg(c, "-q");
	snprintf(text, sizeof(text), "%c", "1237"[below(4)]);
	if (once_in(2))
		option(c, 'T', "threads", text);
	if (once_in(4) && !*more)
		arg(c, "--device=cpu");
	while (*more)
		arg(c, "%s", *more++);
}

static void input_args(struct command *c, struct command *oracle,
		       const struct input *in, unsigned inputs)
{
	bool raw = once_in(20), some = false, all = true;

	for (unsigned k = 0; k < inputs; k++) {
		raw |= looks_compressed(&in[k]);
		some |= in[k].compressed;
		all &= in[k].compressed;
	}
	if (raw && !some)
		arg(c, "--raw");
	if (all && once_in(3))
		arg(c, "--zstd");
	for (unsigned k = 0; k < inputs; k++) {
		if (in[k].route == BY_NAME)
			arg(c, "%s", in[k].file);
		else if (in[k].route == BY_FIFO)
			arg(c, "%s", in[k].fifo);
		else if (inputs > 1 || once_in(3))
			arg(c, "-");
		arg(oracle, "%s", in[k].plain);
	}
}

/* ---- processes ---- */

static void write_all(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n <= 0)
			_exit(1);
		data += n;
		bytes -= (size_t)n;
	}
}

/* Odd sizes, and pauses of at most 20 times 2 ms in all. */
static void trickle(int fd, const unsigned char *data, size_t bytes)
{
	size_t most = 7 + bytes / (5 + below(50));
	unsigned sleeps = 20;

	while (bytes) {
		size_t n = 1 + below(most);

		if (n > bytes)
			n = bytes;
		write_all(fd, data, n);
		data += n;
		bytes -= n;
		if (once_in(3))
			sched_yield();
		if (sleeps && once_in(4) && sleeps--)
			usleep((useconds_t)below(2000));
	}
}

/* A process of its own, since a FIFO that nobody opens would block it forever:
 * it is killed once gpuhist has ended. */
static pid_t start_writer(const struct input *in, int fd, int reader)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (reader >= 0)
		close(reader);
	if (fd < 0)
		fd = open(in->fifo, O_WRONLY);
	if (fd < 0)
		_exit(1);
	if (in->route == PIPE_TRICKLE || (in->route == BY_FIFO && once_in(2)))
		trickle(fd, in->data, in->bytes);
	else
		write_all(fd, in->data, in->bytes);
	_exit(0);
}

/* Returns what gpuhist reads as standard input. */
static int open_stdin(const struct input *in, pid_t *writer)
{
	int fd, ends[2];

	*writer = 0;
	if (!in || in->route == REDIRECT || in->route == REDIRECT_INSIDE) {
		fd = open(in ? in->file : "/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (in && lseek(fd, (off_t)in->before, SEEK_SET) < 0))
			die("standard input");
		return fd;
	}
	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	*writer = start_writer(in, ends[1], ends[0]);
	close(ends[1]);	/* before another fork can hold it open */
	return ends[0];
}

static pid_t start(char **argv, int in, const char *out, const char *err)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
	dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The exit status, 128 + N for signal N, -1 for a process that hung.
 * SIGCHLD is blocked, so that one between waitpid and sigtimedwait is kept. */
static int finish(pid_t pid)
{
	double end = now() + HANG_SECONDS;
	bool hung = false;
	sigset_t child;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		struct timespec second = { 1, 0 };

		sigtimedwait(&child, NULL, &second);
		if (now() > end && !hung) {
			hung = true;
			kill(pid, SIGKILL);
		}
	}
	if (hung)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the verdict ---- */

struct result {
	int status;		/* as finish() says */
	char out[PATH_BYTES];	/* file with standard output */
	char err[PATH_BYTES];	/* file with standard error */
};

static void run_both(const struct command *gpuhist, const struct command *oracle,
		     const struct input *in, unsigned inputs,
		     struct result *ours, struct result *theirs)
{
	const struct input *piped = NULL;
	pid_t writer[MAX_INPUTS + 1] = { 0 };	/* of FIFOs; the last: of the pipe */
	pid_t oracle_pid, pid;
	int fd;

	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route >= REDIRECT)
			piped = &in[k];
	oracle_pid = start((char **)oracle->argv, -1, theirs->out, theirs->err);
	fd = open_stdin(piped, &writer[MAX_INPUTS]);
	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route == BY_FIFO)
			writer[k] = start_writer(&in[k], -1, -1);
	pid = start((char **)gpuhist->argv, fd, ours->out, ours->err);
	close(fd);
	ours->status = finish(pid);
	for (unsigned k = 0; k <= MAX_INPUTS; k++) {
		if (writer[k]) {
			kill(writer[k], SIGKILL);
			waitpid(writer[k], NULL, 0);
		}
	}
	theirs->status = finish(oracle_pid);
}

static bool same_text(const char *a, const char *b, FILE *why)
{
	FILE *fa = fopen(a, "r"), *fb = fopen(b, "r");
	char *la = NULL, *lb = NULL;
	size_t ca = 0, cb = 0;
	unsigned long long line = 0;
	ssize_t na, nb;
	bool same;

	if (!fa || !fb)
		die(fa ? b : a);
	do {
		line++;
		na = getline(&la, &ca, fa);
		nb = getline(&lb, &cb, fb);
		same = na == nb && (na < 0 || !memcmp(la, lb, (size_t)na));
	} while (same && na >= 0);
	if (!same)
		fprintf(why, "  line %llu of standard output\n    gpuhist: %s    oracle:  %s",
			line, na < 0 ? "(no more)\n" : la, nb < 0 ? "(no more)\n" : lb);
	free(la);
	free(lb);
	fclose(fa);
	fclose(fb);
	return same;
}

static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) || st.st_size == 0;
}

/* Whether the job passed; if not, why not. */
static bool judge(const struct job *j, const struct result *ours,
		  const struct result *theirs, FILE *why)
{
	bool good = true;

	if (theirs->status != 0 && theirs->status != 2 && theirs->status != 3) {
		fprintf(why, "  the oracle itself failed, status %d\n", theirs->status);
		return false;
	}
	if (ours->status != theirs->status) {
		fprintf(why, "  exit status: gpuhist %d%s, oracle %d\n", ours->status,
			ours->status < 0 ? " (hung)" : "", theirs->status);
		good = false;
	}
	if (ours->status == 0 && j->quiet && !is_empty(ours->err)) {
		fprintf(why, "  -q, and yet something on standard error\n");
		good = false;
	}
	if (ours->status > 0 && is_empty(ours->err)) {
		fprintf(why, "  failed without a message\n");
		good = false;
	}
	/* The oracle prints nothing when it fails, nor may gpuhist. */
	return same_text(ours->out, theirs->out, why) && good;
}

/* What gpuhist reads of it, to try again by hand: the oracle's, unless that is decoded. */
static const char *given(const struct input *in)
{
	return in->compressed ? in->file : in->plain;
}

static void print_command(const char *who, const struct command *c,
			  const struct input *in, unsigned inputs)
{
	printf("  %s:", who);
	for (unsigned i = 0; i < c->args; i++)
		printf(strpbrk(c->argv[i], "<>|&;*?$ ") ? " '%s'" : " %s", c->argv[i]);
	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route >= REDIRECT)
			printf(" < %s", given(&in[k]));
	printf("\n");
	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route != BY_NAME)
			printf("    input %u: %s, the bytes of %s\n", k,
			       route_names[in[k].route], given(&in[k]));
}

static void remove_job(const char *folder, const struct input *in, unsigned inputs,
		       const struct result *ours, const struct result *theirs)
{
	for (unsigned k = 0; k < inputs; k++) {
		unlink(in[k].file);
		if (in[k].before || in[k].compressed)
			unlink(in[k].plain);
		if (in[k].route == BY_FIFO)
			unlink(in[k].fifo);
	}
	unlink(ours->out);
	unlink(ours->err);
	unlink(theirs->out);
	unlink(theirs->err);
	rmdir(folder);
}

static uint64_t draw_bins(void)
{
	static const unsigned usual[] = { 1, 2, 3, 10, 256, 1000, 1024 };
	uint64_t kind = below(200);

	if (kind < 110)
		return usual[below(sizeof(usual) / sizeof(usual[0]))];
	if (kind < 190)
		return 1 + below(300);
	if (kind < 196)
		return 4096;
	if (kind < 198)
		return 65536;
	if (kind < 199)
		return 100003;
	return ((uint64_t)1 << (20 + below(3))) + 1 + below(1000);
}

static void draw_job(struct job *j)
{
	static const unsigned skips[] = { 1, 3, 4, 512, 1000, 1024, 4096, 65536, 64000 };

	*j = (struct job){ .type = &types[below(sizeof(types) / sizeof(types[0]))] };
	j->big_endian = j->type->bits > 8 && once_in(3);
	j->bins = draw_bins();
	draw_range(j);
	draw_edge_keys(j);
	if (once_in(5))
		j->skip = once_in(2) ? 1 + below(40) :
			  skips[below(sizeof(skips) / sizeof(skips[0]))];
	j->limited = once_in(6);
	j->limit = j->limited ? draw_magnitude(18) : 0;
	j->quiet = once_in(4);
}

struct setup {
	const char *gpuhist, *oracle;	/* the programs */
	char **more;		/* options for gpuhist, ends with NULL */
	uint64_t seed;		/* SEED */
	char folder[PATH_BYTES / 4];	/* holds a folder for each job */
	bool verbose;		/* name the commands of a job that passed */
};

/* The folder stays when the job failed and keep is set. */
static bool run_job(const struct setup *s, uint64_t number, bool keep)
{
	struct command gpuhist = { .args = 0 }, oracle = { .args = 0 };
	struct input in[MAX_INPUTS] = { { .bytes = 0 } };
	struct result ours, theirs;
	char folder[PATH_BYTES / 2];
	struct job j;
	char *reasons = NULL;
	size_t reasons_bytes;
	unsigned inputs;
	FILE *why;
	bool good;

	chance_state = mix(s->seed) ^ mix(number + 1);
	snprintf(folder, sizeof(folder), "%s/job-%llu", s->folder, (unsigned long long)number);
	if (mkdir(folder, 0700))
		die(folder);
	snprintf(ours.out, PATH_BYTES, "%s/gpuhist.out", folder);
	snprintf(ours.err, PATH_BYTES, "%s/gpuhist.err", folder);
	snprintf(theirs.out, PATH_BYTES, "%s/oracle.out", folder);
	snprintf(theirs.err, PATH_BYTES, "%s/oracle.err", folder);

	draw_job(&j);
	inputs = make_inputs(&j, in, folder);
	arg(&gpuhist, "%s", s->gpuhist);
	arg(&oracle, "%s", s->oracle);
	shared_flags(&gpuhist, &oracle, &j);
	gpuhist_options(&gpuhist, &j, s->more);
	oracle_options(&oracle, &j);
	input_args(&gpuhist, &oracle, in, inputs);

	run_both(&gpuhist, &oracle, in, inputs, &ours, &theirs);
	why = open_memstream(&reasons, &reasons_bytes);
	if (!why)
		die("memory");
	good = judge(&j, &ours, &theirs, why);
	if (fclose(why))
		die("memory");
	if (!good || s->verbose) {
		printf("%s: seed %llu, job %llu, in %s\n", good ? "passed" : "FAILED",
		       (unsigned long long)s->seed, (unsigned long long)number, folder);
		print_command("gpuhist", &gpuhist, in, inputs);
		print_command("oracle ", &oracle, NULL, 0);
		printf("%s", reasons);
	}
	free(reasons);
	if (good || !keep)
		remove_job(folder, in, inputs, &ours, &theirs);
	for (unsigned k = 0; k < inputs; k++)
		free(in[k].data);
	return good;
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end) {
		fprintf(stderr, "random_jobs: %s: not a number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static char *nothing[] = { NULL };
	struct setup s = { .more = nothing };
	const char *tmp = getenv("TMPDIR");
	uint64_t first = 0, end, passed = 0, failed = 0;
	double stop = (double)INFINITY;
	sigset_t child;
	int args = 1;

	while (args < argc && strcmp(argv[args], "--"))
		args++;
	if (args < argc)
		s.more = argv + args + 1;
	if (args < 5 || args > 6) {
		fprintf(stderr, "usage: random_jobs GPUHIST ORACLE SEED JOBS|--only [SECONDS|K]"
				" [-- OPTION...]\n");
		return 2;
	}
	s.gpuhist = argv[1];
	s.oracle = argv[2];
	if (access(s.gpuhist, X_OK) || access(s.oracle, X_OK))
		die(access(s.gpuhist, X_OK) ? s.gpuhist : s.oracle);
	s.seed = number_of(argv[3]);
	s.verbose = args == 6 && !strcmp(argv[4], "--only");
	first = s.verbose ? number_of(argv[5]) : 0;
	end = s.verbose ? first + 1 : number_of(argv[4]);
	if (args == 6 && !s.verbose)
		stop = now() + (double)number_of(argv[5]);
	snprintf(s.folder, sizeof(s.folder), "%s/random_jobs.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(s.folder))
		die(s.folder);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);	/* a fork must not copy what is unwritten */

	for (uint64_t k = first; k < end && now() < stop; k++)
		++*(run_job(&s, k, failed < MAX_KEPT) ? &passed : &failed);
	rmdir(s.folder);	/* stays when the inputs of a failed job do */
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	       (unsigned long long)failed);
	return failed != 0;
}
