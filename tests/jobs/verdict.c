/* SPDX-License-Identifier: MIT */
/* verdict: runs, comparisons, and the report of a job that failed. */

#include "job.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void document_name(char path[PATH_BYTES], const struct slices *slices, unsigned k)
{
	snprintf(path, PATH_BYTES, "%s/part%u", slices->folder, k);
}

/*
 * Run the slices in random order, all with the same standard input, whose offset no slice may move;
 * then merge their documents.
 */
static void run_slices(const struct command *gpuhist, int fd, const struct slices *slices,
		       struct result *ours)
{
	const unsigned n = slices->count, first = (unsigned)below(n);
	static struct command part;
	char document[PATH_BYTES];
	int status = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned k = 1 + (first + i) % n;
		part = (struct command){.args = 0};
		for (unsigned a = 0; a < gpuhist->args; a++) {
			arg(&part, "%s", gpuhist->argv[a]);
			if (a > 0)
				continue;
			if (slices->row)
				arg(&part, "--each=%s", slices->row);
			else
				arg(&part, "--part=%u/%u", k, n);
			arg(&part, "-fjson");
		}
		document_name(document, slices, k);
		const int this = finish(start(part.argv, fd, document, ours->err));
		if (i > 0 && this != status) /* if a job is wrong, every slice must fail */
			status = 99;
		else
			status = this;
		arg(slices->merge, "%s", document);
	}
	if (status == 0) {
		ours->status = finish(start(slices->merge->argv, fd, ours->out, ours->err));
		return;
	}
	ours->status = status;
	close(open(ours->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

void run_both(const struct command *gpuhist, const struct command *oracle, const struct input *in,
	      unsigned inputs, const struct slices *slices, struct result *ours,
	      struct result *theirs)
{
	const struct input *piped = NULL;
	pid_t writer[MAX_INPUTS + 1] = {0}; /* of FIFOs; the last: of the pipe */
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
	if (slices->count > 0) {
		run_slices(gpuhist, fd, slices, ours);
	} else {
		pid = start((char **)gpuhist->argv, fd, ours->out, ours->err);
		ours->status = finish(pid);
	}
	close(fd);
	for (unsigned k = 0; k <= MAX_INPUTS; k++) {
		if (writer[k]) {
			kill(writer[k], SIGKILL);
			waitpid(writer[k], NULL, 0);
		}
	}
	theirs->status = finish(oracle_pid);
}

/* Are two lines of rows the same, except that mean and std may differ by one unit? */
static bool same_figures(const struct job *j, const char *a, const char *b)
{
	/* columns before it */
	const unsigned channels = j->channels / (j->magnitude ? 2 : 1);
	const unsigned mean = j->key_bits                 ? 11
			      : j->channels > 64          ? 10
			      : j->each && j->slices == 0 ? 12u + (channels > 1) + !j->text
							  : 9u + (channels > 1);

	for (unsigned column = 0;; column++) {
		const size_t na = strcspn(a, ",\t"), nb = strcspn(b, ",\t");
		const double x = strtod(a, NULL), y = strtod(b, NULL);
		if (column == mean || column == mean + 1 ? x != y && nextafter(x, y) != y
							 : na != nb || memcmp(a, b, na) != 0)
			return false;
		if (!a[na] || !b[nb])
			return a[na] == b[nb];
		a += na + 1;
		b += nb + 1;
	}
}

/* Compare two files; `part`: the first may end before the second does. */
static bool same_text(const struct job *j, const char *a, const char *b, bool part, FILE *why)
{
	FILE *fa = fopen(a, "r"), *fb = fopen(b, "r");
	char *la = NULL, *lb = NULL;
	size_t ca = 0, cb = 0;
	unsigned long long line = 0;
	ssize_t na, nb;
	bool same = true;

	if (!fa || !fb)
		die(fa ? b : a);
	do {
		line++;
		na = getline(&la, &ca, fa);
		nb = getline(&lb, &cb, fb);
		if (part && (na < 0 || (feof(fa) && na < nb && !memcmp(la, lb, (size_t)na))))
			break;
		same = na == nb && (na < 0 || !memcmp(la, lb, (size_t)na));
		if (!same && (j->each || j->channels > 64 || j->key_bits || j->binless) &&
		    (j->slices == 0 || j->key_bits || j->binless) && j->quantiles[0] && na > 0 &&
		    nb > 0)
			same = same_figures(j, la, lb);
	} while (same && na >= 0);
	if (!same)
		fprintf(why, "  line %llu of standard output\n    gpuhist: %s    oracle:  %s", line,
			na < 0 ? "(no more)\n" : la, nb < 0 ? "(no more)\n" : lb);
	free(la);
	free(lb);
	fclose(fa);
	fclose(fb);
	return same;
}

#define STATS "gpuhist: stats: "
#define MOST 64 /* channels */

/*
 * Split a line of a table, "NAME  FIGURE  FIGURE", into a line "CHANNEL  NAME  FIGURE" for each
 * channel. "-" stands for a missing figure; the first line, named "channel", gives the first
 * channel, or, named "column", the columns that follow those of tables before.
 */
static void split_row(FILE *to[MOST], char *line, unsigned *first, unsigned *next)
{
	char *at = strstr(line, "  ");
	const int name = at ? (int)(at - line) : 0;

	line[strcspn(line, "\n")] = 0;
	if (!at)
		return;
	if (!strncmp(line, "channel ", 8)) {
		*first = (unsigned)atoi(at);
		return;
	}
	if (!strncmp(line, "column ", 7))
		*first = *next;
	for (unsigned channel = *first; *at && channel < MOST; channel++) {
		const char *const figure = at + strspn(at, " ");
		at = strstr(figure, "  ");
		at = at ? at : strchr(figure, 0);
		if (*figure != '-' || at - figure > 1)
			fprintf(to[channel], "%u  %.*s  %.*s\n", channel, name, line,
				(int)(at - figure), figure);
		*next = !strncmp(line, "column ", 7) ? channel + 1 : *next;
	}
}

/* Return the table of --stats in a file's lines, channel after channel; the caller frees it. */
static char *stats_of(const char *path, bool *others)
{
	FILE *file = fopen(path, "r"), *to[MOST];
	char *line = NULL, *text[MOST], *all = NULL;
	size_t room = 0, bytes[MOST], used;
	unsigned first = 0, next = 0;
	FILE *joint = open_memstream(&all, &used);

	for (unsigned c = 0; c < MOST; c++)
		to[c] = open_memstream(&text[c], &bytes[c]);
	if (!file || !joint || !to[MOST - 1])
		die(path);
	*others = false;
	while (getline(&line, &room, file) > 0) {
		if (strncmp(line, STATS, strlen(STATS)))
			*others = true;
		else
			split_row(to, line + strlen(STATS), &first, &next);
	}
	free(line);
	fclose(file);
	for (unsigned c = 0; c < MOST; c++) {
		if (fclose(to[c]))
			die("memory");
		fputs(text[c], joint);
		free(text[c]);
	}
	if (fclose(joint))
		die("memory");
	return all;
}

static bool same_stats(const struct job *j, const struct result *ours, const struct result *theirs,
		       FILE *why)
{
	bool others, theirs_others;
	char *a = stats_of(ours->err, &others), *b = stats_of(theirs->err, &theirs_others);
	bool same = !strcmp(a, b);

	if (!same)
		fprintf(why, "  --stats: gpuhist says\n%s  and the oracle\n%s", a, b);
	if (j->quiet && others)
		fprintf(why, "  -q, and yet something on standard error\n");
	free(a);
	free(b);
	return same && !(j->quiet && others);
}

static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) || st.st_size == 0;
}

/* Return the last whole record, in rows, of the first n decoded bytes; up: or the next one. */
static uint64_t records_in(const struct job *j, const struct input *in, size_t n, bool up)
{
	const uint64_t bits = j->channels * j->type->bits;
	const uint64_t packed = j->layout == PLAIN ? 8 * j->stride / bits : 1;
	const uint64_t bytes = n > in->front ? n - in->front : 0;

	return (bytes / j->stride + (up && bytes % j->stride > 0)) * packed;
}

/*
 * Judge the rows of an input with a damaged frame: those before the frame must be there, and those
 * that end in it may be.
 */
static bool judge_rows(const struct job *j, const struct input *in, const struct input *bad,
		       const struct result *ours, const struct result *theirs, FILE *why)
{
	FILE *model = fopen(theirs->out, "r"), *rows = fopen(ours->out, "r");
	const char *const bad_name = input_name(bad);
	unsigned long long least = 0, most = 0, has = 0, first, records;
	const struct input *at = in;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!model || !rows)
		die(theirs->out);
	while ((n = getline(&line, &room, rows)) > 0)
		has += line[n - 1] == '\n';
	for (bool open = true; open && getline(&line, &room, model) > 0;) {
		const size_t name = strcspn(line, ",\t");
		while (at < bad &&
		       (strlen(input_name(at)) != name || strncmp(line, input_name(at), name) != 0))
			at++; /* it has no rows left, or never had any */
		const bool here = strlen(bad_name) == name && !strncmp(line, bad_name, name);
		if (at == bad && here &&
		    sscanf(line + name + 1, "%llu%*c%*[^,\t]%*c%llu", &first, &records) == 2) {
			least += first + records <= records_in(j, bad, bad->bad_from, false);
			open = first + records <= records_in(j, bad, bad->bad_to, true);
			most += open;
		} else if (strncmp(line, "input", 5) == 0 || at < bad) {
			least++;
			most++;
		} else {
			open = false;
		}
		if (strncmp(line, "input", 5) == 0)
			at = in;
	}
	least = has == 0 && bad == in ? 0 : least; /* it failed when it was opened */
	if (has < least || has > most)
		fprintf(why, "  %llu lines, but %llu to %llu end before or in the damaged frame\n",
			has, least, most);
	free(line);
	fclose(model);
	fclose(rows);
	return has >= least && has <= most;
}

/* Judge a run with a damaged frame: it must fail unless nothing needs the damaged bytes. */
static bool judge_damaged(const struct job *j, const struct input *in, const struct input *bad,
			  const struct result *ours, const struct result *theirs, FILE *why)
{
	const bool may_pass = j->limited || (bad->sum_damaged && j->no_check);
	const bool text =
		!j->format || strcmp(j->format, "csv") == 0 || strcmp(j->format, "tsv") == 0;

	if (ours->status != 3 && !(may_pass && ours->status == theirs->status)) {
		fprintf(why, "  exit status: gpuhist %d, oracle %d, and a frame is damaged\n",
			ours->status, theirs->status);
		return false;
	}
	if (is_empty(ours->err) && ours->status != 0)
		fprintf(why, "  failed without a message\n");
	if (!j->each && ours->status == 3)
		return is_empty(ours->out) && !is_empty(ours->err);
	return same_text(j, ours->out, theirs->out, ours->status == 3, why) &&
	       (ours->status != 3 || !text || judge_rows(j, in, bad, ours, theirs, why));
}

bool judge(const struct job *j, const struct input *in, unsigned inputs, const struct result *ours,
	   const struct result *theirs, FILE *why)
{
	bool good = true;

	for (unsigned k = 0; k < inputs; k++)
		if (in[k].damaged && (theirs->status == 0 || theirs->status == 3))
			return judge_damaged(j, in, &in[k], ours, theirs, why);
	const bool keys = j->key_bits && theirs->status == 5; /* too many */
	if (theirs->status != 0 && theirs->status != 2 && theirs->status != 3 && !keys) {
		fprintf(why, "  the oracle itself failed, status %d\n", theirs->status);
		return false;
	}
	/* If an option is wrong and a tensor's type unknown, gpuhist reports the option. */
	const bool both = j->header == TENSORS && ours->status == 2 && theirs->status == 3;

	if (ours->status != theirs->status && !both) {
		fprintf(why, "  exit status: gpuhist %d%s, oracle %d\n", ours->status,
			ours->status < 0 ? " (hung)" : "", theirs->status);
		good = false;
	}
	if (ours->status == 0 && theirs->status == 0 && !same_stats(j, ours, theirs, why))
		good = false;
	if (ours->status > 0 && is_empty(ours->err)) {
		fprintf(why, "  failed without a message\n");
		good = false;
	}
	/*
	 * If the oracle fails, it prints nothing, and neither may gpuhist, except for rows, or some
	 * of them, that came before the failure.
	 */
	return same_text(j, ours->out, theirs->out, j->each && theirs->status == 3, why) && good;
}

/*
 * Return the file that gpuhist reads, to repeat a run by hand: the oracle's, unless that is
 * decoded.
 */
static const char *given(const struct input *in)
{
	return in->compressed || in->lines ? in->file : in->plain;
}

void print_command(const char *who, const struct command *c, const struct input *in,
		   unsigned inputs)
{
	printf("  %s:", who);
	for (unsigned i = 0; i < c->args; i++)
		printf(strpbrk(c->argv[i], "<>|&;*?$ \t\n#") ? " '%s'" : " %s", c->argv[i]);
	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route >= REDIRECT)
			printf(" < %s", given(&in[k]));
	printf("\n");
	for (unsigned k = 0; k < inputs; k++)
		if (in[k].route != BY_NAME)
			printf("    input %u: %s, the bytes of %s\n", k, route_names[in[k].route],
			       given(&in[k]));
}

void remove_job(const struct input *in, unsigned inputs, const struct slices *slices,
		const struct result *ours, const struct result *theirs)
{
	char edges[PATH_BYTES], document[PATH_BYTES];

	for (unsigned k = 0; k < inputs; k++) {
		unlink(in[k].file);
		if (strcmp(in[k].plain, in[k].file) != 0)
			unlink(in[k].plain);
		if (in[k].route == BY_FIFO)
			unlink(in[k].fifo);
	}
	for (unsigned k = 1; k <= slices->count; k++) {
		document_name(document, slices, k);
		unlink(document);
	}
	snprintf(edges, sizeof(edges), "%s/edges", slices->folder);
	unlink(edges); /* only some jobs write it */
	unlink(ours->out);
	unlink(ours->err);
	unlink(theirs->out);
	unlink(theirs->err);
	rmdir(slices->folder);
}
