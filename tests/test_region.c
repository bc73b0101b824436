/* SPDX-License-Identifier: MIT */
/*
 * region: two processes that wait for each other through it go on. If the other side does not end a
 * wait, a limit ends this program as failed.
 */
#include "gpu/region.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define LIMIT_SECONDS 120 /* for the whole test, which takes less than one */
#define LONG_SECONDS 1000.0
#define ROUNDS 20000u
#define SLOTS 3u

/* Return the number of samples in a round, which the other side must see, and its answer. */
static uint64_t given(unsigned round)
{
	return round * (uint64_t)0x9e3779b97f4a7c15 | 1;
}

/*
 * The GPU process's side: answer every slot that is submitted, until one has no bytes. Return an
 * exit status.
 */
static int answer_all(struct region *r)
{
	for (bool end = false; !end;) {
		const uint32_t seen = __atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST);
		bool worked = false;
		for (unsigned k = 0; k < r->slots; k++) {
			struct shared_slot *s = &r->slot[k];
			if (slot_state_of(s) != SLOT_SUBMITTED)
				continue;
			worked = true;
			end |= s->bytes == 0;
			s->samples = ~s->bytes;
			slot_answer(s);
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
	slot_submit(r, &r->slot[k]);
}

static void await(struct region *r, unsigned k)
{
	struct shared_slot *s = &r->slot[k];

	while (slot_state_of(s) == SLOT_SUBMITTED) {
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->state, SLOT_SUBMITTED, LONG_SECONDS);
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
				 slot_state_of(&r->slot[k]) != SLOT_TAKEN;
		}
	}
	submit(r, 0, 0);
	await(r, 0);
	CHECK(wrong == 0, "%llu answers are wrong", (unsigned long long)wrong);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the other process ended with %x",
	      (unsigned)status);
	munmap(r, sizeof(*r));
}

/* A wait ends at once if the word has another value, and at its time if not. */
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
	waits();
	processes();
	return check_report();
}
