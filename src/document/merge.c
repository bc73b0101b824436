/* SPDX-License-Identifier: MIT */
/*
 * merge: a few threads, each with one file at a time, whose documents they read in parallel and add
 * in the order of the files.
 *
 * Reading a document takes many times as long as adding it. So a thread reads before its turn and
 * adds when its turn has come, which is when all files before its own are done. So the sum, and
 * which of several errors is reported, do not depend on the threads. Each thread has one document
 * in memory beside the sum.
 *
 * Every wait ends: files are taken in their order, so the first one that is not done belongs to a
 * thread whose turn it is, and which waits for no other. A file that is not regular may make its
 * reader wait, and may be the same stream as another; so it is opened and read only in its turn.
 */
#include "document/sum.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cores.h"
#include "base/lock.h"
#include "base/path.h"
#include "base/signals.h"

/* each has a document in memory, 8 bytes for each of its bins ... */
#define THREADS 4u
#define THREADS_LARGE 2u                  /* ... so of large files ... */
#define LARGE_BYTES ((uint64_t)128 << 20) /* ... as these are, there are fewer */
#define WORTH_BYTES ((uint64_t)4 << 20)   /* what one thread can read while another is started */

struct merge {
	struct sum *sum;
	char *const *paths;
	size_t count;
	struct fail *fail;
	struct lock lock; /* guards what follows */
	pthread_cond_t moved;
	size_t next; /* the first file that no thread has taken */
	size_t turn; /* the file whose documents may be added now */
	bool failed; /* nothing will be added any more */
};

/* Waits until it is this file's turn. False: it never will be. */
static bool wait_for_turn(struct merge *m, size_t file)
{
	lock_take(&m->lock);
	while (!m->failed && m->turn != file)
		lock_wait(&m->lock, &m->moved);
	const bool mine = !m->failed;
	lock_drop(&m->lock);
	return mine;
}

/* Takes the next file; the number of files if there are no more. */
static size_t take_file(struct merge *m)
{
	lock_take(&m->lock);
	const size_t file = m->failed || m->next == m->count ? m->count : m->next++;
	lock_drop(&m->lock);
	return file;
}

static bool is_regular(const char *path, uint64_t *bytes)
{
	struct stat st;

	*bytes = 0;
	if (path_is_stdin(path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	*bytes = (uint64_t)st.st_size;
	return true;
}

/*
 * Reads all documents of a file, and adds them in its turn. 0: they were added. 1: another file
 * failed. -1: *fail says why.
 */
static int add_documents(struct merge *m, size_t file, struct documents *documents,
			 struct fail *fail)
{
	struct sum_name name = {.path = m->paths[file]};
	struct document document;
	char text[SUM_NAME];
	int rc;

	while ((rc = documents_next(documents, &document, fail)) > 0) {
		name.number++;
		rc = wait_for_turn(m, file) ? sum_add(m->sum, &document, &name, fail) : 1;
		document_free(&document);
		if (rc != 0)
			return rc;
	}
	if (rc == 0 && name.number == 0) {
		sum_name_text(text, &name);
		rc = fail_set(fail, STATUS_DATA, "%s: holds no histogram", text);
	}
	return rc;
}

static int merge_file(struct merge *m, size_t file, struct fail *fail)
{
	struct documents *documents;
	uint64_t bytes;

	if (!is_regular(m->paths[file], &bytes) && !wait_for_turn(m, file))
		return 1;
	if (documents_open(&documents, m->paths[file], fail) != 0)
		return -1;
	const int rc = add_documents(m, file, documents, fail);
	documents_close(documents);
	return rc;
}

static void *merge_some(void *arg)
{
	struct merge *const m = arg;

	for (size_t file; (file = take_file(m)) < m->count;) {
		struct fail fail = {.status = STATUS_OK};
		const int rc = merge_file(m, file, &fail);
		if (rc > 0 || !wait_for_turn(m, file))
			break;
		lock_take(&m->lock);
		m->turn++;
		m->failed = rc < 0;
		if (rc < 0)
			fail_pass(m->fail, &fail);
		pthread_cond_broadcast(&m->moved);
		lock_drop(&m->lock);
	}
	return NULL;
}

/* How many threads are worth starting. */
static unsigned threads_for(const struct merge *m)
{
	uint64_t sum = 0, most = 0, bytes;
	unsigned threads = cores_usable();

	for (size_t i = 0; i < m->count; i++) {
		is_regular(m->paths[i], &bytes);
		sum += bytes;
		most = bytes > most ? bytes : most;
	}
	if (m->count < 2 || sum < WORTH_BYTES)
		return 1;
	const unsigned limit = most >= LARGE_BYTES ? THREADS_LARGE : THREADS;
	threads = threads < limit ? threads : limit;
	return threads < m->count ? threads : (unsigned)m->count;
}

int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail)
{
	struct merge m = {.sum = sum, .paths = paths, .count = count, .fail = fail};
	pthread_t thread[THREADS];
	unsigned started = 0;

	*sum = (struct sum){.documents = 0};
	if (lock_init(&m.lock) != 0)
		return fail_errno(fail, "a lock");
	if ((errno = pthread_cond_init(&m.moved, NULL)) != 0) {
		lock_destroy(&m.lock);
		return fail_errno(fail, "a condition");
	}
	/* If a thread cannot be started it only takes longer. */
	for (unsigned n = threads_for(&m); started + 1 < n; started++)
		if (signals_thread(&thread[started], merge_some, &m) != 0)
			break;
	merge_some(&m);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_cond_destroy(&m.moved);
	lock_destroy(&m.lock);
	return m.failed ? -1 : sum_finish(sum, fail);
}
