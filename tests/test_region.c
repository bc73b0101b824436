/* SPDX-License-Identifier: MIT */
/*
 * region: its parts lie apart from each other, and two processes that wait for each other through
 * it go on.
 *
 * A wait that is not ended by the other side would last until a limit that ends this program as
 * failed.
 */
#include "gpu/region.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define LIMIT_SECONDS 120 /* for all of it, which takes less than one */
#define LONG_SECONDS 1000.0
#define ROUNDS 20000u
#define SLOTS 3u

/* ---- the layout ---- */

static void lay_out(const struct region *asked, unsigned long i)
{
	struct region r = *asked;
	const size_t total = region_lay_out(&r);
	unsigned char *const base = (unsigned char *)&r; /* for addresses alone */

	CHECK(total == r.total && total % 4096 == 0, "region %lu: %zu bytes", i, total);
	CHECK(r.table_at % 4096 == 0 && r.cells_at % 4096 == 0 && r.data_at % 4096 == 0,
	      "region %lu: no pages", i);
	CHECK(r.table_at >= sizeof(r) && r.cells_at >= r.table_at + r.table_bytes,
	      "region %lu: the table", i);
	CHECK(r.cell_bytes >= asked->cell_bytes && r.cell_bytes % 256 == 0,
	      "region %lu: %llu bytes of counters", i, (unsigned long long)r.cell_bytes);
	CHECK(r.table_bytes == asked->table_bytes && r.slot_bytes == asked->slot_bytes &&
		      r.slots == asked->slots,
	      "region %lu: what was asked for has changed", i);
	uint64_t cells_end = r.cells_at, data_end = r.data_at;
	for (unsigned k = 0; k < r.slots; k++) {
		const uint64_t cells = (uint64_t)((unsigned char *)region_cells(&r, &r, k) - base);
		const uint64_t data = (uint64_t)(region_data(&r, &r, k) - base);
		CHECK(cells == cells_end && data == data_end,
		      "region %lu: slot %u overlaps another", i, k);
		cells_end = cells + r.cell_bytes;
		data_end = data + r.slot_bytes;
	}
	CHECK(cells_end <= r.data_at && data_end <= total, "region %lu: slots beyond their part",
	      i);
	CHECK(total <= data_end + 4096 && r.data_at <= cells_end + 4096,
	      "region %lu: larger than it need be", i);
}

static void layouts(void)
{
	uint64_t state = 5;

	for (unsigned long i = 0; i < 20000; i++) {
		const struct region r = {
			.table_bytes =
				check_random(&state) % 3
					? 0
					: check_random(&state) >> (36 + check_random(&state) % 28),
			.cell_bytes =
				check_random(&state) % 4
					? check_random(&state) >> (36 + check_random(&state) % 28)
					: 0,
			.slot_bytes =
				(check_random(&state) >> (42 + check_random(&state) % 20)) * 4096,
			.slots = 1 + (uint32_t)(check_random(&state) % REGION_SLOTS),
		};
		lay_out(&r, i);
	}
	struct region vast = {.slot_bytes = (uint64_t)1 << 61, .slots = 4};
	CHECK(region_lay_out(&vast) == 0, "more than there are addresses for");
}

/* ---- two processes ---- */

/* Samples of a round, which the other side must see, and its answer. */
static uint64_t given(unsigned round)
{
	return round * (uint64_t)0x9e3779b97f4a7c15 | 1;
}

/*
 * The helper's side: every slot that is submitted is answered, until one has no bytes. Returns an
 * exit status.
 */
static int answer_all(struct region *r)
{
	for (bool end = false; !end;) {
		const uint32_t seen = __atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST);
		bool worked = false;
		for (unsigned k = 0; k < r->slots; k++) {
			struct shared_slot *s = &r->slot[k];
			if (slot_state_of(s) != SHARED_SUBMITTED)
				continue;
			worked = true;
			end |= s->bytes == 0;
			s->samples = ~s->bytes;
			slot_answer(s, slot_number_of(s), SHARED_DONE);
		}
		if (worked)
			continue;
		__atomic_store_n(&r->sleeping, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST) == seen)
			region_wait(&r->doorbell, seen, LONG_SECONDS);
		__atomic_store_n(&r->sleeping, 0, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void submit(struct region *r, unsigned k, uint64_t bytes)
{
	r->slot[k].bytes = bytes;
	r->slot[k].awaited = 0;
	slot_submit(r, &r->slot[k], slot_number_of(&r->slot[k]) + 1);
}

static void await(struct region *r, unsigned k)
{
	struct shared_slot *s = &r->slot[k];

	uint32_t word;

	while (((word = slot_word_of(s)) & 3) == SHARED_SUBMITTED) {
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->word, word, LONG_SECONDS);
	}
}

/*
 * Each round begins when the other process sleeps or is about to, and ends when this one was woken
 * or saw the answer.
 */
static void processes(void)
{
	struct region *r =
		mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t wrong = 0;
	int status = -1;

	CHECK(r != MAP_FAILED, "no memory");
	if (r == MAP_FAILED)
		return;
	r->slots = SLOTS;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		alarm(LIMIT_SECONDS);
		_exit(answer_all(r));
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned slots = 1 + i % SLOTS;
		for (unsigned k = 0; k < slots; k++)
			submit(r, k, given(i + k));
		for (unsigned k = 0; k < slots; k++) {
			await(r, k);
			wrong += r->slot[k].samples != ~given(i + k) ||
				 slot_state_of(&r->slot[k]) != SHARED_DONE;
		}
	}
	submit(r, 0, 0);
	await(r, 0);
	CHECK(wrong == 0, "%llu answers are wrong", (unsigned long long)wrong);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the other process ended with %x",
	      (unsigned)status);
	munmap(r, sizeof(*r));
}

/* A wait is over at once where the word is another one, and at its time where it is not. */
static void waits(void)
{
	uint32_t word = 7;

	region_wait(&word, 8, LONG_SECONDS);
	region_wait(&word, 7, 0.001);
	region_wake(&word);
	CHECK(word == 7, "the word has changed");
}

int main(void)
{
	alarm(LIMIT_SECONDS);
	layouts();
	waits();
	processes();
	return check_report();
}
