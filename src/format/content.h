/* SPDX-License-Identifier: MIT */
/*
 * content: identifies an input by its first bytes and, if these are zstd, by its first decoded
 * bytes: samples, samples after a header, or a format to refuse. All decisions about first bytes
 * are made here.
 *
 * Called by the thread that opens the input, without a lock. Loses no byte of a stream, and waits
 * for none that cannot change the decision.
 */
#ifndef GPUHIST_INPUT_CONTENT_H
#define GPUHIST_INPUT_CONTENT_H

#include "base/fail.h"
#include "bytes/bytes.h"
#include "format/header.h"
#include "format/tensors.h"

#define NO_END UINT64_MAX
#define TENSOR_NEAR 32 /* bytes for a similar name; longer ones are never proposed */

/* Options that apply to all inputs. */
struct content_rules {
	bool raw;                /* identify no formats */
	bool zstd;               /* refuse inputs that are not zstd */
	bool no_check;           /* do not verify checksums of frames */
	uint64_t window;         /* largest window for decoding */
	bool typed;              /* -t gives the type; refuse only compressed formats */
	bool type_said;          /* -t or a FILE's name gives the type; count text as samples */
	uint64_t memory;         /* -M */
	const char *tensor;      /* the tensor to count in a safetensors file; or NULL */
	struct tensors *tensors; /* gets the list of all tensors; or NULL */
};

struct content {
	bool is_zstd;
	bool unseen;             /* the first frame could not be decoded; its job will report why */
	bool unsized;            /* the header gives no length; samples end with the input */
	bool text;               /* it is text, counted as samples because the type is known */
	bool absent;             /* a safetensors file without the tensor, hence without samples */
	char near[TENSOR_NEAR];  /* if absent: a similar name of a tensor in the file; or "" */
	struct header header;    /* its header; the format is NULL without one */
	struct header_scan scan; /* the scan of the header */
};

/* Identify an input that was just opened. 1: the source was stopped. */
int content_open(struct content *c, struct bytes *b, const struct content_rules *rules,
		 struct fail *fail);

/* The end of a message that proposes --raw; `named`: the message names --raw already. */
const char *content_way_out(const struct content *c, bool named);

#endif
