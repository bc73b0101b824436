/* SPDX-License-Identifier: MIT */
/* output: the old file or the whole new one; links, modes, devices, errors. */
#include "output/output.h"

#include <errno.h>

#include "check.h"
#include "scratch.h"
#include "base/signals.h"

static struct output *open_output(const char *path)
{
	struct output *o = NULL;
	struct fail fail = {0};

	CHECK(output_open(&o, path, &fail) == 0, "%s: %s", path, fail.text);
	return o;
}

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

static void whole_or_old(void)
{
	struct output *o;
	char name[64];

	scratch_write("f", "old", 3);
	o = open_output("f");
	output_text(o, "new");
	snprintf(name, sizeof(name), ".f.gpuhist-%ld-0.tmp", (long)getpid());
	CHECK(access(name, F_OK) == 0, "no %s, which the manual names", name);
	CHECK(scratch_holds("f", "old"), "replaced too early");
	CHECK(scratch_files() == 2, "no temporary file");
	commit(o);
	CHECK(scratch_holds("f", "new") && scratch_files() == 1, "not replaced");

	o = open_output("f");
	output_text(o, "never");
	output_abort(o);
	CHECK(scratch_holds("f", "new") && scratch_files() == 1, "abort left something");
	o = open_output("g");
	output_abort(o);
	CHECK(scratch_files() == 1, "abort of a new one left something");
	output_abort(NULL);

	/* A program that has the old file open keeps it. */
	int fd = open("f", O_RDONLY);
	char text[4] = "";
	o = open_output("./f");
	output_text(o, "third");
	commit(o);
	CHECK(read(fd, text, 3) == 3 && strcmp(text, "new") == 0, "the old file was written into");
	close(fd);
	CHECK(scratch_holds("f", "third"), "third");
	scratch_clean();
}

/* More than the buffer, in pieces of any size. */
static void long_output(void)
{
	struct output *o = open_output("f");
	static unsigned char data[200000];
	size_t bytes;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i >> 5);
	for (size_t done = 0, some = 1; done < sizeof(data);
	     done += some, some = some * 3 % 70001) {
		if (some > sizeof(data) - done)
			some = sizeof(data) - done;
		output_write(o, data + done, some);
	}
	CHECK(!output_failed(o), "failed");
	commit(o);
	char *got = scratch_read("f", &bytes);
	CHECK(bytes == sizeof(data) && memcmp(got, data, bytes) == 0, "%zu bytes", bytes);
	free(got);
	scratch_clean();
}

static void links(void)
{
	struct stat st;
	struct output *o;

	(void)!mkdir("d", 0777);
	scratch_write("d/target", "old", 3);
	(void)!symlink("d/target", "link");
	(void)!symlink("link", "second");
	(void)!symlink("nothing", "dangling");
	(void)!symlink("loop", "loop");
	o = open_output("second");
	output_text(o, "new");
	commit(o);
	CHECK(lstat("link", &st) == 0 && S_ISLNK(st.st_mode), "the link was replaced");
	CHECK(lstat("second", &st) == 0 && S_ISLNK(st.st_mode), "the second link was replaced");
	CHECK(scratch_holds("d/target", "new"), "target");
	o = open_output("dangling");
	output_text(o, "made");
	commit(o);
	CHECK(lstat("dangling", &st) == 0 && S_ISLNK(st.st_mode), "the dangling link was replaced");
	CHECK(scratch_holds("nothing", "made"), "what it named");
	refused("loop");
	unlink("d/target");
	scratch_clean();
}

static void modes_of_new_files(void)
{
	static const mode_t MASKS[] = {022, 077, 0, 027};
	struct stat st;

	for (size_t i = 0; i < sizeof(MASKS) / sizeof(MASKS[0]); i++) {
		umask(MASKS[i]);
		commit(open_output("f"));
		CHECK(stat("f", &st) == 0 && (st.st_mode & 0777) == (0666 & ~MASKS[i]), "%o",
		      st.st_mode);
		unlink("f");
	}
	umask(022);
	scratch_clean();
}

static void refusals(void)
{
	char long_name[300], long_path[5000];

	(void)!mkdir("d", 0777);
	scratch_write("f", "", 0);
	refused("d");
	refused("d/");
	refused(".");
	refused("f/");
	refused("f/x");
	refused("none/x");
	refused("new/");
	refused("/proc/version");
	refused("");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	struct output *o;
	struct fail fail = {0};
	/* An error now or at the end; never a file, and never under a truncated name. */
	if (output_open(&o, long_name, &fail) == 0)
		CHECK(output_commit(o, &fail) == -1, "a name of 299 bytes");
	CHECK(fail.status == STATUS_SYSTEM && scratch_files() == 2, "%u files", scratch_files());
	memset(long_path, '/', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	refused(long_path);
	scratch_clean();
}

static void longest_name(void)
{
	char name[256];

	memset(name, 'x', 255);
	name[255] = '\0';
	struct output *o = open_output(name);
	output_text(o, "text");
	commit(o);
	CHECK(scratch_holds(name, "text") && scratch_files() == 1, "a name of 255 bytes");
	scratch_clean();
}

static void errors(void)
{
	static const unsigned char zeros[100000];
	struct output *o = open_output("/dev/full");
	struct fail fail = {0};
	struct stat st;

	output_text(o, "small");
	CHECK(!output_failed(o), "nothing was written yet");
	CHECK(output_commit(o, &fail) == -1 && fail.status == STATUS_SYSTEM, "a full device");
	CHECK(strstr(fail.text, "/dev/full") && strstr(fail.text, strerror(ENOSPC)), "%s",
	      fail.text);
	o = open_output("/dev/full");
	output_write(o, zeros, sizeof(zeros));
	CHECK(output_failed(o), "known at once");
	output_write(o, zeros, sizeof(zeros));
	fail = (struct fail){0};
	CHECK(output_commit(o, &fail) == -1 && strstr(fail.text, strerror(ENOSPC)), "%s",
	      fail.text);
	CHECK(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode), "the device is gone");

	/* The folder goes away before the rename. */
	(void)!mkdir("d", 0777);
	o = open_output("d/f");
	DIR *d = opendir("d");
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir("d");
	fail = (struct fail){0};
	CHECK(output_commit(o, &fail) == -1 && fail.status == STATUS_SYSTEM, "without its folder");
	scratch_clean();
}

static void same_file(void)
{
	scratch_write("f", "", 0);
	scratch_write("other", "", 0);
	(void)!symlink("f", "link");
	(void)!link("f", "hard");
	CHECK(output_is_input("f", "f") && output_is_input("./f", "f"), "f");
	CHECK(output_is_input("link", "f") && output_is_input("f", "link") &&
		      output_is_input("hard", "f"),
	      "links");
	CHECK(!output_is_input("other", "f") && !output_is_input("none", "f"), "others");
	CHECK(!output_is_input("f", "none") && !output_is_input("/dev/null", "/dev/null"),
	      "devices");
	scratch_clean();
}

int main(void)
{
	scratch_enter();
	signals_init();
	whole_or_old();
	long_output();
	links();
	modes_of_new_files();
	refusals();
	longest_name();
	errors();
	same_file();
	scratch_leave();
	return check_report();
}
