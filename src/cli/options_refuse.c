/* SPDX-License-Identifier: MIT */
/*
 * options_refuse: unknown options, or options that are used wrongly, with a guess at what was
 * meant.
 *
 * What other tools call an option is tried first, then the nearest name of ours (near.h). One line
 * each.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "cli/options_given.h"

/*
 * What other tools, and the parameters of numpy.histogram and similar functions, call options that
 * we have. Names that begin one of ours are abbreviations and never get here.
 */
static const struct {
	const char *theirs; /* words, with blanks between them */
	const char *ours;
} OTHERS[] = {
	{"nbins nbin n-bins num-bins numbins bin-count bincount buckets levels", "--bins=N"},
	{"min max minimum maximum lo hi low high lower upper from to limits xlim xmin xmax "
	 "lower-bound upper-bound",
	 "--range=LO:HI"},
	{"bits", "--bins=N, or --type=TYPE such as u16"},
	{"bin-width binwidth bin-size binsize step width",
	 "--range=LO:HI with --bins=N, bins of (HI - LO) / N"},
	{"dtype datatype data-type sample-type sample-format encoding bit-depth bits-per-sample",
	 "--type=TYPE"},
	{"endian endianness byte-order byteorder big-endian be swap swap-bytes",
	 "--type=TYPE with be after it for big endian, such as u16be"},
	{"little-endian le", "--type=TYPE, which is little endian unless be follows"},
	{"input infile in-file input-file file files filename path in if stdin",
	 "FILE alone, without an option"},
	{"outfile out-file of save write", "--output=FILE"},
	{"output-format csv tsv npy json svg", "--format=FORMAT, such as json"},
	{"nchannels n-channels num-channels stereo iq complex", "--channels=N, such as 2"},
	{"record-size stride struct itemsize block-size bs", "--record=SIZE"},
	{"skip-bytes seek start header header-size ignore-bytes", "--skip=SIZE"},
	{"length limit samples nsamples num-samples max-count head number max-samples",
	 "--count=N"},
	{"nthreads num-threads jobs cores cpus workers parallel concurrency procs", "--threads=N"},
	{"ram max-memory memory-limit max-mem buffer-size", "--memory=SIZE"},
	{"gpu cuda gpus nvidia", "--device=gpu"},
	{"cpu no-gpu nogpu", "--device=cpu"},
	{"statistics summary quantiles percentiles percentile mean", "--stats"},
	{"chart graph draw show picture ascii", "--plot"},
	{"append accumulate update", "--into=FILE.json"},
	{"combine sum", "--merge"},
	{"slice shard split partition rank task node", "--part=K/N"},
	{"interval refresh", "--every=TIME"},
	{"logscale log-scale logarithmic log-bins logspace geomspace", "--log=LO:HI"},
	{"modulo modulus", "--mod"},
	{"saturate", "--counter=sat32"},
	{"decompress zst zstandard", "--zstd"},
	{"silent no-messages", "--quiet"},
	{"debug info", "--verbose"},
	{"usage", "--help"},
};

/* The same for letters; letters that are ours in the other case are found without this. */
static const struct {
	char theirs;
	const char *ours;
} LETTERS[] = {{'i', "FILE alone, without an option"},
	       {'I', "FILE alone, without an option"},
	       {'j', "-T N"},
	       {'z', "--zstd"},
	       {'a', "--auto"},
	       {'?', "-h"}};

/* Is the text one of the words of the list? */
static bool listed(const char *list, const char *text, size_t length)
{
	while (*list) {
		const size_t some = strcspn(list, " ");
		if (some == length && strncmp(list, text, length) == 0)
			return true;
		list += some + (list[some] == ' ');
	}
	return false;
}

static const struct option *by_name(const char *name, size_t length)
{
	for (const struct option *o = options_long; o->name; o++)
		if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
			return o;
	return NULL;
}

const struct option *option_by_value(int value)
{
	for (const struct option *o = options_long; o->name; o++)
		if (o->val == value)
			return o;
	return NULL;
}

/* Lists the options that an abbreviation may stand for; returns how many there are. */
static size_t candidates(const char *name, size_t length, char *list, size_t room)
{
	size_t n = 0, used = 0;

	for (const struct option *o = options_long; o->name && length > 0; o++) {
		if (strncmp(o->name, name, length) != 0)
			continue;
		const int some =
			snprintf(list + used, room - used, "%s--%s", n++ == 0 ? "" : ", ", o->name);
		used += (size_t)some < room - used ? (size_t)some : 0;
	}
	return n;
}

#define MEANT 128

/* What an unknown long name most likely means; "" if that cannot be guessed. */
static void meant_by_name(char meant[MEANT], const char *name, size_t length)
{
	char word[NEAR_WORD + 1];
	struct near near = {0};

	meant[0] = '\0';
	if (length == 0 || length >= sizeof(word))
		return;
	/* In our spelling: lower case, and - between words. */
	for (size_t i = 0; i < length; i++)
		word[i] = (char)(name[i] == '_'                     ? '-'
				 : name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32
								    : name[i]);
	word[length] = '\0';
	for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
		if (listed(OTHERS[i].theirs, word, length))
			snprintf(meant, MEANT, "%s", OTHERS[i].ours);
	if (meant[0] != '\0')
		return;
	for (const struct option *o = options_long; o->name; o++)
		near_ask(&near, word, o->name);
	if (near.word)
		snprintf(meant, MEANT, "--%s", near.word);
}

/* The same for an unknown letter. */
static void meant_by_letter(char meant[MEANT], int letter)
{
	const bool alphabetic =
		(letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');

	meant[0] = '\0';
	for (size_t i = 0; i < sizeof(LETTERS) / sizeof(LETTERS[0]); i++)
		if (LETTERS[i].theirs == letter)
			snprintf(meant, MEANT, "%s", LETTERS[i].ours);
	if (meant[0] == '\0' && alphabetic && option_by_value(letter ^ 32))
		snprintf(meant, MEANT, "-%c", letter ^ 32);
}

/* The long option whose name is in a word after one dash; NULL: none is. */
static const struct option *after_one_dash(const char *word)
{
	return word && word[0] == '-' && word[1] != '-' ? by_name(word + 1, strcspn(word + 1, "="))
							: NULL;
}

static int unknown(struct fail *fail, const char *option, int length, const char *meant)
{
	if (meant[0] == '\0')
		return fail_set(fail, STATUS_USAGE, "unknown option '%.*s' (gpuhist -h lists them)",
				length, option);
	return fail_set(fail, STATUS_USAGE,
			"unknown option '%.*s': did you mean %s? (gpuhist -h lists all)", length,
			option, meant);
}

int options_one_dash(char **argv, struct fail *fail)
{
	const struct option *const o = after_one_dash(argv[optind - 1]);

	if (!o)
		return -1;
	*fail = (struct fail){.status = STATUS_OK};
	return fail_set(fail, STATUS_USAGE, "option '-%s': long options have two dashes: --%s",
			o->name, o->name);
}

int options_refuse(int option, char **argv, struct fail *fail)
{
	const char *word = argv[optind - 1];
	const int name = (int)strcspn(word, "="), length = name > 2 ? name : (int)strlen(word);
	const struct option *known = optopt != 0 ? option_by_value(optopt) : NULL;
	char list[400], meant[MEANT];

	if (option == ':' && strncmp(word, "--", 2) != 0)
		return fail_set(fail, STATUS_USAGE,
				"option '-%c' needs a value (gpuhist -h lists them)", optopt);
	if (option == ':')
		return fail_set(fail, STATUS_USAGE,
				"option '--%s' needs a value (gpuhist -h lists them)", known->name);
	if (known)
		return fail_set(fail, STATUS_USAGE, "option '--%s' takes no value", known->name);
	if (optopt != 0) {
		/*
		 * The word with the unknown letter may still be the next one: optind has not moved.
		 */
		const char letter[3] = {'-', (char)optopt, '\0'};
		const struct option *one = after_one_dash(argv[optind]);
		const size_t end = strlen(word);
		if (!one && end > 0 && word[end - 1] == optopt)
			one = after_one_dash(word);
		if (one && strchr(one->name, optopt))
			snprintf(meant, sizeof(meant), "--%s", one->name);
		else
			meant_by_letter(meant, optopt);
		return unknown(fail, letter, 2, meant);
	}
	const size_t letters = strcspn(word + 2, "=");
	if (candidates(word + 2, letters, list, sizeof(list)) > 1)
		return fail_set(fail, STATUS_USAGE, "option '%.*s' is ambiguous: %s", length, word,
				list);
	meant_by_name(meant, word + 2, letters);
	return unknown(fail, word, length, meant);
}
