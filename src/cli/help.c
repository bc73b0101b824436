/* SPDX-License-Identifier: MIT */
/* help: -h, --help and -V; tests/completions.sh checks the first two against the option table. */
#include <stdio.h>
#include <zstd.h>

#include "cli/options.h"
#include "gpu_helper/gpu_image.h"

/* clang-format off */
static const char FIRST_PAGE[] =
"Usage: gpuhist [OPTION]... [FILE]...\n"
"Count the samples of FILEs, or of standard input, into a histogram. Inputs are\n"
"binary numbers, .npy, WAVE, PGM or PPM, also compressed by zstd, or text.\n"
"\n"
"  -t, --type=TYPE      type of the samples: u8 i16 u32 f32 ... (default u32)\n"
"  -b, --bins=N         number of bins (default 256)\n"
"  -r, --range=LO:HI    bins from LO up to, but not including, HI\n"
"      --auto           up to N bins chosen from the data: usually the default\n"
"      --log=auto       logarithmic bins chosen from the data: latencies, sizes\n"
"  -c, --channels=N     N interleaved channels, with a histogram for each\n"
"      --each=N         a histogram for each N samples; --each=file: each FILE\n"
"      --by=KEY         a histogram for each value of a column or of a field\n"
"      --text           read text, one number per line; --text=3: column 3\n"
"  -S, --skip=SIZE      skip SIZE bytes (512, 4K) at the start of each FILE\n"
"  -n, --count=N        stop after N samples (of each channel)\n"
"  -o, --output=FILE    write FILE: .csv .tsv .json .npy .svg or .bin\n"
"  -f, --format=FORMAT  csv tsv json npy svg plot raw (terminal: plot; else csv)\n"
"      --stats          also print mean, std, quantiles and entropy\n"
"      --help           list all options; man gpuhist explains them\n"
"\n"
"Examples:\n"
"  gpuhist -t u8 photo.raw                         how often each byte occurs\n"
"  cat data.bin | gpuhist -b 1024 > counts.csv     integers from 0 to 1023\n"
"  gpuhist -t f32 -r -1:1 -b 1000 --stats a.f32.zst -o a.svg\n";

/* in two parts, because compilers need not take longer strings */
static const char INPUT_OPTIONS[] =
"Usage: gpuhist [OPTION]... [FILE]...\n"
"   or: gpuhist --merge [OPTION]... [FILE.json]...\n"
"\n"
"Input:\n"
"  -t, --type=TYPE         u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 f64\n"
"                          f8e4m3 f8e5m2, packed u1bit u2bit u4bit u10bit u12bit\n"
"                          u14bit, signed i2bit ... (default u32); u16be is big\n"
"                          endian; also <u2 uint16 s16le cf32\n"
"      --text[=COLUMN,...] one number per line, or the numbers in these columns,\n"
"                          counted from 1 or named in the first line\n"
"      --skip-bad          skip lines that hold no number\n"
"  -S, --skip=SIZE         skip SIZE bytes at the start of each input\n"
"  -n, --count=N           stop after N samples, or N records\n"
"  -c, --channels=N        N interleaved channels; last: the last axis of a .npy\n"
"                          array\n"
"      --record=SIZE       records of SIZE bytes, one sample in each\n"
"      --offset=SIZE       offset of that sample in its record (default 0)\n"
"      --by=KEY            a histogram for each value of a key: TYPE@OFFSET in\n"
"                          records, or a column of text\n"
"      --rows=WIDTH:PITCH  rows of WIDTH samples, padded to PITCH bytes\n"
"      --tensor=NAME       one tensor of a safetensors file\n"
"      --ignore-tail       allow inputs that end inside a record\n"
"      --raw               count all bytes as they are, headers and zstd too\n"
"      --zstd              fail unless every input is zstd\n"
"      --no-check          do not verify zstd checksums\n"
"\n"
"Bins:\n"
"  -b, --bins=N            number of bins, up to 2^28 (default 256); 0: none\n"
"  -r, --range=LO:HI[:STEP]  equal bins from LO to HI, N of them or STEP wide;\n"
"                          full: every value of the type\n"
"      --auto              up to N bins chosen from the data; the default, except\n"
"                          for integers with -b (0 to N-1) or of 8 bits (all)\n"
"      --log=LO:HI|auto    logarithmic bins; auto: chosen from the data\n"
"      --edges=LIST|@FILE  the edges themselves: 0,1,10 or a file of numbers\n"
"      --mod               the bin is the sample modulo N\n"
"      --mask=BITS         only these bits of each word, such as 0xfff\n"
"      --abs               absolute values; magnitudes of complex samples\n"
"      --missing=VALUE,... count these values with NaN, such as -9999\n"
"      --clamp             count samples out of range in the first and last bin\n"
"      --closed            the last bin includes HI\n"
"\n";

static const char OTHER_OPTIONS[] =
"Output:\n"
"  -o, --output=FILE       write FILE, completely or not at all\n"
"  -f, --format=FORMAT     csv tsv raw npy json plot svg prom (default:\n"
"                          FILE's suffix; else plot on a terminal; else csv)\n"
"  -C, --counter=KIND      u64 u32 sat8 sat16 sat32 (default u64; for raw u32)\n"
"      --flow              rows for under, over and nan (csv, tsv)\n"
"      --nonzero           leave out empty bins (csv, tsv, json)\n"
"      --no-header         leave out the first line (csv, tsv)\n"
"  -p, --plot[=log]        also draw a plot on standard error\n"
"      --stats[=Q,...]     print mean, std, entropy, quantiles on standard error\n"
"      --linearity=WAVE    DNL and INL of an ADC, measured with a sine or ramp\n"
"      --title=TEXT        the title of plot and svg; the name of a metric (prom)\n"
"      --color=WHEN        auto, always or never\n"
"      --every=TIME        write the counts so far every TIME (10s, 5m)\n"
"      --finish            stop at Ctrl-C, and write the counts so far\n"
"      --tee               copy the input to standard output\n"
"\n"
"Rows:\n"
"      --each=N|file|tensor  a histogram for each N records, or for each FILE;\n"
"                          statistics (--stats) for each tensor of safetensors\n"
"\n"
"Adding up:\n"
"      --merge             add histograms that -f json wrote\n"
"      --into=FILE.json    add this run to FILE.json\n"
"      --compare=REF.json  report how far this histogram is from REF.json\n"
"      --alarm=LIMIT,...   exit with status 6 if a limit is passed: p99:500,\n"
"                          p1:<3, p99:2x, out:1%, nan:0.1%, empty, a KS of 0.1\n"
"      --part=K/N          count slice K of N of each FILE; --merge adds them\n"
"\n"
"Engines:\n"
"      --device=DEVICE     auto, cpu, gpu or gpu:N (default auto)\n"
"  -T, --threads=N         CPU threads (default: all cores)\n"
"  -M, --memory=SIZE       memory besides the bins (256M, or 32M per thread)\n"
"\n"
"Messages:\n"
"  -q, --quiet             print only errors\n"
"  -v, --verbose           report what was read, how fast, and the bottleneck\n"
"      --progress          always show progress\n"
"      --no-progress       never show progress\n"
"  -h, --help              -h: the most common options; --help: all of them\n"
"  -V, --version           print the version and how it was built\n"
"\n"
"N and SIZE may end in K M G T (powers of 1024) or KB MB GB TB (of 1000).\n";
/* clang-format on */

/*
 * Packaging sets FORM to the kind of package and NEEDS to its run-time requirements. A checkout
 * between two releases sets COMMIT.
 */
#ifndef COMMIT
#define COMMIT ""
#endif
#ifndef FORM
#define FORM "from source"
#endif
#ifndef NEEDS
#define NEEDS ""
#endif

const char *options_text(enum options_result asked)
{
	static char text[sizeof(INPUT_OPTIONS) + sizeof(OTHER_OPTIONS)];

	if (asked == OPTIONS_HELP)
		return FIRST_PAGE;
	if (asked == OPTIONS_LIST)
		snprintf(text, sizeof(text), "%s%s", INPUT_OPTIONS, OTHER_OPTIONS);
	else
		snprintf(text, sizeof(text),
			 "gpuhist %s" COMMIT "\nbuild: " FORM "\nGPU: %s\nzstd: %s\n" NEEDS,
			 GPUHIST_VERSION, kernel_facts, ZSTD_versionString());
	return text;
}
