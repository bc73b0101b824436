/* SPDX-License-Identifier: MIT */
/* output_path: what the name of an output stands for. */
#include "output/output_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
		/* If such a link were taken for a file, it would be replaced by one. */
		if (n < 0 && errno != EINVAL && errno != ENOENT && errno != ENOTDIR)
			return fail_errno(fail, "%s", path);
		if (n < 0) /* not a link, or it does not exist: this is the path */
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

bool output_is_input(const char *path, const char *input)
{
	struct stat out, in;
	const int fd = output_descriptor(path);

	if ((fd >= 0 ? fstat(fd, &out) : stat(path, &out)) != 0)
		return false;
	if ((strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(input, &in)) != 0)
		return false;
	return S_ISREG(out.st_mode) && out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

bool output_is_stdout(const char *path)
{
	struct stat out, named;
	const int fd = output_descriptor(path);

	if (fd == STDOUT_FILENO)
		return true;
	if ((fd >= 0 ? fstat(fd, &named) : stat(path, &named)) != 0 ||
	    fstat(STDOUT_FILENO, &out) != 0)
		return false;
	return (S_ISREG(out.st_mode) || S_ISFIFO(out.st_mode)) && out.st_dev == named.st_dev &&
	       out.st_ino == named.st_ino;
}
