/* SPDX-License-Identifier: MIT */
/* first: the table of what is not read; characters. */
#include "input/first.h"

#include <string.h>

#include "base/utf8.h"

/* ---- formats ---- */

#define MAGIC(text) text, sizeof(text) - 1, 0
#define ANY '?'

/* What a module of Python makes an array of. */
#define NUMPY(what, module, array)                            \
	what " file: `python3 -c 'import sys, numpy, " module \
	     "; numpy.save(sys.stdout.buffer, " array ")' | gpuhist` counts it"
#define HDF5 NUMPY("an HDF5", "h5py", "h5py.File(\"FILE\")[\"NAME\"][:]")
#define MATLAB NUMPY("a MATLAB", "scipy.io", "scipy.io.loadmat(\"FILE\")[\"NAME\"]")
#define NETCDF NUMPY("a NetCDF", "netCDF4", "netCDF4.Dataset(\"FILE\")[\"NAME\"][:].data")
#define TABLE "read_table(\"FILE\")[\"COLUMN\"].to_numpy()"
#define PARQUET NUMPY("a Parquet", "pyarrow.parquet", "pyarrow.parquet." TABLE)
#define ARROW NUMPY("an Arrow", "pyarrow.feather", "pyarrow.feather." TABLE)
#define TIFF NUMPY("a TIFF", "tifffile", "tifffile.imread(\"FILE\")")
#define FITS NUMPY("a FITS", "astropy.io.fits", "astropy.io.fits.getdata(\"FILE\")")
#define AIFF "an AIFF file: pipe it through `sox -t aiff - -t wav -`"

static const struct format FORMATS[] = {
	{MAGIC("\x1f\x8b\x08"), true, "compressed by gzip: pipe it through `gzip -dc`"},
	{MAGIC("\xfd"
	       "7zXZ\0"),
	 true, "compressed by xz: pipe it through `xz -dc`"},
	/* a digit, and then those of pi, which begin a block */
	{MAGIC("BZh?1AY&SY"), true, "compressed by bzip2: pipe it through `bzip2 -dc`"},
	{MAGIC("\x04\x22\x4d\x18"), true, "compressed by lz4: pipe it through `lz4 -dc`"},
	{MAGIC("PK\3\4"), true,
	 "a zip archive, as .npz files are: `unzip -p ARCHIVE MEMBER | gpuhist` counts a member of "
	 "it"},
	{MAGIC("fLaC"), true, "a FLAC file: pipe it through `flac -dc -`"},
	{MAGIC("OggS"), true, "an Ogg file: pipe it through `ffmpeg -i - -f wav -`"},
	{MAGIC("FORM????AIFF"), false, AIFF},
	{MAGIC("FORM????AIFC"), false, AIFF},
	{MAGIC(".snd"), false, "an AU file: pipe it through `sox -t au - -t wav -`"},
	/* sox reads these two from files only */
	{MAGIC("riff\x2e\x91\xcf\x11"), false,
	 "a W64 file: `sox FILE -t wav - | gpuhist` counts it"},
	{MAGIC("caff\0\1"), false, "a CAF file: `sox FILE -t wav - | gpuhist` counts it"},
	{MAGIC("\x89HDF\r\n\x1a\n"), false, HDF5},
	{MAGIC("MATLAB 7.3 MAT-f"), false, HDF5},
	{MAGIC("MATLAB 5.0 MAT-f"), false, MATLAB},
	{MAGIC("CDF\1"), false, NETCDF},
	{MAGIC("CDF\2"), false, NETCDF},
	{MAGIC("CDF\5"), false, NETCDF},
	{MAGIC("PAR1"), false, PARQUET},
	{MAGIC("ARROW1"), false, ARROW},
	{MAGIC("II*\0"), false, TIFF},
	{MAGIC("MM\0*"), false, TIFF},
	{MAGIC("II+\0"), false, TIFF},
	{MAGIC("MM\0+"), false, TIFF},
	{MAGIC("\x89PNG\r\n\x1a\n"), false, "a PNG file: `pngtopnm FILE | gpuhist` counts it"},
	{MAGIC("\xff\xd8\xff"), false, "a JPEG file: `djpeg FILE | gpuhist` counts it"},
	{MAGIC("SIMPLE  ="), false, FITS},
	{MAGIC("SQLite format 3\0"), false,
	 "an SQLite database: `sqlite3 FILE 'select COLUMN from TABLE' | perl "
	 "-Mwarnings=FATAL,numeric -ne 'print pack \"d<\", $_' | gpuhist -t f64` counts it"},
	{"ustar", 5, 257, false, "a tar archive: `tar -xOf FILE MEMBER | gpuhist` counts it"},
	/* after a length of 32 bits: the text that the length is of */
	{"\0\0\0\0{\"", 6, 4, false, NULL},
};

/* How many of the n bytes at its offset are those of its magic number? */
static size_t agree(const struct format *f, const unsigned char *bytes, size_t n)
{
	size_t same = 0;

	while (same < n && same < f->length &&
	       (f->magic[same] == ANY || bytes[same] == (unsigned char)f->magic[same]))
		same++;
	return same;
}

#define FORMAT_COUNT (sizeof(FORMATS) / sizeof(FORMATS[0]))

enum header_result first_refused(const unsigned char *bytes, size_t n, bool typed,
				 const struct format **format)
{
	enum header_result result = HEADER_NONE;

	for (const struct format *f = FORMATS; f < FORMATS + FORMAT_COUNT; f++) {
		const size_t there = f->at < n ? n - f->at : 0;
		if (typed && !f->packed)
			continue;
		const size_t same = there > 0 ? agree(f, bytes + f->at, there) : 0;
		if (same == f->length) {
			*format = f;
			return HEADER_FOUND;
		}
		if (same == n)
			result = HEADER_MORE;
	}
	return result;
}

/* ---- text ---- */

/*
 * Where do n bytes stop to be printable characters and white space? The last three may be less than
 * a character.
 */
static size_t text_length(const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n) {
		const unsigned char c = bytes[i];
		const bool plain = (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r');
		const size_t some = c < 0x80 ? plain : utf8_length(bytes + i, n - i);
		if (some == 0)
			break;
		i += some;
	}
	return i;
}

enum first_text first_text(const unsigned char *bytes, size_t n, bool ended)
{
	static const char DOCUMENT[] = "\"uhi_schema\"";
	const size_t most = n < FIRST_TEXT ? n : FIRST_TEXT, text = text_length(bytes, most);
	const bool cut = text < most && most - text < 4 && bytes[text] >= 0xc2;

	if (text < most && !cut)
		return TEXT_NONE;
	if (n < FIRST_TEXT && !ended)
		return TEXT_MORE;
	if (n < FIRST_TEXT && (n < FIRST_TEXT_LEAST || cut))
		return TEXT_NONE;
	return memmem(bytes, most, DOCUMENT, sizeof(DOCUMENT) - 1) ? TEXT_JSON : TEXT_FOUND;
}
