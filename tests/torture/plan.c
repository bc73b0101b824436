/* SPDX-License-Identifier: MIT */
/* plan: the jobs, and the faults with their effects. */

#include "torture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char OLD_BYTES[] = "what was there before\n";
/* clang-format off */
#define HISTOGRAM(channel, bytes, samples, under, first, over)                                                               \
	"{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {\"samples\": " samples ", \"under\": " under ", \"over\": " over    \
	", \"nan\": 0, \"bytes\": " bytes ", \"skipped\": 0, \"tail\": 0, \"inputs\": 1, \"part\": 1, \"parts\": 1, \"version\": "   \
	"\"0.2.0\"}}, \"metadata\": {\"type\": \"u32\", \"binning\": \"range\", \"range\": \"0:3\", \"closed\": false, "       \
	"\"clamp\": false, \"counter\": \"u64\", " channel ", \"options\": \"\", \"version\": \"0.2.0\"}, " \
	"\"axes\": [{\"type\": \"regular\", \"lower\": 0, \"upper\": 3, "                                                       \
	"\"bins\": 3, \"underflow\": true, \"overflow\": true, \"circular\": false}], \"storage\": {\"type\": \"int\", "   \
	"\"values\": [" under "," first ",5,1," over "]}}\n"
#define DOCUMENT(...) HISTOGRAM("\"channel\": 0, \"channels\": 1", __VA_ARGS__)
#define KEY(...)      HISTOGRAM("\"key\": \"name\", \"keys\": \"text\"", __VA_ARGS__)
/* clang-format on */
const char OLD_DOCUMENT[] = DOCUMENT("64", "16", "0", "2", "8");
const char LOOKS_AHEAD[] = "few of a pipe, with a look ahead";

const struct job JOBS[] = {
	{"file", "-b 1000 -T 1 --device=cpu ../small", NULL, FILES, STDOUT, 0, NULL},
	{"file, new", "-b 1000 -r full -T 4 --device=cpu ../small", NULL, FILES, NEW, 0, NULL},
	{"file, old, on any device", "-t u8 -T 2 ../small", NULL, FILES, OLD, 0, NULL},
	{"files, link", "-b 70 -r 0:700 --flow -T 2 --device=cpu ../small ../tiny ../small", NULL,
	 FILES, LINK, 0, NULL},
	{"redirect, json", "-f json -t i16be -r full -T 2 --device=cpu", "small", REDIRECT, OLD, 0,
	 NULL},
	{"skip and few", "-S 1001 -n 70001 -t u24 -r full -T 2 --device=cpu ../small", NULL, FILES,
	 STDOUT, 0, NULL},
	{"pipe, raw", "-f raw -b 5000 -T 2", "small", PIPE, NEW, 0, NULL},
	{"few of a pipe", "-n 2 -b 9 --flow -T 1 --raw", "tiny", PIPE, STDOUT, 0, NULL},
	{LOOKS_AHEAD, "-n 2 -b 9 --flow -T 1", "tiny", PIPE, STDOUT, 0, NULL},
	{"edges of a file", "-t i16 -c 2 --edges=@../edges --flow -T 2 --device=cpu ../small", NULL,
	 FILES, NEW, 0, NULL},
	{"range from the samples", "-t f32 --auto -b 90 --flow -T 2 --device=cpu ../small ../tiny",
	 NULL, FILES, OLD, 0, NULL},
	{"records", "-t u24 --record=20 --offset=3 -b 7 -r full -n 900 -T 2", "small", PIPE, STDOUT,
	 0, NULL},
	{"long file", "-b 10 -r full -T 3 --device=cpu ../large", NULL, FILES, STDOUT, 0, NULL},
	{"long pipe", "-b 10 -r full -T 2 --device=cpu", "large", PIPE, STDOUT, 0, NULL},
	{"trickle", "-t f32 -r -1:1 -b 77 --flow -T 1", "tiny", TRICKLE, OLD, 0, NULL},
	{"whole records as they come", "-f json -t i32 -b 77 -r full -T 2 --device=cpu --every=1h",
	 "tiny", TRICKLE, OLD, 0, NULL},
	{"whole records of a long pipe", "-f json -t u16 -c 2 -b 9 -r full -T 2 --every=1h",
	 "large", PIPE, NEW, 0, NULL},
	{"not ready", "-S 4 -b 100 --flow -T 2 --device=cpu", "tiny", NONBLOCKING, STDOUT, 0, NULL},
	{"many bins", "-b 300000 -r full --nonzero -n 30000 -M 300K -T 4 --device=cpu ../small",
	 NULL, FILES, NEW, 0, NULL},
	{"many bins, CSV", "-b 20000 -r full -T 2 --device=cpu ../small", NULL, FILES, STDOUT, 0,
	 NULL},
	{"frames", "-b 1000 -T 4 --device=cpu ../packed", NULL, FILES, NEW, 0, NULL},
	{"frames of a pipe", "-b 1000 -S 1000 -T 2 --device=cpu ../tiny -", "packed", PIPE, STDOUT,
	 0, NULL},
	{"one frame", "-t u16 -b 1000 -r full -T 2 --device=cpu ../single", NULL, FILES, STDOUT, 0,
	 NULL},
	{"one frame, little memory", "-t u8 -T 2 -M 3M --device=cpu", "single", REDIRECT, OLD, 0,
	 NULL},
	{"long frame", "-t u16 -b 1000 -r full -T 3 --device=cpu ../long", NULL, FILES, STDOUT, 0,
	 NULL},
	{"slice of files",
	 "--part=2/3 -b 70 -r 0:700 --flow -T 2 --device=cpu ../small ../tiny ../small", NULL,
	 FILES, OLD, 0, NULL},
	{"slice of a redirect, json",
	 "--part=3/3 -f json -b 1000 -r -9000:9000 -T 2 --device=cpu ../headed -", "headed",
	 REDIRECT, NEW, 0, NULL},
	{"slice next to a cut header", "--part=1/2 -b 9 ../tiny ../headed-cut", NULL, FILES, OLD, 3,
	 NULL},
	{"header", "-b 1000 -r -9000:9000 -T 2 --device=cpu ../headed", NULL, FILES, STDOUT, 0,
	 NULL},
	{"header of a pipe", "-b 1000 -r -9000:9000 -T 2", "headed", PIPE, OLD, 0, NULL},
	{"header in frames", "-b 1000 -r -9000:9000 -T 2 --device=cpu ../headed -", "headed-packed",
	 PIPE, STDOUT, 0, NULL},
	{"tensor", "--tensor=w -T 2 --device=cpu ../tensors", NULL, FILES, STDOUT, 0, NULL},
	{"tensor of a pipe", "--tensor=z -T 2", "tensors", PIPE, OLD, 0, NULL},
	{"no such tensor", "--tensor=x ../tensors ../tensors", NULL, FILES, OLD, 3, NULL},
	{"tensors", "--each=tensor --stats -T 2 ../tensors ../tensors", NULL, FILES, NEW, 0, NULL},
	{"rows", "-t u16 -r full -b 40 --each=5000 -T 3 ../small ../tiny", NULL, FILES, STDOUT, 0,
	 NULL},
	{"rows of a pipe", "-b 7 -r full --flow --each=3 -T 2", "tiny", TRICKLE, STDOUT, 0, NULL},
	{"rows of frames, npy", "-t u16 -c 2 -b 9 -r full --each=7001 -f npy -T 4 ../packed", NULL,
	 FILES, OLD, 0, NULL},
	{"rows of packed samples",
	 "-t u14bit -r full -b 9 --each=40000 -T 3 ../packed ../tiny ../packed", NULL, FILES,
	 STDOUT, 0, NULL},
	{"rows of a long frame", "-t u8 --each=100000 -f raw -T 3 ../long", NULL, FILES, STDOUT, 0,
	 NULL},
	{"a row for each input", "-t u8 --each=file --stats -T 2 ../tiny ../small ../tiny", NULL,
	 FILES, NEW, 0, NULL},
	{"rows, heat map", "-t u8 -c 2 --each=300 -f svg -T 2 ../small ../tiny", NULL, FILES, NEW,
	 0, NULL},
	{"rows, curves", "-t u8 --each=300 --stats -f svg -T 2 ../small", NULL, FILES, OLD, 0,
	 NULL},
	{"rows, strips", "-t u8 --each=3000 -f plot -T 2 ../small", NULL, FILES, STDOUT, 0, NULL},
	{"text", "--text=n -b 70 -r 0:700 --flow -T 2 -M 1M --device=cpu ../text ../text", NULL,
	 FILES, STDOUT, 0, NULL},
	{"text in frames",
	 "--text=n -b 70 -r 0:700 --flow -T 2 -M 4M --device=cpu ../texts ../texts", NULL, FILES,
	 STDOUT, 0, NULL},
	{"rows of text that trickles", "--text=2 -t u16 -r full -b 9 --each=3 -T 2", "few-text",
	 TRICKLE, OLD, 0, NULL},
	{"text passed on", "--text=2 --tee -b 70 -r 0:700 -n 900 -T 2", "text", PIPE, NEW, 0,
	 "text"},
	{"text, a bad line", "--text -b 9 ../few-text", NULL, FILES, OLD, 3, NULL},
	{"plot", "-c 3 -b 70 -r 0:700 -f plot --device=cpu ../small", NULL, FILES, STDOUT, 0, NULL},
	{"rows before a cut frame", "-b 9 --each=file -f json -T 2 ../tiny ../small ../cut", NULL,
	 FILES, STDOUT, 3, NULL},
	{"rows before a cut record", "-t u64 -b 9 --each=100 -T 2 ../tiny ../odd", NULL, FILES,
	 STDOUT, 3, NULL},
	{"passed on", "--tee -b 1000 -T 2 --device=cpu ../small ../tiny", NULL, FILES, NEW, 0,
	 "small tiny"},
	{"pipe passed on", "--tee -n 100 -b 9 -T 2", "small", PIPE, OLD, 0, "small"},
	{"pipe that a signal ends", "--finish --tee -t u8 -b 1 -r full --no-header -T 2", "large",
	 PIPE, OLD, 0, "large"},
	{"cut frame passed on", "--tee -b 9 ../tiny ../cut", NULL, FILES, OLD, 3, "tiny cut"},
	{"cut header", "-b 9 ../headed-cut", NULL, FILES, NEW, 3, NULL},
	{"cut frame", "-b 9 ../tiny ../cut", NULL, FILES, OLD, 3, NULL},
	{"no memory", "-b 300000 -M 4K ../small", NULL, FILES, OLD, 5, NULL},
	{"no file", "-b 9 ../small ../missing", NULL, FILES, OLD, 1, NULL},
	{"cut record", "-t u64 -b 9 ../odd", NULL, FILES, NEW, 3, NULL},
	{"into, new", "-b 3 -T 2 --device=cpu ../small", NULL, FILES, INTO_NEW, 0, NULL},
	{"into, old", "-b 3 -T 2 --device=cpu ../tiny ../small", NULL, FILES, INTO_OLD, 0, NULL},
	{"into, of a pipe", "-b 3 -T 2 --device=cpu", "small", PIPE, INTO_OLD, 0, NULL},
	{"into, differs", "-b 4 -T 2 ../tiny", NULL, FILES, INTO_OLD, 3, NULL},
	{"merge", "--merge --flow ../one.json ../two.json", NULL, FILES, OLD, 0, NULL},
	{"merge, standard output", "--merge ../one.json ../two.json ../one.json", NULL, FILES,
	 STDOUT, 0, NULL},
	{"merge of a pipe", "--merge -f json ../one.json -", "two.json", PIPE, NEW, 0, NULL},
	{"merge, trickle", "--merge -f raw", "both.json", TRICKLE, LINK, 0, NULL},
	{"merge by threads", "--merge -f json ../wide.json ../wide.json ../wide.json", NULL, FILES,
	 NEW, 0, NULL},
	{"merge, no document", "--merge ../one.json ../odd", NULL, FILES, OLD, 3, NULL},
	{"merge, past the limit", "--merge ../far.json ../far.json", NULL, FILES, NEW, 5, NULL},
	{"keys", "--record=4 -t u8 --by=u8@2 -b 9 -r full --stats=50 -T 3 ../small ../packed", NULL,
	 FILES, NEW, 0, NULL},
	{"keys of text", "--text=2 --by=1 -b 3 -r 0:700 -f json -T 2", "few-text", TRICKLE, OLD, 0,
	 NULL},
	{"merge of keys", "--merge -f json ../keys.json ../others.json", NULL, FILES, NEW, 0, NULL},
	{"no such option", "--no-such-option", NULL, FILES, STDOUT, 2, NULL},
	{"version", "-V", NULL, FILES, STDOUT, 0, NULL},
};
const size_t JOB_COUNT = sizeof(JOBS) / sizeof(JOBS[0]);
_Static_assert(sizeof(JOBS) / sizeof(JOBS[0]) <= JOBS_MAX, "room for what each job writes");

const char *const TARGETS[] = {[STDOUT] = "../out", [NEW] = "h",           [OLD] = "h",
			       [LINK] = "link",     [INTO_NEW] = "h.json", [INTO_OLD] = "h.json"};
const char *const FILES_OF[] = {[STDOUT] = "../out", [NEW] = "h",           [OLD] = "h",
				[LINK] = "sub/h",    [INTO_NEW] = "h.json", [INTO_OLD] = "h.json"};

bool adds(const struct job *job)
{
	return job->target == INTO_NEW || job->target == INTO_OLD;
}

const char *old_bytes(const struct job *job)
{
	return job->target == INTO_OLD ? OLD_DOCUMENT : OLD_BYTES;
}

void make_documents(void)
{
	static const char ONE[] = DOCUMENT("36", "9", "0", "3", "0"),
			  TWO[] = DOCUMENT("104", "26", "0", "20", "0"),
			  FAR[] = DOCUMENT("18446744073709551612", "4611686018427387903", "0",
					   "4611686018427387897", "0");
	static const char BOTH[] =
		DOCUMENT("36", "9", "0", "3", "0") DOCUMENT("104", "26", "0", "20", "0");

	/* A file that is worth a thread. */
	enum { BLANKS = 2 << 20 };
	char *const wide = malloc(sizeof(ONE) + BLANKS);

	memcpy(wide, ONE, strlen(ONE));
	memset(wide + strlen(ONE), ' ', BLANKS);
	spill("wide.json", wide, strlen(ONE) + BLANKS);
	free(wide);
	static const char KEYS[] = "{\"key=b\": " KEY(
		"140", "9", "0", "3", "0") ", \"key=a\": " KEY("140", "26", "0", "20", "0") "}",
			  MORE[] = "{\"key=c\": " KEY("36", "9", "0", "3", "0") "}";

	spill("keys.json", KEYS, strlen(KEYS));
	spill("others.json", MORE, strlen(MORE));
	spill("one.json", ONE, strlen(ONE));
	spill("two.json", TWO, strlen(TWO));
	spill("both.json", BOTH, strlen(BOTH));
	spill("far.json", FAR, strlen(FAR));
}

const struct fault FAULTS[] = {
	/* a worker or the ring of a long frame, which a run does without; or memory that a merge needs */
	{"aligned_alloc", "", ENOMEM, EITHER},
	{"calloc", "", ENOMEM, EITHER}, /* for a worker, a thread, or the whole run */
	{"malloc", "", ENOMEM, EITHER},
	{"realloc", "", ENOMEM, EITHER},
	{"madvise", "", EINVAL, HARMLESS},
	/* libzstd then decodes a long frame */
	{"memfd_create", "", EMFILE, HARMLESS},
	{"ftruncate", "", EFBIG, HARMLESS},
	{"mmap", "", ENOMEM, EITHER}, /* a digest: of a worker, or of a key */
	{"pthread_create", "", EAGAIN, HARMLESS},
	{"open", "", EMFILE, FATAL},
	{"open", "folder", EACCES, HARMLESS}, /* which may be writable but not readable */
	{"open", "", EACCES, FATAL},
	{"fopen", "", ENOENT, HARMLESS}, /* /proc need not exist */
	{"stat", "", EACCES, EITHER},
	{"fstat", "", EIO, EITHER},
	{"access", "", EIO, FATAL},
	{"readlink", "", EIO, FATAL}, /* a link must not be taken for a file */
	{"lseek", "", EIO, EITHER},
	{"fcntl", "", EIO, EITHER},
	{"pipe", "", EMFILE, EITHER}, /* a pipe that only serves looking ahead is not needed */
	{"poll", "in", ENOMEM, FATAL},
	{"poll", "", ENOMEM, HARMLESS},
	{"tee", "", EINVAL, HARMLESS},
	{"read", "", EIO, FATAL},
	{"pread", "", EIO, FATAL},
	{"preadv2", "", EAGAIN, HARMLESS},
	{"write", "out", ENOSPC, FATAL},
	{"write", "", ENOSPC, HARMLESS}, /* no reader is left to report it to */
	{"write", "out", EIO, FATAL},
	{"write", "", EIO, HARMLESS},
	{"fallocate", "", ENOSPC, FATAL},
	{"fallocate", "", EOPNOTSUPP, HARMLESS}, /* a file system that cannot */
	{"flock", "", ENOLCK, FATAL},
	{"fsync", "", EIO, FATAL},
	{"fsync", "", EINVAL, HARMLESS}, /* a file system that cannot */
	{"close", "out", EIO, FATAL},
	{"close", "", EIO, HARMLESS},
	{"rename", "", EIO, FATAL},
	{"fchmod", "", EPERM, FATAL},
	/* the next four: only the group's permissions are reduced then */
	{"fchown", "", EPERM, HARMLESS},
	{"getxattr", "", EIO, HARMLESS},
	{"fsetxattr", "", ENOSPC, HARMLESS},
	{"fremovexattr", "", EIO, HARMLESS},
	{"link", "", EPERM, HARMLESS}, /* a file system that has none */
	{"unlink", "", EPERM, HARMLESS},
	{"isatty", "", ENOTTY, HARMLESS},
	{"sigaction", "", EINVAL, HARMLESS},
	{"sched_getaffinity", "", EPERM, HARMLESS},
	{"sysconf", "", EINVAL, HARMLESS},
};
const size_t FAULT_COUNT = sizeof(FAULTS) / sizeof(FAULTS[0]);

/*
 * A run that is added to a file locks the file's directory, which must be readable then, and makes
 * a temporary file beforehand, only to see whether it can be made.
 */
static enum effect effect_on_adding(const char *function, const char *role, enum effect usual)
{
	if (strcmp(function, "open") == 0 && strcmp(role, "folder") == 0)
		return EITHER;
	if (strcmp(function, "close") == 0 && strcmp(role, "out") == 0)
		return EITHER;
	return usual;
}

enum effect effect_of(const struct job *job, const char *function, const char *role, int error)
{
	for (const struct fault *f = FAULTS; f < FAULTS + FAULT_COUNT; f++)
		if (strcmp(f->function, function) == 0 && f->error == error &&
		    (!*f->role || strcmp(f->role, role) == 0))
			return adds(job) ? effect_on_adding(function, role, f->effect) : f->effect;
	fprintf(stderr, "torture: no effect for %s %s %d\n", function, role, error);
	exit(2);
}

/* 64 is the last real-time signal, whose name is not a constant. */
const int SIGNALS[] = {SIGTERM, SIGUSR1, SIGINT, SIGHUP, SIGPIPE, SIGQUIT, SIGKILL};
const size_t SIGNAL_COUNT = sizeof(SIGNALS) / sizeof(SIGNALS[0]);

bool survives(const struct plan *plan)
{
	return plan->ignored || plan->signal == SIGUSR1;
}

bool finishes(const struct plan *plan)
{
	return strstr(JOBS[plan->job].arguments, "--finish") &&
	       (plan->signal == SIGINT || plan->signal == SIGTERM);
}

const char *const STAGES[] = {"aligned_alloc", "calloc", "open",   "pread",  "read", "write",
			      "fsync",         "close",  "rename", "unlink", "flock"};
const size_t STAGE_COUNT = sizeof(STAGES) / sizeof(STAGES[0]);

const char *const HOW[] = {[FOR_GOOD] = "", [ONCE] = ":once", [OTHERS] = ":others"};
const struct plan PLAIN = {.resource = -1};

void print_plan(const struct plan *plan)
{
	const struct job *job = &JOBS[plan->job];

	printf("  %s: gpuhist -q %s", job->name, job->arguments);
	if (job->target != STDOUT)
		printf(" %s %s", adds(job) ? "--into" : "-o", TARGETS[job->target]);
	if (plan->threads > 0)
		printf(" -T%u", plan->threads);
	if (plan->function)
		printf(" TORTURE_FAIL=%s:%u:%d%s", plan->function, plan->n, plan->error,
		       HOW[plan->how]);
	if (plan->stage)
		printf(" TORTURE_RAISE=%s:%u:%d:%s%s", plan->stage, plan->at, plan->signal,
		       plan->after ? "after" : "before", plan->ignored ? " (ignored)" : "");
	if (plan->closed)
		printf(" (nobody reads standard output)");
	if (plan->noise)
		printf(" TORTURE_NOISE=%llu", (unsigned long long)plan->noise);
	if (plan->resource >= 0)
		printf(" (limit %d: %llu)", plan->resource, (unsigned long long)plan->limit);
	printf("\n");
}
