/* SPDX-License-Identifier: MIT */
/* scratch: an empty directory to work in, and files in it. For tests that touch the disk. */
#ifndef GPUHIST_SCRATCH_H
#define GPUHIST_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[64];

static inline void scratch_enter(void)
{
	strcpy(scratch_folder, "/tmp/gpuhist-test-XXXXXX");
	if (!mkdtemp(scratch_folder) || chdir(scratch_folder) != 0) {
		perror(scratch_folder);
		exit(1);
	}
}

/* Count the names in the directory, except "." and "..". */
static inline unsigned scratch_files(void)
{
	unsigned n = 0;
	DIR *d = opendir(".");

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		closedir(d);
	return n;
}

/* Remove all files. */
static inline void scratch_clean(void)
{
	DIR *d = opendir(".");

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (unlink(e->d_name) != 0 && e->d_name[0] != '.')
			(void)rmdir(e->d_name);
	if (d)
		closedir(d);
}

static inline void scratch_leave(void)
{
	scratch_clean();
	if (chdir("/") != 0 || rmdir(scratch_folder) != 0)
		perror(scratch_folder);
}

static inline void scratch_write(const char *name, const void *data, size_t bytes)
{
	FILE *f = fopen(name, "wb");

	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) {
		perror(name);
		exit(1);
	}
}

/* Return a file's bytes and a zero, for the caller to free; NULL: it cannot be opened. */
static inline char *scratch_read(const char *name, size_t *bytes)
{
	FILE *f = fopen(name, "rb");
	char *data = malloc(1 << 20);

	*bytes = 0;
	if (!f || !data) {
		free(data);
		return NULL;
	}
	*bytes = fread(data, 1, (1 << 20) - 1, f);
	data[*bytes] = '\0';
	fclose(f);
	return data;
}

static inline int scratch_holds(const char *name, const char *text)
{
	size_t bytes;
	char *data = scratch_read(name, &bytes);
	const int same = data && bytes == strlen(text) && memcmp(data, text, bytes) == 0;

	if (data && !same)
		printf("%s holds: %s\n", name, data);
	free(data);
	return same;
}

#endif
