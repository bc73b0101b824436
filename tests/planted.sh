#!/bin/sh
# SPDX-License-Identifier: MIT
# Plant bugs, one at a time, in a copy of the tree, and run the schedules, or another test, until it finds them.
# usage: tests/planted.sh [SECONDS [NAME...]]    SECONDS: how long the schedules may take to find a bug (20)
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-20}
[ $# -eq 0 ] || shift
only=$*
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/tree"
git ls-files -z Makefile src tests kernels packaging/needs.c packaging/packaging.mk | xargs -0 cp --parents -t "$copy/tree"
passed=0 failed=0

# plant NAME FILE SED [TRANSCRIPT, source_jobs, source_schedules, changed, test_X, or "in" and a scene]: make the bug with
# SED, which changes at most two lines of FILE.
plant() {
	name=$1 file=$2 change=$3 transcript=${4:-} scene=
	target='SCHED=1 build/sched/schedules' test="build/sched/schedules 1 $seconds"
	case $transcript in
	in\ *) scene=${transcript#in } ;;
	source_schedules) target='SCHED=1 build/sched/source_jobs' test="build/sched/source_jobs 1 100000 $((3 * seconds))" ;;
	source_jobs) target='NVCC= build/source_jobs' test="build/source_jobs 1 100000 $((3 * seconds))" ;;
	changed) target='NVCC= gpuhist build/torture_preload.so' test='sh tests/changed.sh gpuhist build/torture_preload.so' ;;
	test_*) target="NVCC= build/$transcript" test=build/$transcript ;;
	?*) target='NVCC= gpuhist' test="sh tests/cli.sh ./gpuhist $transcript" ;;
	esac
	case " $only " in
	*" $name "* | '  ') ;;
	*) return ;;
	esac
	cp "$file" "$copy/tree/$file"
	sed -i "$change" "$copy/tree/$file"
	lines=$(diff "$file" "$copy/tree/$file" | grep -c '^>')
	# shellcheck disable=SC2086 # several words
	if cmp -s "$file" "$copy/tree/$file" || [ "$lines" -gt 2 ]; then
		echo "$name: the bug cannot be planted in $file"
		failed=$((failed + 1))
	elif ! make -s -C "$copy/tree" $target >"$copy/log" 2>&1; then
		tail -n 5 "$copy/log"
		echo "$name: the planted bug does not compile"
		failed=$((failed + 1))
	elif (cd "$copy/tree" && $test ${scene:+"$scene"}) >"$copy/log" 2>&1; then
		echo "$name: not seen by ${transcript:-$(grep schedules "$copy/log")}"
		failed=$((failed + 1))
	else
		echo "$name: seen: $(grep -m 1 '^scene\|^---\|^job\|^source_jobs\|^FAILED\|failed:' "$copy/log")"
		passed=$((passed + 1))
	fi
	cp "$file" "$copy/tree/$file"
}

# Readers, without a wake-up: a lost call, a call that is pending for ever, an answer of the device.
plant call src/source/source.c '/^static void call_for_work/,/^}/s/^\tpthread_cond_signal.*/\t;/'
plant called src/source/source.c '/^static void await_unlocks/,/^}/s/^\ts->wait.called = false;/\t;/'
plant answer src/source/source.c '/^static bool has_work/,/^}/s/ || s->tasks->answer_due(s)//' source_schedules
# Text: a long line that no memory is kept for.
text=src/input/source_text.c
plant text_first $text 's/^\t       (text_list_is_next(&t->list, gap) && is_first(s, in));/\t       (gap == NULL);/' 'in long lines'
# Lines that span pieces: their order, their numbers, a line that a failure cuts off, the longest line, a failure too early.
list=src/text/text_list.c
plant line_order $list 's/border_put(l, b, e->tail, true);/border_put(l, b, e->tail, false);/' test_text_list
plant line_number $list 's/a->lines + b->bad_line : 0;/b->bad_line : 0;/' test_text_list
plant line_cut_off $list '/^void text_list_fail/,/^}/s/^\tborder_drop(l, x->prev);/\t;/' test_text_list
plant line_longest $list 's/^\treturn b->n - (.*) > TEXT_LINE_MOST;/\treturn b->n > TEXT_LINE_MOST;/' test_text_list
plant lines_held $list '/^void text_list_done/,/^}/s/^\t\tl->held -= node_held(x);/\t\t;/' test_text_list
plant text_bad $text 's/in->index < totals->bad_path/false/' text
# A full tee: a write that does not wait.
plant full src/base/again.h 's/^\t\t\t(void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);/\t\t\treturn -1;/' 'in a full tee'
# The GPU process: a lost doorbell, and one that rings before the sleep.
plant doorbell src/gpu/region.h 's/^\t\tregion_wake(&r->doorbell);/\t\t;/' 'in doorbell'
plant rung src/gpu_helper/pump.c 's/^\tif (__atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST) == seen)/\tseen = __atomic_load_n(\&r->doorbell, __ATOMIC_SEQ_CST);/' 'in doorbell'
# Rows, without a wake-up: a collected result, workers that leave, a wait until none is left, a failed write (either of
# two calls is enough), a failed worker.
plant collected src/each/collect.c 's/^\t\t\twake(r->owner);$/;/'
plant leaving src/each/collect.c '/^static void rest_active/,/^}/s/^\t\twake_all(e);/\t\t;/'
plant failed_write src/each/collect.c 's/^\t\t\twake_all(e);$/\t\t\t;/; /^struct result \*collect_wait/,/^}/s/^\t\twake_all(e);/\t\t;/' 'in rows of few results that cannot be written'
plant failed_worker src/each/collect.c '/^void collect_end_turn/,/^}/s/^\te->stopped |= failed;/\t;/' 'in rows of few results'
# Not of threads: a ring one block too small, which the size of huge pages hides; a tensor one sample short.
plant ring src/frames/zstd_blocks.c '/^static uint64_t ring_bytes/,/^}/s/(slots + 1)/slots/'
plant tensor src/format/safetensors.c 's/^\t\t.bytes = t->bytes,/\t\t.bytes = t->bytes - (t->bytes >> 20 > 0),/' tensors
plant rescue src/output/output.c '/^static int rename_rescue/,/^}/s/if (link(/if ((i > 1 ? rename : link)(/' output
# Figures and formats, seen by transcripts, so without Python: INL a code off, a divergence without NaN, KS without under,
# -inf in the digest, zeros in cell 0, a cell of integers joined by a shift, an edge that is in no bucket of integers.
plant inl src/hist/linearity.c 's/excess(c, c->start, sum, i - c->first - 1)/excess(c, c->start, sum, i - c->first)/' linearity
plant divergence src/hist/compare.c '/add_divergence(&s.divergence, flow\[0\]->nan/d' compare
plant under src/hist/compare.c 's/s.below\[i\] = flow\[i\]->under;/s.below[i] = 0;/' compare
plant infinity src/hist/quantile.c 's/^\tif (of->below > 0)/\tif (false)/' stats
plant zeros src/hist/quantile.c 's/cell != 0 || nth > of->zeros)/true)/' stats
plant coarser src/count/digest.c 's/const int64_t coarser = .*/const int64_t coarser = own >> (from->digits - digits); (void)values;/' merge
plant le src/output/write_prom.c 's/ || closed) - 1;/ || closed);/' prom
# The source's records, places and failures: seen by its jobs.
last_wins='/^void source_fail/,/^}/s/ || failed_before(s, in, offset)//'
plant last_wins src/source/source_ends.c "$last_wins" source_jobs
plant seam_part src/frames/zstd_seam.c 's/% s->use.record, bytes, n);/% s->use.record, bytes, n - (n > 1 \&\& seam->have > 0));/' source_jobs
plant seam_place src/frames/zstd_seam.c 's/rest = record - (size_t)((begin - in->begin) % record);/rest = record - (size_t)(begin % record);/' source_jobs
plant unsized_place src/frames/zstd_job.c 's/^\tj->next->at = end;.*/\tj->next->at = j->decoded;/' source_jobs
plant skip_inside src/frames/zstd_seam.c 's/larger(at + p->from, in->begin),/larger(at + p->from, p->begin == 0 ? in->begin : 0),/' source_jobs
plant checksum src/frames/zstd_seam.c 's/^\tif (j->fail.status != STATUS_OK || j->at >=/\tif (j->cut.how == HOW_CALLS || j->fail.status != STATUS_OK || j->at >=/' source_jobs
plant tail src/frames/zstd_cut.c 's/^\tt.tail = t.bytes - whole_records(s, t.bytes);/\tt.tail = 0;/' source_jobs
plant left src/source/source_ends.c 's/lesser(records, s->left);/lesser(records + 1, s->left);/' source_jobs
plant ended src/source/source_ends.c 's/s->inputs ? s->inputs->index :/s->inputs ? s->inputs->index + 1 :/' source_jobs
plant due src/frames/zstd_job.c 's/^\treturn input_is_done(s, in) || !before;/\treturn true;/' source_jobs
plant end_of_n src/frames/zstd_seam.c 's/lesser(offset_sum(at, p->bytes), whole);/lesser(offset_sum(at, p->bytes), whole - (whole < NO_END));/' source_jobs
plant gathered src/frames/zstd_plan.c 's/c->declared == UNKNOWN || f.header.declared == UNKNOWN/c->declared == UNKNOWN/' source_jobs
plant again_twice src/frames/zstd_blocks.c 's/j->handed_out = j->decoded;/j->handed_out = 0;/' source_jobs
plant stream_again src/frames/zstd_blocks.c 's/j->cut.from == FROM_FILE \&\& reported/reported/' source_jobs
plant short_content src/frames/zstd_blocks.c 's/^\t\t j->decoded < j->cut.declared)/\t\t false)/' source_jobs
plant hand_content src/frames/zstd_blocks.c 's/if (p->bytes > j->cut.declared - j->decoded)/if (0)/' source_jobs
plant wrong_size src/zstd/zstd_stream.c 's/some < n || (z->state == .*/some < n)/' source_jobs
plant stop src/source/source_ends.c '/^void source_stop/,/^}/s/^\tsource_call_all(s);/\t;/' source_jobs
plant stop_wakes src/source/source_ends.c '/^void source_stop/,/^}/s/^\t(void)!write.*/\t;/' source_jobs
plant adds src/frames/zstd_job.c 's/\.adds = !s->spec.no_check \&\&/.adds = true \&\&/' source_jobs
# Slices, and files that change.
slice=src/source/source_part.c
plant identity $slice 's/now.seconds != then->seconds ||/false ||/; s/now.nanoseconds != then->nanoseconds)/false)/' changed
plant state $slice 's/(uint64_t)one->seconds,/0,/' slices
plant lies src/source/source_plain.c 's/return in->part.sliced ||/return/' test_source
plant look src/format/first.h 's/^#define FIRST_TEXT 4096u/#define FIRST_TEXT 65536u/' source_jobs
plant torn src/source/source_plain.c 's/in->plain->torn += got - whole_records(s, got);/;/' changed
plant shorter src/source/source_plain.c 's/return in->part.sliced || (at .*/return in->part.sliced;/' changed
plant appended src/source/source_plain.c 's/in->at >= in->limit || in->part.sliced/in->at >= in->limit || in->is_file/' changed
plant shorter_frames src/frames/zstd_plan.c 's/if (found == FIND_NONE \&\& z->pos/if (0 \&\& z->pos/' changed
plant differs src/frames/zstd_run.c 's/^\tended |= again \&\& differs(j, ended);/\t;/' changed
# Counters: bins that follow from statistics, small integers, and 2^32 of them.
plant below src/count/stats.c '/^size_t stats_words/,/^}/s/== zero - reach ? s->below : 0;/== zero - reach ? 0 : 0;/' test_count
plant zero src/count/stats.c '/^size_t stats_words/,/^}/s/^\t\t\tcount -= s->zeros;/\t\t\t;/' test_count
plant finer src/bins/auto.c '/^int auto_k_of_digits/,/^}/s/digits);/digits) - 1;/' test_count
plant shared src/count/count.c '/^static void check_digests/,/^}/s/^\tcounter->derives .*/\t;/' test_count
plant late src/count/count.c '/^static bool may_derive/,/^}/s/ \&\& !counter->stats->total;/;/' test_count
plant full_table src/count/count.c 's/waiting_samples(counter) + n > UINT32_MAX/false/' test_count
plant channel src/count/count_small.c 's/stats_add_words(&counter->stats\[channel\]/stats_add_words(\&counter->stats[0]/' test_count
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
