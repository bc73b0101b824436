/* SPDX-License-Identifier: MIT */
/*
 * output_keep: mode, owner, group and access list of a file that is replaced, and who may replace
 * it.
 */
#include "output/output.h"

#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "check.h"
#include "scratch.h"
#include "base/signals.h"

static void commit(struct output *o)
{
	struct fail fail = {0};

	CHECK(output_commit(o, &fail) == 0, "%s", fail.text);
}

static void refused(const char *path)
{
	struct output *o = (void *)&o;
	struct fail fail = {0};
	const unsigned files = scratch_files();

	CHECK(output_open(&o, path, &fail) == -1, "'%s' is taken", path);
	CHECK(o == NULL && fail.status == STATUS_SYSTEM, "'%s': status %d", path, (int)fail.status);
	CHECK(scratch_files() == files, "'%s': something was left", path);
}

/* Return the status of the one temporary file in the directory, whose name begins with a dot. */
static struct stat temporary(const char *folder)
{
	struct stat st = {.st_mode = 07777};
	DIR *d = opendir(folder);
	unsigned found = 0;

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (e->d_name[0] == '.' && strstr(e->d_name, ".gpuhist-") &&
		    fstatat(dirfd(d), e->d_name, &st, 0) == 0)
			found++;
	CHECK(found == 1, "%u temporary files", found);
	if (d)
		closedir(d);
	return st;
}

/* Instead of libc's function: record the temporary file's mode before it gets its last one. */
static mode_t before;

int fchmod(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) == 0)
		before |= st.st_mode & 07777;
	return (int)syscall(SYS_fchmod, fd, mode);
}

/* Replace f, which must then have this mode, owner and group, and its temporary file no other. */
static void replace(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	struct stat st = {0};
	struct output *o = NULL;
	struct fail fail = {0};

	before = 0;
	CHECK(output_open(&o, name, &fail) == 0, "%s: %s", name, fail.text);
	if (!o)
		return;
	CHECK((before & ~mode) == 0, "a temporary file of mode %o was made, not %o", before, mode);
	st = temporary(".");
	CHECK((st.st_mode & 07777) == mode, "the temporary file's mode is %o, not %o", st.st_mode,
	      mode);
	output_text(o, "new");
	commit(o);
	CHECK(stat(name, &st) == 0 && (st.st_mode & 07777) == mode, "mode %o, not %o", st.st_mode,
	      mode);
	CHECK(st.st_uid == uid && st.st_gid == gid, "owner %u:%u", (unsigned)st.st_uid,
	      (unsigned)st.st_gid);
}

static void old_file(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	unlink(name);
	scratch_write(name, "old", 3);
	CHECK(chown(name, uid, gid) == 0 || geteuid() != 0, "chown");
	CHECK(chmod(name, mode) == 0, "chmod");
}

static void modes_are_kept(void)
{
	static const mode_t MODES[] = {0600, 0640, 0664, 0666, 0200, 0755, 0604};

	umask(027);
	for (size_t i = 0; i < sizeof(MODES) / sizeof(MODES[0]); i++) {
		old_file("f", MODES[i], geteuid(), getegid());
		replace("f", MODES[i], geteuid(), getegid());
	}
	/* A write would have cleared these bits. */
	old_file("f", 06755, geteuid(), getegid());
	replace("f", 0755, geteuid(), getegid());
	umask(022);
	scratch_clean();
}

enum { NOBODY = 65534, GROUP = 2345 };

/* The rest as another user, a member of GROUP, in a directory that everybody may write to. */
static void as_user(void)
{
	const gid_t groups[] = {NOBODY, GROUP};

	if (setgroups(2, groups) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
		_exit(99);
	refused("readable");
	refused("secret");
	refused("closed/f");
	refused("closed/new");
	refused("sticky/f");
	/* The user's own file without write permission: `>` refuses it too. */
	old_file("mine", 0444, NOBODY, NOBODY);
	refused("mine");
	CHECK(scratch_holds("readable", "old") && scratch_holds("sticky/f", "old"), "replaced");
	replace("shared", 0664, NOBODY, GROUP);
	/* The group cannot be kept: the new group gets the permissions of others. */
	replace("alien", 0622, NOBODY, NOBODY);
	replace("sticky_is_elsewhere", 0666, NOBODY, NOBODY);
}

static void owners_and_refusals(void)
{
	int status;

	if (geteuid() != 0)
		return; /* the test cannot become another user */
	old_file("f", 0640, 1234, GROUP);
	replace("f", 0640, 1234, GROUP);
	old_file("readable", 0644, 0, 0);
	old_file("secret", 0600, 0, 0);
	old_file("shared", 0664, 0, GROUP);
	old_file("alien", 0662, 0, 0);
	old_file("sticky_is_elsewhere", 0666, 0, 0);
	(void)!mkdir("closed", 0755);
	(void)!mkdir("sticky", 0777);
	old_file("closed/f", 0666, 0, 0);
	old_file("sticky/f", 0666, 0, 0);
	(void)!chmod("sticky", 01777);
	(void)!chmod(".", 0777);
	const pid_t child = fork();
	if (child == 0) {
		check_failed = 0;
		as_user();
		_exit(check_failed > 0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	unlink("closed/f");
	unlink("sticky/f");
	scratch_clean();
}

/* user::rw-, user:1234:r--, group::---, mask::r--, other::---, in the kernel's form */
static const unsigned char LIST[] = {
	2, 0,    0,   0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,   4,
	0, 0xd2, 4,   0,   0,   4,   0,  0, 0,   255, 255, 255, 255, 16,  0,
	4, 0,    255, 255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255,
};

/*
 * A list is kept; without it, its mask would be the group's mode. The directory's default list is
 * not taken.
 */
static void access_lists(void)
{
	static const char NAME[] = "system.posix_acl_access";
	unsigned char got[100];

	old_file("f", 0600, geteuid(), getegid());
	if (setxattr("f", NAME, LIST, sizeof(LIST), 0) != 0) {
		scratch_clean();
		return; /* the file system has none */
	}
	replace("f", 0640, geteuid(), getegid());
	CHECK(getxattr("f", NAME, got, sizeof(got)) == sizeof(LIST) &&
		      memcmp(got, LIST, sizeof(LIST)) == 0,
	      "the list");
	CHECK(setxattr(".", "system.posix_acl_default", LIST, sizeof(LIST), 0) == 0,
	      "the folder's");
	old_file("f", 0640, geteuid(), getegid());
	(void)!removexattr("f", NAME);
	(void)!chmod("f", 0640);
	replace("f", 0640, geteuid(), getegid());
	CHECK(getxattr("f", NAME, got, sizeof(got)) < 0, "the folder's list was taken");
	(void)!removexattr(".", "system.posix_acl_default");
	scratch_clean();
}

/* Run in a mount namespace of its own. Return 0 if all is well, or if that is not allowed. */
static int in_mounts(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("f", "mounted", NULL, MS_BIND, NULL) != 0 ||
	    mount("d", "d", NULL, MS_BIND, NULL) != 0 ||
	    mount("d", "d", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0)
		return 0; /* not allowed here */
	refused("mounted");
	refused("d/f");
	refused("d/new");
	return check_failed > 0;
}

/* A file that is mounted, as containers do, and a directory that is mounted read-only. */
static void mounts(void)
{
	int status;

	scratch_write("f", "old", 3);
	scratch_write("mounted", "", 0);
	(void)!mkdir("d", 0777);
	scratch_write("d/f", "old", 3);
	const pid_t child = fork();
	if (child == 0) {
		check_failed = 0;
		_exit(in_mounts());
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	unlink("d/f");
	scratch_clean();
}

int main(void)
{
	scratch_enter();
	signals_init();
	modes_are_kept();
	owners_and_refusals();
	access_lists();
	mounts();
	scratch_leave();
	return check_report();
}
