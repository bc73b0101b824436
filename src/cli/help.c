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
	"      --auto           range from the data (default, but for integers with -b)\n"
	"      --log=LO:HI  bins of equal ratio   --edges=LIST|@FILE   --mod  value mod N\n"
	"      --clamp  count outliers in the end bins   --closed  HI is in the last bin\n"
	"  -S, --skip=SIZE      skip SIZE (64K) of each input   -n, --count=N  N records\n"
	"  -c, --channels=N     N interleaved channels, one histogram each\n"
	"      --record=SIZE  records, the sample at --offset=SIZE   --rows=WIDTH:PITCH\n"
	"      --ignore-tail    leave out incomplete records   --part=K/N|auto  one slice\n"
	"      --raw  count headers and zstd as they are   --zstd  fail unless it is zstd\n"
	"  -C, --counter=KIND   u64 u32 sat8 sat16 sat32 (default u64; raw, npy: u32)\n"
	"  -f, --format=FORMAT  csv tsv raw npy json plot svg (by FILE's suffix, or csv)\n"
	"  -o, --output=FILE    replace FILE at the end   --every=TIME  meanwhile, too\n"
	"      --into=FILE.json  add this run to FILE   --merge[=some]  add up histograms\n"
	"      --tee            pass the input on to standard output (with -o)\n"
	"  -p, --plot[=log]     picture on stderr   --stats  extremes, mean, quantiles\n"
	"      --flow  rows for under, over, nan   --nonzero  no empty bins   --no-header\n"
	"      --device=DEVICE  auto, cpu, gpu (the first), gpu:0,2, gpu:all\n"
	"  -T, --threads=N  (all cores)   -M, --memory=SIZE  (256M or 32M a thread)\n"
	"  -q, --quiet -v, --verbose --progress --no-progress -h, --help -V, --version\n";

void help_version(char text[HELP_VERSION])
{
	snprintf(text, HELP_VERSION, "gpuhist %s\nGPU: %s\nzstd: %s\n", GPUHIST_VERSION,
		 kernel_facts, ZSTD_versionString());
}
