/* SPDX-License-Identifier: MIT */
/*
 * run_prepare: the first input, the plan, the source, the memory. The first input's header is read
 * first, because the whole plan depends on the type.
 */
#include "run/run_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cores.h"
#include "base/isa.h"
#include "base/path.h"
#include "gpu/gpu_plan.h"
#include "gpu_helper/gpu_image.h"
#include "hist/series.h"
#include "input/source_open.h"

/* Decoders per core: more are no faster, even if some wait for a disk, and each needs memory. */
#define DECODERS_PER_CORE 2u

static int open_source(struct run *run, struct source **source, struct fail *fail);
static int make_plan(struct run *run, const struct source *source, struct fail *fail);
static int start_source(struct run *run, struct source *source, struct fail *fail);
static int take_memory(struct run *run, struct fail *fail);
static int open_rows(struct run *run, const struct source *source, struct each **each,
		     struct fail *fail);

int run_prepare(struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	struct source *source = NULL;
	struct each *each = NULL;
	const bool failed = open_source(run, &source, fail) != 0 ||
			    make_plan(run, source, fail) != 0 ||
			    start_source(run, source, fail) != 0 || take_memory(run, fail) != 0 ||
			    (job->each > 0 && open_rows(run, source, &each, fail) != 0);

	/* Fill it in even after a failure: cleanup uses it. */
	run->work = (struct work){
		.each = each,
		.counting = &run->plan.counting,
		.source = source,
		.counts = &run->counts,
		.block = run->plan.block,
		.record = run->shape.record,
		.packed = run->shape.packed,
		.start_next = run_start_next,
		.arg = run,
		.gpu_only = job->machine.device == DEVICE_GPU,
		.snapshot = job->every > 0 ? &run->snapshot : NULL,
	};
	if (failed)
		return -1;
	__atomic_store_n(&run->prepared, true, __ATOMIC_RELEASE);
	return 0;
}

/* Open the inputs; the options or else the first header decide the shape. */
static int open_source(struct run *run, struct source **source, struct fail *fail)
{
	const struct job *const job = run->job;
	struct source_spec spec = job->source;

	/* Count slow input promptly, for the next partial output or row. */
	spec.prompt = job->every > 0 || job->each > 0;
	spec.ordered = job->each > 0;
	spec.memory = job->machine.memory;
	if (spec.text.by && !(run->names = text_keys_new()))
		return fail_errno(fail, "--by");
	spec.text.keys = run->names;
	if (source_open(source, &spec, fail) != 0)
		return -1;
	run->report.header = *source_said(*source);
	run->report.style = job->style;
	if (job->source.tensor && !job->titled) {
		snprintf(run->report.title, TITLE_TEXT, "%s: %s",
			 path_name(source_totals(*source)->first), job->source.tensor);
		run->report.style.canvas.title = run->report.title;
	}
	if (job_shape(&run->shape, job, &run->report.header, fail) != 0)
		return -1;
	if (job->layout_options.record > 0 && run->shape.limit == UINT64_MAX &&
	    source_check_record(*source, run->shape.record, fail) != 0)
		return -1;
	run->report.type = run->shape.axis.type;
	run->report.record = run->shape.record;
	run->report.packed = run->shape.packed;
	return 0;
}

/* Decide whether a GPU may be started. Return the reason against it, for -v, or NULL. */
static const char *choose_gpu(struct run *run)
{
	const struct gpu_spec gpu = plan_gpu(&run->plan, run->job);

	if (run->job->machine.device == DEVICE_CPU)
		return "--device=cpu";
	if (gpu_declines(run->job, &run->shape))
		return gpu_declines(run->job, &run->shape);
	if (!kernel_image)
		return "this program was built without GPU kernels; build it where nvcc is "
		       "installed";
	if (run->plan.lanes == 0)
		return "its buffers and counters do not fit in -M (--device=gpu starts it anyway)";
	const bool text = run->job->source.text.on;
	if (run->job->machine.device == DEVICE_GPU ||
	    (!text && (!gpu_size(&gpu).resident || job_reads_files(run->job))))
		return NULL;
	run->plan.lanes = 0;
	if (text)
		return "reading text takes longer than counting (--device=gpu starts it anyway)";
	return "it would hold the counts of a stream, which cannot be read again if it fails "
	       "(--device=gpu starts it anyway)";
}

static int make_plan(struct run *run, const struct source *source, struct fail *fail)
{
	static const char *const METHODS[] = {[COUNT_BYTES] = "bytes",
					      [COUNT_CODES] = "codes",
					      [COUNT_PRIVATE] = "private tables",
					      [COUNT_SHARED] = "one shared table"};
	const struct job *job = run->job;
	struct plan *plan = &run->plan;

	const struct plan_facts facts = {
		.kernels = kernel_image != NULL,
		.plain = source_all_plain(source),
	};
	*plan = plan_make(job, &run->shape, &facts);
	if (plan->workers == 0)
		return fail_set(fail, STATUS_LIMIT,
				"--memory %s is too small for one worker, which needs %zu bytes; "
				"-M %zuK is enough",
				job->machine.memory_text, plan->tables,
				(2 * plan->tables + 1023) / 1024);
	run->pages.most = plan->digests;
	if (run->names)
		run->names->most = plan->texts;
	plan->counting.pages = job->each > 0 ? NULL : &run->pages;
	run->report.plan.isa = isa_name(isa_best());
	run->report.plan.method = METHODS[plan->counting.method];
	run->report.plan.no_gpu = choose_gpu(run);
	if (run->report.plan.no_gpu && job->machine.device == DEVICE_GPU)
		return fail_set(fail, STATUS_DEVICE, "--device=gpu cannot be used: %s",
				run->report.plan.no_gpu);
	run->report.plan.memory = plan->tables + plan->counting.cells * sizeof(uint64_t);
	return 0;
}

/* Callback for the source. */
static void ended(void *arg, size_t inputs)
{
	const struct run *const run = arg;

	each_ended(run->work.each, inputs);
}

static int start_source(struct run *run, struct source *source, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct shape *const shape = &run->shape;
	const unsigned workers = run->plan.workers;
	/* Look up cores only if it may matter. */
	const bool many = workers > DECODERS_PER_CORE && !job->source.raw;

	const bool offsets = job->each > 0 && !job->source.text.on;

	if (offsets)
		run->row.begin = calloc(job->source.path_count, sizeof(*run->row.begin));
	const struct source_use use = {
		.record = shape->record,
		.packed = shape->packed,
		.limit = shape->limit,
		.type = sample_type_word(&shape->axis.type),
		.channels = shape->header_channels,
		.last = shape->header_last,
		.row = shape->row == ROW_IS_INPUT ? 0 : shape->row,
		.ended = job->each > 0 ? ended : NULL,
		.threads = workers,
		.decoders = many ? DECODERS_PER_CORE * cores_usable() : 0,
		.memory = run->plan.decoders,
		.begin = run->row.begin,
		.start_worker = run_more,
		.start_device = run_start_unpacker,
		.arg = run,
		.unpacker = run->plan.lanes > 0 ? &run->unpacker : NULL,
	};

	if (offsets && !run->row.begin)
		return fail_errno(fail, "--each");
	run->unpacker = gpu_unpacker(&run->work.gpu);
	run->unpacker.demanded = job->machine.device == DEVICE_GPU;
	return source_start(source, &use, fail);
}

/* The digits of the digests; 0: no quantiles are asked for, or codes determine them. */
static uint32_t digest_digits(const struct job *job, const struct shape *shape)
{
	const bool document = job->into || job->format->can & IS_DOCUMENT;

	if (sample_is_code(&shape->axis.type))
		return document ? DIGEST_FINE : 0;
	return plan_digits(job, shape);
}

int run_name_series(const struct run *run, struct hist *hist, struct fail *fail)
{
	if (run->job->by_text) {
		hist->what = SERIES_KEYS;
		hist->by = job_by_name(run->job);
		return hist->by ? 0 : fail_errno(fail, "--by");
	}
	const struct text_spec *const text = &run->job->source.text;
	char name[TEXT_COLUMNS][TEXT_NAME];
	const char *names[TEXT_COLUMNS];
	for (uint32_t c = 0; c < text->columns; c++) {
		text_column_name(name[c], &text->column[c]);
		names[c] = name[c];
	}
	if (text->columns > 1)
		return series_set(hist, SERIES_COLUMNS, names, fail);
	return run->shape.pairs ? series_set_pairs(hist, fail) : 0;
}

/* Allocate the histogram, the totals and the workers. */
static int take_memory(struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct counting *const counting = &run->plan.counting;
	const struct axis *const axis = &run->shape.axis;
	const bool by = job->by_text;
	const uint32_t channels = by ? keys_most(axis_bins(axis)) : run->shape.channels;

	if (by && keys_open(&run->keys, &run->shape.by, axis_bins(axis), fail) != 0)
		return -1;
	run->keys.texts_most = run->plan.texts;
	if (hist_reserve(&run->hist, axis, channels, fail) != 0 ||
	    codebook_init(&run->book, axis, fail) != 0 ||
	    counts_init(&run->counts, counting->cells, by ? &run->keys : NULL, fail) != 0)
		return -1;
	run->scratch = hist_scratch_new(&axis->type, channels);
	if (!run->scratch)
		return fail_errno(fail, "the histogram");
	run->plan.counting.words = run->book.words;
	run->plan.counting.ranks = run->book.ranks;
	if (by && run->book.words && !(run->book.by = counting_code_cells(counting)))
		return fail_errno(fail, "--by");
	run->plan.counting.code_cells = run->book.by;
	run->hist.whole_keys = !job->source.text.on;
	if (run_name_series(run, &run->hist, fail) != 0)
		return -1;
	run->hist.keeps_sums = true;
	run->plan.counting.keys = by ? &run->keys : NULL;
	if (by && job->quantiles.n > 0 &&
	    (hist_keep_stats(&run->hist, &job->quantiles, 0, fail) != 0 ||
	     keys_keep_stats(&run->keys, &counting->counted, run->plan.digests, fail) != 0))
		return -1;
	if (job->quantiles.n > 0 && job->each == 0 && !by &&
	    (hist_keep_stats(&run->hist, &job->quantiles, digest_digits(job, &run->shape), fail) !=
		     0 ||
	     counts_keep_stats(&run->counts, &counting->counted, channels, counting->digits,
			       &run->pages, fail) != 0))
		return -1;
	if (counting->auto_bins.most > 0)
		counts_set_auto(&run->counts, &counting->auto_bins);
	run->team.workers = calloc(run->plan.workers, sizeof(*run->team.workers));
	return run->team.workers ? 0 : fail_errno(fail, "workers");
}

/* On a terminal, rows of plain binary files are joined until they fit. */
static void join_rows(struct row_spec *row, const struct job *job, uint64_t bytes)
{
	const uint64_t records = layout_records(bytes, row->record, row->packed);

	if (row->size == ROW_IS_INPUT || job->source.text.on || records <= row->size)
		return;
	row->joined = row_plot_joined(row, records / row->size);
	row->size *= row->joined;
}

static int open_rows(struct run *run, const struct source *source, struct each **each,
		     struct fail *fail)
{
	const struct job *const job = run->job;

	run->row = (struct row_spec){
		.paths = job->source.paths,
		.path_count = job->source.path_count,
		.size = run->shape.row,
		.axis = &run->hist.axis,
		.book = &run->book,
		.channels = run->shape.channels,
		.record = run->shape.record,
		.packed = run->shape.packed,
		.skip = job->source.skip,
		.begin = run->row.begin,
		.asked = job->quantiles.n > 0 ? &job->quantiles : NULL,
		.format = job->format,
		.style = &run->report.style,
		.options = job->options,
		.series = &run->hist,
	};
	join_rows(&run->row, job, source_length(source));
	if (run->row.size == ROW_IS_INPUT)
		row_know_names(&run->row, (const char *const *)run->row.paths, run->row.path_count);
	return each_open(each, &run->row, &run->plan.counting, run->out, fail);
}
