/* SPDX-License-Identifier: MIT */
#include "text/text_list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OFFSET_END (UINT64_MAX - 2) /* of the text's last line */

/* ---- runs ---- */

/* Map long runs: the system gets them back at once, while the heap would keep the holes. */
static struct text_run *run_alloc(size_t n)
{
	const size_t size = sizeof(struct text_run) + n + TEXT_PAD + TEXT_ADDED;
	struct text_run *const r = size > TEXT_SHORT ? mmap(NULL, size, PROT_READ | PROT_WRITE,
							    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
						     : malloc(size);

	if (!r || r == MAP_FAILED)
		return NULL;
	r->next = NULL;
	r->size = size;
	r->n = 0;
	return r;
}

static void run_free(struct text_run *r)
{
	if (r && r->size > TEXT_SHORT)
		munmap(r, r->size);
	else
		free(r);
}

/* ---- nodes ---- */

static struct text_node *node_new(enum text_what what, uint64_t offset)
{
	struct text_node *const x = malloc(sizeof(*x));

	if (!x)
		return NULL;
	x->prev = x->next = x->next_due = NULL;
	x->what = what;
	x->offset = offset;
	x->starts = x->left = x->right = false;
	x->runs = x->last = NULL;
	x->n = 0;
	x->sum.lines = x->sum.bad = x->sum.bad_line = x->sum.offset = 0;
	x->sum.fatal = false;
	x->sum.why[0] = '\0';
	x->sum.fail = NULL;
	return x;
}

static void runs_free(struct text_node *x)
{
	for (struct text_run *r; (r = x->runs) != NULL;) {
		x->runs = r->next;
		run_free(r);
	}
	x->last = NULL;
}

static void node_remove(struct text_list *l, struct text_node *x)
{
	if (x->prev)
		x->prev->next = x->next;
	else
		l->first = x->next;
	if (x->next)
		x->next->prev = x->prev;
	runs_free(x);
	free(x->sum.fail);
	free(x);
}

/* Insert a node before a gap, and a border between the two. */
static struct text_node *node_insert(struct text_node *gap, enum text_what what, uint64_t offset)
{
	struct text_node *const x = node_new(what, offset), *const b = node_new(TEXT_BORDER, 0);

	if (!x || !b) {
		free(x);
		free(b);
		return NULL;
	}
	x->prev = gap->prev;
	x->next = b;
	b->prev = x;
	b->next = gap;
	gap->prev->next = x;
	gap->prev = b;
	return x;
}

bool text_list_begin(struct text_list *l)
{
	struct text_node *const a = node_new(TEXT_BORDER, 0), *const b = node_new(TEXT_BORDER, 0);

	*l = (struct text_list){.rest = node_new(TEXT_GAP, OFFSET_END)};
	if (!a || !l->rest || !b) {
		free(a);
		free(l->rest);
		free(b);
		return false;
	}
	l->first = a;
	a->next = l->rest;
	l->rest->prev = a;
	l->rest->next = b;
	b->prev = l->rest;
	a->starts = a->left = b->right = true;
	return true;
}

void text_list_free(struct text_list *l)
{
	while (l->first)
		node_remove(l, l->first);
}

struct text_node *text_list_gap(struct text_list *l, uint64_t offset)
{
	return node_insert(l->rest, TEXT_GAP, offset);
}

struct text_node *text_list_piece(struct text_list *l, struct text_node *gap, uint64_t offset)
{
	(void)l;
	return node_insert(gap, TEXT_PIECE, offset);
}

/* ---- the ends of a piece ---- */

static struct text_run *run_new(const unsigned char *bytes, size_t n, uint64_t offset)
{
	struct text_run *const r = run_alloc(n);

	if (!r)
		return NULL;
	r->offset = offset;
	r->n = n;
	if (n > 0)
		memcpy(r->bytes, bytes, n);
	return r;
}

bool text_ends_find(struct text_ends *e, const unsigned char *bytes, size_t n, uint64_t offset)
{
	const unsigned char *const first = n > 0 ? memchr(bytes, '\n', n) : NULL,
				   *const last = first ? memrchr(bytes, '\n', n) : NULL;

	*e = (struct text_ends){.newline = first};
	e->from = first ? (size_t)(first + 1 - bytes) : n;
	e->to = last ? (size_t)(last + 1 - bytes) : n;
	if ((e->from > 0 && !(e->head = run_new(bytes, e->from, offset))) ||
	    (e->to < n && !(e->tail = run_new(bytes + e->to, n - e->to, offset)))) {
		text_ends_free(e);
		return false;
	}
	return true;
}

void text_ends_free(struct text_ends *e)
{
	run_free(e->head);
	run_free(e->tail);
	e->head = e->tail = NULL;
}

/* ---- borders ---- */

/* Memory of a border in bytes: its runs, and the line made of them. */
static uint64_t node_held(const struct text_node *b)
{
	return b->n > TEXT_SHORT ? 2 * (uint64_t)b->n : 0;
}

/* The newline of a border's line, if the text has one there, does not count. */
static bool too_long(const struct text_node *b)
{
	return b->n - (b->right && b->next && b->n > 0) > TEXT_LINE_MOST;
}

/* Keep only the beginning of a line that is too long: enough to see that it is. */
static void node_trim(struct text_node *b)
{
	struct text_run *r = b->runs;

	if (!too_long(b))
		return;
	for (b->n = r->n; b->n <= TEXT_LINE_MOST + 1 && r->next; r = r->next)
		b->n += r->next->n;
	for (struct text_run *each; (each = r->next) != NULL;) {
		r->next = each->next;
		run_free(each);
	}
	b->last = r;
}

/* Add a chain of runs with n bytes to a border, at its beginning or at its end. */
static void border_add(struct text_list *l, struct text_node *b, struct text_run *runs,
		       struct text_run *last, size_t n, bool before)
{
	if (!runs)
		return;
	assert(b->what == TEXT_BORDER);
	l->held -= node_held(b);
	if (!b->runs) {
		b->runs = runs;
		b->last = last;
	} else if (before) {
		last->next = b->runs;
		b->runs = runs;
	} else {
		b->last->next = runs;
		b->last = last;
	}
	b->n += n;
	node_trim(b);
	l->held += node_held(b);
}

static void border_put(struct text_list *l, struct text_node *b, struct text_run *run, bool before)
{
	if (b->what == TEXT_BORDER)
		border_add(l, b, run, run, run ? run->n : 0, before);
	else
		run_free(run); /* a failure cuts the line off */
}

/* Is the border a line now? An empty one is done. */
static bool border_complete(struct text_list *l, struct text_node *b)
{
	if (b->what != TEXT_BORDER || !b->left || !b->right || too_long(b))
		return false;
	b->offset = b->next && b->last ? b->last->offset : OFFSET_END;
	if (b->n > 0)
		return true;
	text_list_done(l, b);
	return false;
}

/* Drop the line of a border that a failure cuts off, unless it is too long, which comes first. */
static void border_drop(struct text_list *l, struct text_node *b)
{
	if (b->what == TEXT_BORDER && !too_long(b))
		text_list_done(l, b);
}

/* Remove a piece without a newline, or a gap that has ended. Return the border that is left. */
static struct text_node *join(struct text_list *l, struct text_node *x)
{
	struct text_node *const a = x->prev, *const b = x->next;

	assert(a->what == TEXT_BORDER);
	if (b->what == TEXT_DONE) {
		node_remove(l, x);
		border_drop(l, a);
		return NULL;
	}
	l->held -= node_held(b);
	a->right = b->right;
	border_add(l, a, b->runs, b->last, b->n, false);
	b->runs = NULL;
	b->n = 0;
	node_remove(l, x);
	node_remove(l, b);
	return a;
}

struct text_run *text_node_line(struct text_node *b, size_t *added)
{
	struct text_run *line = b->runs;

	if (line->next) {
		line = run_alloc(b->n);
		if (!line)
			return NULL;
		for (struct text_run *r; (r = b->runs) != NULL; b->runs = r->next, run_free(r)) {
			memcpy(line->bytes + line->n, r->bytes, r->n);
			line->n += r->n;
		}
		b->runs = b->last = line;
	}
	*added = 0;
	if (line->bytes[line->n - 1] != '\n') {
		/* A CR at the end of the text is not before LF. */
		if (line->bytes[line->n - 1] == '\r')
			line->bytes[line->n + (*added)++] = '\r';
		line->bytes[line->n + (*added)++] = '\n';
	}
	return line;
}

/* ---- events ---- */

unsigned text_list_put(struct text_list *l, struct text_node *p, struct text_ends *e,
		       struct text_node *ready[TEXT_READY])
{
	struct text_node *const a = p->prev, *const b = p->next;
	unsigned n = 0;

	border_put(l, a, e->head, false);
	if (!e->newline) {
		struct text_node *const joined = join(l, p);
		if (joined && border_complete(l, joined))
			ready[n++] = joined;
		return n;
	}
	border_put(l, b, e->tail, true);
	a->right = true;
	b->left = true;
	if (border_complete(l, a))
		ready[n++] = a;
	/* Asked now: a failure may have dropped b, and then p and b become one node. */
	const bool line = border_complete(l, b);
	if (e->to > e->from)
		ready[n++] = p;
	else
		text_list_done(l, p);
	if (line)
		ready[n++] = b;
	return n;
}

void text_list_end(struct text_list *l, struct text_node *gap)
{
	if (gap == l->rest)
		l->rest = NULL;
	struct text_node *const b = join(l, gap);
	if (!b || !border_complete(l, b))
		return;
	if (l->due)
		l->later->next_due = b;
	else
		l->due = b;
	l->later = b;
}

bool text_list_cut(struct text_list *l)
{
	struct text_node *const b = l->rest->prev;

	if (b->what != TEXT_BORDER || b->n == 0)
		return false;
	l->held -= node_held(b);
	runs_free(b);
	b->n = 0;
	return true;
}

struct text_node *text_list_due(struct text_list *l)
{
	struct text_node *const b = l->due;

	if (b)
		l->due = b->next_due;
	return b;
}

void text_list_done(struct text_list *l, struct text_node *x)
{
	if (x->what == TEXT_BORDER)
		l->held -= node_held(x);
	x->what = TEXT_DONE;
	runs_free(x);
	if (x->prev && x->prev->what == TEXT_DONE)
		x = x->prev;
	while (x->next && x->next->what == TEXT_DONE) {
		text_sum_add(&x->sum, &x->next->sum);
		node_remove(l, x->next);
	}
}

void text_list_fail(struct text_list *l, struct text_node *x, uint64_t offset, struct fail *fail)
{
	x->sum.fail = fail;
	x->sum.offset = offset;
	x->sum.fatal = true;
	border_drop(l, x->prev);
	text_list_done(l, x);
}

void text_list_pop(struct text_list *l)
{
	assert(l->first->what == TEXT_DONE);
	node_remove(l, l->first);
}

/*
 * The first bad line and the first failure are kept apart: bad lines may be left out. A line that
 * cannot be left out is the one to report.
 */
void text_sum_add(struct text_sum *a, struct text_sum *b)
{
	const bool ends = b->fatal && !a->fatal && !b->fail;

	if ((a->why[0] == '\0' || ends) && b->why[0] != '\0') {
		a->bad_line = b->bad_line > 0 ? a->lines + b->bad_line : 0;
		memcpy(a->why, b->why, strlen(b->why) + 1);
	}
	if (b->fatal && (!a->fatal || b->offset < a->offset)) {
		struct fail *const later = a->fail;
		a->fatal = true;
		a->offset = b->offset;
		a->fail = b->fail;
		b->fail = later;
	}
	free(b->fail);
	b->fail = NULL;
	a->lines += b->lines;
	a->bad += b->bad;
}

/* ---- questions ---- */

bool text_list_too_long(const struct text_list *l, uint64_t *offset)
{
	const struct text_node *const b = l->first;

	if (!b || b->what != TEXT_BORDER || !too_long(b))
		return false;
	*offset = b->last->offset;
	return true;
}

const struct text_sum *text_list_failure(const struct text_list *l, uint64_t offset)
{
	for (const struct text_node *x = l->first; x; x = x->next)
		if (x->what == TEXT_DONE && x->sum.fail && x->sum.offset < offset)
			return &x->sum;
	return NULL;
}
