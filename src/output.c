/* output: temporary file, sync, rename; and the signals that may come in between. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "again.h"

#define BUFFER ((size_t)64 << 10)

struct output {
	int fd;
	bool direct;               /* no temporary file, no rename */
	const char *shown;         /* for messages */
	char target[PATH_MAX];     /* what the rename replaces; links resolved */
	char folder[PATH_MAX];     /* target's folder */
	int error;                 /* errno of the first write that failed */
	size_t used;
	unsigned char buffer[BUFFER];
};

/*
 * What a signal has to remove. Set and cleared with the signals blocked, so that the handler
 * never sees half a name, nor a file that is there without its name.
 */
static char temporary[PATH_MAX + 32];

static const int SIGNALS[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
#define SIGNAL_COUNT (sizeof(SIGNALS) / sizeof(SIGNALS[0]))

/* SA_RESETHAND and no mask: the second raise is the end of the process. */
static void on_signal(int number)
{
	if (temporary[0] != '\0')
		unlink(temporary);
	raise(number);
}

void output_init(void)
{
	struct sigaction ours = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	/* Past `ulimit -f` a write then fails like any other, and says why. */
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		struct sigaction old;
		if (sigaction(SIGNALS[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(SIGNALS[i], &ours, NULL);
	}
}

static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&set, SIGNALS[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

/*
 * The descriptor that a path like /dev/stdout or /dev/fd/3 stands for, or -1. What it leads to
 * belongs to whoever opened it, at an offset of theirs: it is written, never replaced.
 */
static int descriptor_of(const char *path)
{
	static const char *const FOLDERS[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (int i = 0; i < 2; i++) {
		const size_t length = strlen(FOLDERS[i]);
		char *end;
		if (strncmp(path, FOLDERS[i], length) != 0)
			continue;
		const long fd = strtol(path + length, &end, 10);
		if (end != path + length && *end == '\0' && fd >= 0 && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/*
 * The path behind links: a link is not replaced by the file, its target is. A link to nothing
 * names the file to make.
 */
static int resolve(struct output *o, const char *path, struct fail *fail)
{
	if (strlen(path) >= sizeof(o->target)) {
		errno = ENAMETOOLONG;
		return fail_errno(fail, "%s", path);
	}
	strcpy(o->target, path);
	for (int links = 0;; links++) {
		char link[PATH_MAX];
		ssize_t n = readlink(o->target, link, sizeof(link) - 1);
		char *slash = strrchr(o->target, '/');
		const size_t folder = slash ? (size_t)(slash - o->target) + 1 : 0;
		/* Taken for a file, a link that cannot be read would be replaced by one. */
		if (n < 0 && errno != EINVAL && errno != ENOENT && errno != ENOTDIR)
			return fail_errno(fail, "%s", path);
		if (n < 0) { /* not a link, or not there: this is it */
			memcpy(o->folder, o->target, folder);
			o->folder[folder] = '\0';
			if (folder == 0)
				strcpy(o->folder, "./");
			return 0;
		}
		link[n] = '\0';
		const size_t keep = link[0] == '/' ? 0 : folder;
		errno = links >= 40 ? ELOOP : ENAMETOOLONG;
		if (links >= 40 || keep + (size_t)n >= sizeof(o->target))
			return fail_errno(fail, "%s", path);
		memcpy(o->target + keep, link, (size_t)n + 1);
	}
}

static int open_temporary(struct output *o, struct fail *fail)
{
	const char *name = o->target + (strrchr(o->target, '/') ? strlen(o->folder) : 0);
	sigset_t old;

	block_signals(&old);
	for (unsigned attempt = 0;; attempt++) {
		/* Hidden, and short enough for any name that the folder could take. */
		int n = snprintf(temporary, sizeof(temporary), "%s.%.200s.%ld-%u.tmp", o->folder,
				 name, (long)getpid(), attempt);
		if (n < 0 || (size_t)n >= sizeof(temporary)) {
			errno = ENAMETOOLONG;
			break;
		}
		o->fd = open_again(temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (o->fd >= 0 || errno != EEXIST || attempt == 1000)
			break;
	}
	if (o->fd < 0)
		temporary[0] = '\0';
	const int error = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	if (o->fd < 0)
		return fail_errno(fail, "%s", o->shown);
	return 0;
}

static int open_named(struct output *o, const char *path, struct fail *fail)
{
	struct stat st;

	if (resolve(o, path, fail) != 0)
		return -1;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = EISDIR;
		if (S_ISDIR(st.st_mode))
			return fail_errno(fail, "%s", path);
		o->direct = true;
		o->fd = open_again(path, O_WRONLY | O_CLOEXEC | O_NOCTTY, 0);
		if (o->fd < 0)
			return fail_errno(fail, "%s", path);
		return 0;
	}
	if (o->target[0] == '\0' || o->target[strlen(o->target) - 1] == '/') {
		errno = EISDIR;
		return fail_errno(fail, "%s", path);
	}
	return open_temporary(o, fail);
}

int output_open(struct output **out, const char *path, struct fail *fail)
{
	struct output *o = calloc(1, sizeof(*o));

	*out = NULL;
	if (!o)
		return fail_errno(fail, "output");
	o->fd = descriptor_of(path);
	if (o->fd >= 0) {
		o->shown = o->fd == STDOUT_FILENO ? "standard output" : path;
		o->direct = true;
		if (fcntl(o->fd, F_GETFD) < 0) {
			fail_errno(fail, "%s", o->shown);
			free(o);
			return -1;
		}
	} else {
		o->shown = path;
		if (open_named(o, path, fail) != 0) {
			free(o);
			return -1;
		}
	}
	*out = o;
	return 0;
}

static void flush(struct output *o)
{
	size_t done = 0;

	while (done < o->used && o->error == 0) {
		ssize_t n = write(o->fd, o->buffer + done, o->used - done);
		if (n >= 0) {
			done += (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			/* Somebody made the pipe or the terminal non-blocking: wait for room. */
			struct pollfd p = {.fd = o->fd, .events = POLLOUT};
			(void)poll(&p, 1, -1);
		} else if (errno != EINTR) {
			o->error = errno;
		}
	}
	o->used = 0;
}

void output_write(struct output *o, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes > 0) {
		const size_t room = BUFFER - o->used;
		const size_t some = bytes < room ? bytes : room;
		memcpy(o->buffer + o->used, p, some);
		o->used += some;
		p += some;
		bytes -= some;
		if (o->used == BUFFER)
			flush(o);
	}
}

void output_text(struct output *o, const char *text)
{
	output_write(o, text, strlen(text));
}

bool output_failed(const struct output *o)
{
	return o->error != 0;
}

/* The rename itself has to reach the disk; a file system that cannot sync folders may say so. */
static int sync_folder(const struct output *o)
{
	int fd = open_again(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return errno == EACCES ? 0 : -1; /* a folder that is write-only for us */
	int rc = fsync_again(fd);
	if (rc != 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP))
		rc = 0;
	const int error = errno;
	close(fd);
	errno = error;
	return rc;
}

static void remove_temporary(void)
{
	sigset_t old;

	block_signals(&old);
	unlink(temporary);
	temporary[0] = '\0';
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int publish(struct output *o, struct fail *fail)
{
	sigset_t old;

	/* An error of fsync is an error: what the page cache holds may never reach the disk. */
	int rc = fsync_again(o->fd);
	if (rc != 0 && (errno == EINVAL || errno == ENOTSUP))
		rc = 0;
	if (rc != 0)
		fail_errno(fail, "%s", o->shown);
	if (close(o->fd) != 0 && rc == 0)
		rc = fail_errno(fail, "%s", o->shown);
	if (rc != 0) {
		remove_temporary();
		return -1;
	}
	block_signals(&old);
	rc = rename(temporary, o->target);
	if (rc == 0)
		temporary[0] = '\0';
	const int error = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	if (rc != 0) {
		fail_errno(fail, "%s", o->shown);
		remove_temporary();
		return -1;
	}
	if (sync_folder(o) != 0)
		return fail_errno(fail, "%s: written, but its folder could not be synced", o->shown);
	return 0;
}

int output_commit(struct output *o, struct fail *fail)
{
	int rc = 0;

	flush(o);
	if (o->error != 0) {
		errno = o->error;
		fail_errno(fail, "%s", o->shown);
		output_abort(o);
		return -1;
	}
	if (!o->direct) {
		rc = publish(o, fail);
	} else if (o->fd != STDERR_FILENO && close(o->fd) != 0) {
		/* NFS and quotas tell of a failed write here, standard output's too. */
		rc = fail_errno(fail, "%s", o->shown);
	}
	free(o);
	return rc;
}

void output_abort(struct output *o)
{
	if (!o)
		return;
	if (!o->direct || o->fd > STDERR_FILENO)
		close(o->fd);
	if (!o->direct)
		remove_temporary();
	free(o);
}

bool output_is_input(const char *path, const char *input)
{
	struct stat out, in;

	const int fd = descriptor_of(path);

	if ((fd >= 0 ? fstat(fd, &out) : stat(path, &out)) != 0)
		return false;
	if ((strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(input, &in)) != 0)
		return false;
	return S_ISREG(out.st_mode) && out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}
