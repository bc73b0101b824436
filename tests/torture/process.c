/* SPDX-License-Identifier: MIT */
/* process: starts a process, feeds it, and waits for it. */

#include "torture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	HANG_SECONDS = 30, /* after this time a run counts as hung */
	ARGS_MAX = 32,
};

char gpuhist[PATH_BYTES], preload[PATH_BYTES], folder[64];

void result_free(struct result *r)
{
	free(r->out.data);
	free(r->err.data);
	free(r->log.data);
	free(r->published.data);
	*r = (struct result){0};
}

/* Prepare the directory in which the program works for a run. */
static void prepare(const struct plan *plan)
{
	const struct job *const job = &JOBS[plan->job];

	if (mkdir("sub", 0777) != 0 && errno != EEXIST)
		die("sub");
	if (adds(job) && unlink(FILES_OF[job->target]) != 0 && errno != ENOENT)
		die("unlink");
	if (job->target == OLD || job->target == LINK ||
	    (job->target == INTO_OLD && !plan->alone)) {
		spill(FILES_OF[job->target], old_bytes(job), strlen(old_bytes(job)));
		if (chmod(FILES_OF[job->target], OLD_MODE) != 0)
			die("chmod");
	}
	if (job->target == LINK && symlink("sub/h", "link") != 0 && errno != EEXIST)
		die("link");
}

unsigned clean(const char *path)
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
		strange += strcmp(e->d_name, "h") != 0 && strcmp(e->d_name, "h.json") != 0 &&
			   strcmp(e->d_name, "link") != 0 && strcmp(e->d_name, "sub") != 0;
	}
	closedir(d);
	return strange;
}

/* Write the input into a pipe, in pieces of all sizes, until the pipe has no reader. */
static void feed(const struct plan *plan, const char *path, int to)
{
	const bool trickle = JOBS[plan->job].route != PIPE;
	const struct bytes b = slurp(path);

	signal(SIGPIPE, SIG_IGN);
	chance_begin(plan->feed);
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

/* Return a descriptor for standard input; *feeder is the process that fills it, or 0. */
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

/* Return the writing end of a pipe whose reading end is closed. */
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
	char text[512], threads[16], *argv[ARGS_MAX] = {gpuhist, (char *)(uintptr_t) "-q"};
	int argc = 2;

	const int out =
		plan->closed ? unread() : open("../out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	const int err = open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		die("descriptors");
	for (int fd = 3; fd < 64; fd++) /* ours, and any that our caller left open */
		close(fd);
	if (job->target != STDOUT) {
		argv[argc++] = (char *)(uintptr_t)(adds(job) ? "--into" : "-o");
		argv[argc++] = (char *)(uintptr_t)TARGETS[job->target];
	}
	snprintf(text, sizeof(text), "%s", job->arguments);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	/* --merge has no workers, and refuses the option. */
	if (plan->threads > 0 && !strstr(job->arguments, "--merge")) {
		snprintf(threads, sizeof(threads), "-T%u", plan->threads);
		argv[argc++] = threads;
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (plan->resource >= 0)
		setrlimit((__rlimit_resource_t)plan->resource,
			  &(struct rlimit){plan->limit, plan->limit});
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

/* Wait for a run; an alarm ends one that hangs. */
static int wait_for(pid_t pid)
{
	int status;

	hung = 0;
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
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

struct result run(const struct plan *plan)
{
	const struct job *job = &JOBS[plan->job];
	struct result r = {0};
	pid_t feeder;

	prepare(plan);
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
