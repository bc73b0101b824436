/* SPDX-License-Identifier: MIT */
/* help: what -h and -V print. */
#ifndef GPUHIST_HELP_H
#define GPUHIST_HELP_H

extern const char help_text[];

#define HELP_VERSION 512

/* The version and what this build holds: the kernels' devices, the libraries. */
void help_version(char text[HELP_VERSION]);

#endif
