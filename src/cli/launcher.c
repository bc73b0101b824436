/* SPDX-License-Identifier: MIT */
/* launcher: the rules of launcher.h, one launcher after another. */
#include "cli/launcher.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bins/number.h"

#define AUTO "--part=auto: "
#define SAY "; --part=K/N says it"
#define ARRAY_MIN "SLURM_ARRAY_TASK_MIN"
#define ARRAY_MAX "SLURM_ARRAY_TASK_MAX"
#define ARRAY_STEP "SLURM_ARRAY_TASK_STEP"

struct ranks {
	const char *rank, *size; /* names of two variables */
	uint32_t part, parts;    /* the part that they say, from 1; 0 of 0: they are not set */
};

/* -1: `name` is not a number from `least` to PARTS_MAX, or is not set, though `with` is. */
static int read_variable(uint32_t *n, const char *name, uint32_t least, const char *with,
			 struct fail *fail)
{
	const char *const text = getenv(name);
	uint64_t value;

	if (!text)
		return fail_set(fail, STATUS_USAGE, AUTO "%s is %s, and %s is not set" SAY, with,
				getenv(with), name);
	if (number_parse_count(&value, text) != 0 || value < least || value > PARTS_MAX)
		return fail_set(fail, STATUS_USAGE,
				AUTO "%s is '%s', and must be a number from %lu to %lu" SAY, name,
				text, (unsigned long)least, (unsigned long)PARTS_MAX);
	*n = (uint32_t)value;
	return 0;
}

/* Reads a rank from 0 and a size; both must be set, or neither. */
static int read_ranks(struct ranks *s, struct fail *fail)
{
	const char *const rank = getenv(s->rank), *const size = getenv(s->size);
	uint32_t at, of;

	if (!rank && !size)
		return 0;
	if (read_variable(&at, s->rank, 0, s->size, fail) != 0 ||
	    read_variable(&of, s->size, 1, s->rank, fail) != 0)
		return -1;
	if (at >= of)
		return fail_set(fail, STATUS_USAGE,
				AUTO "%s is %s, and %s is %s: ranks are below the size" SAY,
				s->rank, rank, s->size, size);
	s->part = at + 1;
	s->parts = of;
	return 0;
}

static int read_array(struct ranks *s, struct fail *fail)
{
	uint32_t id, min, step, count, max;

	if (!getenv(s->rank))
		return 0;
	if (read_variable(&id, s->rank, 0, s->size, fail) != 0 ||
	    read_variable(&count, s->size, 1, s->rank, fail) != 0 ||
	    read_variable(&min, ARRAY_MIN, 0, s->rank, fail) != 0 ||
	    read_variable(&step, ARRAY_STEP, 1, s->rank, fail) != 0 ||
	    (getenv(ARRAY_MAX) && read_variable(&max, ARRAY_MAX, 0, s->rank, fail) != 0))
		return -1;
	const bool row =
		id >= min && (id - min) % step == 0 && (id - min) / step < count &&
		(!getenv(ARRAY_MAX) || (max >= min && (uint64_t)(max - min) / step + 1 == count));
	if (!row)
		return fail_set(fail, STATUS_USAGE,
				AUTO "%s is %s, of %s %s from " ARRAY_MIN " %s by " ARRAY_STEP
				     " %s: not evenly spaced numbers like 1-8" SAY,
				s->rank, getenv(s->rank), s->size, getenv(s->size),
				getenv(ARRAY_MIN), getenv(ARRAY_STEP));
	s->part = (id - min) / step + 1;
	s->parts = count;
	return 0;
}

static int contradict(const struct ranks *a, const struct ranks *b, struct fail *fail)
{
	return fail_set(fail, STATUS_USAGE, AUTO "%s is %s and %s %s, but %s is %s and %s %s" SAY,
			a->rank, getenv(a->rank), a->size, getenv(a->size), b->rank,
			getenv(b->rank), b->size, getenv(b->size));
}

int launcher_part(uint32_t *part, uint32_t *parts, const char **variable, struct fail *fail)
{
	struct ranks ompi = {.rank = "OMPI_COMM_WORLD_RANK", .size = "OMPI_COMM_WORLD_SIZE"};
	struct ranks pmi = {.rank = "PMI_RANK", .size = "PMI_SIZE"};
	struct ranks step = {.rank = "SLURM_PROCID", .size = "SLURM_STEP_NUM_TASKS"};
	struct ranks array = {.rank = "SLURM_ARRAY_TASK_ID", .size = "SLURM_ARRAY_TASK_COUNT"};

	if (read_ranks(&ompi, fail) != 0 || read_ranks(&pmi, fail) != 0 ||
	    read_array(&array, fail) != 0)
		return -1;
	if (ompi.parts > 1 && pmi.parts > 1 && (ompi.part != pmi.part || ompi.parts != pmi.parts))
		return contradict(&ompi, &pmi, fail);
	const struct ranks *s = ompi.parts > 1 || pmi.parts == 0 ? &ompi : &pmi;
	if (s->parts <= 1 && getenv(step.size) && read_ranks(&step, fail) != 0)
		return -1;
	if (s->parts == 1 && step.parts > 1)
		return contradict(s, &step, fail);
	if (s->parts == 0)
		s = &step;
	if (s->parts > 1 && array.parts > 1)
		return contradict(s, &array, fail);
	if (s->parts <= 1 && array.parts > 0)
		s = &array;
	if (s->parts == 0)
		return fail_set(fail, STATUS_USAGE,
				AUTO
				"none of OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_STEP_NUM_TASKS "
				"and SLURM_ARRAY_TASK_ID is set: no launcher says which part "
				"this is" SAY);
	*part = s->part;
	*parts = s->parts;
	*variable = s->size;
	return 0;
}
