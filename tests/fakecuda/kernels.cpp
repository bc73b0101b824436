/* SPDX-License-Identifier: MIT */
/* kernels: the text of kernels/ compiled for the host, and its launches. */
#include <dlfcn.h>

#include "kernels.h"
#include "shim.h"

/*
 * The dynamic shared memory of the running block; the bytes after the size that it asked for are
 * poison.
 */
#define SHARED_WORDS (KERNEL_SHARED_MOST / 4)
thread_local uint4 shared[SHARED_WORDS / 4];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "../../kernels/kernels.cu"
#pragma GCC diagnostic pop

typedef void count_kernel(const void *, u64, struct rule, void *);
typedef void gather_kernel(const unsigned char *, unsigned char *, struct gather);
typedef void extent_kernel(const void *, u64, struct rule, u64 *);
typedef void unpack_kernel(struct unpack_memory);
typedef void group_kernel(struct unpack_group);
typedef void resolve_kernel(struct unpack_memory, u32);

/* The bounds of the section, from the linker. */
extern "C" const char __start_kernels[], __stop_kernels[];

/* ---- the meaning of a name ---- */

int kernel_find(const char *name, struct kernel *k)
{
	static const struct {
		const char *prefix;
		enum kernel_kind kind;
	} KINDS[] = {{"whole_", KERNEL_COUNT},           {"far_", KERNEL_COUNT},
		     {"gather_", KERNEL_GATHER},         {"extent_", KERNEL_EXTENT},
		     {"unpack_resolve", KERNEL_RESOLVE}, {"unpack_chain", KERNEL_UNPACK},
		     {"unpack_keep", KERNEL_UNPACK},     {"unpack_", KERNEL_GROUP}};
	static void *self;
	Dl_info info;

	if (!self && dladdr(__start_kernels, &info))
		self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	const char *code = self ? (const char *)dlsym(self, name) : nullptr;
	if (!code || code < __start_kernels || code >= __stop_kernels)
		return -1;
	for (const auto &known : KINDS) {
		const size_t length = strlen(known.prefix);
		if (strncmp(name, known.prefix, length) != 0)
			continue;
		*k = {code, known.kind, 0, 0};
		if (known.kind < KERNEL_UNPACK)
			k->sample = (unsigned)(name[length] - '0');
		if (strstr(name, "_code"))
			k->codes = 1u << 8 * k->sample;
		return 0;
	}
	return -1;
}

/* ---- arguments ---- */

static unsigned sizes_of(enum kernel_kind kind, size_t *size)
{
	const size_t all[6][4] = {{8, 8, sizeof(rule), 8},    {8, 8, sizeof(gather)},
				  {8, 8, sizeof(rule), 8},    {sizeof(unpack_memory)},
				  {sizeof(unpack_memory), 4}, {sizeof(unpack_group)}};
	unsigned n = 0;

	for (; n < 4 && all[kind][n] > 0; n++)
		size[n] = all[kind][n];
	return n;
}

static const unsigned char *argument(const struct launch *l, unsigned which)
{
	size_t size[4], at = 0;

	sizes_of(l->kernel.kind, size);
	for (unsigned i = 0; i < which; i++)
		at += (size[i] + 7) / 8 * 8;
	return l->arguments.bytes + at;
}

template <class T> static T get(const struct launch *l, unsigned which)
{
	T value;

	memcpy(&value, argument(l, which), sizeof(value));
	return value;
}

void kernel_arguments(struct launch *l, void **arguments)
{
	size_t size[4];
	const unsigned n = sizes_of(l->kernel.kind, size);

	for (unsigned i = 0; i < n; i++)
		memcpy((void *)argument(l, i), arguments[i], size[i]);
}

static size_t counters(const struct launch *l)
{
	const rule r = get<rule>(l, 2);

	return r.channels * (l->kernel.codes ? l->kernel.codes : r.bins.bins + CELL_EXTRA);
}

/* The memory that a kernel may use, all of it; of the packed bytes only the first and those before. */
static unsigned unpack_ranges(const unpack_memory &u, struct kernel_range *m)
{
	const size_t sequences = 4 * (size_t)UNPACK_SEQUENCES,
		     bytes = UNPACK_BLOCKS * ((size_t)UNPACK_BLOCK_MAX + 64);
	const struct kernel_range all[] = {
		{u.packed - UNPACK_BEFORE, UNPACK_BEFORE + UNPACK_AFTER},
		{u.batch, sizeof(unpack_batch)},
		{u.block, UNPACK_BLOCKS * sizeof(unpack_block)},
		{u.state, UNPACK_BLOCKS * sizeof(unpack_state)},
		{u.answer, sizeof(unpack_answer)},
		{u.offset, sequences},
		{u.literals, sequences},
		{u.match, sequences},
		{u.apart, bytes},
		{u.decoded, bytes},
		{u.distance, 4 * (size_t)UNPACK_BLOCKS * UNPACK_BLOCK_MAX},
		{u.carry, sizeof(unpack_carry)},
		{u.ring, u.ring_bytes}};
	unsigned n = 0;

	for (const auto &range : all)
		m[n++] = range;
	return n;
}

unsigned kernel_memory(const struct launch *l, struct kernel_range *m)
{
	const enum kernel_kind kind = l->kernel.kind;
	unsigned n = 0;

	if (kind == KERNEL_GROUP) {
		const unpack_group g = get<unpack_group>(l, 0);
		for (unsigned i = 0; i < l->rows; i++)
			n += unpack_ranges(g.of[i], m + n);
		return n;
	}
	if (kind >= KERNEL_UNPACK)
		return unpack_ranges(get<unpack_memory>(l, 0), m);
	if (kind == KERNEL_GATHER) {
		const gather g = get<gather>(l, 2);
		m[n++] = {get<u64>(l, 0),
			  g.n > 0 ? gather_at(&g, (u32)(g.n - 1), l->kernel.sample) +
					    l->kernel.sample
				  : 1};
		m[n++] = {get<u64>(l, 1), g.n > 0 ? g.n * l->kernel.sample : 1};
		return n;
	}
	if (kind == KERNEL_EXTENT)
		m[n++] = {get<u64>(l, 3), 16};
	if ((kind == KERNEL_COUNT || kind == KERNEL_EXTENT) && get<u64>(l, 1) > 0)
		m[n++] = {get<u64>(l, 0), get<u64>(l, 1) * l->kernel.sample};
	if (kind == KERNEL_COUNT && !l->kernel.codes && get<rule>(l, 2).bins.kind == BIN_TABLE)
		m[n++] = {get<rule>(l, 2).bins.table.at,
			  4 * (size_t)get<rule>(l, 2).bins.table.words};
	if (kind == KERNEL_COUNT)
		m[n++] = {get<u64>(l, 3), (get<rule>(l, 2).resident ? 8 : 4) * counters(l)};
	return n;
}

/* A device faults only at a whole load; here, a few samples at a wrong address are refused, too. */
bool kernel_aligned(const struct launch *l)
{
	const unsigned size = l->kernel.sample;

	return (l->kernel.kind != KERNEL_COUNT && l->kernel.kind != KERNEL_EXTENT) || size == 3 ||
	       get<u64>(l, 0) % size == 0;
}

/* ---- the grid ---- */

static void run_thread(void *arg)
{
	const struct launch *l = (const struct launch *)arg;
	const void *code = l->kernel.code;

	switch (l->kernel.kind) {
	case KERNEL_COUNT:
		((count_kernel *)code)(get<void *>(l, 0), get<u64>(l, 1), get<rule>(l, 2),
				       get<void *>(l, 3));
		break;
	case KERNEL_GATHER:
		((gather_kernel *)code)(get<unsigned char *>(l, 0), get<unsigned char *>(l, 1),
					get<gather>(l, 2));
		break;
	case KERNEL_EXTENT:
		((extent_kernel *)code)(get<void *>(l, 0), get<u64>(l, 1), get<rule>(l, 2),
					get<u64 *>(l, 3));
		break;
	case KERNEL_UNPACK:
		((unpack_kernel *)code)(get<unpack_memory>(l, 0));
		break;
	case KERNEL_GROUP:
		((group_kernel *)code)(get<unpack_group>(l, 0));
		break;
	case KERNEL_RESOLVE:
		((resolve_kernel *)code)(get<unpack_memory>(l, 0), get<u32>(l, 1));
		break;
	}
}

/*
 * One block; its shared memory is poison at the start, and the bytes after it must still be at the
 * end.
 */
static void run_block(const struct launch *l, u32 block, uint64_t *seed)
{
	const u32 watched = l->kernel.kind < KERNEL_UNPACK ? SHARED_WORDS : 0; /* those use none */
	u32 *words = (u32 *)shared;

	for (u32 i = 0; i < watched; i++)
		words[i] = BLOCK_POISON;
	block_at = {block % l->grid, block / l->grid, 0};
	block_run(run_thread, (void *)l, seed);
	for (u32 i = (l->shared + 3) / 4; i < watched; i++)
		if (words[i] != BLOCK_POISON)
			block_fault("it wrote to word %u of its %u bytes of shared memory", i,
				    l->shared);
}

void kernel_run(const struct launch *l, uint64_t *seed)
{
	const u32 blocks = l->grid * l->rows;
	const u32 first = (u32)(*seed >> 40) % blocks;

	block_grid = {l->grid, l->rows, 1};
	block_size = {l->threads, 1, 1};
	for (u32 i = 0; i < blocks; i++)
		run_block(l, (first + i) % blocks, seed);
}
