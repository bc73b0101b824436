/* SPDX-License-Identifier: MIT */
/* first: recognises formats by a table of magic numbers, and text by its characters. */
#include "format/first.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "format/words.h"

/* ---- formats ---- */

#define MAGIC(text) text, sizeof(text) - 1, 0
#define ANY '?'
#define SPACE '_'  /* white space */
#define NUMBER '~' /* a digit, or a character that may come before a picture's numbers */
#define READ(magic, header, suffix) MAGIC(magic), header, false, NULL, suffix
#define PACKED(magic, advice) MAGIC(magic), NULL, true, advice, NULL
#define OTHER(magic, advice) MAGIC(magic), NULL, false, advice, NULL

/* Advice for a file that a Python module can read as an array. */
#define NUMPY(what, module, array)                                \
	what " file; try `python3 -c 'import sys, numpy, " module \
	     "; numpy.save(sys.stdout.buffer, " array ")' | gpuhist`"
#define HDF5 NUMPY("is an HDF5", "h5py", "h5py.File(\"FILE\")[\"NAME\"][:]")
#define MATLAB NUMPY("is a MATLAB", "scipy.io", "scipy.io.loadmat(\"FILE\")[\"NAME\"]")
#define NETCDF NUMPY("is a NetCDF", "netCDF4", "netCDF4.Dataset(\"FILE\")[\"NAME\"][:].data")
#define TABLE "read_table(\"FILE\")[\"COLUMN\"].to_numpy()"
#define PARQUET NUMPY("is a Parquet", "pyarrow.parquet", "pyarrow.parquet." TABLE)
#define ARROW NUMPY("is an Arrow", "pyarrow.feather", "pyarrow.feather." TABLE)
#define LAS NUMPY("is a LAS", "laspy", "numpy.asarray(laspy.read(\"FILE\").z)")
#define ROOT \
	NUMPY("is a ROOT", "uproot", "uproot.open(\"FILE\")[\"TREE/BRANCH\"].array(library=\"np\")")
#define TIFF NUMPY("is a TIFF", "tifffile", "tifffile.imread(\"FILE\")")
#define GGUF                       \
	NUMPY("is a GGUF", "gguf", \
	      "next(t.data for t in gguf.GGUFReader(\"FILE\").tensors if t.name == \"NAME\")")
#define TORCH                          \
	NUMPY("is a PyTorch", "torch", \
	      "torch.load(\"FILE\", map_location=\"cpu\")[\"NAME\"].float().numpy()")
#define NRRD NUMPY("is an NRRD", "nrrd", "nrrd.read(\"FILE\")[0]")
#define PLAIN "is an image in text; try `pnmtopnm FILE | gpuhist`"
#define FITS NUMPY("is a FITS", "astropy.io.fits", "astropy.io.fits.getdata(\"FILE\")")
#define AIFF "is an AIFF file; pipe it through `sox -t aiff - -t wav -`"

extern const struct header_format header_npy, header_pnm, header_wave;

static const struct input_format FORMATS[] = {
	{READ("\x93NUMPY", &header_npy, ".npy")},
	{READ("RIFF????WAVE", &header_wave, ".wav")},
	{READ("RIFX????WAVE", &header_wave, ".wav")},
	{READ("RF64????WAVE", &header_wave, ".wav")},
	{READ("BW64????WAVE", &header_wave, ".wav")},
	{READ("P5_~", &header_pnm, ".pgm")},
	{READ("P5#?", &header_pnm, ".pgm")},
	{READ("P6_~", &header_pnm, ".ppm")},
	{READ("P6#?", &header_pnm, ".ppm")},
	{OTHER("P2_", PLAIN)},
	{OTHER("P3_", PLAIN)},
	{OTHER("P7\n", "is a PAM file; try `pamtopnm FILE | gpuhist`")},
	{PACKED("\x1f\x8b\x08", "is compressed by gzip; pipe it through `gzip -dc`")},
	{PACKED("\xfd"
		"7zXZ\0",
		"is compressed by xz; pipe it through `xz -dc`")},
	/* the level, then the magic number of a block, which is pi */
	{PACKED("BZh?1AY&SY", "is compressed by bzip2; pipe it through `bzip2 -dc`")},
	{PACKED("\x04\x22\x4d\x18", "is compressed by lz4; pipe it through `lz4 -dc`")},
	{PACKED("PK\3\4",
		"is a zip archive, as .npz files are; try `unzip -p ARCHIVE MEMBER | gpuhist`")},
	{PACKED("fLaC", "is a FLAC file; pipe it through `flac -dc -`")},
	{PACKED("OggS", "is an Ogg file; pipe it through `ffmpeg -i - -f wav -`")},
	{OTHER("FORM????AIFF", AIFF)},
	{OTHER("FORM????AIFC", AIFF)},
	{OTHER(".snd", "is an AU file; pipe it through `sox -t au - -t wav -`")},
	/* sox reads these two from files only */
	{OTHER("riff\x2e\x91\xcf\x11", "is a W64 file; try `sox FILE -t wav - | gpuhist`")},
	{OTHER("caff\0\1", "is a CAF file; try `sox FILE -t wav - | gpuhist`")},
	{OTHER("\x89HDF\r\n\x1a\n", HDF5)},
	{OTHER("MATLAB 7.3 MAT-f", HDF5)},
	{OTHER("MATLAB 5.0 MAT-f", MATLAB)},
	{OTHER("CDF\1", NETCDF)},
	{OTHER("CDF\2", NETCDF)},
	{OTHER("CDF\5", NETCDF)},
	{OTHER("GGUF", GGUF)},
	{OTHER("\x80\2\x8a\nl\xfc\x9c"
	       "F\xf9 j\xa8P\x19.",
	       TORCH)}, /* before 1.6 */
	{OTHER("version https://",
	       "is a Git LFS pointer, not the file itself; run `git lfs pull` to fetch it")},
	{OTHER("LASF", LAS)},
	{OTHER("root\0", ROOT)},
	{OTHER("PAR1", PARQUET)},
	{OTHER("ARROW1", ARROW)},
	{OTHER("II*\0", TIFF)},
	{OTHER("MM\0*", TIFF)},
	{OTHER("II+\0", TIFF)},
	{OTHER("MM\0+", TIFF)},
	{OTHER("\x89PNG\r\n\x1a\n", "is a PNG file; try `pngtopnm FILE | gpuhist`")},
	{OTHER("\xff\xd8\xff", "is a JPEG file; try `djpeg FILE | gpuhist`")},
	{OTHER("SIMPLE  =", FITS)},
	{OTHER("NRRD000", NRRD)},
	{OTHER("SQLite format 3\0",
	       "is an SQLite database; try `sqlite3 FILE 'select COLUMN from TABLE' | gpuhist "
	       "--text`")},
	{"ustar", 5, 257, NULL, false, "is a tar archive; try `tar -xOf FILE MEMBER | gpuhist`",
	 NULL},
	/* the upper half of a 64-bit length, 0, then the JSON of that length */
	{"\0\0\0\0{\"", 6, 4, NULL, false, NULL, ".safetensors"},
	{"\0\0\0\0{}", 6, 4, NULL, false, NULL, ".safetensors"}, /* no tensors */
};

static bool agrees(char magic, unsigned char c)
{
	switch (magic) {
	case ANY:
		return true;
	case SPACE:
		return words_is_space(c);
	case NUMBER:
		return words_is_space(c) || c == '#' || (c >= '0' && c <= '9');
	default:
		return c == (unsigned char)magic;
	}
}

/* The number of bytes, of n at the format's offset, that agree with its magic number. */
static size_t alike(const struct input_format *f, const unsigned char *bytes, size_t n)
{
	size_t same = 0;

	while (same < n && same < f->length && agrees(f->magic[same], bytes[same]))
		same++;
	return same;
}

#define FORMAT_COUNT (sizeof(FORMATS) / sizeof(FORMATS[0]))

enum header_result first_format(const unsigned char *bytes, size_t n, enum formats which,
				const struct input_format **format)
{
	enum header_result result = HEADER_NONE;

	for (const struct input_format *f = FORMATS; f < FORMATS + FORMAT_COUNT; f++) {
		const size_t there = f->at < n ? n - f->at : 0;
		if (which == FORMATS_TYPED && !f->header && !f->packed)
			continue;
		const size_t same = there > 0 ? alike(f, bytes + f->at, there) : 0;
		if (same == f->length) {
			*format = f;
			return HEADER_FOUND;
		}
		if (same == n)
			result = HEADER_MORE;
	}
	return result;
}

const char *first_advice(const struct input_format *f, const unsigned char *bytes, size_t n)
{
	static const char MEMBER[] = "/data.pkl";

	return f->magic[0] == 'P' && f->packed && memmem(bytes, n, MEMBER, sizeof(MEMBER) - 1)
		       ? TORCH
		       : f->advice;
}

const char *first_promise(const char *name, size_t length)
{
	for (const struct input_format *f = FORMATS; f < FORMATS + FORMAT_COUNT; f++) {
		const size_t suffix = f->suffix ? strlen(f->suffix) : length;
		if (suffix < length && strncasecmp(name + length - suffix, f->suffix, suffix) == 0)
			return f->suffix;
	}
	return NULL;
}

bool first_named(struct sample_type *type, bool *pair, const char *name, char suffix[FIRST_SUFFIX])
{
	size_t length = strlen(name);

	length -= length > 4 && strcasecmp(name + length - 4, ".zst") == 0 ? 4 : 0;
	size_t at = length;
	while (at > 0 && name[at - 1] != '.')
		at--;
	memset(suffix, 0, FIRST_SUFFIX);
	if (at > 0 && length - at < FIRST_SUFFIX)
		memcpy(suffix, name + at, length - at);
	*pair = false;
	/* GNU Radio writes complex floats into .cfile. */
	const char *const word = strcasecmp(suffix, "cfile") == 0 ? "cf32" : suffix;
	return sample_type_named(type, pair, word) == 0;
}

/* ---- text ---- */

/*
 * The number of first bytes that are whole printable characters or white space. The n bytes may end
 * inside a character.
 */
static size_t text_length(const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n) {
		const unsigned char c = bytes[i];
		const bool plain = (c >= ' ' && c <= '~') || words_is_space(c);
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
