/* SPDX-License-Identifier: MIT */
/*
 * take: a job's inputs offered as files and by writers, read by all readers of a source, and
 * compared with the model.
 *
 * Why every wait ends: a writer looks every 10 ms whether the readers have ended; the readers are
 * what is tested, and the driver has an alarm.
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../unpack_soft.h"
#include "base/huge.h"
#include "frames/zstd_job.h"

/* Bytes of a job that were not taken: small jobs take less for packed bytes than a block may need. */
#ifdef SMALL_JOBS
#define EXTRA huge_grown(FRAME_BLOCK_MAX + FRAME_BLOCK_HEADER)
#else
#define EXTRA 0
#endif
#define BESIDE 10000u /* bytes of an input that a slice reads besides its samples, at most */
#define FD_FIRST 100  /* of the inputs: messages have these numbers */

typedef unsigned long long ull;

struct run {
	const struct job *job;
	const struct truth *truth;
	struct source *source;
	struct soft *device;
	atomic_ullong taken; /* bytes of records */
	atomic_bool over;
	atomic_size_t told; /* inputs that ended */
};

/* What was read. */
struct sums {
	uint64_t bytes, sum;
	struct source_totals totals;
	bool failed;
	struct fail fail;
	uint64_t batches; /* of the device */
};

/* Bytes that a reader got, with a known place. */
struct extent {
	size_t input, from, to;
};

struct taker {
	struct run *run;
	pthread_t thread;
	unsigned index;
	struct extent *extent;
	size_t extents, capacity;
	uint64_t sum, bytes;
	int rc;
	struct fail fail;
};

/* ---- what is read of files: in place of libc's pread ---- */

static atomic_ullong read_of_files;

ssize_t pread(int fd, void *buffer, size_t n, off_t offset)
{
	const ssize_t got = syscall(SYS_pread64, fd, buffer, n, offset);

	read_of_files += got > 0 ? (size_t)got : 0;
	return got;
}

/* ---- writers ---- */

struct writer {
	struct run *run;
	const struct offer *offer;
	int fd;
	pthread_t thread;
};

/* Where a write ends that begins at `at`: if paced, with a record. */
static size_t write_end(const struct writer *w, size_t at, size_t all)
{
	const uint32_t record = w->run->job->setup.use.record;
	size_t piece = w->offer->piece;

	if (w->offer->paced)
		piece += record - piece % record;
	return all - at < piece ? all : at + piece;
}

static void *feed(void *arg)
{
	struct writer *const w = arg;
	const struct offer *const o = w->offer;
	const uint32_t record = w->run->job->setup.use.record;
	const size_t all = o->stops > 0 ? o->stops : o->size;
	size_t end = 0;

	for (size_t at = 0; at < all && !w->run->over;) {
		struct pollfd p = {.fd = w->fd, .events = POLLOUT};
		if (at == end && o->paced && w->run->taken < at / record * record) {
			usleep(100);
			continue;
		}
		if (poll(&p, 1, 10) <= 0)
			continue;
		end = at == end ? write_end(w, at, all) : end;
		const ssize_t n = write(w->fd, o->bytes + at, end - at);
		if (n < 0 && errno != EAGAIN)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	while (o->stops > 0 && !w->run->over)
		usleep(1000);
	close(w->fd);
	return NULL;
}

/* Makes the input's descriptor; the writer's end, or -1 for a file. */
static int offer_input(const struct offer *o, int to)
{
	int ends[2];

	if (o->route >= ROUTE_PIPE) {
		if (pipe(ends) != 0)
			abort();
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	} else {
		ends[0] = memfd_create("input", 0);
		ends[1] = -1;
		static const unsigned char before[200];
		if (write(ends[0], before, o->origin) != (ssize_t)o->origin ||
		    write(ends[0], o->bytes, o->size) != (ssize_t)o->size)
			abort();
		lseek(ends[0], (off_t)o->origin, SEEK_SET);
	}
	dup2(ends[0], to);
	close(ends[0]);
	return ends[1];
}

/* ---- readers ---- */

static bool takes_more(const struct zstd_job *j)
{
	return job_takes(j, &(struct cut){.pieces = 0}) > j->budgeted + EXTRA;
}

/* More memory than there is? */
static void look(struct source *s)
{
	uint64_t kept = 0;
	bool beyond = false;

	lock_take(&s->lock);
	for (const struct input *in = s->inputs; in; in = in->next)
		kept += in->zstd ? in->zstd->stream_bytes : 0;
	for (const struct zstd_job *j = s->jobs->budget.free_jobs; j; j = j->next)
		beyond |= takes_more(j);
	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		beyond |= j->running == 0 && takes_more(j);
	beyond |= s->jobs->budget.jobs > 1 &&
		  s->jobs->budget.live_bytes > s->jobs->budget.memory + kept;
	lock_drop(&s->lock);
	CHECK(!beyond, "more memory than was taken");
}

/* Compares bytes whose place is known. */
static void compare(struct taker *w, const struct chunk *c, const unsigned char *data, size_t bytes)
{
	const struct truth *const t = w->run->truth;
	const struct source_use *const use = &w->run->job->setup.use;
	const struct view *const v = &t->view[c->path < OFFERS ? c->path : 0];
	const uint64_t packed = use->packed > 0 ? use->packed : 1;
	const uint64_t at = c->record / packed * use->record;

	if (t->unclear || w->run->job->setup.open.parts > 0 || w->run->job->device.wrong > 0)
		return;
	CHECK(c->path < w->run->job->setup.open.path_count && c->record % packed == 0,
	      "input %zu, record %llu", c->path, (ull)c->record);
	if (v->data && v->first + at + bytes <= v->bytes)
		CHECK(memcmp(data, v->data + v->first + at, bytes) == 0,
		      "other bytes: input %zu, record %llu", c->path, (ull)c->record);
	else
		CHECK(t->may && (!w->run->job->setup.open.ordered || t->vague || !v->data),
		      "bytes beyond the end");
	if (w->extents == w->capacity) {
		w->capacity = 2 * w->capacity + 100;
		w->extent = realloc(w->extent, w->capacity * sizeof(*w->extent));
	}
	w->extent[w->extents++] = (struct extent){c->path, (size_t)at, (size_t)at + bytes};
}

static void count(struct taker *w, const unsigned char *data, size_t bytes)
{
	w->sum += model_sum(data, bytes, w->run->job->setup.use.record);
	w->bytes += bytes;
	w->run->taken += bytes;
}

/* Do rows end where a plain chunk does? */
static void check_row(const struct taker *w, const struct chunk *c)
{
	const struct source_use *const use = &w->run->job->setup.use;
	const uint64_t end = c->record + model_records(use, c->bytes);

	CHECK(end % use->row == 0 || c->record / use->row == (end - 1) / use->row,
	      "records %llu to %llu", (ull)c->record, (ull)end);
}

static void *work(void *arg)
{
	struct taker *const w = arg;
	const struct job *const job = w->run->job;
	const struct source_spec *const open = &job->setup.open;
	const struct source_use *const use = &job->setup.use;
	struct source *const s = w->run->source;
	struct reader *const r = source_reader(s);
	unsigned char *const buffer = malloc(job->cap);
	struct chunk c;
	unsigned i;

	for (i = 0; w->rc == 0; i++) {
		const struct want want = {.buffer = buffer,
					  .cap = job->cap,
					  .lent = open->ordered || (w->index + i / 3) % 3 > 0,
					  .unpacked = job->unpacked};
		w->rc = source_take(r, &want, &c, &w->fail);
		if (w->rc != 0 || c.bytes == 0)
			break;
		if (i % 4 == 0)
			look(s);
		CHECK(use->packed > 1 || c.bytes % use->record == 0, "part of a record");
		if (c.piece || open->ordered)
			compare(w, &c, c.data, c.bytes);
		if (use->row > 0 && !c.piece && !job->offer[c.path].packed &&
		    job->offer[c.path].route < ROUTE_PIPE)
			check_row(w, &c);
		count(w, c.data, c.bytes);
		/* Some chunks are added to their checksum here, the others by the source. */
		CHECK(!c.hash || !open->no_check, "a checksum that nobody looks at");
		if (c.hash && i % 3 > 0)
			xxh64_add(c.hash, c.data, i % 3 == 1 ? c.bytes : c.bytes / 2);
		if (w->index % 4 == 3 && i % 8 == 7)
			usleep(300);
		source_done(r, &c);
		if (job->stop > 0 && i == job->stop)
			source_stop(s);
	}
	const struct want again = {.buffer = buffer, .cap = job->cap, .lent = open->ordered};
	const int rc = source_take(r, &again, &c, &(struct fail){.status = STATUS_OK});
	/* The last chunk of another reader may have shown a failure since. */
	CHECK((rc == w->rc || w->rc == 0) && c.bytes == 0, "records after the end");
	free(buffer);
	return NULL;
}

/* ---- the verdict ---- */

static int by_place(const void *a, const void *b)
{
	const struct extent *const x = a, *const y = b;

	if (x->input != y->input)
		return x->input < y->input ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/*
 * No bytes come twice. If ordered, they are a beginning of all: without a failure, or a stop, all;
 * with one, up to the bad frame at least.
 */
static void check_places(const struct job *job, const struct truth *t, struct extent *e, size_t n,
			 bool failed)
{
	size_t input = 0, at = 0;

	if (t->unclear || job->setup.open.parts > 0 || job->device.wrong > 0)
		return;
	qsort(e, n, sizeof(*e), by_place);
	for (size_t i = 0; i < n; i++) {
		if (!job->setup.open.ordered) {
			CHECK(i == 0 || e[i].input > e[i - 1].input || e[i].from >= e[i - 1].to,
			      "input %zu, byte %zu comes twice", e[i].input, e[i].from);
			continue;
		}
		if (t->late && e[i].input > t->input)
			break; /* the model ends before */
		while (input < e[i].input && input < OFFERS && at == t->view[input].wanted) {
			input++;
			at = 0;
		}
		CHECK(input == e[i].input && at == e[i].from,
		      "input %zu, byte %zu comes after input %zu, byte %zu", e[i].input, e[i].from,
		      input, at);
		input = e[i].input;
		at = e[i].to;
	}
	while (failed && input < t->input && at == t->view[input].wanted) {
		input++;
		at = 0;
	}
	if (failed && job->setup.open.ordered && job->stop == 0)
		CHECK((t->late && input > t->input) ||
			      (input == t->input && (at >= t->sure || !t->view[input].data)),
		      "input %zu, byte %zu are the last, not input %zu, byte %zu", input, at,
		      t->input, t->sure);
}

static void check_totals(const struct source_totals *got, const struct source_totals *want)
{
#define SAME(field)                                                                  \
	CHECK(got->field == want->field, #field ": %llu, not %llu", (ull)got->field, \
	      (ull)want->field)
	SAME(bytes);
	SAME(skipped);
	SAME(tail);
	SAME(tails);
	SAME(padding);
	SAME(headers);
	SAME(truncated);
	SAME(unsized);
	SAME(empty.count);
	SAME(behind.count);
	SAME(behind_bytes);
#undef SAME
}

static void check_all(const struct job *job, const struct truth *t, const struct sums *sums,
		      struct run *run, const uint64_t *begin)
{
	const bool right =
		!sums->failed ? !t->must
			      : t->may && sums->fail.status == t->status &&
					strncmp(sums->fail.text, t->text, strlen(t->text)) == 0;
	const bool sliced = job->setup.open.parts > 0;

	if (job->stop > 0 || t->unclear)
		return;
	/* A wrong byte of a device was counted before its frame had ended. */
	if (job->device.wrong > 0 && sums->failed && sums->fail.status == STATUS_INTERNAL)
		return;
	CHECK(right, "'%s' (%d), not %s'%s' (%d)", sums->failed ? sums->fail.text : "",
	      (int)sums->fail.status, t->must ? "" : "perhaps ", t->text, (int)t->status);
	if (sums->failed) {
		CHECK(run->told <= t->input && (!job->setup.open.ordered || run->told == t->input),
		      "%zu inputs ended", (size_t)run->told);
		return;
	}
	CHECK(source_exhausted(run->source), "not finished");
	CHECK(source_counted(run->source) == sums->bytes, "%llu bytes counted",
	      (ull)source_counted(run->source));
	if (sliced)
		return;
	CHECK(sums->bytes == t->wanted && sums->sum == t->sum, "%llu of %llu bytes",
	      (ull)sums->bytes, (ull)t->wanted);
	CHECK(run->told == t->inputs && sums->totals.inputs == t->inputs, "%zu of %zu inputs ended",
	      (size_t)run->told, t->inputs);
	CHECK(sums->totals.streamed == t->totals.streamed, "streams");
	check_totals(&sums->totals, &t->totals);
	for (size_t i = 0; i < t->inputs; i++)
		CHECK(begin[i] == t->view[i].first, "input %zu begins at %llu", i, (ull)begin[i]);
}

/* ---- a run ---- */

static void note_ended(void *arg, size_t inputs)
{
	struct run *const run = arg;
	size_t before = run->told;

	while (before < inputs && !atomic_compare_exchange_weak(&run->told, &before, inputs))
		;
}

static bool start_device(void *arg)
{
	return soft_start(((struct run *)arg)->device);
}

static struct soft *open_device(const struct job *job, struct source_use *use)
{
	const struct device_plan *const d = &job->device;

	if (!d->has)
		return NULL;
	struct soft *const f = soft_open(d->rooms, d->looks, job->seed);
	f->lost = d->lost;
	f->wrong = d->wrong;
	f->refused = d->refused;
	f->vanishes = d->vanishes;
	f->never = d->never;
	f->unpacker.demanded = d->demanded;
	use->unpacker = &f->unpacker;
	use->start_device = start_device;
	return f;
}

/* All readers, until each has seen the end. */
static void read_all(struct run *run, unsigned readers, struct sums *sums)
{
	struct taker taker[READERS_MOST];
	struct extent *all = NULL;
	size_t extents = 0;

	for (unsigned i = 0; i < readers; i++) {
		taker[i] = (struct taker){.run = run, .index = i};
		pthread_create(&taker[i].thread, NULL, work, &taker[i]);
	}
	if (run->job->stop > 0) {
		usleep(20000);
		source_stop(run->source);
	}
	for (unsigned i = 0; i < readers; i++) {
		struct taker *const w = &taker[i];
		pthread_join(w->thread, NULL);
		sums->bytes += w->bytes;
		sums->sum += w->sum;
		all = realloc(all, (extents + w->extents + 1) * sizeof(*all));
		if (w->extents > 0)
			memcpy(all + extents, w->extent, w->extents * sizeof(*all));
		extents += w->extents;
		free(w->extent);
	}
	sums->failed = source_failure(run->source, &sums->fail) != 0;
	check_places(run->job, run->truth, all, extents, sums->failed);
	free(all);
}

/* Slice `part`, or all. */
static void take_part(const struct job *job, const struct truth *t, unsigned threads, uint32_t part,
		      struct sums *sums)
{
	struct setup setup = job->setup;
	const size_t inputs = setup.open.path_count;
	struct run run = {.job = job, .truth = t};
	struct writer writer[OFFERS];
	uint64_t begin[OFFERS] = {0};

	for (size_t i = 0; i < inputs; i++) {
		const struct offer *const o = &job->offer[i];
		const int fd = o->route % 2 ? STDIN_FILENO : FD_FIRST + (int)i;
		writer[i] = (struct writer){&run, o, offer_input(o, fd), 0};
		if (writer[i].fd >= 0)
			pthread_create(&writer[i].thread, NULL, feed, &writer[i]);
	}
	setup.open.paths = job->paths;
	setup.open.part = part;
	setup.use.threads = threads;
	setup.use.begin = begin;
	setup.use.ended = note_ended;
	setup.use.arg = &run;
	run.device = open_device(job, &setup.use);
	sums->failed = setup_open(&run.source, &setup, &sums->fail) != 0;
	if (!sums->failed)
		read_all(&run, threads == 1 ? 1 : job->workers, sums);
	if (run.source)
		sums->totals = *source_totals(run.source);
	check_all(job, t, sums, &run, begin);
	source_close(run.source);
	run.over = true;
	if (t->left >= 0 && inputs == 1 && part == 0 && !sums->failed && !t->unclear &&
	    job->stop == 0 && (!job->offer[0].packed || setup.use.limit == NO_LIMIT))
		CHECK(lseek(STDIN_FILENO, 0, SEEK_CUR) == t->left, "left at %lld, not %lld",
		      (long long)lseek(STDIN_FILENO, 0, SEEK_CUR), (long long)t->left);
	if (run.device)
		sums->batches += soft_close(run.device);
	for (size_t i = 0; i < inputs; i++) {
		const int fd = job->offer[i].route % 2 ? STDIN_FILENO : FD_FIRST + (int)i;
		const int nothing = open("/dev/null", O_RDONLY);
		dup2(nothing, fd); /* a writer may still write */
		close(nothing);
		if (writer[i].fd >= 0)
			pthread_join(writer[i].thread, NULL);
	}
}

/* What slice k has: its share of the groups of each input, rounded down to whole MiB if large. */
static struct sums share_of(const struct job *job, const struct truth *t, uint32_t k)
{
	const struct source_use *const use = &job->setup.use;
	const uint64_t n = job->setup.open.parts, record = use->record, mib = 1 << 20;
	struct sums share = {.bytes = 0};

	for (size_t i = 0; i < t->inputs; i++) {
		const struct view *const v = &t->view[i];
		const uint64_t groups = (v->wanted + record - 1) / record;
		const bool rounds = mib % record == 0 && groups / n >= 16 * mib / record;
		uint64_t border[2] = {groups * (k - 1) / n * record, groups * k / n * record};
		for (unsigned j = 0; j < 2; j++) {
			border[j] -= rounds && k - 1 + j < n ? border[j] % mib : 0;
			border[j] = border[j] < v->wanted ? border[j] : v->wanted;
		}
		share.bytes += border[1] - border[0];
		if (border[1] > border[0])
			share.sum += model_sum(v->data + v->first + border[0],
					       border[1] - border[0], use->record);
	}
	return share;
}

/* All slices, one after another: each has its share, and their totals are those of all. */
static void take_parts(const struct job *job, const struct truth *t, unsigned threads,
		       struct sums *all)
{
	const uint32_t parts = job->setup.open.parts;
	const size_t inputs = job->setup.open.path_count;
	struct source_totals *const sum = &all->totals;
	uint64_t records = 0;

	for (size_t i = 0; i < t->inputs; i++)
		records += model_records(&job->setup.use, t->view[i].wanted);
	for (uint32_t k = 1; k <= parts; k++) {
		struct sums one = {.bytes = 0};
		read_of_files = 0;
		take_part(job, t, threads, k, &one);
		const struct source_totals *const o = &one.totals;
		all->failed |= one.failed;
		all->fail = one.fail;
		if (one.failed || t->must || job->stop > 0 || t->unclear)
			continue;
		const struct sums want = share_of(job, t, k);
		CHECK(one.bytes == want.bytes && one.sum == want.sum,
		      "slice %u of %u has %llu bytes, not %llu, or others", k, parts,
		      (ull)one.bytes, (ull)want.bytes);
		CHECK(o->slice.all == records, "%llu records of all slices", (ull)o->slice.all);
		all->bytes += one.bytes;
		all->sum += one.sum;
		sum->bytes += o->bytes;
		sum->skipped += o->skipped;
		sum->tail += o->tail;
		sum->tails += o->tails;
		sum->padding += o->padding;
		sum->inputs += o->inputs;
		sum->headers += o->headers;
		sum->truncated += o->truncated;
		sum->unsized += o->unsized;
		sum->empty.count += o->empty.count;
		sum->behind.count += o->behind.count;
		sum->behind_bytes += o->behind_bytes;
		CHECK(read_of_files <= one.bytes + BESIDE * inputs,
		      "slice %u of %u has %llu bytes, and read %llu", k, parts, (ull)one.bytes,
		      (ull)read_of_files);
	}
	if (all->failed || t->must || job->stop > 0 || t->unclear)
		return;
	CHECK(all->bytes == t->wanted, "%llu of %llu bytes", (ull)all->bytes, (ull)t->wanted);
	CHECK(sum->inputs == t->inputs, "%llu inputs", (ull)sum->inputs);
	check_totals(sum, &t->totals);
}

static void take(const struct job *job, const struct truth *t, unsigned threads, struct sums *sums)
{
	*sums = (struct sums){.bytes = 0};
	if (job->setup.open.parts > 0)
		take_parts(job, t, threads, sums);
	else
		take_part(job, t, threads, 0, sums);
}

/* May the writer stop after the last record of -n, and each writer wait for the readers? */
static void draw_writers(struct job *job, const struct truth *t)
{
	struct source_spec *const open = &job->setup.open;
	struct offer *const last = &job->offer[t->inputs > 0 ? t->inputs - 1 : 0];
	const struct view *const v = &t->view[t->inputs > 0 ? t->inputs - 1 : 0];
	const bool fine = !t->may && !t->unclear && !job->setup.headers && open->parts == 0;

	if (fine && !last->packed && last->route >= ROUTE_PIPE && v->wanted > 0 &&
	    t->totals.tail == 0 &&
	    model_bytes(&job->setup.use, job->setup.use.limit) == t->wanted &&
	    v->first + v->wanted >= 16)
		last->stops = (size_t)v->first + v->wanted;
	/* It stays when only a stop can end the readers' wait; the first input is open by then. */
	if (fine && job->stop > 0 && last->route >= ROUTE_PIPE && last->size > 5000 &&
	    (!last->packed || t->inputs > 1))
		last->stops = last->size / 2 + 2000;
	if (fine && open->prompt && open->path_count == 1 && last->size > 0 && job->stop == 0 &&
	    !last->packed && last->begin == 0 && open->skip == 0)
		last->paced = true;
}

uint64_t take_all(struct job *job, const struct truth *t)
{
	struct sums one, all;

	draw_writers(job, t);
	take(job, t, 1, &one);
	if (job->setup.use.threads == 1)
		return one.batches;
	take(job, t, job->setup.use.threads, &all);
	if (t->must && job->stop == 0 && !t->unclear && job->device.wrong == 0)
		CHECK(strcmp(one.fail.text, all.fail.text) == 0, "'%s', with one reader '%s'",
		      all.fail.text, one.fail.text);
	return all.batches;
}

unsigned long take_failed(void)
{
	return check_failed;
}
