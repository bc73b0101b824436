/* SPDX-License-Identifier: MIT */
/* merge: a loop over files, and one over the documents of each. */
#include "document/merge.h"

static int merge_file(struct sum *sum, const char *path, struct fail *fail)
{
	struct documents *documents;
	struct document document;
	struct sum_name name = {.path = path};
	char text[SUM_NAME];
	int rc;

	if (documents_open(&documents, path, fail) != 0)
		return -1;
	while ((rc = documents_next(documents, &document, fail)) > 0) {
		name.number++;
		rc = sum_add(sum, &document, &name, fail);
		document_free(&document);
		if (rc != 0)
			break;
	}
	documents_close(documents);
	if (rc == 0 && name.number == 0) {
		sum_name_text(text, &name);
		rc = fail_set(fail, STATUS_DATA, "%s: holds no histogram", text);
	}
	return rc;
}

int merge_files(struct sum *sum, char *const *paths, size_t count, bool some, struct fail *fail)
{
	*sum = (struct sum){.documents = 0};
	for (size_t i = 0; i < count; i++)
		if (merge_file(sum, paths[i], fail) != 0)
			return -1;
	return sum_finish(sum, some, fail);
}
