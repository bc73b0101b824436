/* SPDX-License-Identifier: MIT */
/* output: names, temporary file, permissions, sync, rename. */
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/again.h"
#include "base/huge.h"
#include "base/path.h"
#include "base/signals.h"
#include "base/utf8.h"

#define BUFFER ((size_t)64 << 10)
#define RESCUE_NAMES 1000u
#define LIST "system.posix_acl_access"
#define LIST_BYTES 4096 /* about 500 entries, more than most file systems store */

struct output {
	int fd;
	bool direct; /* no temporary file, no rename */
	/* name of the temporary file, in the thread's entry of signals_file */
	char *temporary;
	const char *shown;      /* name for messages */
	char target[PATH_MAX];  /* file to replace, with links resolved */
	char folder[PATH_MAX];  /* target's directory */
	char rescued[PATH_MAX]; /* rescue file: the name it is a rescue of, else "" */
	int error;              /* errno of the first write that failed */
	bool memory;
	unsigned char *spilled; /* output in memory: bytes moved out of the buffer */
	size_t spilled_used, spilled_size;
	size_t used;
	unsigned char buffer[BUFFER];
};

int output_descriptor(const char *path)
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

int output_resolve(char target[PATH_MAX], const char *path, struct fail *fail)
{
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return fail_errno(fail, "%s", path);
	}
	strcpy(target, path);
	for (int links = 0;; links++) {
		char link[PATH_MAX];
		ssize_t n = readlink(target, link, sizeof(link) - 1);
		/* An unreadable link must not be mistaken for a file, and replaced by one. */
		if (n < 0 && errno != EINVAL && errno != ENOENT && errno != ENOTDIR)
			return fail_errno(fail, "%s", path);
		if (n < 0) /* not a link, or nonexistent: this is the target */
			return 0;
		link[n] = '\0';
		const char *slash = strrchr(target, '/');
		const size_t keep = link[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
		errno = links >= 40 ? ELOOP : ENAMETOOLONG;
		if (links >= 40 || keep + (size_t)n >= PATH_MAX)
			return fail_errno(fail, "%s", path);
		memcpy(target + keep, link, (size_t)n + 1);
	}
}

void output_folder(char folder[PATH_MAX], const char *path)
{
	strcpy(folder, path);
	char *const slash = strrchr(folder, '/');
	strcpy(slash ? slash + 1 : folder, slash ? "" : "./");
}

static bool stat_output(const char *path, struct stat *st)
{
	const int fd = output_descriptor(path);

	return (fd >= 0 ? fstat(fd, st) : stat(path, st)) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_file(const char *path)
{
	struct stat st;

	return output_descriptor(path) < 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

bool output_is_input(const char *path, const char *input)
{
	struct stat out, in;

	return stat_output(path, &out) && S_ISREG(out.st_mode) &&
	       (path_is_stdin(input) ? fstat(STDIN_FILENO, &in) : stat(input, &in)) == 0 &&
	       is_same(&out, &in);
}

bool output_is_output(const char *path, const char *other)
{
	char target[2][PATH_MAX], folder[PATH_MAX];
	struct fail fail = {.status = STATUS_OK};
	struct stat st[2];

	if (output_is_input(path, other))
		return true;
	if (output_descriptor(path) >= 0 || output_descriptor(other) >= 0)
		return false;
	for (int i = 0; i < 2; i++) {
		if (output_resolve(target[i], i == 0 ? path : other, &fail) != 0)
			return false; /* opening it will say why */
		output_folder(folder, target[i]);
		if (stat(folder, &st[i]) != 0)
			return false;
	}
	return is_same(&st[0], &st[1]) && strcmp(path_name(target[0]), path_name(target[1])) == 0;
}

bool output_is_stderr_terminal(const char *path)
{
	struct stat out, err;

	return isatty(STDERR_FILENO) && stat_output(path, &out) &&
	       fstat(STDERR_FILENO, &err) == 0 && S_ISCHR(out.st_mode) &&
	       (out.st_rdev == err.st_rdev || out.st_rdev == makedev(5, 0)); /* 5, 0: /dev/tty */
}

bool output_is_stdout(const char *path)
{
	struct stat out, named;

	return output_descriptor(path) == STDOUT_FILENO ||
	       (stat_output(path, &named) && fstat(STDOUT_FILENO, &out) == 0 &&
		(S_ISREG(out.st_mode) || S_ISFIFO(out.st_mode)) && is_same(&out, &named));
}

/*
 * The buffer is not cleared: that would touch all its pages, and only bytes that were written are
 * read from it. NULL: out of memory.
 */
static struct output *blank(struct fail *fail)
{
	struct output *o = malloc(sizeof(*o));

	if (o)
		memset(o, 0, offsetof(struct output, buffer));
	else
		fail_errno(fail, "output");
	return o;
}

/* Create a file .NAME.gpuhist-PID-N.tmp (see the manual). -1: errno says why. */
static int open_temporary(struct output *o, mode_t mode)
{
	sigset_t old;

	o->temporary = signals_file[signals_file_index()];
	signals_block(&old);
	for (unsigned attempt = 0;; attempt++) {
		/* The name is hidden, and fits even if NAME is as long as a name can be. */
		int n = snprintf(o->temporary, sizeof(signals_file[0]),
				 "%s.%.200s.gpuhist-%ld-%u.tmp", o->folder, path_name(o->target),
				 (long)getpid(), attempt);
		if (n < 0 || (size_t)n >= sizeof(signals_file[0])) {
			errno = ENAMETOOLONG;
			break;
		}
		o->fd = open_again(o->temporary,
				   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (o->fd >= 0 || errno != EEXIST || attempt == 1000)
			break;
	}
	if (o->fd < 0)
		o->temporary[0] = '\0';
	const int error = errno;
	signals_restore(&old);
	errno = error;
	return o->fd < 0 ? -1 : 0;
}

static void remove_temporary(struct output *o)
{
	sigset_t old;

	signals_block(&old);
	unlink(o->temporary);
	o->temporary[0] = '\0';
	signals_restore(&old);
}

/*
 * Copies the access control list of path in the kernel's own form, which needs no library. A list
 * was made for one owning group, so without `group` the file fd gets none.
 */
static bool keep_list(int fd, const char *path, bool group)
{
	char list[LIST_BYTES];
	const ssize_t n = getxattr(path, LIST, list, sizeof(list));

	if (n > 0 && group)
		return fsetxattr(fd, LIST, list, (size_t)n, 0) == 0;
	if (n < 0 && errno != ENODATA && errno != ENOTSUP)
		return false;
	/* The new file may have got a list from the folder's default list. */
	return fremovexattr(fd, LIST) == 0 || errno == ENODATA || errno == ENOTSUP;
}

/* The owner first: a process that has given the file away may still change its group and mode. */
static bool keep_group(int fd, const struct stat *now, const struct stat *old)
{
	if (now->st_uid != old->st_uid && fchown(fd, old->st_uid, old->st_gid) == 0)
		return true;
	return now->st_gid == old->st_gid || fchown(fd, (uid_t)-1, old->st_gid) == 0;
}

/*
 * Gives the new file fd the permissions of the file at path, whose state is *old. Set-user-ID and
 * set-group-ID are left out, as when another user writes to a file. If the group or the access list
 * cannot be kept, the group gets only the rights that others have. -1 and errno if the mode cannot
 * be set.
 */
static int keep_permissions(int fd, const char *path, const struct stat *old)
{
	struct stat now;
	mode_t mode = old->st_mode & 0777;

	if (fstat(fd, &now) != 0)
		return -1;
	const bool group = keep_group(fd, &now, old);
	const bool list = keep_list(fd, path, group);
	if (!group || !list)
		mode &= 0707 | (mode & 07) << 3;
	/* A file system without modes cannot set them, and need not. */
	if (fstat(fd, &now) != 0)
		return -1;
	return (now.st_mode & 07777) == mode ? 0 : fchmod(fd, mode);
}

/*
 * Containers mount single files, which rename cannot replace. If the kernel cannot tell, the rename
 * will fail.
 */
static bool is_mount(const char *path)
{
#ifdef STATX_ATTR_MOUNT_ROOT
	struct statx st;

	return statx(AT_FDCWD, path, 0, 0, &st) == 0 &&
	       (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT);
#else
	(void)path;
	return false;
#endif
}

/*
 * For a file that exists. Open it as `>` would, but without truncating it, to get the same refusals
 * from the system. The temporary file is never readable by more users than the old one.
 */
static int open_beside(struct output *o, struct fail *fail)
{
	struct stat st, folder;
	const int fd = open_again(o->target, O_WRONLY | O_CLOEXEC | O_NOCTTY, 0);

	if (fd < 0)
		return fail_errno(fail, "%s", o->shown);
	const int rc = fstat(fd, &st);
	if (close(fd) != 0 || rc != 0)
		return fail_errno(fail, "%s", o->shown);
	if (is_mount(o->target))
		return fail_set(fail, STATUS_SYSTEM,
				"%s is a mount point, which cannot be replaced; redirect standard "
				"output into it",
				o->shown);
	/* In a sticky directory the rename would fail, after all the work. */
	if (stat(o->folder, &folder) == 0 && (folder.st_mode & S_ISVTX) && geteuid() != 0 &&
	    geteuid() != st.st_uid && geteuid() != folder.st_uid)
		return fail_set(fail, STATUS_SYSTEM,
				"%s belongs to another user, and its folder lets only that user "
				"replace it; use another name",
				o->shown);
	if (open_temporary(o, st.st_mode & 0600) != 0)
		return fail_errno(fail, "cannot create a file in the folder of %s", o->shown);
	if (keep_permissions(o->fd, o->target, &st) == 0)
		return 0;
	fail_errno(fail, "cannot keep the permissions of %s", o->shown);
	close(o->fd);
	remove_temporary(o);
	return -1;
}

static int open_named(struct output *o, const char *path, struct fail *fail)
{
	struct stat st;

	if (output_resolve(o->target, path, fail) != 0)
		return -1;
	output_folder(o->folder, o->target);
	const bool there = stat(path, &st) == 0;
	const int error = errno;
	const bool folder = there ? S_ISDIR(st.st_mode)
				  : o->target[0] == '\0' || o->target[strlen(o->target) - 1] == '/';
	errno = folder ? EISDIR : error;
	/* A file that cannot be examined must not be replaced. */
	if (folder || (!there && error != ENOENT))
		return fail_errno(fail, "%s", path);
	if (there && S_ISREG(st.st_mode))
		return open_beside(o, fail);
	o->direct = there;
	if (there)
		o->fd = open_again(path, O_WRONLY | O_CLOEXEC | O_NOCTTY, 0);
	if (there ? o->fd < 0 : open_temporary(o, 0666) != 0)
		return fail_errno(fail, "%s", path);
	return 0;
}

/*
 * False if fd is closed or read-only: everything written to it would be lost.
 */
static bool is_writable(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int output_open(struct output **out, const char *path, struct fail *fail)
{
	struct output *o = *out = blank(fail);
	int rc = 0;

	if (!o)
		return -1;
	o->fd = output_descriptor(path);
	o->direct = o->fd >= 0;
	o->shown = o->fd == STDOUT_FILENO ? "standard output" : path;
	if (!o->direct)
		rc = open_named(o, path, fail);
	else if (!is_writable(o->fd))
		rc = fail_set(fail, STATUS_SYSTEM, "%s is closed or not open for writing",
			      o->shown);
	if (rc != 0) {
		free(o);
		*out = NULL;
	}
	return rc;
}

/* The i-th name for a rescue file, from 1. False: errno says why. */
static bool rescue_name(char name[PATH_MAX], const char *rescued, unsigned i)
{
	const int n = i == 1 ? snprintf(name, PATH_MAX, "%s.rescue.json", rescued)
			     : snprintf(name, PATH_MAX, "%s.%u.rescue.json", rescued, i);

	errno = ENAMETOOLONG;
	return n > 0 && n < PATH_MAX;
}

/*
 * Give the temporary file the first free name: by a link, because a rename would replace the
 * rescue file of another run that looked at the same time. Some file systems have no links.
 */
static int rename_rescue(struct output *o)
{
	struct stat st;

	for (unsigned i = 1; i <= RESCUE_NAMES; i++) {
		if (!rescue_name(o->target, o->rescued, i))
			return -1;
		if (link(o->temporary, o->target) == 0) {
			(void)unlink(o->temporary);
			return 0;
		}
		if (errno == EEXIST || lstat(o->target, &st) == 0)
			continue;
		return errno == ENOENT ? rename(o->temporary, o->target) : -1;
	}
	errno = EEXIST;
	return -1;
}

bool output_rescue(struct output *o)
{
	char name[PATH_MAX];

	if (o->direct || !rescue_name(name, o->target, 1))
		return false;
	strcpy(o->rescued, o->target);
	strcpy(o->target, name);
	o->shown = o->target;
	return true;
}

int output_open_rescue(struct output **out, const char *folder, bool shared, struct fail *fail)
{
	struct output *o = *out = blank(fail);

	if (!o)
		return -1;
	const size_t length = strlen(folder);
	const int n = snprintf(o->rescued, PATH_MAX, "%s%sgpuhist-%ld", folder,
			       length > 0 && folder[length - 1] == '/' ? "" : "/", (long)getpid());
	o->shown = o->target;
	errno = ENAMETOOLONG;
	const bool named = n < PATH_MAX && rescue_name(o->target, o->rescued, 1);
	output_folder(o->folder, o->target);
	if (named && open_temporary(o, shared ? 0600 : 0666) == 0)
		return 0;
	fail_errno(fail, "%s", folder);
	free(o);
	*out = NULL;
	return -1;
}

int output_open_memory(struct output **out, struct fail *fail)
{
	*out = blank(fail);
	if (!*out)
		return -1;
	(*out)->direct = (*out)->memory = true;
	(*out)->fd = -1;
	(*out)->shown = "output";
	return 0;
}

/* Move the buffer of an in-memory output to `spilled`. */
static void set_aside(struct output *o)
{
	const size_t need = o->spilled_used + o->used;
	const size_t twice = need <= o->spilled_size ? need : 2 * need;

	if (o->error == 0 && !huge_grow(&o->spilled, &o->spilled_size, twice, o->spilled_used))
		o->error = ENOMEM;
	if (o->error == 0 && o->used > 0) {
		memcpy(o->spilled + o->spilled_used, o->buffer, o->used);
		o->spilled_used += o->used;
	}
	o->used = 0;
}

const char *output_taken(struct output *o, size_t *bytes)
{
	const unsigned char *text = o->buffer;

	if (o->spilled_used > 0) {
		set_aside(o);
		text = o->spilled;
	}
	*bytes = output_used(o);
	o->used = o->spilled_used = 0;
	return (const char *)text;
}

size_t output_used(const struct output *o)
{
	return o->spilled_used + o->used;
}

static void write_buffer(struct output *o)
{
	if (o->memory)
		set_aside(o);
	else if (o->error == 0 && write_again(o->fd, o->buffer, o->used) != 0)
		o->error = errno;
	o->used = 0;
}

void output_write(struct output *o, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes > 0) {
		const size_t left = BUFFER - o->used, some = bytes < left ? bytes : left;
		memcpy(o->buffer + o->used, p, some);
		o->used += some;
		p += some;
		bytes -= some;
		if (o->used == BUFFER)
			write_buffer(o);
	}
}

void output_text(struct output *o, const char *text)
{
	output_write(o, text, strlen(text));
}

void output_print(struct output *o, const char *format, ...)
{
	char line[OUTPUT_PRINT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	output_text(o, line);
}

void output_escaped(struct output *o, const char *text, size_t bytes, escape_fn *escape)
{
	const unsigned char *const p = (const unsigned char *)text;
	char escaped[OUTPUT_ESCAPE];

	for (size_t i = 0, some; i < bytes; i += some) {
		const size_t length = utf8_length(p + i, bytes - i);
		const char *const instead = escape(p + i, length, escaped);
		some = length > 0 ? length : 1;
		if (instead)
			output_text(o, instead);
		else
			output_write(o, text + i, some);
	}
}

void output_fail(struct output *o)
{
	if (o->error == 0)
		o->error = errno;
}

bool output_failed(const struct output *o)
{
	return o->error != 0;
}

/*
 * The size of the file does not change. This does not use posix_fallocate, which writes every block
 * if the file system cannot allocate.
 */
int output_reserve(struct output *o, uint64_t bytes, const char *advice, struct fail *fail)
{
	const off_t size = bytes < INT64_MAX ? (off_t)bytes : INT64_MAX;

	if (o->direct || size == 0 || fallocate(o->fd, FALLOC_FL_KEEP_SIZE, 0, size) == 0 ||
	    (errno != ENOSPC && errno != EFBIG && errno != EDQUOT))
		return 0;
	return fail_set(fail, STATUS_SYSTEM,
			"%s would take %llu bytes, more than its file system has room for; %s",
			o->shown, (unsigned long long)size, advice);
}

int output_flush(struct output *o, struct fail *fail)
{
	write_buffer(o);
	errno = o->error;
	return o->error == 0 ? 0 : fail_errno(fail, "%s", o->shown);
}

void output_write_over(struct output *o, const void *data, size_t bytes)
{
	write_buffer(o);
	if (o->error == 0 &&
	    (lseek(o->fd, 0, SEEK_SET) < 0 || write_again(o->fd, data, bytes) != 0))
		o->error = errno;
}

/* Make the rename reach the disk. Succeeds if the file system cannot sync directories. */
static int sync_folder(const struct output *o)
{
	int fd = open_again(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return errno == EACCES ? 0 : -1; /* a write-only directory */
	int rc = fsync_again(fd);
	if (rc != 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP))
		rc = 0;
	const int error = errno;
	close(fd);
	errno = error;
	return rc;
}

/* final: once the file is replaced, signals stay blocked. */
static int output_replace(struct output *o, bool final, struct fail *fail)
{
	sigset_t old;

	/* Report fsync errors: the page cache may never reach the disk. */
	int rc = fsync_again(o->fd);
	if (rc != 0 && (errno == EINVAL || errno == ENOTSUP))
		rc = 0;
	if (rc != 0)
		fail_errno(fail, "%s", o->shown);
	if (close(o->fd) != 0 && rc == 0)
		rc = fail_errno(fail, "%s", o->shown);
	if (rc != 0) {
		remove_temporary(o);
		return -1;
	}
	signals_block(&old);
	rc = o->rescued[0] != '\0' ? rename_rescue(o) : rename(o->temporary, o->target);
	if (rc == 0)
		o->temporary[0] = '\0';
	const int error = errno;
	if (rc != 0 || !final)
		signals_restore(&old);
	errno = error;
	if (rc != 0) {
		fail_errno(fail, "%s", o->shown);
		remove_temporary(o);
		return -1;
	}
	if (sync_folder(o) == 0)
		return 0;
	fail_errno(fail, "%s was written, but its folder could not be synced", o->shown);
	return 1;
}

/* name: gets the name of the file, or NULL. */
static int commit_as(struct output *o, bool final, char *name, struct fail *fail)
{
	int rc = 0;

	write_buffer(o);
	if (o->error != 0) {
		errno = o->error;
		fail_errno(fail, "%s", o->shown);
		output_abort(o);
		return -1;
	}
	if (!o->direct) {
		rc = output_replace(o, final, fail);
	} else if (o->fd != STDERR_FILENO && close(o->fd) != 0) {
		/* NFS and quotas report failed writes here, even for standard output. */
		rc = fail_errno(fail, "%s", o->shown);
	}
	if (name)
		strcpy(name, o->target);
	free(o);
	return rc;
}

int output_commit(struct output *o, struct fail *fail)
{
	return commit_as(o, false, NULL, fail);
}

int output_commit_finally(struct output *o, struct fail *fail)
{
	return commit_as(o, true, NULL, fail);
}

int output_commit_rescue(struct output *o, char name[PATH_MAX], struct fail *fail)
{
	return commit_as(o, false, name, fail);
}

void output_abort(struct output *o)
{
	if (!o)
		return;
	/* Only the main thread gets the signal from a write; other threads block it. */
	if (o->error == EPIPE)
		kill(getpid(), SIGPIPE);
	if (!o->direct || o->fd > STDERR_FILENO)
		close(o->fd);
	if (!o->direct)
		remove_temporary(o);
	free(o->spilled);
	free(o);
}
