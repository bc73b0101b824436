/* SPDX-License-Identifier: MIT */
/* merge: reads all documents in some files and adds them up. */
#include "base/path.h"
#include "document/sum.h"

/* Add all documents in a file, in order. */
static int add_documents(struct sum *sum, const char *path, struct fail *fail)
{
	const uint64_t before = sum->documents;
	struct documents *documents;
	struct document document;
	int rc;

	if (documents_open(&documents, path, fail) != 0)
		return -1;
	while ((rc = documents_next(documents, &document, fail)) > 0) {
		rc = sum_add(sum, &document, fail);
		document_free(&document);
		if (rc != 0)
			break;
	}
	documents_close(documents);
	if (rc == 0 && sum->documents == before)
		rc = fail_set(fail, STATUS_DATA, "%s holds no histogram", path_shown(path));
	return rc;
}

int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail)
{
	*sum = (struct sum){.documents = 0};
	for (size_t i = 0; i < count; i++)
		if (add_documents(sum, paths[i], fail) != 0)
			return -1;
	return sum_finish(sum, fail);
}
