/* SPDX-License-Identifier: MIT */
/* help: the options on one screen, and the facts of the build. */
#include "cli/help.h"

#include <stdio.h>
#include <zstd.h>

#include "driver/gpu_image.h"

/* At most 24 lines of 80 columns: one screen, with the prompt after it. */
const char help_text[] =
	"Usage: gpuhist [OPTION]... [FILE]...   or   gpuhist --merge [FILE.json]...\n"
	"Count binary samples (raw, .npy, WAVE, PGM, PPM; also zstd) into a histogram.\n"
	"  -t, --type=TYPE      u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 f64,\n"
	"                       +be for big endian; or <u2, >f4, uint16 ... (default u32)\n"
	"  -b, --bins=N         number of bins, up to 2^28 (default 256)\n"
	"  -r, --range=LO:HI    N equal bins over [LO, HI); full: every value of the type\n"
	"      --log=LO:HI, --edges=LIST|@FILE, --mod  equal ratios; edges; value mod N\n"
	"      --auto           range from the data (default, but for integers with -b)\n"
	"      --clamp, --closed  first and last bin take what is out; the last takes HI\n"
	"  -S, --skip=SIZE      skip bytes of each input (64K)   -n, --count=N  records\n"
	"  -c, --channels=N     N interleaved channels, one histogram each\n"
	"      --record=SIZE, --offset=SIZE, --rows=W:PITCH  one sample each; padding\n"
	"      --ignore-tail    inputs may end inside a record   --part=K/N|auto  a slice\n"
	"      --raw, --zstd    count files as they are, headers too; fail unless zstd\n"
	"  -C, --counter=KIND   u64 u32 sat8 sat16 sat32 (default u64; raw, npy: u32)\n"
	"  -f, --format=FORMAT  csv tsv raw npy json plot svg (by FILE's suffix, or csv)\n"
	"  -o, --output=FILE    replace FILE at the end; --every=TIME: meanwhile, too\n"
	"      --into=FILE.json, --merge[=some]  add to FILE; add up FILEs (some parts)\n"
	"      --tee            pass the input through to standard output (with -o)\n"
	"  -p, --plot[=log]     picture on stderr; --stats: extremes, mean, quantiles\n"
	"      --flow, --nonzero, --no-header   under, over, nan; bins above 0; no names\n"
	"      --device=DEVICE  auto, cpu, gpu (the first), gpu:0,2, gpu:all\n"
	"  -T, --threads=N  -M, --memory=SIZE  at most (all cores; 256M, the bins aside)\n"
	"  -q, --quiet -v, --verbose --progress --no-progress -h, --help -V, --version\n";

void help_version(char text[HELP_VERSION])
{
	snprintf(text, HELP_VERSION, "gpuhist %s\nGPU: %s\nzstd: %s\n", GPUHIST_VERSION, kernel_facts,
		 ZSTD_versionString());
}
