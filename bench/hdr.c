/* SPDX-License-Identifier: MIT */
/*
 * hdr: percentiles of unsigned 32-bit samples by HdrHistogram_c, in a histogram for each thread.
 * usage: hdr FILE THREADS            (cc -O3 -pthread bench/hdr.c -lhdr_histogram -lm)
 */
#include <fcntl.h>
#include <hdr/hdr_histogram.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10) /* as gpuhist reads */

static int fd;
static uint64_t next; /* atomic */

static void *record(void *arg)
{
	uint32_t *const p = malloc(BLOCK);
	struct hdr_histogram *h = NULL;
	ssize_t n;

	(void)arg;
	if (!p || hdr_init(1, UINT32_MAX, 3, &h) != 0)
		exit(1);
	while ((n = pread(fd, p, BLOCK,
			  (off_t)__atomic_fetch_add(&next, BLOCK, __ATOMIC_RELAXED))) > 0)
		for (size_t i = 0; i < (size_t)n / 4; i++)
			hdr_record_value(h, p[i]);
	free(p);
	return h;
}

int main(int argc, char **argv)
{
	const int threads = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t t[512];
	void *part;

	if (threads < 1 || threads > 512 || (fd = open(argv[1], O_RDONLY)) < 0)
		return 2;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&t[i], NULL, record, NULL) != 0)
			return 1;
	struct hdr_histogram *const all = record(NULL);
	for (int i = 1; i < threads; i++) {
		pthread_join(t[i], &part);
		hdr_add(all, part);
	}
	for (int k = 0; k < 3; k++)
		printf("%lld\n",
		       (long long)hdr_value_at_percentile(all, (double[]){50, 99, 99.9}[k]));
	return 0;
}
