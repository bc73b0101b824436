/* SPDX-License-Identifier: MIT */
/*
 * content: what an input is, from its first bytes, and, where it is compressed, from its first
 * decoded bytes: zstd, samples, samples behind a header, or something that is refused; and what may
 * follow the samples. First bytes are judged here and nowhere else.
 *
 * Called by the thread that opens the input, without a lock. No byte of a stream is lost, and none
 * is waited for that cannot change the verdict.
 */
#ifndef GPUHIST_INPUT_CONTENT_H
#define GPUHIST_INPUT_CONTENT_H

#include "base/fail.h"
#include "input/bytes.h"
#include "input/header.h"
#include "input/tensors.h"

#define NO_END UINT64_MAX
#define TENSOR_NEAR 32 /* a longer name is near none */

/* What the options say of all inputs. */
struct content_rules {
	bool raw;        /* nothing is looked for */
	bool zstd;       /* all inputs must be zstd */
	bool no_check;   /* checksums of its frames may be wrong */
	uint64_t window; /* the largest window that decoders may take */
	bool typed; /* -t says the type, so known formats are refused only if they are compressed */
	bool type_said;     /* -t or a FILE's name says the type, so text is taken for samples */
	uint64_t memory;    /* -M */
	const char *tensor; /* the tensor of a safetensors file that is counted; NULL: none */
	struct tensors *tensors; /* filled with all of them; NULL: they are not wanted */
};

struct content {
	bool is_zstd;
	bool unseen;  /* its first frame could not be decoded: its decoder will find out why */
	bool unsized; /* its header does not say where samples end: they end with the input */
	bool text;    /* it is text, taken for samples because their type is known */
	bool empty;   /* there is not one byte, decoded if it is compressed */
	bool absent;  /* it is a safetensors file without the tensor: it has no samples */
	char near[TENSOR_NEAR]; /* if absent: a tensor that it has, of nearly that name; or "" */
	/* the format that its name promises and its first bytes are not: a suffix; NULL: none */
	const char *misnamed;
	struct header header; /* its format is NULL if it has none */
	struct header_scan scan;
};

/*
 * Looks at an input that was just opened. 1: the source was stopped.
 */
int content_open(struct content *c, struct bytes *b, const struct content_rules *rules,
		 struct fail *fail);

/* Looks at what follows the samples, which end at `bound`; reads a stream to its end. 1: stopped. */
int content_after(struct content *c, struct bytes *b, uint64_t bound, struct fail *fail);

/*
 * Does the same for decoded bytes, which end at offset `at`. `kept` holds the first CONTENT_REST
 * after the samples, then the CONTENT_END where the header says that the file ends. NULL: nothing
 * may follow.
 */
#define CONTENT_REST ((size_t)64 << 10)
#define CONTENT_END ((size_t)9)
int content_after_decoded(struct content *c, struct bytes *b, uint64_t bound, uint64_t at,
			  const unsigned char *kept, struct fail *fail);

/* " (--raw counts it as it is)", or the words for zstd; `named`: --raw was named before. */
const char *content_way_out(const struct content *c, bool named);

#endif
