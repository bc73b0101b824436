/* SPDX-License-Identifier: MIT */
/*
 * torture_preload: a library for LD_PRELOAD between the shipping program and libc, which makes
 * calls fail: one call, all calls from one on, or a little everywhere.
 *
 *   TORTURE_FAIL=function:N:errno   the Nth call and all later ones fail; with :once at the end,
 *                        only the Nth; with :others, the Nth of all threads but the first
 *   TORTURE_RAISE=function:N:signal:before|after   the process gets a signal around the Nth call
 *   TORTURE_NOISE=SEED   reads and writes are cut short, calls are interrupted (EINTR), and
 *                        non-blocking descriptors are sometimes not ready (EAGAIN)
 *   TORTURE_LOG=FILE     a line for each call: function, role, and "failed" or "raised" if the plan
 *                        applied. The role of a descriptor: in, out (standard output, a file or a
 *                        FIFO to write), err, folder (a directory), wake (the writing end of any
 *                        other pipe), memory (a file without a name), or - for none; "worker" if a
 *                        thread other than the first allocates
 *   TORTURE_STEP=N:COMMAND   before its Nth pread a thread waits until all others sleep, then runs
 *                        the shell COMMAND, so that a file changes at a chosen moment; in later
 *                        lines N:COMMAND for later preads
 *
 * Numbers are decimal. A function stands for its variants: open for open64, openat, __open_2 and
 * so on, read for __read_chk. Noise spares close: after an interrupted close the descriptor is
 * gone, and data already written may be lost, which is an error.
 *
 * Calls inside libc are out of reach: stdio's open, read and close (fopen fails as a whole, and so
 * can its malloc), the system calls of malloc and pthread_create, and the loader. torture.c makes
 * those fail by limits (setrlimit). -DTORTURE_NO_ALLOCATOR leaves the allocator alone, for the
 * address sanitizer, which has its own; its runtime must not insist on being the first library
 * (ASAN_OPTIONS=verify_asan_link_order=0).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* clang-format off */
#define FUNCTIONS(F)                                                                             \
	F(access) F(aligned_alloc) F(calloc) F(close) F(fallocate) F(fchmod) F(fchown) F(fcntl) F(flock)      \
	F(fopen) F(fremovexattr) F(fsetxattr) F(fstat) F(fsync) F(ftruncate) F(getxattr) F(isatty) \
	F(lseek) F(madvise) F(malloc) F(memfd_create) F(mmap) F(open) F(pipe) F(poll) F(posix_spawn) F(pread) \
	F(preadv2) F(pthread_create) F(read) F(readlink)                   \
	F(link) F(realloc) F(rename) F(sched_getaffinity) F(sendmsg) F(sigaction) F(socketpair) F(stat) F(sysconf) F(tee) \
	F(unlink) F(write)
/* clang-format on */

enum function {
#define F(name) DO_##name,
	FUNCTIONS(F)
#undef F
		FUNCTION_COUNT
};

static const char *const NAMES[] = {
#define F(name) #name,
	FUNCTIONS(F)
#undef F
};

/* The functions that ours replace. */
static struct {
#define F(name) __typeof__(&name) name;
	FUNCTIONS(F)
#undef F
} next;

struct plan {
	int function; /* -1: none */
	unsigned long n;
	int value; /* an errno, or a signal */
	enum { PLAIN, ONCE, OTHERS, BEFORE, AFTER } how;
};

static struct plan to_fail = {.function = -1}, to_raise = {.function = -1};
static bool noisy;
static const char *step; /* command of the next step; NULL: none */
static unsigned long step_at, preads;
static uint64_t seed;
static int log_fd = -1;
static unsigned long calls[FUNCTION_COUNT], others_calls[FUNCTION_COUNT], chances;

static void parse(struct plan *p, const char *variable)
{
	static const char *const HOW[] = {"", "once", "others", "before", "after"};
	const char *text = getenv(variable);
	char name[32], word[16] = "";

	if (!text)
		return;
	if (sscanf(text, "%31[^:]:%lu:%d:%15s", name, &p->n, &p->value, word) >= 3)
		for (int i = 0; i < FUNCTION_COUNT; i++)
			if (strcmp(NAMES[i], name) == 0)
				p->function = i;
	while (p->how < AFTER && strcmp(HOW[p->how], word) != 0)
		p->how++;
	/* With a misspelt plan no call would fail, and the test would pass. */
	if (p->function < 0) {
		fprintf(stderr, "torture_preload: %s=%s: not a plan\n", variable, text);
		_exit(99);
	}
}

/* Find libc's functions. A sanitizer calls ours before any constructor, without an environment. */
static void resolve(void)
{
	if (next.write)
		return;
#define F(name) *(void **)&next.name = dlsym(RTLD_NEXT, #name);
	FUNCTIONS(F)
#undef F
}

/* Take the next step from this line; NULL: there is none. */
static void step_next(const char *line)
{
	step = line ? strchr(line, ':') + 1 : NULL;
	__atomic_store_n(&step_at, line ? strtoul(line, NULL, 10) : 0, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void begin(void)
{
	const char *log = getenv("TORTURE_LOG"), *noise = getenv("TORTURE_NOISE");

	resolve();
	if (log) {
		/* A high number: the program's descriptors keep theirs. */
		int fd = next.open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		log_fd = next.fcntl(fd, F_DUPFD_CLOEXEC, 200);
		next.close(fd);
	}
	if (noise)
		seed = strtoull(noise, NULL, 10);
	noisy = noise != NULL;
	parse(&to_raise, "TORTURE_RAISE");
	parse(&to_fail, "TORTURE_FAIL");
	step_next(getenv("TORTURE_STEP"));
}

static const char *role_of(int fd)
{
	struct statx st;

	resolve();
	if (fd == STDIN_FILENO)
		return "in";
	if (fd == STDERR_FILENO)
		return "err";
	const bool open =
		fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_NLINK, &st) == 0;
	/* Its number may belong to another file by the time it is closed. */
	if (open && S_ISDIR(st.stx_mode))
		return "folder";
	if (fd == STDOUT_FILENO)
		return "out";
	if (!open)
		return "-";
	if ((next.fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return "in";
	if (S_ISREG(st.stx_mode) && st.stx_nlink == 0)
		return "memory";
	return S_ISREG(st.stx_mode) ? "out" : "wake";
}

static const char *role_of_flags(int flags)
{
	return flags & O_DIRECTORY ? "folder" : (flags & O_ACCMODE) == O_RDONLY ? "in" : "out";
}

static void note(enum function f, const char *role, bool fails, bool raises)
{
	char line[64];

	if (log_fd < 0)
		return;
	/* No stdio here: the caller may be a signal handler, or malloc. */
	char *end = stpcpy(stpcpy(stpcpy(line, NAMES[f]), " "), role);
	end = stpcpy(end, fails ? " failed" : "");
	end = stpcpy(end, raises ? " raised\n" : "\n");
	(void)!next.write(log_fd, line, (size_t)(end - line));
}

/* A call on its way. */
struct call {
	bool fails; /* and errno is set */
	bool raise_after;
};

/* Does a call meet the plan? Calls of threads other than the first are counted separately, too. */
static bool meets(const struct plan *p, enum function f, unsigned long n, unsigned long others)
{
	if (p->function != (int)f)
		return false;
	if (p->how == OTHERS)
		return others == p->n;
	return p->how == PLAIN ? n >= p->n : n == p->n;
}

static struct call start(enum function f, const char *role)
{
	resolve();
	const bool first = gettid() == getpid();
	const unsigned long n = __atomic_add_fetch(&calls[f], 1, __ATOMIC_RELAXED);
	const unsigned long others =
		first ? 0 : __atomic_add_fetch(&others_calls[f], 1, __ATOMIC_RELAXED);
	const bool raises = meets(&to_raise, f, n, others);
	struct call c = {
		.fails = meets(&to_fail, f, n, others),
		.raise_after = raises && to_raise.how == AFTER,
	};

	note(f, role, c.fails, raises);
	if (raises && !c.raise_after)
		kill(getpid(), to_raise.value);
	if (c.fails)
		errno = to_fail.value;
	return c;
}

static void end(struct call c)
{
	const int error = errno;

	if (c.raise_after)
		kill(getpid(), to_raise.value);
	errno = error;
}

/* Draw by splitmix64; chance decides which thread gets which number. */
static uint64_t draw(void)
{
	uint64_t x = seed + 0x9e3779b97f4a7c15u * __atomic_add_fetch(&chances, 1, __ATOMIC_RELAXED);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static bool interrupted(void)
{
	if (!noisy || draw() % 4 != 0)
		return false;
	errno = EINTR;
	return true;
}

static bool disturbed(int fd)
{
	if (interrupted())
		return true;
	if (!noisy || draw() % 4 != 0 || !(next.fcntl(fd, F_GETFL) & O_NONBLOCK))
		return false;
	errno = EAGAIN;
	return true;
}

/* Shorten half of the transfers, some of them to a few bytes. */
static size_t shortened(size_t n)
{
	if (!noisy || n < 2 || draw() % 2 == 0)
		return n;
	const uint64_t most = draw() % 4 == 0 && n > 9 ? 9 : n;
	return 1 + (size_t)(draw() % most);
}

/* Do all threads but this one sleep? */
static bool others_sleep(void)
{
	DIR *const tasks = opendir("/proc/self/task");
	bool sleep = tasks != NULL;
	char path[64], stat[256];

	for (struct dirent *e; sleep && (e = readdir(tasks)) != NULL;) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", e->d_name);
		const int fd = e->d_name[0] == '.' || strtol(e->d_name, NULL, 10) == gettid()
				       ? -1
				       : next.open(path, O_RDONLY);
		const ssize_t n = fd < 0 ? 0 : next.read(fd, stat, sizeof(stat) - 1);
		if (fd >= 0)
			next.close(fd);
		stat[n > 0 ? n : 0] = '\0';
		const char *const name_end = strrchr(stat, ')');
		sleep = !name_end || name_end[2] == 'S';
	}
	if (tasks)
		closedir(tasks);
	return sleep;
}

static void take_step(void)
{
	if (!step || __atomic_add_fetch(&preads, 1, __ATOMIC_RELAXED) != step_at)
		return;
	/* A thread that was woken a moment ago may not run yet. */
	for (int times = 0; times < 5; times = others_sleep() ? times + 1 : 0)
		usleep(1000);
	unsetenv("LD_PRELOAD");
	const size_t n = strcspn(step, "\n");
	char command[512];
	snprintf(command, sizeof(command), "%.*s", (int)n, step);
	if (n >= sizeof(command) || system(command) != 0)
		_exit(99);
	step_next(step[n] ? step + n + 1 : NULL);
}

/* ---- calls with rules of their own ---- */

ssize_t read(int fd, void *buffer, size_t n)
{
	const struct call c = start(DO_read, role_of(fd));
	const ssize_t got = c.fails || disturbed(fd) ? -1 : next.read(fd, buffer, shortened(n));

	end(c);
	return got;
}

ssize_t __read_chk(int fd, void *buffer, size_t n, size_t room);
ssize_t __read_chk(int fd, void *buffer, size_t n, size_t room)
{
	return n <= room ? read(fd, buffer, n) : (abort(), -1);
}

ssize_t write(int fd, const void *buffer, size_t n)
{
	const struct call c = start(DO_write, role_of(fd));
	const ssize_t done = c.fails || disturbed(fd) ? -1 : next.write(fd, buffer, shortened(n));

	end(c);
	return done;
}

/* According to libc's header poll only writes to fds, which gcc believes. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	/* A poll of one descriptor asks only whether a signal or stderr is ready, briefly. */
	const struct call c = start(DO_poll, n > 1 ? role_of(fds[0].fd) : "-");
	const int ready = c.fails || interrupted() ? -1 : next.poll(fds, n, timeout);

	end(c);
	return ready;
}

/* Do nothing: the power is never cut here, and syncing would only load the disk. */
int fsync(int fd)
{
	const struct call c = start(DO_fsync, role_of(fd));
	const int rc = c.fails || interrupted() || next.fcntl(fd, F_GETFD) < 0 ? -1 : 0;

	end(c);
	return rc;
}

/* As on Linux, the descriptor is closed even if the call fails. */
int close(int fd)
{
	const struct call c = start(DO_close, role_of(fd));
	const int rc = next.close(fd);

	if (c.fails)
		errno = to_fail.value;
	end(c);
	return c.fails ? -1 : rc;
}

/* Everything that the program passes to it fits a pointer's width. */
int fcntl(int fd, int command, ...)
{
	va_list ap;
	va_start(ap, command);
	void *argument = va_arg(ap, void *);
	va_end(ap);
	const struct call c = start(DO_fcntl, role_of(fd));
	const int rc = c.fails ? -1 : next.fcntl(fd, command, argument);

	end(c);
	return rc;
}

static int opened(const char *path, int flags, mode_t mode)
{
	const struct call c = start(DO_open, role_of_flags(flags));
	const int fd = c.fails || interrupted() ? -1 : next.open(path, flags, mode);

	end(c);
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return opened(path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return opened(path, flags, 0);
}

/* ---- calls that fail, or are passed on as they are ---- */

/* TYPE NAME PARAMETERS, with the role of its descriptor, and the result if it FAILS. */
#define CALL(type, name, parameters, role, cannot, failure, arguments) \
	type name parameters                                           \
	{                                                              \
		const struct call c = start(DO_##name, role);          \
		type result = cannot ? failure : next.name arguments;  \
                                                                       \
		end(c);                                                \
		return result;                                         \
	}
#define FAILS c.fails
#define WAITS (c.fails || interrupted()) /* for calls that may wait */

/* clang-format off */
CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t at), role_of(fd), WAITS, -1, (fd, p,
     (take_step(), shortened(n)), at))
CALL(ssize_t, preadv2, (int fd, const struct iovec *iov, int n, off_t at, int flags), role_of(fd),
     WAITS, -1, (fd, iov, n, at, flags))
CALL(ssize_t, tee, (int from, int to, size_t n, unsigned flags), role_of(from), WAITS, -1, (from,
     to, shortened(n), flags))
CALL(off_t, lseek, (int fd, off_t offset, int whence), role_of(fd), FAILS, -1, (fd, offset, whence))
CALL(int, fstat, (int fd, struct stat *st), role_of(fd), FAILS, -1, (fd, st))
CALL(int, fchmod, (int fd, mode_t mode), role_of(fd), FAILS, -1, (fd, mode))
CALL(int, fchown, (int fd, uid_t owner, gid_t group), role_of(fd), FAILS, -1, (fd, owner, group))
CALL(int, fsetxattr, (int fd, const char *name, const void *value, size_t n, int flags),
     role_of(fd), FAILS, -1, (fd, name, value, n, flags))
CALL(int, fremovexattr, (int fd, const char *name), role_of(fd), FAILS, -1, (fd, name))
CALL(int, flock, (int fd, int operation), role_of(fd), WAITS, -1, (fd, operation))
CALL(int, isatty, (int fd), role_of(fd), FAILS, 0, (fd))
CALL(int, pipe, (int fds[2]), "-", FAILS, -1, (fds))

CALL(FILE *, fopen, (const char *path, const char *mode), "-", WAITS, NULL, (path, mode))
CALL(int, stat, (const char *path, struct stat *st), "-", FAILS, -1, (path, st))
CALL(int, access, (const char *path, int mode), "-", FAILS, -1, (path, mode))
CALL(ssize_t, readlink, (const char *path, char *p, size_t n), "-", FAILS, -1, (path, p, n))
CALL(ssize_t, getxattr, (const char *path, const char *name, void *p, size_t n), "-", FAILS, -1,
     (path, name, p, n))
CALL(int, rename, (const char *from, const char *to), "-", FAILS, -1, (from, to))
CALL(int, link, (const char *from, const char *to), "-", FAILS, -1, (from, to))
CALL(int, unlink, (const char *path), "-", FAILS, -1, (path))

CALL(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t offset),
     role_of(fd), FAILS, MAP_FAILED, (at, n, protection, flags, fd, offset))
CALL(int, madvise, (void *at, size_t n, int advice), "-", FAILS, -1, (at, n, advice))
CALL(int, pthread_create, (pthread_t *t, const pthread_attr_t *how, void *(*run)(void *),
     void *arg), "-", FAILS, to_fail.value, (t, how, run, arg))
CALL(int, sigaction, (int number, const struct sigaction *act, struct sigaction *old), "-", FAILS,
     -1, (number, act, old))
CALL(int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t *set), "-", FAILS, -1, (pid, n, set))

/* For long frames; and for the GPU process, in gpu_faults.sh. */
CALL(int, memfd_create, (const char *name, unsigned flags), "-", FAILS, -1, (name, flags))
CALL(int, fallocate, (int fd, int mode, off_t at, off_t n), role_of(fd), FAILS, -1, (fd, mode, at, n))
CALL(int, ftruncate, (int fd, off_t n), "-", FAILS, -1, (fd, n))
CALL(int, socketpair, (int domain, int type, int protocol, int fds[2]), "-", FAILS, -1, (domain,
     type, protocol, fds))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), "-", FAILS, -1, (fd,
     message, flags))
CALL(int, posix_spawn, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
     const posix_spawnattr_t *how, char *const argv[], char *const environment[]), "-", FAILS,
     to_fail.value, (pid, path, actions, how, argv, environment))
/* clang-format on */

long sysconf(int name)
{
	/* Libraries call the others, for facts that they cannot do without. */
	if (name != _SC_NPROCESSORS_ONLN)
		return resolve(), next.sysconf(name);
	const struct call c = start(DO_sysconf, "-");
	const long value = c.fails ? -1 : next.sysconf(name);

	end(c);
	return value;
}

/* ---- the same by other names ---- */

#define ALSO(name, other) extern __typeof__(name) other __attribute__((alias(#name)))
ALSO(pread, pread64);
ALSO(lseek, lseek64);
ALSO(fcntl, fcntl64);
ALSO(open, open64);
ALSO(fopen, fopen64);
ALSO(__open_2, __open64_2);

ssize_t __pread_chk(int fd, void *buffer, size_t n, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t n, off_t at, size_t room)
{
	return n <= room ? pread(fd, buffer, n, at) : (abort(), -1);
}

ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t room);
ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t room)
{
	return n <= room ? readlink(path, buffer, n) : (abort(), -1);
}

/* ---- memory ---- */

#ifndef TORTURE_NO_ALLOCATOR
/* dlsym may allocate; these exist from the first instruction on. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);

/*
 * With a plan, calls count from begin() on, so the loader's allocations do not.
 */
static struct call start_allocation(enum function f)
{
	if (!next.write)
		return (struct call){.fails = false};
	return start(f, gettid() == getpid() ? "-" : "worker");
}

#define ALLOCATION(name, parameters, made)                         \
	void *name parameters                                      \
	{                                                          \
		const struct call c = start_allocation(DO_##name); \
		void *p = c.fails ? NULL : made;                   \
                                                                   \
		end(c);                                            \
		return p;                                          \
	}
ALLOCATION(malloc, (size_t bytes), __libc_malloc(bytes))
ALLOCATION(calloc, (size_t n, size_t bytes), __libc_calloc(n, bytes))
ALLOCATION(realloc, (void *old, size_t bytes), __libc_realloc(old, bytes))
ALLOCATION(aligned_alloc, (size_t align, size_t bytes), __libc_memalign(align, bytes))
#endif
