/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * text_list: texts of digits and newlines, in all cuts, whose pieces come in all orders, compared
 * with one pass: which lines there are, the sums, the first bad line and its place, failures.
 */
#include "text/text_list.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MOST 12 /* bytes of a text */
#define ENDS (UINT64_MAX - 2)

/* A text, cut into pieces, which belong to jobs; the rest of the input has the pieces after them. */
struct plan {
	char text[MOST];
	size_t bytes;
	unsigned pieces;
	size_t end[MOST];   /* of each piece */
	unsigned job[MOST]; /* of each piece, in ascending order; `jobs`: the rest */
	unsigned jobs;      /* gaps for jobs */
	unsigned fails;     /* a piece that cannot be read; or `pieces` */
	char bad;           /* a line that begins with this digit is bad; or 0 */
};

/* What one pass finds. A bad line's offset is the number of the piece in which it ends. */
struct answer {
	uint64_t lines, bad, bad_line;
	uint64_t digits; /* the sum of all, each times its place in its line */
	bool fails;
	size_t rest; /* bytes of the text that are not dropped with a failure */
};

struct worker {
	struct text_list list;
	const struct plan *plan;
	struct text_node *gap[MOST + 1], *piece[MOST];
	struct text_node *ready[MOST * TEXT_READY];
	struct text_ends ends[MOST];
	struct text_ends ends_of_ready[MOST * TEXT_READY];
	unsigned piece_of[MOST * TEXT_READY];
	unsigned waiting; /* ready nodes that were not read */
	uint64_t digits;  /* as in an answer */
	unsigned starts;  /* lines that are the first of the text */
};

static struct answer one_pass(const struct plan *p)
{
	struct answer a = {.rest = p->bytes};
	size_t at = 0;

	if (p->fails < p->pieces) {
		a.fails = true;
		a.rest = p->fails > 0 ? p->end[p->fails - 1] : 0;
		while (a.rest > 0 && p->text[a.rest - 1] != '\n')
			a.rest--;
	}
	while (at < a.rest) {
		const char *const end = memchr(p->text + at, '\n', a.rest - at);
		const size_t to = end ? (size_t)(end - p->text) : a.rest;
		a.lines++;
		for (size_t i = at; i < to; i++)
			a.digits += (uint64_t)(p->text[i] - '0' + 1) * (i - at + 1);
		if (p->bad && to > at && p->text[at] == p->bad) {
			a.bad++;
			a.bad_line = a.bad_line > 0 ? a.bad_line : a.lines;
		}
		at = to + 1;
	}
	return a;
}

/* The sum of whole lines, as the source makes it. */
static void read_lines(struct worker *w, struct text_node *x, const char *at, const char *end)
{
	struct text_sum *const sum = &x->sum;

	while (at < end) {
		const char *const newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline) {
			CHECK(false, "a line without an end");
			return;
		}
		sum->lines++;
		if (w->plan->bad && newline > at && *at == w->plan->bad) {
			sum->bad++;
			if (sum->bad_line == 0) {
				sum->bad_line = sum->lines;
				snprintf(sum->why, sizeof(sum->why), "%.*s", (int)(newline - at),
					 at);
			}
		}
		for (const char *p = at; p < newline; p++)
			w->digits += (uint64_t)(*p - '0' + 1) * (uint64_t)(p - at + 1);
		at = newline + 1;
	}
}

/* Read the lines of one of the ready nodes. */
static void read_ready(struct worker *w, unsigned i)
{
	const struct plan *const p = w->plan;
	struct text_node *const x = w->ready[i];
	size_t added = 0;

	if (x->what == TEXT_PIECE) {
		const unsigned k = w->piece_of[i];
		const size_t from = k > 0 ? p->end[k - 1] : 0;
		read_lines(w, x, p->text + from + w->ends_of_ready[i].from,
			   p->text + from + w->ends_of_ready[i].to);
	} else {
		const struct text_run *const line = text_node_line(x, &added);
		CHECK(!x->starts || memcmp(p->text, line->bytes, line->n) == 0, "the first line");
		w->starts += x->starts;
		CHECK(added == 0 || x->offset == ENDS, "an end in the middle");
		read_lines(w, x, (const char *)line->bytes,
			   (const char *)line->bytes + line->n + added);
	}
	text_list_done(&w->list, x);
	w->waiting--;
	w->ready[i] = w->ready[w->waiting];
	w->ends_of_ready[i] = w->ends_of_ready[w->waiting];
	w->piece_of[i] = w->piece_of[w->waiting];
}

static void add_ready(struct worker *w, struct text_node *x, unsigned piece)
{
	w->ends_of_ready[w->waiting] = w->ends[piece < MOST ? piece : 0];
	w->piece_of[w->waiting] = piece;
	w->ready[w->waiting++] = x;
}

static struct text_node *gap_of(struct worker *w, unsigned job)
{
	return job < w->plan->jobs ? w->gap[job] : w->list.rest;
}

static void come(struct worker *w, unsigned k)
{
	const struct plan *const p = w->plan;
	const size_t from = k > 0 ? p->end[k - 1] : 0;
	struct text_node *ready[TEXT_READY];

	if (k == p->fails) {
		struct fail *const fail = calloc(1, sizeof(*fail));
		text_list_fail(&w->list, w->piece[k], k + 1, fail);
		return;
	}
	CHECK(text_ends_find(&w->ends[k], (const unsigned char *)p->text + from, p->end[k] - from,
			     k + 1),
	      "memory");
	const unsigned n = text_list_put(&w->list, w->piece[k], &w->ends[k], ready);
	for (unsigned i = 0; i < n; i++)
		add_ready(w, ready[i], k);
}

static void end_gap(struct worker *w, unsigned job)
{
	text_list_end(&w->list, gap_of(w, job));
	for (struct text_node *b; (b = text_list_due(&w->list)) != NULL;)
		add_ready(w, b, MOST);
}

/* Borders and other nodes alternate, and no two neighbours are done. */
static void check_list(const struct worker *w)
{
	const struct text_node *x = w->list.first, *before = NULL;
	unsigned nodes = 0;
	bool right = true;

	for (; x; before = x, x = x->next, nodes++)
		right &= x->prev == before && (!before || x->what != before->what ||
					       (x->what != TEXT_DONE && x->what != TEXT_BORDER));
	CHECK(right, "links, two that are done, or two borders");
	CHECK(nodes <= 2 * (w->plan->pieces + w->plan->jobs) + 3, "%u nodes", nodes);
}

/* All has come and was read: what remains in the list is the answer. */
static void check_answer(const struct worker *w)
{
	const struct answer a = one_pass(w->plan);
	struct text_node *const x = w->list.first;

	CHECK(x && x->what == TEXT_DONE && (a.fails || !x->next), "not done");
	if (!x || x->what != TEXT_DONE)
		return;
	const struct text_sum *const sum = &x->sum;
	CHECK((sum->fail != NULL) == a.fails && sum->fatal == a.fails, "failure");
	if (a.fails)
		CHECK(sum->offset == w->plan->fails + 1, "offset %llu",
		      (unsigned long long)sum->offset);
	if (a.fails) /* lines behind it are in the sum, too */
		CHECK(sum->lines >= a.lines && sum->bad >= a.bad &&
			      (a.bad == 0 || sum->bad_line == a.bad_line),
		      "lines before a failure");
	else
		CHECK(sum->lines == a.lines && sum->bad == a.bad && sum->bad_line == a.bad_line &&
			      w->digits == a.digits && w->starts == 1,
		      "%llu lines, not %llu; %llu bad, not %llu; first %llu, not %llu: %.*s",
		      (unsigned long long)sum->lines, (unsigned long long)a.lines,
		      (unsigned long long)sum->bad, (unsigned long long)a.bad,
		      (unsigned long long)sum->bad_line, (unsigned long long)a.bad_line,
		      (int)w->plan->bytes, w->plan->text);
	CHECK(w->list.held == 0, "memory");
}

static void begin(struct worker *w, const struct plan *p)
{
	*w = (struct worker){.plan = p};
	CHECK(text_list_begin(&w->list), "memory");
	for (unsigned j = 0; j < p->jobs; j++)
		w->gap[j] = text_list_gap(&w->list, j);
}

/* Each piece is taken, in order, then all come in the order of a permutation. */
static void all_orders(const struct plan *p, unsigned order[], unsigned n)
{
	struct worker w;

	if (n < p->pieces) {
		for (unsigned i = n; i < p->pieces; i++) {
			const unsigned one = order[i];
			order[i] = order[n];
			order[n] = one;
			all_orders(p, order, n + 1);
			order[n] = order[i];
			order[i] = one;
		}
		return;
	}
	begin(&w, p);
	for (unsigned k = 0; k < p->pieces; k++)
		w.piece[k] = text_list_piece(&w.list, gap_of(&w, p->job[k]), k + 1);
	for (unsigned k = 0; k < p->pieces; k++) {
		come(&w, order[k]);
		check_list(&w);
		while (w.waiting > 0)
			read_ready(&w, w.waiting - 1);
	}
	for (unsigned j = 0; j <= p->jobs; j++)
		end_gap(&w, j);
	while (w.waiting > 0)
		read_ready(&w, 0);
	check_list(&w);
	check_answer(&w);
	text_list_free(&w.list);
}

/* Pieces are taken, come and are read, and gaps end, in any order that can be. */
static void any_order(const struct plan *p, uint64_t *state)
{
	struct worker w;
	bool came[MOST] = {false}, gap_ended[MOST + 1] = {false};
	unsigned taken[MOST + 1] = {0}, left = p->pieces, gaps = p->jobs + 1;

	begin(&w, p);
	while (left > 0 || gaps > 0 || w.waiting > 0) {
		const unsigned what = (unsigned)(check_random(state) >> 60),
			       k = (unsigned)(check_random(state) >> 33) % p->pieces,
			       j = (unsigned)(check_random(state) >> 33) % (p->jobs + 1);
		unsigned first = 0, of_job = 0, here = 0;
		for (unsigned i = 0; i < p->pieces; i++) {
			first += p->job[i] < j;
			of_job += p->job[i] == j;
			here += p->job[i] == j && came[i];
		}
		if (what < 5 && taken[j] < of_job) {
			w.piece[first + taken[j]] =
				text_list_piece(&w.list, gap_of(&w, j), first + taken[j] + 1);
			taken[j]++;
		} else if (what < 9 && w.piece[k] && !came[k]) {
			come(&w, k);
			came[k] = true;
			left--;
		} else if (what < 12 && w.waiting > 0) {
			read_ready(&w, (unsigned)(check_random(state) >> 33) % w.waiting);
		} else if (here == of_job && !gap_ended[j] && (j < p->jobs || gaps == 1)) {
			end_gap(&w, j);
			gap_ended[j] = true;
			gaps--;
		}
		check_list(&w);
	}
	check_answer(&w);
	text_list_free(&w.list);
}

static void set_text(struct plan *p, unsigned bits)
{
	for (size_t i = 0; i < p->bytes; i++)
		p->text[i] = bits >> i & 1 ? '\n' : (char)('1' + i % 2);
}

static void set_cuts(struct plan *p, unsigned bits)
{
	p->pieces = 0;
	for (size_t i = 1; i <= p->bytes; i++)
		if (i == p->bytes || bits >> (i - 1) & 1)
			p->end[p->pieces++] = i;
	p->fails = p->pieces;
}

/* All texts of up to `bytes` bytes, in all cuts into up to `pieces`, in all orders of arrival. */
static void exhaust(size_t bytes, unsigned pieces)
{
	struct plan p = {.bytes = bytes, .bad = '1'};
	unsigned order[MOST];

	for (unsigned cuts = 0; cuts < 1u << (bytes - 1); cuts++) {
		set_cuts(&p, cuts);
		if (p.pieces > pieces)
			continue;
		for (unsigned text = 0; text < 1u << bytes; text++) {
			set_text(&p, text);
			for (unsigned i = 0; i < p.pieces; i++)
				order[i] = i;
			all_orders(&p, order, 0);
		}
	}
}

/* Texts of 12 bytes, jobs, failures, drawn from a seed. */
static void draw(unsigned cases)
{
	uint64_t state = 0x746578745f6c6973;

	for (unsigned n = 0; n < cases; n++) {
		const uint64_t r = check_random(&state);
		struct plan p = {.bytes = 1 + r % MOST, .bad = (char)('1' + r / 16 % 3)};
		set_text(&p, (unsigned)(r >> 16 & r >> (r >> 60)));
		set_cuts(&p, (unsigned)(r >> 40) & ((1u << (p.bytes - 1)) - 1));
		p.jobs = (unsigned)(r >> 8) % 5;
		for (unsigned k = 0, j = 0; k < p.pieces; k++) {
			j += (unsigned)(check_random(&state) >> 62);
			p.job[k] = j < p.jobs ? j : p.jobs;
		}
		if (r >> 12 & 1)
			p.fails = (unsigned)(r >> 33) % p.pieces;
		any_order(&p, &state);
	}
}

/* ---- long lines ---- */

static void put(struct text_list *l, struct text_node *piece, const unsigned char *bytes, size_t n,
		uint64_t offset, unsigned ready)
{
	struct text_node *node[TEXT_READY];
	struct text_ends e;

	CHECK(text_ends_find(&e, bytes, n, offset), "memory");
	const unsigned got = text_list_put(l, piece, &e, node);
	CHECK(got == ready, "%u lines", got);
}

/* A line of the longest length, and one byte longer; its pieces come from the end on. */
static void longest(size_t more)
{
	enum { PIECES = 17 };
	static unsigned char text[TEXT_LINE_MOST + 64];
	const size_t all = TEXT_LINE_MOST + more + 1, size = all / PIECES + 1;
	struct text_node *piece[PIECES];
	struct text_list l;
	uint64_t offset = 0;

	memset(text, '7', all);
	text[all - 1] = '\n';
	CHECK(text_list_begin(&l), "memory");
	for (unsigned i = 0; i < PIECES; i++)
		piece[i] = text_list_piece(&l, l.rest, i + 1);
	for (unsigned i = PIECES; i-- > 0;) {
		const size_t from = i * size, to = from + size < all ? from + size : all;
		CHECK(!text_list_too_long(&l, &offset), "too long before it is known");
		put(&l, piece[i], text + from, to - from, i + 1, i == 0 && more == 0);
		CHECK(l.held <= 2 * (TEXT_LINE_MOST + size + 2), "%llu bytes",
		      (unsigned long long)l.held);
	}
	CHECK(text_list_too_long(&l, &offset) == (more > 0), "too long");
	CHECK(more == 0 || offset == PIECES, "piece %llu", (unsigned long long)offset);
	if (more == 0) {
		size_t added;
		struct text_node *const b = l.first;
		const struct text_run *const line = text_node_line(b, &added);
		CHECK(line && line->n == all && added == 0 && memcmp(line->bytes, text, all) == 0,
		      "the line");
		text_list_done(&l, b);
		CHECK(l.held == 0, "memory");
	}
	text_list_free(&l);
}

/* A line that is too long is cut off by a failure: it comes first. */
static void too_long_first(void)
{
	static unsigned char text[TEXT_LINE_MOST / 2 + 1];
	struct text_node *piece[3];
	struct text_list l;
	uint64_t offset = 0;

	memset(text, '7', sizeof(text));
	CHECK(text_list_begin(&l), "memory");
	for (unsigned i = 0; i < 3; i++)
		piece[i] = text_list_piece(&l, l.rest, i + 1);
	put(&l, piece[1], text, sizeof(text), 2, 0);
	put(&l, piece[0], text, sizeof(text), 1, 0);
	text_list_fail(&l, piece[2], 3, NULL);
	CHECK(text_list_too_long(&l, &offset) && offset == 2, "piece %llu",
	      (unsigned long long)offset);
	text_list_free(&l);
}

int main(void)
{
	for (size_t bytes = 1; bytes <= 7; bytes++)
		exhaust(bytes, 7);
	exhaust(12, 3);
	draw(200000);
	longest(0);
	longest(1);
	longest(2);
	too_long_first();
	return check_report();
}
