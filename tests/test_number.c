/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * number: the checks of fuzz_number on texts and bits of every form, at and around every
 * limit.
 */
#include "fuzz/fuzz_number.c"

#include "check.h"

static const uint64_t SEED = 0x6e756d626572;

/* Counts, sizes and numbers, and texts that nearly are. Each is cut at every byte. */
static char list[] =
	"007|4096|3MiB|3MB|5GiB|5GB|7TiB|7TB|18446744073709551615|0T|18014398509481983K|"
	"16777215T|18446744TB|64k|1kiB|1kB|1m|2mB|1g|1tiB|0X1f|0x1B|0xfK|0x2kB|0x00ff| 1|1 |"
	"k|K|1B|1iB|1KIB|1KBs|1kb|1kib|1.5K|x10|0xK|0x 1|0x-1|0x+1|0x0x1|0x1p4|10x1|ffK|1@|"
	"1K\n|1P|1p|18446744073709551616|18014398509481984K|16777216T|18446745TB|"
	"99999999999999999999999|1K1|\t1|1KiBB|1KK|1.0|a|1a|0e999999|-12|+12|1e6|12.50e1|2.5|"
	"2.0|100e-2|100e-3|.5e1|5.|1E2|1e+2|1e-5|0x1p3|0x1p-1|-0xA|0x1.8p1|"
	"10000000000000000000000000000000000000000e-40|9223372036854775807|"
	"-9223372036854775808|0.0000000000000000000000000000000000000001e40|9007199254740993|"
	"0x20000000000001|-0X7fffffffffffffff|0x7fffffffffffffffp-0|0xfffffffffffffffp3|"
	"0x1.0000000000000000001|0x1p-2000|0xc.p-2|0x6p-2|0x0p9999|0x.00p-1|0x1.8p+1|nan|"
	"-inf|NAN(1)|infinity|1e400|-1e400|1x|e5|--1|1,5|1_000|0x1p2000|1:2|12:34|"
	"79228162514264337593543950335|79228162514264337593543950336|1e300|"
	"1234567890123456789012345678901234567890123456789.5|0xffffffffffffffffffffffff|"
	"0x1000000000000000000000000|0x1fffffffffffffffffffffffep-1|0xfp1000|1e-400";

static void check(const void *data, size_t size)
{
	CHECK(LLVMFuzzerTestOneInput(data, size) == 0, "%.*s", (int)size, (const char *)data);
}

/* Check a text whole, and cut before this byte. */
static void check_text(const char *text, size_t cut)
{
	uint8_t data[600];
	const size_t length = strlen(text);

	data[0] = (uint8_t)cut;
	memcpy(data + 1, text, length);
	check(data, 1 + length);
}

/* Check each text; some twice in a row; and with bytes changed. */
static void texts(void)
{
	static const char OTHERS[] = "0123456789abcdefABCDEFxXpPkKMGTiB.+-_ \n:@";
	char digits[600], text[128], *rest = list;
	uint64_t state = SEED;

	for (const char *one; (one = strsep(&rest, "|")) != NULL;) {
		for (size_t cut = 0; cut <= strlen(one); cut++) {
			check_text(one, cut);
			snprintf(text, sizeof(text), "%.*s", (int)cut, one);
			check_text(text, cut / 2);
		}
		for (unsigned k = 0; k < 300; k++) {
			const int n = snprintf(text, sizeof(text), "%s%s", one, k % 4 ? "" : one);
			for (unsigned i = 0; i < 1 + k % 3 && n > 0; i++)
				text[check_random(&state) % (unsigned)n] =
					OTHERS[check_random(&state) % (sizeof(OTHERS) - 1)];
			check_text(text, k % (unsigned)(n + 1));
		}
	}
	memset(digits, '9', sizeof(digits));
	digits[sizeof(digits) - 2] = '\0';
	check_text(digits, 0);
}

static void format_one(double x)
{
	check(&x, sizeof(x));
}

/* Format x, its neighbours, and the same below 0. */
static void format_around(double x)
{
	const double near[] = {x, nextafter(x, (double)INFINITY), nextafter(x, -(double)INFINITY)};

	for (int i = 0; i < 3; i++) {
		format_one(near[i]);
		format_one(-near[i]);
	}
}

static void formats(void)
{
	/* Two decimals are equally near: the even one is written. */
	static const double TIES[] = {1.00000762939453125, 1.00002288818359375, 1e23, 0x1p-44, 0};
	static const double BY[] = {1e-3, 1e-6, 1.0 / 3, 1.0 / 7, 1e16, 1e300};
	char ten[16];
	uint64_t state = SEED;

	for (size_t i = 0; i < sizeof(TIES) / sizeof(TIES[0]); i++)
		format_around(TIES[i]);
	format_one((double)NAN);
	/*
	 * Both ends of every binade; every power of ten; the first denormals; the limits of forms.
	 */
	for (int e = -1074; e <= 1024; e++)
		format_around(ldexp(1, e));
	for (int e = -323; e <= 308; e++) {
		snprintf(ten, sizeof(ten), "1e%d", e);
		format_around(strtod(ten, NULL));
	}
	for (int m = 1; m < 10000; m++)
		format_one(ldexp(m, -1074));
	for (double x = 1e-4, y = 1e15, z = 1e17; x < 1e-4 + 1e-17; x = nextafter(x, 1)) {
		format_around(x);
		format_around(y = nextafter(y, 0));
		format_around(2e15 - y);
		format_around(z = nextafter(z, 0));
	}
	for (int i = 0; i < 300000; i++) {
		uint64_t bits = check_random(&state);
		double x;
		if (i % 8 == 0)
			bits &= 0x800fffffffffffff; /* a denormal */
		memcpy(&x, &bits, sizeof(x));
		if (i % 4 == 1) /* few digits, as in edges */
			x = (double)((int64_t)bits >> (bits % 60)) * BY[bits % 6];
		format_one(x);
	}
}

/* Check an integer, shifted, and its quotient by d. */
static void integer_one(int128_t n, unsigned shift, uint32_t d)
{
	uint8_t data[22] = {(uint8_t)shift};
	const uint64_t high = (uint64_t)((uint128_t)n >> 64), low = (uint64_t)n;

	memcpy(data + 1, &d, 4);
	memcpy(data + 6, &high, 8);
	memcpy(data + 14, &low, 8);
	check(data, sizeof(data));
}

/* Integers of every length; ties of quotients, and quotients very close to them. */
static void integers(void)
{
	const int128_t least = -(int128_t)(((uint128_t)1 << 127) - 1) - 1,
		       tie = ((int128_t)1 << 53) + 1;
	uint64_t state = SEED;

	for (unsigned i = 0; i < 100000; i++) {
		const uint64_t high = check_random(&state), low = check_random(&state);
		const uint32_t d = 1 + (uint32_t)(check_random(&state) >> (36 + i % 28));
		integer_one((int128_t)((uint128_t)high << 64 | low), i % 128, d);
		integer_one((tie + (int128_t)(low & 30)) * d + (int128_t)(low >> 8) % 3 - 1, 0, d);
	}
	for (unsigned shift = 0; shift < 128; shift++) {
		integer_one(least, shift, 1);
		integer_one(-(least + 1), shift, (uint32_t)1 << 28);
	}
}

int main(void)
{
	texts();
	formats();
	integers();
	return check_report();
}
