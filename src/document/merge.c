/* SPDX-License-Identifier: MIT */
/* merge: all documents of some files, read and added one after another. */
#include "document/sum.h"

/* Adds all documents of a file, in their order. */
static int add_documents(struct sum *sum, const char *path, struct documents *documents,
			 struct fail *fail)
{
	struct sum_name name = {.path = path};
	struct document document;
	char text[SUM_NAME];
	int rc;

	while ((rc = documents_next(documents, &document, fail)) > 0) {
		name.number++;
		rc = sum_add(sum, &document, &name, fail);
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

int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail)
{
	struct documents *documents;

	*sum = (struct sum){.documents = 0};
	for (size_t i = 0; i < count; i++) {
		if (documents_open(&documents, paths[i], fail) != 0)
			return -1;
		const int rc = add_documents(sum, paths[i], documents, fail);
		documents_close(documents);
		if (rc != 0)
			return -1;
	}
	return sum_finish(sum, fail);
}
