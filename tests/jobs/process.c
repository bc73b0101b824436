/* SPDX-License-Identifier: MIT */
/* process: starts a process, feeds it at a pace, and waits for it. */

#include "job.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HANG_SECONDS = 60 }; /* after this time gpuhist counts as hung */

static void write_all(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n <= 0)
			_exit(1);
		data += n;
		bytes -= (size_t)n;
	}
}

/* Write in odd sizes, with at most 20 pauses of 2 ms each. */
static void trickle(int fd, const unsigned char *data, size_t bytes)
{
	size_t most = 7 + bytes / (5 + below(50));
	unsigned sleeps = 20;

	while (bytes) {
		size_t n = 1 + below(most);

		if (n > bytes)
			n = bytes;
		write_all(fd, data, n);
		data += n;
		bytes -= n;
		if (once_in(3))
			sched_yield();
		if (sleeps && once_in(4) && sleeps--)
			usleep((useconds_t)below(2000));
	}
}

pid_t start_writer(const struct input *in, int fd, int reader)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (reader >= 0)
		close(reader);
	if (fd < 0)
		fd = open(in->fifo, O_WRONLY);
	if (fd < 0)
		_exit(1);
	if (!in->at_once && (in->route == PIPE_TRICKLE || (in->route == BY_FIFO && once_in(2))))
		trickle(fd, in->data, in->bytes);
	else
		write_all(fd, in->data, in->bytes);
	_exit(0);
}

int open_stdin(const struct input *in, pid_t *writer)
{
	int fd, ends[2];

	*writer = 0;
	if (!in || in->route == REDIRECT || in->route == REDIRECT_INSIDE) {
		fd = open(in ? in->file : "/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (in && lseek(fd, (off_t)in->before, SEEK_SET) < 0))
			die("standard input");
		return fd;
	}
	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	*writer = start_writer(in, ends[1], ends[0]);
	close(ends[1]); /* before another fork can hold it open */
	return ends[0];
}

pid_t start(char **argv, int in, const char *out, const char *err)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
	dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int finish(pid_t pid)
{
	double end = now() + HANG_SECONDS;
	bool hung = false;
	sigset_t child;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		struct timespec second = {1, 0};

		sigtimedwait(&child, NULL, &second);
		if (now() > end && !hung) {
			hung = true;
			kill(pid, SIGKILL);
		}
	}
	if (hung)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
