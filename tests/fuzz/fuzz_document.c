/* SPDX-License-Identifier: MIT */
/*
 * document: any text is read as histograms, or gives an error that names the input. A histogram
 * that was read passes its audit; written and read again it is the same; added to itself it
 * doubles.
 */
#include "document/document.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static struct documents *open_bytes(const void *data, size_t size, int *fd)
{
	struct fail fail = {.status = STATUS_OK};
	struct documents *d;
	static char path[32]; /* the output borrows it */

	*fd = memfd_create("input", MFD_CLOEXEC);
	REQUIRE(write(*fd, data, size) == (ssize_t)size, "%zu bytes", size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	REQUIRE(documents_open(&d, path, &fail) == 0, "%s", fail.text);
	return d;
}

/* Return the text that write_json makes of a document; the caller frees it. */
static char *written(const struct document *document, bool nonzero, size_t *size)
{
	struct fail fail = {.status = STATUS_OK};
	struct output *out;
	char path[32];
	const int fd = memfd_create("output", MFD_CLOEXEC), copy = dup(fd);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy); /* commit closes it */
	REQUIRE(output_open(&out, path, &fail) == 0, "%s", fail.text);
	write_json(out, &document->hist,
		   &(struct style){.counter = COUNTER_U64, .nonzero = nonzero}, &document->from);
	REQUIRE(output_commit(out, &fail) == 0, "%s", fail.text);
	*size = (size_t)lseek(fd, 0, SEEK_END);
	char *const text = malloc(*size + 1);
	REQUIRE(pread(fd, text, *size, 0) == (ssize_t)*size, "%zu bytes", *size);
	close(fd);
	return text;
}

static void check_add(struct document *a, const struct document *b)
{
	struct fail fail = {.status = STATUS_OK};
	const uint64_t samples = a->hist.samples;
	char why[AXIS_WHY];

	REQUIRE(axis_fits(why, &a->hist.axis, &b->hist.axis), "%s", why);
	if (hist_add(&a->hist, &b->hist, &fail) != 0) {
		REQUIRE(fail.status == STATUS_LIMIT && samples > UINT64_MAX / 2 &&
				a->hist.samples == samples,
			"%s", fail.text);
		return;
	}
	REQUIRE(a->hist.samples == 2 * samples &&
			axis_bins(&a->hist.axis) == axis_bins(&b->hist.axis),
		"%llu samples", (unsigned long long)a->hist.samples);
	REQUIRE(hist_audit(&a->hist, &fail) == 0, "%s", fail.text);
	for (uint32_t c = 0; c < a->hist.channels; c++)
		for (uint32_t i = 0; i < axis_bins(&a->hist.axis); i++)
			REQUIRE(hist_count(&a->hist, c, i) == 2 * hist_count(&b->hist, c, i),
				"bin %lu", (unsigned long)i);
}

/* Bins joined to half as many, or to one, are again a histogram that can be read. */
static void check_join(struct document *a)
{
	struct fail fail = {.status = STATUS_OK};
	struct document again;
	const bool aut = axis_kind_of(&a->hist.axis)->from_samples;
	const uint32_t had = aut ? a->hist.axis.edges.auto_bins.most : axis_bins(&a->hist.axis),
		       bins = had % 2 == 0 || aut ? had / 2 : 1;
	char why[AXIS_WHY];
	size_t size;
	int fd;

	if (hist_rebin(&a->hist, bins > 0 ? bins : 1, &fail) != 0) {
		REQUIRE(aut && fail.status == STATUS_USAGE, "%s", fail.text);
		return;
	}
	REQUIRE(hist_audit(&a->hist, &fail) == 0 &&
			hist_set_stats(&a->hist, &(struct quantiles){.n = 1, .at = {500000}},
				       &fail) == 0,
		"%s", fail.text);
	/* A sum does not have these members. */
	a->from.options = NULL;
	a->from.inputs += a->from.inputs == 0;
	char *const text = written(a, false, &size);
	struct documents *const d = open_bytes(text, size, &fd);
	REQUIRE(documents_next(d, &again, &fail) == 1, "%s: %.2000s", fail.text, text);
	REQUIRE(axis_fits(why, &a->hist.axis, &again.hist.axis), "%s", why);
	document_free(&again);
	documents_close(d);
	close(fd);
	free(text);
}

static void check_document(const struct document *document, bool nonzero)
{
	struct fail fail = {.status = STATUS_OK};
	struct document again, more;
	size_t size, again_size;
	int fd;

	REQUIRE(hist_audit(&document->hist, &fail) == 0, "%s", fail.text);
	char *const text = written(document, nonzero, &size);
	struct documents *const d = open_bytes(text, size, &fd);
	REQUIRE(documents_next(d, &again, &fail) == 1, "%s", fail.text);
	REQUIRE(documents_next(d, &more, &fail) == 0, "more than one");
	documents_close(d);
	close(fd);
	char *const again_text = written(&again, nonzero, &again_size);
	REQUIRE(size == again_size && memcmp(text, again_text, size) == 0, "written otherwise");
	check_add(&again, document);
	document_free(&again);
	free(text);
	free(again_text);
}

/*
 * A sparse storage of few bytes may stand for 2^28 bins: that is 2 GiB, and a second for each pass
 * over all of them. Leave it out, and also documents that might be one in another spelling.
 */
static bool is_large(const uint8_t *data, size_t size)
{
	char *const text = malloc(size + 1);
	bool large = false;

	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size && !large; i++)
		large = strncmp(text + i, "\\u00", 4) == 0 ||
			(strncmp(text + i, "bins", 4) == 0 &&
			 strcspn(text + i, "0123456789") < size - i &&
			 strtod(text + i + strcspn(text + i, "0123456789"), NULL) > 1e5);
	free(text);
	return large;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (is_large(data, size))
		return 0;
	struct fail fail = {.status = STATUS_OK};
	struct document document;
	int fd, rc;
	struct documents *const d = open_bytes(data, size, &fd);

	while ((rc = documents_next(d, &document, &fail)) == 1) {
		check_document(&document, false);
		check_document(&document, true);
		check_join(&document);
		document_free(&document);
	}
	REQUIRE((rc == 0) == (fail.status == STATUS_OK), "%d: %s", rc, fail.text);
	REQUIRE(rc == 0 || (fail.status == STATUS_DATA && strncmp(fail.text, "/proc/", 6) == 0),
		"%s", fail.text);
	REQUIRE(!document.options && !document.name && !document.hist.count, "something is left");
	documents_close(d);
	close(fd);
	return 0;
}
