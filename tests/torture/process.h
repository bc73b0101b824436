/* SPDX-License-Identifier: MIT */
/* process: one run of the program, as a plan has it. */
#ifndef TORTURE_PROCESS_H
#define TORTURE_PROCESS_H

#include "files.h"
#include "plan.h"

enum { PATH_BYTES = 512 };

/* Whole paths: the program, the library, and the folder above the one that the program works in. */
extern char gpuhist[PATH_BYTES], preload[PATH_BYTES], folder[64];

struct result {
	int status;          /* as wait has it; -1: hung */
	bool failed, raised; /* the plan was met */
	struct bytes out, err, log, published;
};

struct result run(const struct plan *plan);
void result_free(struct result *r);

/* Removes all and counts what does not belong there. */
unsigned clean(const char *path);

#endif
