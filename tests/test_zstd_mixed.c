/* SPDX-License-Identifier: MIT */
/*
 * zstd_mixed: inputs of all kinds in one job, drawn from a seed: plain and compressed, files, FIFOs
 * and standard input; -S and -n, which often ends exactly at an input's end; little memory and
 * much; workers that change between borrowing and copying. Writers stop where the last record of -n
 * ends and stay open: a reader that waits for more waits until the alarm. Or what follows that
 * record is damaged, which is no error.
 */
#include "pack.h"
#include "readers.h"

#define INPUTS 5
#define CROWD 8

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return (check_random(&state) >> 20) % n;
}

struct mixed {
	char name[16];
	enum { FILE_PLAIN, FILE_ZSTD, FIFO_PLAIN, FIFO_ZSTD, STDIN_ZSTD, KINDS } kind;
	struct pack pack;
	size_t bytes;                   /* decoded */
	size_t enough;                  /* compressed bytes that -n needs: whole frames */
	size_t decoded[16], packed[16]; /* where its frames end */
	unsigned frames;
	bool stays; /* the writer does not end */
	pid_t writer;
};

static bool compressed(const struct mixed *in)
{
	return in->kind != FILE_PLAIN && in->kind != FIFO_PLAIN;
}

static void draw_input(struct mixed *in, const unsigned char *data, bool *stdin_taken)
{
	*in = (struct mixed){
		.kind = (unsigned)below(KINDS), .pack = {.state = 1 + below(1000)}, .writer = -1};
	if (in->kind == STDIN_ZSTD && *stdin_taken)
		in->kind = FILE_ZSTD;
	*stdin_taken |= in->kind == STDIN_ZSTD;
	if (!compressed(in)) {
		in->bytes = below(below(3) ? 100000 : 2000000);
		memcpy(pack_room(&in->pack, in->bytes + 1), data, in->bytes);
		in->pack.bytes = in->bytes;
		return;
	}
	for (in->frames = 0; in->frames < 1 + below(8); in->frames++) {
		static const size_t MOST[] = {1, 9, 60000, 60000, 60000, 900000};
		const size_t n = below(MOST[below(6)]);
		pack_frame(&in->pack, data + in->bytes, n, 1, below(3) == 0, below(2),
			   below(3) ? 10 + (int)below(6) : 0);
		in->bytes += n;
		in->decoded[in->frames] = in->bytes;
		in->packed[in->frames] = in->pack.bytes;
		if (below(9) == 0)
			pack_skippable(&in->pack, below(300));
	}
}

/* Where the writer may stop when -n ends after `last` decoded bytes. */
static size_t enough_of(const struct mixed *in, size_t last)
{
	unsigned i = 0;

	if (!compressed(in))
		return last;
	while (in->decoded[i] < last)
		i++;
	return in->packed[i];
}

/* A file, or a process that writes. */
static void offer(struct mixed *in, unsigned k, char **path)
{
	const size_t each = 1 + below(below(5) ? 90000 : 2000),
		     bytes = in->stays ? in->enough : in->pack.bytes;
	int ends[2] = {-1, -1};

	snprintf(in->name, sizeof(in->name), "f%u", k);
	*path = in->name;
	if (in->kind <= FILE_ZSTD) {
		scratch_write(in->name, in->pack.data, in->pack.bytes);
		return;
	}
	if (in->kind == STDIN_ZSTD) {
		*path = (char *)(uintptr_t) "-";
		CHECK(pipe(ends) == 0, "a pipe");
	} else {
		CHECK(mkfifo(in->name, 0600) == 0, "a FIFO");
	}
	in->writer = fork();
	if (in->writer == 0) {
		alarm(60);
		const int fd = in->kind == STDIN_ZSTD ? ends[1] : open(in->name, O_WRONLY);
		if (in->kind == STDIN_ZSTD)
			close(ends[0]);
		int status;
		waitpid(feed(fd, in->pack.data, bytes, each), &status, 0);
		if (in->stays)
			pause();
		_exit(0);
	}
	if (in->kind == STDIN_ZSTD) {
		close(ends[1]);
		to_stdin(ends[0]);
	}
}

/*
 * Has every job that nobody decodes no more than it has taken of the memory, and all of them, where
 * there are several, no more than there is?
 */
static bool within(struct source *s)
{
	bool all = true;
	uint64_t kept = 0;
	unsigned several = 0;

	lock_take(&s->lock);
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		all &= j->running || job_takes(j, &(struct cut){.pieces = 0}) <= j->held;
		several += j->cut.need > 0; /* one alone may take more */
	}
	for (const struct zstd_job *j = s->zstd.free_jobs; j; j = j->next)
		all &= job_takes(j, &(struct cut){.pieces = 0}) <= j->held;
	for (const struct input *in = s->inputs; in; in = in->next)
		kept += in->zstd ? in->zstd->kept
				 : 0; /* of streams, for what is read before a job takes it */
	all &= several <= 1 || s->budget.held <= s->budget.memory + kept;
	lock_drop(&s->lock);
	return all;
}

struct flipper {
	struct worker w;
	uint64_t state;
	bool flips, within;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;
	struct worker *w = &f->w;
	struct reader *const reader = source_reader(w->source);
	unsigned char *buffer = malloc(w->cap);
	struct chunk chunk = {.bytes = 1};

	while (w->rc == 0 && chunk.bytes > 0) {
		if (f->flips && check_random(&f->state) >> 30 & 1)
			w->lends = !w->lends;
		const struct want want = {.room = buffer, .cap = w->cap, .lent = w->lends};
		w->rc = source_take(reader, &want, &chunk, &w->fail);
		if (w->rc != 0)
			break;
		add(w, chunk.data, chunk.bytes);
		if (w->slow && (check_random(&f->state) >> 30) % 8 == 0)
			usleep(300);
		const size_t bytes = chunk.bytes;
		source_done(reader, &chunk, chunk.bytes);
		chunk.bytes = bytes;
		f->within &= within(w->source);
	}
	free(buffer);
	return NULL;
}

static void run_crowd(const struct setup *spec, uint64_t records, uint64_t sum, unsigned seed)
{
	const unsigned workers = 1 + (unsigned)below(CROWD);
	const size_t cap = spec->use.record * (200 + below(below(2) ? 200000 : 3000));
	const bool flips = below(2);
	struct flipper f[CROWD];
	struct fail fail = {.status = STATUS_OK};
	struct source *s;
	uint64_t all = 0, total = 0;

	CHECK(setup_open(&s, spec, &fail) == 0, "%s", fail.text);
	for (unsigned i = 0; i < workers; i++) {
		f[i] = (struct flipper){.state = 1 + below(1 << 30),
					.flips = flips,
					.within = true,
					.w = {.source = s,
					      .cap = cap,
					      .lends = below(2),
					      .slow = below(2),
					      .record = spec->use.record}};
		pthread_create(&f[i].w.thread, NULL, flip, &f[i]);
	}
	for (unsigned i = 0; i < workers; i++) {
		pthread_join(f[i].w.thread, NULL);
		all += f[i].w.records;
		total += f[i].w.sum;
		CHECK(f[i].w.rc == 0, "seed %u: '%s'", seed, f[i].w.fail.text);
		CHECK(f[i].within, "seed %u: more memory than was taken", seed);
	}
	const struct source_totals t = *source_totals(s);
	CHECK(all == records && total == sum && source_finished(s), "seed %u: %llu of %llu records",
	      seed, (unsigned long long)all, (unsigned long long)records);
	CHECK(t.bytes == t.skipped + t.tail + all * spec->use.record, "seed %u: %llu bytes", seed,
	      (unsigned long long)t.bytes);
	source_close(s);
}

static void mix(const unsigned char *data, unsigned seed)
{
	struct mixed in[INPUTS];
	char *paths[INPUTS];
	const unsigned inputs = 1 + (unsigned)below(INPUTS);
	struct setup spec = {.open.paths = paths,
			     .open.path_count = inputs,
			     .use.limit = UINT64_MAX,
			     .open.ignore_tail = true,
			     .use.record = 1 + (uint32_t)below(8),
			     .use.threads = 1 + (unsigned)below(CROWD),
			     .use.memory = (uint64_t)1 << (20 + below(7))};
	uint64_t least = UINT64_MAX, all = 0, records = 0, sum = 0;
	bool stdin_taken = false;

	for (unsigned k = 0; k < inputs; k++) {
		draw_input(&in[k], data, &stdin_taken);
		least = in[k].bytes < least ? in[k].bytes : least;
	}
	spec.open.skip = below(3) ? 0 : below(least + 1);
	const uint64_t exact = below(inputs + 3); /* -n ends with this input, if there is one */
	for (unsigned k = 0; k < inputs; k++) {
		all += (in[k].bytes - spec.open.skip) / spec.use.record;
		if (k == exact && all > 0)
			spec.use.limit = all;
	}
	if (spec.use.limit == UINT64_MAX && below(3))
		spec.use.limit = 1 + below(all + 2);
	for (unsigned k = 0; k < inputs; k++) {
		struct setup rest = spec;
		uint64_t some, part;
		if (rest.use.limit != UINT64_MAX)
			rest.use.limit -= records;
		expected(data, in[k].bytes, &rest, &some, &part);
		records += some;
		sum += part;
		if (spec.use.limit == records && some > 0) {
			in[k].stays = below(2);
			in[k].enough = enough_of(&in[k],
						 (size_t)(spec.open.skip + some * spec.use.record));
			memset(in[k].pack.data + in[k].enough, 0x55,
			       in[k].pack.bytes - in[k].enough);
		}
	}
	for (unsigned k = 0; k < inputs; k++)
		offer(&in[k], k, &paths[k]);
	alarm(60);
	run_crowd(&spec, records, sum, seed);
	alarm(0);
	for (unsigned k = 0; k < inputs; k++) {
		if (in[k].writer > 0) {
			kill(in[k].writer, SIGKILL);
			waitpid(in[k].writer, NULL, 0);
		}
		free(in[k].pack.data);
	}
	scratch_clean();
}

int main(void)
{
	const size_t room = (size_t)8 << 20;
	unsigned char *data = malloc(room);

	signal(SIGPIPE, SIG_IGN);
	scratch_enter();
	state = 77;
	for (size_t i = 0; i < room; i++)
		data[i] =
			(unsigned char)((i % 65536 < 3000 ? check_random(&state) >> 30 : i >> 13) &
					31);
	for (unsigned seed = 1; seed <= 400; seed++) {
		state = seed * 0x9e3779b97f4a7c15u | 1;
		mix(data, seed);
	}
	free(data);
	scratch_leave();
	return check_report();
}
