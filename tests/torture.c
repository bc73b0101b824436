/* torture.c - the shipping program while the world around it fails
 *
 *   torture GPUHIST PRELOAD                short: every job, every function, every early call
 *   torture GPUHIST PRELOAD SEED SECONDS   random plans until the time is over
 *
 * PRELOAD is torture_preload.so: its head says how a plan is made. For each job the Nth call of
 * each function fails, once and for good, N rising until no call meets the fault; signals arrive
 * before and behind calls; reads and writes are cut short and interrupted; memory, descriptors
 * and file sizes are limited.
 *
 * What must hold: the program ends, by itself or by the signal that it was sent. With exit status 0
 * what it publishes is exact to the byte. Otherwise it says one line and publishes nothing: a file
 * that was there is untouched. No temporary file is left. What a fault may do at all is in FAULTS.
 *
 * Contents: files, jobs, faults, processes, the verdict, the short run, the random one. A failure
 * prints the plan, which is all that it takes to repeat it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pack.h"

enum {
	HANG_SECONDS = 30, /* then it is taken to be stuck */
	ARGS_MAX = 32,
	PATH_BYTES = 512,
	SAID_MAX = 20,     /* failures that are told of in full */
};

static char gpuhist[PATH_BYTES], preload[PATH_BYTES], folder[64];
static unsigned long passed, failed;

static void die(const char *what)
{
	fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- chance: splitmix64 ---- */

static uint64_t chance;

static uint64_t draw(void)
{
	uint64_t x = chance += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static unsigned below(size_t n)
{
	return (unsigned)(draw() % n);
}

/* ---- files ---- */

struct bytes {
	char *data; /* a zero behind them; NULL: the file is not there */
	size_t n;
};

static struct bytes slurp(const char *path)
{
	struct bytes b = {0};
	struct stat st;
	const int fd = open(path, O_RDONLY);

	if (fd < 0)
		return b;
	if (fstat(fd, &st) != 0 || !(b.data = malloc((size_t)st.st_size + 1)))
		die(path);
	while (b.n < (size_t)st.st_size) {
		const ssize_t got = read(fd, b.data + b.n, (size_t)st.st_size - b.n);
		if (got <= 0)
			die(path);
		b.n += (size_t)got;
	}
	b.data[b.n] = '\0';
	close(fd);
	return b;
}

static void spill(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
		die(path);
}

static bool same(struct bytes a, struct bytes b)
{
	return a.data && b.data && a.n == b.n && memcmp(a.data, b.data, a.n) == 0;
}

/* Samples of all sizes, most of them small. */
static void make_input(const char *path, size_t n)
{
	uint32_t *sample = malloc(n * sizeof(*sample));

	if (!sample)
		die("malloc");
	for (size_t i = 0; i < n; i++) {
		const uint64_t x = draw();
		sample[i] = (uint32_t)(x >> 32) >> (x % 32);
	}
	spill(path, sample, n * sizeof(*sample));
	free(sample);
}

/* The same samples in zstd's frames: many, one, and one that is cut. */
static void make_packed(void)
{
	struct bytes small = slurp("small");
	struct pack many = pack_all((unsigned char *)small.data, small.n, 3), one = {.state = 1};

	spill("packed", many.data, many.bytes);
	pack_frame(&one, small.data, small.n, 3, false, true, 17);
	spill("single", one.data, one.bytes);
	spill("cut", one.data, one.bytes / 2);
	free(many.data);
	free(one.data);
	free(small.data);
}

/* ---- jobs ---- */

static const char OLD_BYTES[] = "what was there before\n";

enum route { FILES, REDIRECT, PIPE, TRICKLE, NONBLOCKING };
enum target { STDOUT, NEW, OLD, LINK };

/* Its first calls are a look at the first bytes, without which it does as well. */
static const char LOOKS_AHEAD[] = "few of a pipe, with a look ahead";

static const struct job {
	const char *name;
	const char *arguments; /* behind -q, and -o where there is a target; the FILEs of FILES */
	const char *input;     /* of the other routes */
	enum route route;
	enum target target;
	int status;            /* when nothing fails */
} JOBS[] = {
	{"file", "-b 1000 -T 1 --device=cpu ../small", NULL, FILES, STDOUT, 0},
	{"file, new", "-b 1000 -r full -T 4 ../small", NULL, FILES, NEW, 0},
	{"file, old", "-t u8 -T 2 ../small", NULL, FILES, OLD, 0},
	{"files, link", "-b 70 -r 0:700 --flow -T 2 ../small ../tiny ../small", NULL, FILES, LINK, 0},
	{"redirect, json", "-f json -t i16be -r full -T 2 --device=cpu", "small", REDIRECT, OLD, 0},
	{"skip and few", "-S 1001 -n 70001 -t u24 -r full -T 2 --device=cpu ../small", NULL, FILES, STDOUT, 0},
	{"pipe, raw", "-f raw -b 5000 -T 2", "small", PIPE, NEW, 0},
	{"few of a pipe", "-n 2 -b 9 --flow -T 1 --raw", "tiny", PIPE, STDOUT, 0},
	{LOOKS_AHEAD, "-n 2 -b 9 --flow -T 1", "tiny", PIPE, STDOUT, 0},
	{"long file", "-b 10 -r full -T 3 ../large", NULL, FILES, STDOUT, 0},
	{"long pipe", "-b 10 -r full -T 2 --device=cpu", "large", PIPE, STDOUT, 0},
	{"trickle", "-t f32 -r -1:1 -b 77 --flow -T 1", "tiny", TRICKLE, OLD, 0},
	{"not ready", "-S 4 -b 100 --flow -T 2 --device=cpu", "tiny", NONBLOCKING, STDOUT, 0},
	{"many bins", "-b 300000 -r full --nonzero -n 30000 -M 200K -T 4 ../small", NULL, FILES, NEW, 0},
	{"many bins, CSV", "-b 20000 -r full -T 2 --device=cpu ../small", NULL, FILES, STDOUT, 0},
	{"frames", "-b 1000 -T 4 --device=cpu ../packed", NULL, FILES, NEW, 0},
	{"frames of a pipe", "-b 1000 -S 1000 -T 2 ../tiny -", "packed", PIPE, STDOUT, 0},
	{"one frame", "-t u16 -b 1000 -r full -T 2 ../single", NULL, FILES, STDOUT, 0},
	{"one frame, little memory", "-t u8 -T 2 -M 3M", "single", REDIRECT, OLD, 0},
	{"cut frame", "-b 9 ../tiny ../cut", NULL, FILES, OLD, 3},
	{"no memory", "-b 300000 -M 4K ../small", NULL, FILES, OLD, 5},
	{"no file", "-b 9 ../small ../missing", NULL, FILES, OLD, 1},
	{"cut record", "-t u64 -b 9 ../odd", NULL, FILES, NEW, 3},
	{"no such option", "--no-such-option", NULL, FILES, STDOUT, 2},
	{"version", "-V", NULL, FILES, STDOUT, 0},
};
#define JOB_COUNT (sizeof(JOBS) / sizeof(JOBS[0]))

/* What each publishes and says when nothing fails, from a plain run of the plainest route. */
static struct bytes expected[JOB_COUNT], said[JOB_COUNT];

/* ---- faults ---- */

/* What a fault may do to a run that would have gone well. */
enum effect {
	HARMLESS, /* nothing: status 0, every byte */
	FATAL,    /* status 1: what is lost cannot be had again */
	EITHER,   /* the program may know better; exact, or one line */
};

/* The first line that fits is the one. A role as in torture_preload.c; "" fits all. */
static const struct fault {
	const char *function, *role;
	int error;
	enum effect effect;
} FAULTS[] = {
	{"aligned_alloc", "worker", ENOMEM, HARMLESS}, /* it is done without */
	{"aligned_alloc", "", ENOMEM, FATAL},
	{"calloc", "", ENOMEM, EITHER}, /* a worker's, a thread's, or what all have in common */
	{"malloc", "", ENOMEM, EITHER},
	{"realloc", "", ENOMEM, EITHER},
	{"madvise", "", EINVAL, HARMLESS},
	{"pthread_create", "", EAGAIN, HARMLESS},
	{"pthread_mutex_init", "", ENOMEM, FATAL},
	{"open", "", EMFILE, FATAL},
	{"open", "folder", EACCES, HARMLESS}, /* which may be written but not read */
	{"open", "", EACCES, FATAL},
	{"fopen", "", ENOENT, HARMLESS}, /* /proc need not be there */
	{"stat", "", EACCES, EITHER},
	{"fstat", "", EIO, EITHER},
	{"access", "", EIO, FATAL},
	{"readlink", "", EIO, FATAL}, /* a link must not be taken for a file */
	{"lseek", "", EIO, EITHER},
	{"fcntl", "", EIO, EITHER},
	{"pipe", "", EMFILE, EITHER}, /* one that only looks ahead is not missed */
	{"poll", "in", ENOMEM, FATAL},
	{"poll", "", ENOMEM, HARMLESS},
	{"tee", "", EINVAL, HARMLESS},
	{"read", "", EIO, FATAL},
	{"pread", "", EIO, FATAL},
	{"preadv2", "", EAGAIN, HARMLESS},
	{"write", "out", ENOSPC, FATAL},
	{"write", "", ENOSPC, HARMLESS}, /* nobody is left to tell */
	{"write", "out", EIO, FATAL},
	{"write", "", EIO, HARMLESS},
	{"fsync", "", EIO, FATAL},
	{"fsync", "", EINVAL, HARMLESS}, /* a file system that cannot */
	{"close", "out", EIO, FATAL},
	{"close", "", EIO, HARMLESS},
	{"rename", "", EIO, FATAL},
	{"unlink", "", EPERM, HARMLESS},
	{"isatty", "", ENOTTY, HARMLESS},
	{"sigaction", "", EINVAL, HARMLESS},
	{"sched_getaffinity", "", EPERM, HARMLESS},
	{"sysconf", "", EINVAL, HARMLESS},
};
#define FAULT_COUNT (sizeof(FAULTS) / sizeof(FAULTS[0]))

static enum effect effect_of(const char *function, const char *role, int error)
{
	for (const struct fault *f = FAULTS; f < FAULTS + FAULT_COUNT; f++)
		if (strcmp(f->function, function) == 0 && f->error == error &&
		    (!*f->role || strcmp(f->role, role) == 0))
			return f->effect;
	fprintf(stderr, "torture: no effect for %s %s %d\n", function, role, error);
	exit(2);
}

static const int SIGNALS[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGKILL};
#define SIGNAL_COUNT (sizeof(SIGNALS) / sizeof(SIGNALS[0]))

/* Calls that mark the stages of a run. */
static const char *const STAGES[] = {"aligned_alloc", "calloc", "open",  "pread",  "read",
				     "write",         "fsync",  "close", "rename", "unlink"};
#define STAGE_COUNT (sizeof(STAGES) / sizeof(STAGES[0]))

/* All that is done to one run. */
struct plan {
	size_t job;
	const char *function; /* NULL: nothing fails */
	int error;
	enum { FOR_GOOD, ONCE, OTHERS, HOWS } how;
	unsigned n;           /* the call that fails */
	const char *stage;    /* NULL: no signal */
	int signal;
	unsigned at;          /* the call that is signalled */
	bool after, ignored;
	bool closed;          /* nobody reads standard output */
	uint64_t noise;       /* 0: none */
	uint64_t feed;        /* how a trickling pipe trickles */
	unsigned threads;     /* 0: as the job says */
	int resource;         /* of setrlimit; -1: no limit */
	rlim_t limit;
};

static const char *const HOW[] = {[FOR_GOOD] = "", [ONCE] = ":once", [OTHERS] = ":others"};

static const struct plan PLAIN = {.resource = -1};

/* ---- processes ---- */

struct result {
	int status; /* as wait has it; -1: hung */
	bool failed, raised; /* the plan was met */
	struct bytes out, err, log, published;
};

static void result_free(struct result *r)
{
	free(r->out.data);
	free(r->err.data);
	free(r->log.data);
	free(r->published.data);
	*r = (struct result){0};
}

/* The name that the user gives, and the file that it stands for. */
static const char *const TARGETS[] = {[STDOUT] = "../out", [NEW] = "h", [OLD] = "h", [LINK] = "link"};
static const char *const FILES_OF[] = {[STDOUT] = "../out", [NEW] = "h", [OLD] = "h", [LINK] = "sub/h"};

/* The folder that the program works in, as each run finds it. */
static void prepare(const struct job *job)
{
	if (mkdir("sub", 0777) != 0 && errno != EEXIST)
		die("sub");
	if (job->target == OLD || job->target == LINK)
		spill(FILES_OF[job->target], OLD_BYTES, strlen(OLD_BYTES));
	if (job->target == LINK && symlink("sub/h", "link") != 0 && errno != EEXIST)
		die("link");
}

/* Removes all and counts what does not belong there. */
static unsigned clean(const char *path)
{
	DIR *d = opendir(path);
	unsigned strange = 0;
	char name[PATH_BYTES];

	if (!d)
		return 0;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (strcmp(name, "./sub") == 0 || strcmp(name, "./run") == 0)
			strange += clean(name);
		else if (unlink(name) != 0)
			die(name);
		strange += strcmp(e->d_name, "h") != 0 && strcmp(e->d_name, "link") != 0 &&
			   strcmp(e->d_name, "sub") != 0;
	}
	closedir(d);
	return strange;
}

/* Writes the input into a pipe, in pieces of all sizes, until nobody reads any more. */
static void feed(const struct plan *plan, const char *path, int to)
{
	const bool trickle = JOBS[plan->job].route != PIPE;
	const struct bytes b = slurp(path);

	signal(SIGPIPE, SIG_IGN);
	chance = plan->feed;
	for (size_t done = 0; done < b.n;) {
		const size_t most = trickle ? 1 + below(3000) : b.n;
		const ssize_t n = write(to, b.data + done, b.n - done < most ? b.n - done : most);
		if (n < 0)
			break;
		done += (size_t)n;
		if (trickle && below(4) == 0)
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	_exit(0);
}

/* A descriptor for standard input; *feeder is who fills it, or 0. */
static int open_input(const struct plan *plan, pid_t *feeder)
{
	const struct job *job = &JOBS[plan->job];
	char path[PATH_BYTES];
	int ends[2];

	*feeder = 0;
	snprintf(path, sizeof(path), "../%s", job->input ? job->input : "");
	if (job->route <= REDIRECT)
		return open(job->route == FILES ? "/dev/null" : path, O_RDONLY | O_CLOEXEC);
	if (pipe2(ends, O_CLOEXEC) != 0 || (*feeder = fork()) < 0)
		die("pipe");
	if (*feeder == 0) {
		close(ends[0]);
		feed(plan, path, ends[1]);
	}
	close(ends[1]);
	if (job->route == NONBLOCKING && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
		die("fcntl");
	return ends[0];
}

/* The writing end of a pipe that has no other. */
static int unread(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		die("pipe");
	close(ends[0]);
	return ends[1];
}

static void set(const char *name, const char *format, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	setenv(name, text, 1);
}

/* In the child: the environment and the limits of the plan, then the program. */
static void become(const struct plan *plan, int in)
{
	const struct job *job = &JOBS[plan->job];
	char text[512], threads[16], *argv[ARGS_MAX] = {gpuhist, (char *)(uintptr_t)"-q"};
	int argc = 2;

	const int out = plan->closed ? unread() : open("../out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	const int err = open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		die("descriptors");
	for (int fd = 3; fd < 64; fd++) /* ours, and those of whoever runs us */
		close(fd);
	if (job->target != STDOUT) {
		argv[argc++] = (char *)(uintptr_t)"-o";
		argv[argc++] = (char *)(uintptr_t)TARGETS[job->target];
	}
	snprintf(text, sizeof(text), "%s", job->arguments);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (plan->threads > 0) {
		snprintf(threads, sizeof(threads), "-T%u", plan->threads);
		argv[argc++] = threads;
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (plan->resource >= 0)
		setrlimit((__rlimit_resource_t)plan->resource, &(struct rlimit){plan->limit, plan->limit});
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		signal(SIGNALS[i], plan->ignored && SIGNALS[i] == plan->signal ? SIG_IGN : SIG_DFL);
	if (plan->function || plan->stage || plan->noise) {
		set("LD_PRELOAD", "%s", preload);
		set("TORTURE_LOG", "%s/log", folder);
	}
	if (plan->function)
		set("TORTURE_FAIL", "%s:%u:%d%s", plan->function, plan->n, plan->error,
		    HOW[plan->how]);
	if (plan->stage)
		set("TORTURE_RAISE", "%s:%u:%d:%s", plan->stage, plan->at, plan->signal,
		    plan->after ? "after" : "before");
	if (plan->noise)
		set("TORTURE_NOISE", "%llu", (unsigned long long)plan->noise);
	execv(gpuhist, argv);
	_exit(126);
}

static volatile sig_atomic_t hung;

static void on_alarm(int number)
{
	(void)number;
	hung = 1;
}

static int wait_for(pid_t pid)
{
	int status;

	hung = 0;
	alarm(HANG_SECONDS);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			die("waitpid");
		if (hung) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
	}
	alarm(0);
	return status;
}

static struct result run(const struct plan *plan)
{
	const struct job *job = &JOBS[plan->job];
	struct result r = {0};
	pid_t feeder;

	prepare(job);
	unlink("../log");
	unlink("../out");
	const int in = open_input(plan, &feeder);
	const pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become(plan, in);
	close(in);
	r.status = wait_for(pid);
	if (feeder > 0)
		waitpid(feeder, NULL, 0);
	r.out = slurp("../out");
	r.err = slurp("../err");
	r.log = slurp("../log");
	r.published = slurp(FILES_OF[job->target]);
	r.failed = r.log.data && strstr(r.log.data, " failed");
	r.raised = r.log.data && strstr(r.log.data, " raised");
	return r;
}

/* ---- the verdict ---- */

/* What the log says that went wrong: the worst effect, and whether others were touched. */
struct damage {
	enum effect effect;
	bool to_stderr; /* messages may be missing */
	bool to_out;    /* a prefix may be on standard output */
	bool leaves;    /* a temporary file may be left behind */
	bool renamed;   /* the new file is in place */
};

static struct damage assess(const struct plan *plan, const struct result *r)
{
	struct damage d = {.effect = HARMLESS};
	char function[32], role[16], met[16], line[64];

	for (const char *p = r->log.data; p && *p; p += strcspn(p, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		const bool hit = sscanf(line, "%31s %15s %15s", function, role, met) == 3;
		const bool fails = hit && strcmp(met, "failed") == 0;
		const bool out = strcmp(role, "out") == 0;
		d.renamed |= strcmp(function, "rename") == 0 && !fails;
		d.to_out |= strcmp(function, "write") == 0 && out;
		if (!fails)
			continue;
		enum effect e = effect_of(function, role, plan->error);
		if (e == FATAL && JOBS[plan->job].name == LOOKS_AHEAD)
			e = EITHER;
		/* EITHER hides HARMLESS, FATAL hides both. */
		if (e == FATAL || (e == EITHER && d.effect == HARMLESS))
			d.effect = e;
		d.to_stderr |= strcmp(function, "write") == 0 && strcmp(role, "err") == 0;
		d.leaves |= strcmp(function, "unlink") == 0 || strcmp(function, "sigaction") == 0;
	}
	return d;
}

/* Is this one whole message, or when it could not be written whole, the beginning of one? */
static bool one_line(struct bytes err, bool cut)
{
	static const char START[] = "gpuhist: ";

	if (!err.data)
		return false;
	if (cut)
		return strncmp(err.data, START, err.n < strlen(START) ? err.n : strlen(START)) == 0;
	const char *end = strchr(err.data, '\n');
	return strncmp(err.data, START, strlen(START)) == 0 && end == err.data + err.n - 1;
}

static bool begins(struct bytes whole, struct bytes part)
{
	return part.n <= whole.n && memcmp(whole.data, part.data, part.n) == 0;
}

/* Whole and new, or as before. */
static const char *judge_file(const struct plan *plan, const struct result *r, bool fresh, bool ok)
{
	const struct job *job = &JOBS[plan->job];
	const struct bytes old = {(char *)(uintptr_t)OLD_BYTES, strlen(OLD_BYTES)};
	const bool is_new = job->status == 0 && same(r->published, expected[plan->job]);
	const bool is_old = job->target == NEW ? !r->published.data : same(r->published, old);
	struct stat st;

	if (ok && !is_new)
		return "the file is not what it should be";
	if (!is_new && !is_old)
		return "the file is neither the old nor the new one";
	if (!ok && is_new && !fresh)
		return "a failed run has published";
	if (r->out.n > 0)
		return "something on standard output";
	if (job->target == LINK && (lstat("link", &st) != 0 || !S_ISLNK(st.st_mode)))
		return "the link was replaced";
	return NULL;
}

/* The end of a run that was not signalled by us. */
static const char *judge_exit(const struct plan *plan, const struct result *r, const struct damage *d)
{
	const int status = WEXITSTATUS(r->status), usual = JOBS[plan->job].status;
	const bool harmless = d->effect == HARMLESS && plan->resource < 0 && !plan->closed;

	if (r->raised && !plan->ignored)
		return "outlived the signal";
	if (status != usual && status != 1)
		return "exit status";
	if (status != usual && harmless)
		return "a harmless fault did harm";
	if (status == 0 && d->effect == FATAL)
		return "the fault was overlooked";
	if (status == 0 && plan->closed)
		return "nobody got the output";
	if (status != 0 && !one_line(r->err, d->to_stderr))
		return "not one line of message";
	if ((status == 0 || harmless) && !d->to_stderr && !same(r->err, said[plan->job]))
		return "other messages than without a fault";
	return NULL;
}

/* What is wrong with a run, or NULL. */
static const char *judge(const struct plan *plan, const struct result *r)
{
	const struct damage d = assess(plan, r);
	const bool ended = r->status >= 0 && WIFEXITED(r->status);
	const bool ok = ended && WEXITSTATUS(r->status) == 0;
	const char *why = NULL;

	if (r->status == -1)
		return "hangs";
	if (ended)
		why = judge_exit(plan, r, &d);
	else if (plan->ignored || WTERMSIG(r->status) != plan->signal || !(r->raised || plan->closed))
		why = "died of a signal";
	if (why)
		return why;
	if (JOBS[plan->job].target != STDOUT)
		return judge_file(plan, r, d.renamed, ok);
	if (ok && !same(r->out, expected[plan->job]))
		return "standard output is not what it should be";
	if (!ok && !begins(expected[plan->job], r->out))
		return "standard output is wrong as far as it goes";
	if (!ok && r->out.n > 0 && !d.to_out && plan->resource < 0)
		return "something on standard output";
	return NULL;
}

static void print_plan(const struct plan *plan)
{
	const struct job *job = &JOBS[plan->job];

	printf("  %s: gpuhist -q %s", job->name, job->arguments);
	if (job->target != STDOUT)
		printf(" -o %s", TARGETS[job->target]);
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

static void verdict(const struct plan *plan, const struct result *r, const char *why)
{
	if (!why) {
		passed++;
		return;
	}
	if (failed++ >= SAID_MAX)
		return;
	printf("FAILED %s (wait status 0x%x)\n", why, (unsigned)r->status);
	print_plan(plan);
	if (r->err.n > 0)
		printf("  ! %.*s\n", (int)strcspn(r->err.data, "\n"), r->err.data);
}

/* One run and its verdict. True: the fault or the signal was met. */
static bool torture(const struct plan *plan)
{
	struct result r = run(plan);
	const bool met = r.failed || r.raised;
	const bool killed = r.raised && plan->signal == SIGKILL;
	const char *why = judge(plan, &r);

	if (killed) {
		/* What cannot be caught cannot be cleaned up behind; the next run must not mind. */
		struct plan again = PLAIN;
		again.job = plan->job;
		struct result s = run(&again);
		if (!why)
			why = judge(&again, &s);
		result_free(&s);
	}
	if (clean(".") > 0 && !killed && !assess(plan, &r).leaves && !why)
		why = "a temporary file was left";
	verdict(plan, &r, why);
	result_free(&r);
	return met;
}

/* ---- the short run ---- */

/* Is what was written synced before its name is there, and the name afterwards? */
static const char *judge_order(size_t k, const char *log)
{
	static const char *const STEPS[] = {"fsync out\n", "close out\n", "rename -\n",
					    "open folder\n", "fsync folder\n"};
	size_t step = 0;

	for (const char *p = log; *p; p += strcspn(p, "\n") + 1) {
		if (strncmp(p, "write out\n", 10) == 0 && step > 0)
			return "written behind the sync";
		for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
			if (strncmp(p, STEPS[i], strlen(STEPS[i])) != 0)
				continue;
			if (i != step++)
				return "synced, closed and renamed in the wrong order";
		}
	}
	return JOBS[k].status == 0 && step != sizeof(STEPS) / sizeof(STEPS[0]) ? "not synced" : NULL;
}

/*
 * What the job publishes and says, learned from one plain thread; then its own threads, under the
 * library, with a fault far behind the last call.
 */
static void learn(size_t k)
{
	struct plan plan = PLAIN;

	plan.job = k;
	plan.threads = 1;
	struct result r = run(&plan);
	if (r.status < 0 || !WIFEXITED(r.status) || WEXITSTATUS(r.status) != JOBS[k].status) {
		verdict(&plan, &r, "fails without a fault");
		printf("%lu passed, %lu failed\n", passed, failed);
		exit(1);
	}
	expected[k] = r.published;
	said[k] = r.err;
	r.published = r.err = (struct bytes){0};
	result_free(&r);
	clean(".");
	plan.threads = 0;
	plan.function = "write";
	plan.error = EIO;
	plan.n = 1000000000;
	r = run(&plan);
	const char *why = judge(&plan, &r);
	if (!why && (JOBS[k].target != STDOUT && JOBS[k].status == 0))
		why = judge_order(k, r.log.data);
	verdict(&plan, &r, why);
	result_free(&r);
	clean(".");
}

/* Calls 1, 2, 3 ... and then ever fewer: the hundredth read is like the ninety-ninth. */
static unsigned later(unsigned n)
{
	return n < 10 ? n + 1 : 2 * n;
}

static void faults(size_t k)
{
	for (const struct fault *f = FAULTS; f < FAULTS + FAULT_COUNT; f++) {
		/* Lines for other roles make the same plan. */
		bool done = false;
		for (const struct fault *g = FAULTS; g < f; g++)
			done |= strcmp(f->function, g->function) == 0 && f->error == g->error;
		for (unsigned how = 0; how < HOWS && !done; how++) {
			struct plan plan = PLAIN;
			plan.job = k;
			plan.function = f->function;
			plan.error = f->error;
			plan.how = how;
			plan.n = 1;
			while (torture(&plan))
				plan.n = later(plan.n);
		}
	}
}

/* Around each call one signal, in turn; and one that is ignored. */
static void signals(size_t k)
{
	unsigned turn = (unsigned)k;

	for (size_t i = 0; i < STAGE_COUNT; i++) {
		struct plan plan = PLAIN;
		plan.job = k;
		plan.stage = STAGES[i];
		plan.at = 1;
		do {
			plan.signal = SIGNALS[turn++ % SIGNAL_COUNT];
			plan.after = !plan.after;
		} while (torture(&plan) && (plan.after || (plan.at = later(plan.at))));
		plan.signal = SIGNALS[i % (SIGNAL_COUNT - 1)];
		plan.at = 1;
		plan.ignored = true;
		torture(&plan);
	}
}

static void noise(size_t k)
{
	for (unsigned i = 1; i <= 12; i++) {
		struct plan plan = PLAIN;
		plan.job = k;
		plan.noise = plan.feed = i;
		torture(&plan);
	}
}

/* Descriptors, the sizes of files, memory: what libc itself meets too. */
static void limits(size_t k, rlim_t memory)
{
	static const rlim_t SIZES[] = {300, 1000, 5000, 70000, 150000};
	struct plan plan = PLAIN;

	plan.job = k;
	plan.resource = RLIMIT_NOFILE;
	for (plan.limit = 4; plan.limit < 12; plan.limit++)
		torture(&plan);
	plan.resource = RLIMIT_FSIZE;
	for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
		plan.limit = SIZES[i];
		torture(&plan);
	}
	plan.resource = RLIMIT_AS;
	for (unsigned i = 0; i < 36; i++) {
		plan.limit = memory + (i < 20 ? (rlim_t)i << 16 : (rlim_t)(i - 18) << 20);
		torture(&plan);
	}
}

/* The least memory that the loader is content with. */
static rlim_t least_memory(void)
{
	struct plan plan = PLAIN;

	plan.job = JOB_COUNT - 1; /* the version */
	plan.resource = RLIMIT_AS;
	for (plan.limit = 0;; plan.limit += 1 << 16) {
		struct result r = run(&plan);
		const bool loaded = r.status >= 0 && WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0;
		result_free(&r);
		if (loaded || plan.limit > (rlim_t)1 << 30)
			return plan.limit;
	}
}

/* A pipe that has lost its reader; where SIGPIPE is ignored it is an error like others. */
static void closed(size_t k)
{
	struct plan plan = PLAIN;

	plan.job = k;
	plan.closed = true;
	plan.signal = SIGPIPE;
	for (int ignored = 0; ignored <= 1 && JOBS[k].target == STDOUT && JOBS[k].status == 0; ignored++) {
		plan.ignored = ignored;
		torture(&plan);
	}
}

static void all_of(size_t k, rlim_t memory)
{
	noise(k);
	closed(k);
	limits(k, memory);
	faults(k);
	signals(k);
}

/* ---- the random run ---- */

static struct plan draw_plan(void)
{
	static const int CAUGHT = (int)SIGNAL_COUNT - 1;
	struct plan plan = PLAIN;

	plan.job = below(JOB_COUNT);
	plan.threads = below(5);
	plan.feed = draw();
	if (below(3) > 0) {
		const struct fault *f = &FAULTS[below(FAULT_COUNT)];
		plan.function = f->function;
		plan.error = f->error;
		plan.how = below(HOWS);
		plan.n = 1 + below((size_t)1 << below(7));
	}
	if (below(3) == 0) {
		plan.stage = STAGES[below(STAGE_COUNT)];
		plan.at = 1 + below((size_t)1 << below(7));
		plan.after = below(2);
		plan.ignored = below(4) == 0;
		plan.signal = SIGNALS[below((size_t)(plan.ignored ? CAUGHT : CAUGHT + 1))];
	}
	if (below(2) == 0 || (!plan.function && !plan.stage))
		plan.noise = 1 + below(1000000000);
	return plan;
}

static void random_plans(time_t end)
{
	while (time(NULL) < end) {
		const struct plan plan = draw_plan();
		torture(&plan);
	}
}

/* ---- */

/* One of the workers: a folder of its own, every second job. */
static void work(unsigned part, unsigned parts, uint64_t seed, time_t seconds)
{
	const char *base = getenv("TMPDIR");
	char run_folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%.40s/torture-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) != 0)
		die(folder);
	make_input("tiny", 2500);
	make_input("small", 150000);
	make_input("large", 2500000);
	make_packed();
	spill("odd", OLD_BYTES, strlen(OLD_BYTES) - 1);
	if (mkdir("run", 0777) != 0 || chdir("run") != 0)
		die("run");
	for (size_t k = 0; k < JOB_COUNT; k++)
		learn(k);
	if (seconds > 0) {
		chance = seed * parts + part;
		random_plans(time(NULL) + seconds);
	} else {
		const rlim_t memory = least_memory();
		for (size_t k = part; k < JOB_COUNT; k += parts)
			all_of(k, memory);
	}
	rmdir("sub");
	if (chdir("..") == 0)
		clean(".");
	if (chdir("/") != 0 || snprintf(run_folder, sizeof(run_folder), "%s/run", folder) < 0 ||
	    rmdir(run_folder) != 0 || rmdir(folder) != 0)
		die(folder);
}

enum { PARTS = 2 };

int main(int argc, char **argv)
{
	int ends[2];

	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: torture GPUHIST PRELOAD [SEED SECONDS]\n");
		return 2;
	}
	if (!realpath(argv[1], gpuhist) || !realpath(argv[2], preload) || pipe2(ends, O_CLOEXEC) != 0)
		die(argv[1]);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
	for (unsigned part = 0; part < PARTS; part++) {
		const pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid > 0)
			continue;
		work(part, PARTS, argc == 5 ? strtoull(argv[3], NULL, 10) : 0,
		     argc == 5 ? (time_t)strtoull(argv[4], NULL, 10) : 0);
		const unsigned long sums[2] = {passed, failed};
		fflush(stdout);
		_exit(write(ends[1], sums, sizeof(sums)) != sizeof(sums));
	}
	close(ends[1]);
	/* A worker that died before its report is a failure. */
	failed = PARTS;
	for (unsigned long sums[2]; read(ends[0], sums, sizeof(sums)) == sizeof(sums); failed--) {
		passed += sums[0];
		failed += sums[1];
	}
	while (wait(NULL) > 0)
		;
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed ? 1 : 0;
}
