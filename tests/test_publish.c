/* SPDX-License-Identifier: MIT */
/* publish: the file that gets the requested name, its counters, the rescue of counts past u32. */
#include "output/format.h"

#include <limits.h>

#include "scratch.h"
#include "wish.h"
#include "base/signals.h"

#define OVER_U32 ((uint64_t)UINT32_MAX + 1)

static void overflow(void)
{
	uint64_t count[3] = {7, OVER_U32, UINT64_MAX / 4};
	struct hist_flow flow = {1, 2, 0};
	const struct hist h = {.channels = 1,
			       .axis = make_axis(3),
			       .count = count,
			       .flow = &flow,
			       .samples = 7 + OVER_U32 + UINT64_MAX / 4 + 3};
	static const char JSON[] =
		"{\"uhi_schema\": 1, \"writer_info\": {\"gpuhist\": {\"samples\": "
		"4611686022722355209, \"under\": 1, \"over\": 2, \"nan\": 0, \"bytes\": 100, "
		"\"skipped\": 8, \"tail\": 3, \"inputs\": 2, \"part\": 1, \"parts\": 1, "
		"\"version\": \"" GPUHIST_VERSION
		"\"}}, \"metadata\": {\"type\": \"u32\", "
		"\"binning\": \"range\", \"range\": \"0:3\", \"closed\": false, \"clamp\": false, "
		"\"counter\": \"u64\", \"channel\": 0, \"channels\": 1, "
		"\"options\": \"--edges=@'it'\\\\''s \\\"h\\\"\\u000a\\ufffd\\\\'\", "
		"\"version\": \"" GPUHIST_VERSION
		"\"}, "
		"\"axes\": [{\"type\": \"regular\", \"lower\": 0, \"upper\": 3, \"bins\": 3, "
		"\"underflow\": true, \"overflow\": true, \"circular\": false}], "
		"\"storage\": {\"type\": \"int\", \"values\": "
		"[1,7,4294967296,4611686018427387903,2]}}\n";
	static const char *const FORMATS[] = {"raw", "npy", "csv", "tsv", "json"};
	struct fail fail;

	for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
		const struct wish wish = make_wish("h", FORMATS[i], COUNTER_U32);
		CHECK(publish_to(&wish, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s",
		      fail.text);
		CHECK(strstr(fail.text, "h.rescue.json"), "'%s' does not name the file", fail.text);
		CHECK(access("h", F_OK) != 0, "something stands under the asked name");
		CHECK(scratch_holds("h.rescue.json", JSON), "the rescue file");
		CHECK(scratch_files() == 1, "%u files", scratch_files());
		scratch_clean();

		scratch_write("h", "old", 3);
		CHECK(publish_to(&wish, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s",
		      fail.text);
		CHECK(scratch_holds("h", "old"), "the old file was touched");
		/* A second rescue leaves the first one's file alone. */
		scratch_write("h.rescue.json", "saved", 5);
		CHECK(publish_to(&wish, &h, &fail) == -1 && strstr(fail.text, "h.2.rescue.json"),
		      "%s", fail.text);
		CHECK(scratch_holds("h.rescue.json", "saved"), "the first one's file was touched");
		CHECK(scratch_holds("h.2.rescue.json", JSON), "the second one's file");
		scratch_clean();
	}
	/* One count less does not overflow, and other counters never do. */
	const struct wish u32 = make_wish("h", "csv", COUNTER_U32);
	count[1] = count[2] = UINT32_MAX;
	CHECK(publish_to(&u32, &h, &fail) == 0, "%s", fail.text);
	CHECK(scratch_holds("h",
			    "bin,lower,upper,count\n0,0,1,7\n1,1,2,4294967295\n2,2,3,4294967295\n"),
	      "u32");
	CHECK(scratch_files() == 1, "no rescue");
	scratch_clean();
}

/*
 * The same bound holds for under, over and NaN if they are written: in the rows of --flow, and
 * always in json.
 */
static void overflow_of_rows(const char *format, bool flow)
{
	uint64_t count[1] = {7};
	struct wish wish = make_wish("h", format, COUNTER_U32);
	struct fail fail;

	wish.style.flow = flow;
	for (int which = 0; which < 3; which++) {
		struct hist_flow own = {0};
		const struct hist h = {.channels = 1,
				       .axis = make_axis(1),
				       .count = count,
				       .flow = &own,
				       .samples = 7 + OVER_U32};
		*(which == 0 ? &own.under : which == 1 ? &own.over : &own.nan) = OVER_U32;
		CHECK(publish_to(&wish, &h, &fail) == -1 && fail.status == STATUS_LIMIT,
		      "row %d past u32 was published", which);
		CHECK(access("h", F_OK) != 0, "something stands under the asked name");
		CHECK(strstr(fail.text, "1 count exceeded") && access("h.rescue.json", F_OK) == 0,
		      "%s", fail.text);
		scratch_clean();
		wish.style.counter = COUNTER_U64;
		CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
		wish.style.counter = COUNTER_U32;
		scratch_clean();
		if (!flow)
			continue;
		/* If those rows are not written, they overflow nothing. */
		wish.style.flow = false;
		CHECK(publish_to(&wish, &h, &fail) == 0, "%s", fail.text);
		wish.style.flow = true;
		scratch_clean();
	}
}

/* A name of nearly the greatest length leaves no room for ".rescue.json". */
static void rescue_of_long_name(void)
{
	uint64_t count[1] = {OVER_U32};
	struct hist_flow flow = {0};
	const struct hist h = {.channels = 1,
			       .axis = make_axis(1),
			       .count = count,
			       .flow = &flow,
			       .samples = OVER_U32};
	char name[251];
	struct fail fail;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	const struct wish wish = make_wish(name, "raw", COUNTER_U32);
	CHECK(publish_to(&wish, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
	CHECK(scratch_files() == 1, "the exact histogram is lost: %.120s", fail.text);
	scratch_clean();
}

/*
 * One count too many for this output must be rescued; the message must name `path`, and that file
 * must hold it.
 */
static void rescued(const char *output, const char *path)
{
	static const char COUNTS[] = "[0,4294967296,0]}}\n";
	uint64_t count[1] = {OVER_U32};
	struct hist_flow flow = {0};
	const struct hist h = {.channels = 1,
			       .axis = make_axis(1),
			       .count = count,
			       .flow = &flow,
			       .samples = OVER_U32};
	const struct wish wish = make_wish(output, "raw", COUNTER_U32);
	struct fail fail;
	size_t bytes;

	CHECK(publish_to(&wish, &h, &fail) == -1 && fail.status == STATUS_LIMIT, "%s", fail.text);
	const char *named = strstr(fail.text, " saved in ");
	CHECK(named && strcmp(named + 10, path) == 0, "not %s: %s", path, fail.text);
	char *text = scratch_read(path, &bytes);
	CHECK(text && strstr(text, COUNTS), "%s: %.200s", path, text ? text : "not there");
	free(text);
}

static void rescue_of_device(void)
{
	char path[PATH_MAX], here[PATH_MAX - 64];

	CHECK(getcwd(here, sizeof(here)) != NULL, "getcwd");
	snprintf(path, sizeof(path), "%s/gpuhist-%ld.rescue.json", here, (long)getpid());
	rescued("/dev/null", path);
	CHECK(scratch_files() == 1, "%u files", scratch_files());
	scratch_clean();
}

/* /dev/stdout may lead to a file; the rescue is not in /dev, and the file is not touched. */
static void rescue_of_redirected_output(void)
{
	static const char *const NAMES[] = {NULL, "-", "/dev/stdout", "/dev/fd/1",
					    "/proc/self/fd/1"};
	char path[PATH_MAX], here[PATH_MAX - 64];

	CHECK(getcwd(here, sizeof(here)) != NULL, "getcwd");
	snprintf(path, sizeof(path), "%s/gpuhist-%ld.rescue.json", here, (long)getpid());
	fflush(stdout);
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		const int old = dup(1), fd = open("all", O_WRONLY | O_CREAT, 0666);
		CHECK(write(fd, "before\n", 7) == 7 && dup2(fd, 1) == 1, "the redirection");
		rescued(NAMES[i], path);
		dup2(old, 1);
		close(old);
		close(fd);
		CHECK(scratch_holds("all", "before\n"), "%s", NAMES[i]);
		CHECK(scratch_files() == 2, "%u files", scratch_files());
		scratch_clean();
	}
}

/* The rescue is next to the file, with its permissions; for a link, next to the link's target. */
static void rescue_beside(void)
{
	struct stat st;

	scratch_write("h", "old", 3);
	(void)!chmod("h", 0600);
	rescued("h", "h.rescue.json");
	CHECK(stat("h.rescue.json", &st) == 0 && (st.st_mode & 0777) == 0600, "mode %o",
	      st.st_mode);
	(void)!mkdir("d", 0777);
	(void)!symlink("d/target", "link");
	rescued("link", "d/target.rescue.json");
	unlink("d/target.rescue.json");
	unlink("h.rescue.json");
	/* The counts are not lost if a directory has that name. */
	(void)!mkdir("h.rescue.json", 0777);
	rescued("h", "h.2.rescue.json");
	scratch_clean();
}

/* If the working directory takes no file: $TMPDIR, then /tmp, where only the user may read it. */
static void rescue_elsewhere(void)
{
	char path[PATH_MAX], here[PATH_MAX - 64];
	struct stat st;

	CHECK(getcwd(here, sizeof(here)) != NULL && chdir("/proc") == 0, "/proc");
	setenv("TMPDIR", here, 1);
	snprintf(path, sizeof(path), "%s/gpuhist-%ld.rescue.json", here, (long)getpid());
	/* A link of that name, even to nothing, must be neither followed nor replaced. */
	CHECK(symlink("/proc/none", path) == 0, "symlink");
	snprintf(path, sizeof(path), "%s/gpuhist-%ld.2.rescue.json", here, (long)getpid());
	rescued("/dev/null", path);
	CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0600,
	      "mode %o", st.st_mode);
	setenv("TMPDIR", "/proc/none", 1);
	snprintf(path, sizeof(path), "/tmp/gpuhist-%ld.rescue.json", (long)getpid());
	rescued("-", path);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "mode %o", st.st_mode);
	unlink(path);
	CHECK(chdir(here) == 0, "back");
	scratch_clean();
}

int main(void)
{
	signals_init();
	scratch_enter();
	overflow();
	overflow_of_rows("csv", true);
	overflow_of_rows("json", false);
	rescue_of_long_name();
	rescue_of_device();
	rescue_of_redirected_output();
	rescue_beside();
	rescue_elsewhere();
	scratch_leave();
	return check_report();
}
