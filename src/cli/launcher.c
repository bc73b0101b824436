/* SPDX-License-Identifier: MIT */
/* launcher: the rules of launcher.h, one source after another. */
#include "cli/launcher.h"

#include <stdbool.h>
#include <stddef.h>

#define AUTO "--part=auto: "
#define SAY "; --part=K/N says it"

struct environment {
	launcher_lookup *lookup;
	const void *of;
	struct fail *fail;
};

struct source {
	const char *rank, *size; /* names of variables ... */
	uint32_t part, parts;    /* ... and their values; 0 of 0: not set */
};

int launcher_number(uint32_t *number, const char *text, uint32_t least, uint32_t most)
{
	uint64_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
		n = 10 * n + (uint64_t)(*p - '0');
	if (p == text || *p != '\0' || n < least || n > most)
		return -1;
	*number = (uint32_t)n;
	return 0;
}

static const char *get(const struct environment *e, const char *name)
{
	return e->lookup(e->of, name);
}

/* -1: not set, or not a number from least on. `with` is set. */
static int number(uint32_t *n, const struct environment *e, const char *name, uint32_t least,
		  const char *with)
{
	const char *const text = get(e, name);

	if (!text)
		return fail_set(e->fail, STATUS_USAGE, AUTO "%s is %s, and %s is not set" SAY, with,
				get(e, with), name);
	if (launcher_number(n, text, least, PARTS_MAX) == 0)
		return 0;
	return fail_set(e->fail, STATUS_USAGE,
			AUTO "%s is '%s', and must be a number from %lu to %lu" SAY, name, text,
			(unsigned long)least, (unsigned long)PARTS_MAX);
}

/* Reads a rank from 0 and a size; both must be set, or neither. */
static int read_ranks(struct source *s, const struct environment *e)
{
	const char *const rank = get(e, s->rank), *const size = get(e, s->size);
	uint32_t at, of;

	if (!rank && !size)
		return 0;
	if (number(&at, e, s->rank, 0, s->size) != 0 || number(&of, e, s->size, 1, s->rank) != 0)
		return -1;
	if (at >= of)
		return fail_set(e->fail, STATUS_USAGE,
				AUTO "%s is %s, and %s is %s: ranks are below the size" SAY,
				s->rank, rank, s->size, size);
	s->part = at + 1;
	s->parts = of;
	return 0;
}

static int read_array(struct source *s, const struct environment *e)
{
	static const char MIN[] = "SLURM_ARRAY_TASK_MIN", MAX[] = "SLURM_ARRAY_TASK_MAX",
			  STEP[] = "SLURM_ARRAY_TASK_STEP";
	uint32_t id, min, step, count, max;

	if (!get(e, s->rank))
		return 0;
	if (number(&id, e, s->rank, 0, s->size) != 0 ||
	    number(&count, e, s->size, 1, s->rank) != 0 || number(&min, e, MIN, 0, s->rank) != 0 ||
	    number(&step, e, STEP, 1, s->rank) != 0)
		return -1;
	if (get(e, MAX) && number(&max, e, MAX, 0, s->rank) != 0)
		return -1;
	const bool row =
		id >= min && (id - min) % step == 0 && (id - min) / step < count &&
		(!get(e, MAX) || (max >= min && (uint64_t)(max - min) / step + 1 == count));
	if (!row)
		return fail_set(e->fail, STATUS_USAGE,
				AUTO
				"%s is %s, of %s %s from %s %s by %s %s: not one of a row of "
				"numbers like 1-8" SAY,
				s->rank, get(e, s->rank), s->size, get(e, s->size), MIN,
				get(e, MIN), STEP, get(e, STEP));
	s->part = (id - min) / step + 1;
	s->parts = count;
	return 0;
}

static int contradict(const struct environment *e, const struct source *a, const struct source *b)
{
	return fail_set(e->fail, STATUS_USAGE,
			AUTO "%s is %s and %s %s, but %s is %s and %s %s" SAY, a->rank,
			get(e, a->rank), a->size, get(e, a->size), b->rank, get(e, b->rank),
			b->size, get(e, b->size));
}

static int none(const struct environment *e)
{
	if (get(e, "SLURM_PROCID"))
		return fail_set(e->fail, STATUS_USAGE,
				AUTO
				"SLURM_PROCID is %s, and SLURM_STEP_NUM_TASKS is not set, as in a "
				"batch script: "
				"srun starts parts, and so does sbatch --array" SAY,
				get(e, "SLURM_PROCID"));
	if (get(e, "JOB_COMPLETION_INDEX"))
		return fail_set(e->fail, STATUS_USAGE,
				AUTO
				"JOB_COMPLETION_INDEX is %s, and nothing says of how many: "
				"--part=$((JOB_COMPLETION_INDEX + 1))/N",
				get(e, "JOB_COMPLETION_INDEX"));
	return fail_set(e->fail, STATUS_USAGE,
			AUTO
			"none of OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID and "
			"SLURM_ARRAY_TASK_ID is set: no "
			"launcher says which part this is" SAY);
}

int launcher_part(struct launched *launched, launcher_lookup *lookup, const void *environment,
		  struct fail *fail)
{
	const struct environment e = {.lookup = lookup, .of = environment, .fail = fail};
	struct source ompi = {.rank = "OMPI_COMM_WORLD_RANK", .size = "OMPI_COMM_WORLD_SIZE"};
	struct source pmi = {.rank = "PMI_RANK", .size = "PMI_SIZE"};
	struct source step = {.rank = "SLURM_PROCID", .size = "SLURM_STEP_NUM_TASKS"};
	struct source array = {.rank = "SLURM_ARRAY_TASK_ID", .size = "SLURM_ARRAY_TASK_COUNT"};

	if (read_ranks(&ompi, &e) != 0 || read_ranks(&pmi, &e) != 0 || read_array(&array, &e) != 0)
		return -1;
	if (ompi.parts > 1 && pmi.parts > 1 && (ompi.part != pmi.part || ompi.parts != pmi.parts))
		return contradict(&e, &ompi, &pmi);
	const struct source *s = ompi.parts > 1 || pmi.parts == 0 ? &ompi : &pmi;
	if (s->parts <= 1 && get(&e, step.size) && read_ranks(&step, &e) != 0)
		return -1;
	if (s->parts == 1 && step.parts > 1)
		return contradict(&e, s, &step);
	if (s->parts == 0)
		s = &step;
	if (s->parts > 1 && array.parts > 1)
		return contradict(&e, s, &array);
	if (s->parts <= 1 && array.parts > 0)
		s = &array;
	if (s->parts == 0)
		return none(&e);
	*launched = (struct launched){.part = s->part, .parts = s->parts, .variable = s->size};
	return 0;
}
