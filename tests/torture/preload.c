/* SPDX-License-Identifier: MIT */
/*
 * torture_preload: a library for LD_PRELOAD between the shipping program and libc, which makes
 * calls fail: one call, all calls from one on, or a little everywhere.
 *
 *   TORTURE_FAIL=function:N:errno   the Nth call fails and all after it; with :once at the end,
 *                                   that
 *                        one alone; with :others, the Nth one of all threads but the first
 *   TORTURE_RAISE=function:N:signal:before|after   the process gets a signal around the Nth call
 *   TORTURE_NOISE=SEED   reads and writes are cut short, calls are interrupted (EINTR), and what
 *                        is non-blocking is sometimes not ready (EAGAIN)
 *   TORTURE_LOG=FILE     a line for each call: function, role, and "failed" or "raised" where
 *                        the plan met it. A role says what a descriptor is: in, out (standard
 *                        output, a file or a FIFO to write), err, folder, wake (a pipe's
 *                        writing end other than those), or - for calls without one;
 *                        worker where a thread that is not the first one allocates
 *
 * Numbers are decimal. A function stands for its variants: open for open64, openat, __open_2 and
 * so on, read for __read_chk. Noise spares close: when it is interrupted the descriptor is gone
 * and what was written may be lost, which is an error.
 *
 * Out of reach are calls that libc makes of itself: stdio's open, read and close (fopen fails as a
 * whole here, its malloc is reached), what malloc and pthread_create ask of the system, and the
 * loader. torture.c gets at those by limits (setrlimit). -DTORTURE_NO_ALLOCATOR leaves the
 * allocator alone, for the address sanitizer, which has its own; its runtime must be set not to
 * insist on being the first library (ASAN_OPTIONS=verify_asan_link_order=0).
 */
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
	F(access) F(aligned_alloc) F(calloc) F(close) F(fchmod) F(fchown) F(fcntl) F(flock)      \
	F(fopen) F(fremovexattr) F(fsetxattr) F(fstat) F(fsync) F(ftruncate) F(getxattr) F(isatty) \
	F(lseek) F(madvise) F(malloc) F(memfd_create) F(mmap) F(open) F(pipe) F(poll) F(posix_spawn) F(pread) \
	F(preadv2) F(pthread_create) F(pthread_mutex_init) F(read) F(readlink)                   \
	F(realloc) F(rename) F(sched_getaffinity) F(sendmsg) F(sigaction) F(socketpair) F(splice) F(stat) F(sysconf) F(tee) \
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

/* A sanitizer's runtime calls us before any constructor, when there is no environment yet. */
static void resolve(void)
{
	if (next.write)
		return;
#define F(name) *(void **)&next.name = dlsym(RTLD_NEXT, #name);
	FUNCTIONS(F)
#undef F
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
}

static const char *role_of(int fd)
{
	struct statx st;

	resolve();
	if (fd == STDIN_FILENO)
		return "in";
	if (fd == STDERR_FILENO)
		return "err";
	const bool open = fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) == 0;
	/* Its number may be another's when it was closed. */
	if (open && S_ISDIR(st.stx_mode))
		return "folder";
	if (fd == STDOUT_FILENO)
		return "out";
	if (!open)
		return "-";
	if ((next.fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return "in";
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
	/* No stdio: this may be a signal handler, or malloc. */
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

/* Calls of threads that are not the first are counted apart too. */
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

/* splitmix64; which thread gets which number is left to chance. */
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

/* Half of the transfers, some of them a few bytes only. */
static size_t shortened(size_t n)
{
	if (!noisy || n < 2 || draw() % 2 == 0)
		return n;
	const uint64_t most = draw() % 4 == 0 && n > 9 ? 9 : n;
	return 1 + (size_t)(draw() % most);
}

/* ---- descriptors ---- */

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

ssize_t pread(int fd, void *buffer, size_t n, off_t at)
{
	const struct call c = start(DO_pread, role_of(fd));
	const ssize_t got =
		c.fails || interrupted() ? -1 : next.pread(fd, buffer, shortened(n), at);

	end(c);
	return got;
}

ssize_t pread64(int fd, void *buffer, size_t n, off64_t at)
{
	return pread(fd, buffer, n, at);
}

ssize_t __pread_chk(int fd, void *buffer, size_t n, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t n, off_t at, size_t room)
{
	return n <= room ? pread(fd, buffer, n, at) : (abort(), -1);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t at, int flags)
{
	const struct call c = start(DO_preadv2, role_of(fd));
	const ssize_t got = c.fails || interrupted() ? -1 : next.preadv2(fd, iov, count, at, flags);

	end(c);
	return got;
}

ssize_t write(int fd, const void *buffer, size_t n)
{
	const struct call c = start(DO_write, role_of(fd));
	const ssize_t done = c.fails || disturbed(fd) ? -1 : next.write(fd, buffer, shortened(n));

	end(c);
	return done;
}

ssize_t tee(int from, int to, size_t n, unsigned flags)
{
	const struct call c = start(DO_tee, role_of(from));
	const ssize_t done =
		c.fails || interrupted() ? -1 : next.tee(from, to, shortened(n), flags);

	end(c);
	return done;
}

ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags)
{
	const struct call c = start(DO_splice, role_of(from));
	const ssize_t done = c.fails || interrupted()
				     ? -1
				     : next.splice(from, from_at, to, to_at, shortened(n), flags);

	end(c);
	return done;
}

/* libc's header says that poll only writes to fds, which gcc believes. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	const struct call c = start(DO_poll, n > 0 ? role_of(fds[0].fd) : "-");
	const int ready = c.fails || interrupted() ? -1 : next.poll(fds, n, timeout);

	end(c);
	return ready;
}

/* The power is not cut here: syncing would only load the disk. */
int fsync(int fd)
{
	const struct call c = start(DO_fsync, role_of(fd));
	const int rc = c.fails || interrupted() || next.fcntl(fd, F_GETFD) < 0 ? -1 : 0;

	end(c);
	return rc;
}

/* As on Linux, the descriptor is closed even where the call fails. */
int close(int fd)
{
	const struct call c = start(DO_close, role_of(fd));
	const int rc = next.close(fd);

	if (c.fails)
		errno = to_fail.value;
	end(c);
	return c.fails ? -1 : rc;
}

off_t lseek(int fd, off_t offset, int whence)
{
	const struct call c = start(DO_lseek, role_of(fd));
	const off_t at = c.fails ? -1 : next.lseek(fd, offset, whence);

	end(c);
	return at;
}

off64_t lseek64(int fd, off64_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

int fstat(int fd, struct stat *st)
{
	const struct call c = start(DO_fstat, role_of(fd));
	const int rc = c.fails ? -1 : next.fstat(fd, st);

	end(c);
	return rc;
}

int fchmod(int fd, mode_t mode)
{
	const struct call c = start(DO_fchmod, role_of(fd));
	const int rc = c.fails ? -1 : next.fchmod(fd, mode);

	end(c);
	return rc;
}

int fchown(int fd, uid_t owner, gid_t group)
{
	const struct call c = start(DO_fchown, role_of(fd));
	const int rc = c.fails ? -1 : next.fchown(fd, owner, group);

	end(c);
	return rc;
}

int fsetxattr(int fd, const char *name, const void *value, size_t n, int flags)
{
	const struct call c = start(DO_fsetxattr, role_of(fd));
	const int rc = c.fails ? -1 : next.fsetxattr(fd, name, value, n, flags);

	end(c);
	return rc;
}

int fremovexattr(int fd, const char *name)
{
	const struct call c = start(DO_fremovexattr, role_of(fd));
	const int rc = c.fails ? -1 : next.fremovexattr(fd, name);

	end(c);
	return rc;
}

/* All that the program asks of it fits a pointer's width. */
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

int fcntl64(int fd, int command, ...)
{
	va_list ap;
	va_start(ap, command);
	void *argument = va_arg(ap, void *);
	va_end(ap);
	return fcntl(fd, command, argument);
}

int flock(int fd, int operation)
{
	const struct call c = start(DO_flock, role_of(fd));
	const int rc = c.fails || interrupted() ? -1 : next.flock(fd, operation);

	end(c);
	return rc;
}

int pipe(int fds[2])
{
	const struct call c = start(DO_pipe, "-");
	const int rc = c.fails ? -1 : next.pipe(fds);

	end(c);
	return rc;
}

int isatty(int fd)
{
	const struct call c = start(DO_isatty, role_of(fd));
	const int is = c.fails ? 0 : next.isatty(fd);

	end(c);
	return is;
}

/* ---- names ---- */

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

int open64(const char *path, int flags, ...)
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

int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return opened(path, flags, 0);
}

FILE *fopen(const char *path, const char *mode)
{
	const struct call c = start(DO_fopen, "-");
	FILE *f = c.fails || interrupted() ? NULL : next.fopen(path, mode);

	end(c);
	return f;
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

int stat(const char *path, struct stat *st)
{
	const struct call c = start(DO_stat, "-");
	const int rc = c.fails ? -1 : next.stat(path, st);

	end(c);
	return rc;
}

int access(const char *path, int mode)
{
	const struct call c = start(DO_access, "-");
	const int rc = c.fails ? -1 : next.access(path, mode);

	end(c);
	return rc;
}

ssize_t readlink(const char *path, char *buffer, size_t n)
{
	const struct call c = start(DO_readlink, "-");
	const ssize_t length = c.fails ? -1 : next.readlink(path, buffer, n);

	end(c);
	return length;
}

ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t room);
ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t room)
{
	return n <= room ? readlink(path, buffer, n) : (abort(), -1);
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t n)
{
	const struct call c = start(DO_getxattr, "-");
	const ssize_t bytes = c.fails ? -1 : next.getxattr(path, name, value, n);

	end(c);
	return bytes;
}

int rename(const char *from, const char *to)
{
	const struct call c = start(DO_rename, "-");
	const int rc = c.fails ? -1 : next.rename(from, to);

	end(c);
	return rc;
}

int unlink(const char *path)
{
	const struct call c = start(DO_unlink, "-");
	const int rc = c.fails ? -1 : next.unlink(path);

	end(c);
	return rc;
}

/* ---- memory ---- */

#ifndef TORTURE_NO_ALLOCATOR
/* dlsym may allocate; these are there from the first instruction on. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);

/*
 * Counted after begin(), where there is a plan: what the loader allocates before it is not counted.
 */
static struct call start_allocation(enum function f)
{
	if (!next.write)
		return (struct call){.fails = false};
	return start(f, gettid() == getpid() ? "-" : "worker");
}

void *malloc(size_t bytes)
{
	const struct call c = start_allocation(DO_malloc);
	void *p = c.fails ? NULL : __libc_malloc(bytes);

	end(c);
	return p;
}

void *calloc(size_t n, size_t bytes)
{
	const struct call c = start_allocation(DO_calloc);
	void *p = c.fails ? NULL : __libc_calloc(n, bytes);

	end(c);
	return p;
}

void *realloc(void *old, size_t bytes)
{
	const struct call c = start_allocation(DO_realloc);
	void *p = c.fails ? NULL : __libc_realloc(old, bytes);

	end(c);
	return p;
}

void *aligned_alloc(size_t align, size_t bytes)
{
	const struct call c = start_allocation(DO_aligned_alloc);
	void *p = c.fails ? NULL : __libc_memalign(align, bytes);

	end(c);
	return p;
}
#endif

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	const struct call c = start(DO_mmap, role_of(fd));
	void *p = c.fails ? MAP_FAILED : next.mmap(at, bytes, protection, flags, fd, offset);

	end(c);
	return p;
}

int madvise(void *at, size_t bytes, int advice)
{
	const struct call c = start(DO_madvise, "-");
	const int rc = c.fails ? -1 : next.madvise(at, bytes, advice);

	end(c);
	return rc;
}

/* ---- threads, signals, the machine ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	const struct call c = start(DO_pthread_create, "-");
	const int error =
		c.fails ? to_fail.value : next.pthread_create(thread, attributes, run, argument);

	end(c);
	return error;
}

/* ---- the GPU's helper: gpu_faults.sh ---- */

int memfd_create(const char *name, unsigned flags)
{
	const struct call c = start(DO_memfd_create, "-");
	const int fd = c.fails ? -1 : next.memfd_create(name, flags);

	end(c);
	return fd;
}

int ftruncate(int fd, off_t bytes)
{
	const struct call c = start(DO_ftruncate, "-");
	const int rc = c.fails ? -1 : next.ftruncate(fd, bytes);

	end(c);
	return rc;
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	const struct call c = start(DO_socketpair, "-");
	const int rc = c.fails ? -1 : next.socketpair(domain, type, protocol, fds);

	end(c);
	return rc;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct call c = start(DO_sendmsg, "-");
	const ssize_t n = c.fails ? -1 : next.sendmsg(fd, message, flags);

	end(c);
	return n;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	const struct call c = start(DO_posix_spawn, "-");
	const int error =
		c.fails ? to_fail.value
			: next.posix_spawn(pid, path, actions, attributes, argv, environment);

	end(c);
	return error;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	const struct call c = start(DO_pthread_mutex_init, "-");
	const int error = c.fails ? to_fail.value : next.pthread_mutex_init(mutex, attributes);

	end(c);
	return error;
}

int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	const struct call c = start(DO_sigaction, "-");
	const int rc = c.fails ? -1 : next.sigaction(number, act, old);

	end(c);
	return rc;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	const struct call c = start(DO_sched_getaffinity, "-");
	const int rc = c.fails ? -1 : next.sched_getaffinity(pid, bytes, set);

	end(c);
	return rc;
}

long sysconf(int name)
{
	/* The others are called by libraries, for facts that they cannot do without. */
	if (name != _SC_NPROCESSORS_ONLN)
		return resolve(), next.sysconf(name);
	const struct call c = start(DO_sysconf, "-");
	const long value = c.fails ? -1 : next.sysconf(name);

	end(c);
	return value;
}
