/* SPDX-License-Identifier: MIT */
/*
 * zstd: a model of how readers share compressed inputs, for the model checker spin. tests/model.sh runs it.
 *
 * It stands for src/input/source.c (source_take, source_done), source_next.c (opening, input_leave), zstd_read.c,
 * zstd_ring.c, zstd_place.c and zstd_memory.c. One pass of a worker's loop is one stretch of code between taking the lock
 * and giving it up; what is done without the lock (finding, decoding, counting, adding to a checksum, reading)
 * lies between two passes, and any other worker may come in between. A wait on a condition ends only by a
 * signal or a broadcast: a wake-up that is lost leaves a worker for ever, which spin reports as an invalid
 * end state. Frames, their sizes and what is wrong with them are chosen freely as they are found.
 *
 * A block is what a piece holds, and the whole of a small frame. All readers borrow.
 *
 * Settings, by -D: READERS, INPUTS, UNITS (frames of an input), LIMIT (blocks for -n; ALL: none), MEMORY
 * (a small frame takes 1, a long one 2), DECODERS (as many readers may hold memory), STREAM (inputs are pipes), BADS (faults at most), STOP (source_stop
 * may come at any time). BUG_x plants a bug: tests/README.md lists them.
 */
#define ALL 200
#ifndef READERS
#define READERS 2
#endif
#ifndef INPUTS
#define INPUTS 1
#endif
#ifndef UNITS
#define UNITS 2
#endif
#ifndef LIMIT
#define LIMIT ALL
#endif
#ifndef MEMORY
#define MEMORY 3
#endif
#ifndef DECODERS
#define DECODERS READERS
#endif
#ifndef BADS
#define BADS 1
#endif
#ifndef STREAM
#define STREAM false
#endif
#define PIECES 2        /* 4 in the program */
#define LONGEST 3       /* blocks */
#define UNKNOWN 255
#define NO 255          /* no input, no unit */

/* ---- struct source ---- */

bool stopped, opening;
byte short_of_memory = NO; /* which reader is */
byte sleepers, rings, ready, users, next_path;
byte current = NO;
byte budget = LIMIT;
short memory_left = MEMORY;

/* Who waits on which condition. */
#define WORK 1
#define SETTLED 2
byte waits[READERS];

/* ---- struct input, struct zstd ---- */

#define FREE 0
#define BUSY 1
#define ENDED 2
byte in_state[INPUTS], in_users[INPUTS], in_limit[INPUTS];
byte units[INPUTS], placed[INPUTS], decoded[INPUTS];

/* ---- struct reader ---- */

#define IDLE 0
#define DECODING 1
#define DRAINING 2
byte state[READERS];
bool whole[READERS];
byte in[READERS];
byte number[READERS], content[READERS], at[READERS], made[READERS], hashed[READERS], r_ready[READERS];
byte size[READERS];     /* what the frame truly holds */
bool attached[READERS], hashing[READERS], ours[READERS], sum_read[READERS];
byte held[READERS];
bool asleep[READERS];

#define PIECE_FREE 0
#define PIECE_FILLING 1
#define PIECE_READY 2
#define PIECE_LENT 3
#define PIECE_COUNTED 4
#define piece(r, p) ((r) * PIECES + (p))
byte p_state[READERS * PIECES], p_begin[READERS * PIECES];

/* What is wrong with a reader's frame. */
#define GOOD 0
#define BAD_HEADER 1    /* zstd_find says FIND_BAD */
#define BAD_DATA 2      /* the decoder says it, of a long frame in its last block */
#define BAD_SUM 3       /* the checksum says it */
byte bad[READERS];

/* ---- what the checker alone knows ---- */

byte found_blocks[INPUTS]; /* in all frames that were found */
byte found_units[INPUTS];
short counted_blocks[INPUTS]; /* one bit each */
byte faults;            /* so many were chosen */
bool must_fail;         /* one of them is before the end that -n sets */
byte fault_of = NO;     /* whose it is; READERS: of more than one */
bool failed, asked_to_stop;
byte closed;            /* inputs */
byte gone;              /* workers that ended */

/* ---- conditions (source_call, source_call_all) ---- */

inline broadcast(c)
{
	k = 0;
	do
	:: k < READERS -> if :: waits[k] == c -> waits[k] = 0 :: else fi; k++
	:: else -> break
	od;
	k = 0
}

/* Any of those that wait. */
inline signal_work()
{
	if
	:: sleepers > 0 ->
		if
		:: waits[0] == WORK -> waits[0] = 0
		:: waits[1] == WORK -> waits[1] = 0
#if READERS > 2
		:: waits[2] == WORK -> waits[2] = 0
#endif
		:: else
		fi
	:: else
	fi
}

inline call_all()
{
	broadcast(WORK);
	broadcast(SETTLED)
}

/* stop() */
inline stop()
{
	stopped = true;
	call_all()
}

/* Wrong: any one of those that wait until something has settled. */
inline signal_settled()
{
	if
	:: waits[0] == SETTLED -> waits[0] = 0
	:: waits[1] == SETTLED -> waits[1] = 0
#if READERS > 2
	:: waits[2] == SETTLED -> waits[2] = 0
#endif
	:: else
	fi
}

/* Waits; the worker goes on at `next`. */
#define wait_for(c, next) waits[me] = c; pc = next; goto done

/* ---- zstd_memory.c ---- */

/* zstd_release() */
inline release()
{
	if
	:: held[me] > 0 && short_of_memory != NO ->
		held[short_of_memory] = held[short_of_memory] + held[me];
		short_of_memory = NO;
#ifndef BUG_RELEASE_SILENT
		broadcast(SETTLED)
#endif
	:: else -> memory_left = memory_left + held[me]
	fi;
	held[me] = 0
}

/* asleep() and decoders */
inline look_at_holders()
{
	idle = NO;
	decoders = 0;
	k = 0;
	do
	:: k < READERS ->
		decoders = decoders + (held[k] > 0 -> 1 : 0);
		idle = (asleep[k] && held[k] > 0 -> k : idle);
		k++
	:: else -> k = 0; break
	od
}

/* ---- zstd_place.c ---- */

/* zstd_place() */
inline place(i)
{
	again = placed[i] < units[i];
	did = false;
	do
	:: again ->
		again = false;
		k = 0;
		do
		:: k < READERS ->
			if
			:: in[k] == i && number[k] == placed[i] && number[k] != NO ->
				if :: at[k] == UNKNOWN -> at[k] = decoded[i]; did = true :: else fi;
				if
				:: content[k] != UNKNOWN ->
					decoded[i] = decoded[i] + content[k];
					placed[i]++;
					again = placed[i] < units[i]
				:: else
				fi
			:: else
			fi;
			k++
		:: else -> break
		od
	:: else -> break
	od;
	k = 0;
	if :: did -> broadcast(SETTLED) :: else fi;
	did = false
}

/* ---- source.c ---- */

/* input_leave() */
inline leave(i)
{
	in_users[i]--;
	users--;
	if :: in_state[i] == ENDED && current == i -> current = NO :: else fi;
	if
	:: in_state[i] == ENDED && in_users[i] == 0 ->
		closed++;
		call_all()
	:: else
	fi
}

/* zstd_finish() */
inline finish()
{
	if
	:: !whole[me] ->
		rings--;
		call_all()
	:: else
	fi;
	state[me] = IDLE;
	number[me] = NO;
	bad[me] = GOOD;
	attached[me] = false; whole[me] = true; sum_read[me] = false;
	made[me] = 0; hashed[me] = 0; size[me] = 0;
	at[me] = 0; content[me] = 0;
	i = in[me];
	in[me] = NO;
	leave(i)
}

/* ---- zstd_ring.c ---- */

/* piece_free() */
inline piece_free(x)
{
	p_state[x] = PIECE_FREE;
	p_begin[x] = 0;
#ifdef BUG_PIECE_SIGNALS
	signal_settled()
#elif !defined(BUG_PIECE_SILENT)
	broadcast(SETTLED)
#endif
}

/* free_counted() */
inline free_counted(r)
{
	if :: p_state[piece(r, 0)] == PIECE_COUNTED -> piece_free(piece(r, 0)) :: else fi;
	if :: p_state[piece(r, 1)] == PIECE_COUNTED -> piece_free(piece(r, 1)) :: else fi
}

/* end_unit() */
inline end_unit()
{
	state[me] = DRAINING;
	if :: content[me] == UNKNOWN -> content[me] = made[me] :: else fi;
	i = in[me];
	if
	:: attached[me] ->
		in_state[i] = FREE;
		attached[me] = false;
		call_all()
	:: else
	fi;
	place(i)
}

/* A unit that is decoded in one call has one piece. */
#define find_piece(r, s) (p_state[piece(r, 0)] == s -> 0 : (!whole[r] && p_state[piece(r, 1)] == s -> 1 : NO))
#define all_home(r) (p_state[piece(r, 0)] == PIECE_FREE && p_state[piece(r, 1)] == PIECE_FREE && !hashing[r])
#define is_next(r, p) (p_state[piece(r, p)] >= PIECE_READY && p_begin[piece(r, p)] == hashed[r])
#ifdef BUG_HASH_BESIDE
#define next_to_hash(r) (!ours[r] -> NO : (is_next(r, 0) -> 0 : (is_next(r, 1) -> 1 : NO)))
#else
#define next_to_hash(r) (!ours[r] || hashing[r] -> NO : (is_next(r, 0) -> 0 : (is_next(r, 1) -> 1 : NO)))
#endif

/* ---- what the checker looks at ---- */

/* A block is given to the worker's counters: never twice, never beyond -n. */
inline count_block(i, b)
{
	assert(b < in_limit[i]);
	assert(!(counted_blocks[i] & (1 << (b))));
	counted_blocks[i] = counted_blocks[i] | (1 << (b))
}

/* source_close(), source_finished(): when the last worker has gone. */
inline close_source()
{
	k = 0;
	do
	:: k < READERS ->
		assert(p_state[piece(k, 0)] != PIECE_LENT && p_state[piece(k, 0)] != PIECE_FILLING);
		assert(p_state[piece(k, 1)] != PIECE_LENT && p_state[piece(k, 1)] != PIECE_FILLING);
		assert(!hashing[k]);
		assert(stopped || (state[k] == IDLE && held[k] == 0));
		memory_left = memory_left + held[k];
		k++
	:: else -> break
	od;
	assert(memory_left == MEMORY);
	assert(asked_to_stop || failed == must_fail);
	assert(!failed || must_fail);
	if
	:: !stopped ->
		assert(ready == 0 && rings == 0 && users == 0 && sleepers == 0 && !opening);
		assert(budget == 0 || (current == NO && next_path == INPUTS && closed == INPUTS));
		k = 0;
		do
		:: k < INPUTS && k < next_path ->
			i = (found_blocks[k] < in_limit[k] -> found_blocks[k] : in_limit[k]);
			assert(counted_blocks[k] == (1 << i) - 1);
			k++
		:: else -> break
		od
	:: else
	fi
}

/* Where a worker goes on when it has the lock again, or something to do without it. */
mtype = {TAKE, WOKEN, OPENED, OPEN_FAILED, OPEN_POLL, FIND, FIND_POLL, RESERVE, FOUND, REFUSE, COUNT, DONE, HOME,
	 LONG_PLACE, FILLED, FILL_POLL, PLACE, HASHED};
#define in_poll (pc == OPEN_POLL || pc == FIND_POLL || pc == FILL_POLL)

proctype worker(byte me)
{
	mtype pc = TAKE;
	mtype then;     /* after adding to a checksum */
	byte need;      /* memory */
	byte lender = NO, lent; /* whose piece is borrowed, or which one is filled */
	byte owner, adds;       /* whose checksum is added to, and what */
	bool offered;           /* the borrower may add what it counts */
	byte i, k;
	bool again, did, may;
	byte idle = NO, decoders;

	do
	:: atomic {
		waits[me] == 0 && (!in_poll || stopped) ->
		if
		:: pc == TAKE -> goto take
		:: pc == WOKEN -> sleepers--; asleep[me] = false; goto take
		:: pc == OPENED || pc == OPEN_FAILED || pc == OPEN_POLL -> goto opened
		:: pc == FIND -> goto find
		:: pc == FIND_POLL -> goto found
		:: pc == RESERVE -> goto reserve
		:: pc == FOUND -> goto found
		:: pc == REFUSE -> goto refuse
		:: pc == PLACE -> goto await_place
		:: pc == COUNT -> goto count
		:: pc == DONE -> goto done_with
		:: pc == LONG_PLACE -> goto long_place
		:: pc == FILLED || pc == FILL_POLL -> goto filled
		:: pc == HASHED -> goto hashed_one
		fi;

		/* ---- source_take() ---- */
take:
		if :: stopped -> goto end :: else fi;
		if :: state[me] != IDLE -> goto go_on :: else fi;
		if :: ready > 0 -> goto take_ready :: else fi;
		if :: budget == 0 -> goto end :: else fi;
		if :: current != NO -> if :: in_state[current] == FREE -> goto cut :: else fi :: else fi;
		/* may_open() */
#ifdef BUG_OPEN_EARLY
		if :: current == NO && !opening && next_path < INPUTS -> goto open
#else
		if :: current == NO && !opening && next_path < INPUTS && (budget == ALL || users == 0) -> goto open
#endif
		:: else
		fi;
		/* may_come() */
		if :: current == NO && !opening && next_path == INPUTS && rings == 0 -> goto end
		:: else
		fi;
		/* await_work_unlocks() */
#ifndef BUG_SLEEP_WITH_MEMORY
		if :: short_of_memory != NO -> release() :: else fi;
#endif
		asleep[me] = true;
		sleepers++;
		wait_for(WORK, WOKEN);

end:		/* chunk->bytes == 0 */
		if :: state[me] == IDLE -> release() :: else fi;
		call_all();
		goto leaves;

fail:		/* rc != 0: somebody is told */
		failed = true;
#ifdef BUG_STOP_SILENT
		stopped = true;
#else
		stop();
#endif
		goto leaves;

		/* ---- open_next_unlocks() ---- */
open:
		i = next_path;
		next_path++;
		opening = true;
		in_limit[i] = budget; /* zstd_begin() */
		if
		:: pc = OPENED
		:: faults < BADS -> faults++; must_fail = true; fault_of = me; pc = OPEN_FAILED
		:: must_fail -> pc = OPEN_POLL /* a FIFO without a writer: ended by a failure alone */
		fi;
		goto done;
opened:
		opening = false;
		if
		:: pc == OPEN_FAILED -> goto fail
		:: pc == OPEN_POLL -> goto take
		:: else
		fi;
		current = next_path - 1;
		assert(in_limit[current] == budget || budget == ALL);
		call_all();
		goto take;

		/* ---- zstd_cut_unlocks() ---- */
cut:
		i = current;
		in_users[i]++;
		users++;
		did = placed[i] == units[i];
		in_state[i] = BUSY;
		in[me] = i;
		number[me] = NO;
		content[me] = UNKNOWN;
		at[me] = (did -> decoded[i] : UNKNOWN);
		ours[me] = true;
		pc = FIND;
		if
		:: did && decoded[i] >= in_limit[i] -> did = false; goto found_none
		:: else -> did = false; goto done
		fi;

		/* zstd_find(): anything may come */
find:
		i = in[me];
		if
		:: found_units[i] == UNITS && !(STREAM && found_blocks[i] >= in_limit[i]) -> need = 0; goto found_none
		/* Of a pipe that -n does not want, or while something is wrong before it, nothing may come. */
		:: STREAM && (found_blocks[i] >= in_limit[i] || must_fail) -> pc = FIND_POLL; goto done
		:: found_units[i] < UNITS && !(STREAM && found_blocks[i] >= in_limit[i])
		fi;
		found_units[i]++;
		if
		:: faults < BADS ->
			faults++;
			bad[me] = BAD_HEADER; size[me] = 0; need = 0;
			if :: found_blocks[i] < in_limit[i] -> must_fail = true; fault_of = (fault_of == NO -> me : READERS) :: else fi;
			pc = FOUND; goto done
		:: size[me] = 1; content[me] = 1; need = 1
		:: size[me] = 1; content[me] = UNKNOWN; need = 1
		:: size[me] = LONGEST; content[me] = LONGEST; need = 2
		:: size[me] = LONGEST; content[me] = UNKNOWN; need = 2
		:: size[me] = LONGEST; content[me] = LONGEST; need = 2; attached[me] = true
		:: size[me] = LONGEST; content[me] = UNKNOWN; need = 2; attached[me] = true
		fi;
		/* find_in_stream(): where -n may end in it, it is not waited for as a whole */
		if
		:: STREAM && (need == 2 || (in_limit[i] != ALL && (content[me] == UNKNOWN || at[me] == UNKNOWN ||
							      at[me] + content[me] >= in_limit[i]))) ->
			need = 2;
			attached[me] = true
		:: else
		fi;
		if
		:: faults < BADS ->
			faults++;
			if :: bad[me] = BAD_DATA :: bad[me] = BAD_SUM fi;
			/* A frame in one call is wrong from its first byte, a long one where it is seen. */
			if
			:: need == 1 && found_blocks[i] < in_limit[i] -> did = true
			:: need == 2 && bad[me] == BAD_DATA && found_blocks[i] + size[me] - 1 < in_limit[i] -> did = true
			:: need == 2 && bad[me] == BAD_SUM && (found_blocks[i] + size[me] < in_limit[i] ||
				(!STREAM && content[me] != UNKNOWN && found_blocks[i] + size[me] == in_limit[i])) -> did = true
			:: else
			fi;
			if :: did -> must_fail = true; fault_of = (fault_of == NO -> me : READERS) :: else fi;
			did = false
		:: true
		fi;
		found_blocks[i] = found_blocks[i] + size[me];
		goto reserve;

		/* reserve(): by the cutter, with the lock taken for it */
reserve:
		look_at_holders();
		may = (memory_left + held[me] >= MEMORY ||
		       (memory_left + held[me] >= need && (held[me] > 0 || decoders < DECODERS)));
#ifndef BUG_LEFT_ASLEEP
		if
		:: idle != NO && !(may && held[me] > 0) ->
			held[me] = held[me] + held[idle];
			held[idle] = 0;
			goto reserve
		:: else
		fi;
#endif
		if
		:: !may && !stopped -> short_of_memory = me; wait_for(SETTLED, RESERVE)
		:: else
		fi;
		short_of_memory = NO;
		memory_left = memory_left + held[me] - need;
		held[me] = need;
		pc = FOUND;
		goto done;

found:
		i = in[me];
		if :: pc == FIND_POLL -> goto found_none :: stopped -> goto found_none :: else fi;
		number[me] = units[i];
		units[i]++;
		state[me] = DECODING;
		whole[me] = need != 2;
		if :: need == 2 -> rings++ :: else fi;
		in_state[i] = (bad[me] == BAD_HEADER -> ENDED : (attached[me] -> BUSY : FREE));
		place(i);
		need = 0;
		if :: bad[me] == BAD_HEADER -> goto refuse :: else fi;
		signal_work();
		pc = TAKE;
		if :: goto take :: goto done fi; /* spec.more() */

found_none:
		i = in[me];
		in[me] = NO; bad[me] = GOOD; attached[me] = false; size[me] = 0; at[me] = 0; content[me] = 0; need = 0;
		in_state[i] = ENDED;
		leave(i);
		goto take;

		/* ---- zstd_refuse_unlocks() ---- */
refuse:
		i = in[me];
		if :: in_limit[i] != ALL && at[me] == UNKNOWN && !stopped -> wait_for(SETTLED, REFUSE) :: else fi;
#ifdef BUG_REFUSE_BEYOND
#define REFUSES true
#else
#define REFUSES (in_limit[i] == ALL || (!stopped && at[me] - made[me] < in_limit[i]))
#endif
		if
		:: REFUSES ->
			p_state[piece(me, lent)] = (bad[me] == BAD_HEADER -> PIECE_FREE : PIECE_COUNTED);
			goto fail
		:: else
		fi;
		ours[me] = false;
		end_unit();
		if :: bad[me] == BAD_HEADER -> bad[me] = GOOD; in_state[in[me]] = ENDED; goto take :: else fi;
		goto fill_none;

		/* The caller counts what it borrowed, without the lock. */
count:
		i = in[lender];
		count_block(i, at[lender] - made[lender] + p_begin[piece(lender, lent)]);
		if :: offered -> hashed[lender]++ :: true fi;
		pc = DONE;
		goto done;

		/* source_done(): zstd_done_unlocks(), counted_unlocks() */
done_with:
		if :: offered -> hashing[lender] = false; offered = false :: else fi;
		p_state[piece(lender, lent)] = PIECE_COUNTED;
		owner = lender;
		then = (lender == me -> HOME : TAKE);
		lender = NO; lent = 0;
		goto hash;
home:
		if :: state[me] == DRAINING && all_home(me) -> goto finished :: else fi;
		pc = TAKE; goto done;

		/* ---- zstd_go_on_unlocks() ---- */
go_on:
		pc = TAKE;
		if
		:: state[me] == DECODING && find_piece(me, PIECE_FREE) != NO ->
			/* fill_unlocks(), decode_unlocks() */
			lent = find_piece(me, PIECE_FREE);
			p_state[piece(me, lent)] = PIECE_FILLING;
			p_begin[piece(me, lent)] = made[me];
			if :: whole[me] -> pc = FILLED; goto done :: else -> goto long_place fi
		:: else
		fi;
		if :: r_ready[me] > 0 -> owner = me; goto take_piece :: else fi;
		if :: next_to_hash(me) != NO -> owner = me; then = TAKE; goto hash :: else fi;
		if :: state[me] == DRAINING && all_home(me) -> goto finished :: else fi;
		wait_for(SETTLED, TAKE);

long_place:	/* await_place_unlocks() */
		if :: at[me] == UNKNOWN && !stopped -> wait_for(SETTLED, LONG_PLACE) :: else fi;
		if :: stopped -> goto fill_none :: else fi;
		if
		:: made[me] == 0 && at[me] >= in_limit[in[me]] ->
			ours[me] = false;
			end_unit();
			goto fill_none
		:: else
		fi;
		if
		:: pc = FILLED
		:: STREAM && attached[me] && fault_of != NO && fault_of != me && must_fail -> pc = FILL_POLL
		fi;
		goto done;
filled:
		if :: pc == FILL_POLL -> goto fill_none :: else fi;
		if :: bad[me] == BAD_DATA && made[me] == size[me] - 1 -> goto refuse :: else fi;
		made[me]++;
		if :: whole[me] -> content[me] = UNKNOWN; end_unit() :: else fi;
await_place:
		if :: at[me] == UNKNOWN && !stopped -> wait_for(SETTLED, PLACE) :: else fi;
		if :: stopped -> at[me] = (at[me] == UNKNOWN -> UNKNOWN : at[me] + 1); goto fill_none :: else fi;
		i = in[me];
		did = at[me] < in_limit[i];
		at[me]++;
		/* zstd_sort_out_unlocks() */
		if
		:: !did -> ours[me] = false; goto fill_none
		:: else -> did = false
		fi;
		if :: budget != ALL -> budget-- :: else fi;
		sum_read[me] = made[me] == size[me] &&
			       (whole[me] || at[me] < in_limit[i] || (!STREAM && content[me] != UNKNOWN));
		if :: !whole[me] && (made[me] == size[me] || at[me] >= in_limit[i]) -> end_unit() :: else fi;
		p_state[piece(me, lent)] = PIECE_READY;
		lent = 0;
		ready++;
		r_ready[me]++;
		if :: r_ready[me] > 1 -> signal_work() :: else fi;
		goto take;

fill_none:	/* Nothing of it is to be counted. */
		p_state[piece(me, lent)] = PIECE_COUNTED;
		lent = 0;
		owner = me;
		then = TAKE;
		goto hash;

finished:	/* zstd_finish(), zstd_check(): all of it was added, in order, or nothing was to be */
		assert(!ours[me] || hashed[me] == made[me]);
		did = bad[me] == BAD_SUM && sum_read[me] && ours[me];
		finish();
		if :: did -> did = false; goto fail :: else fi;
		pc = TAKE; goto done; /* source_done() gives the lock up */

		/* ---- taking a piece ---- */
take_ready:
		if
		:: r_ready[0] > 0 -> owner = 0
		:: r_ready[1] > 0 -> owner = 1
#if READERS > 2
		:: r_ready[2] > 0 -> owner = 2
#endif
		fi;
take_piece:	/* take_unlocks() */
		lender = owner;
		lent = find_piece(owner, PIECE_READY);
		p_state[piece(owner, lent)] = PIECE_LENT;
		r_ready[owner]--;
		ready--;
		if
		:: whole[owner] && next_to_hash(owner) != NO -> offered = true; hashing[owner] = true
		:: else
		fi;
		then = COUNT;
		goto hash;

		/* ---- hash_unlocks() ---- */
hash:
		adds = next_to_hash(owner);
		if
		:: adds != NO ->
			assert(!hashing[owner]);
			hashing[owner] = true;
			pc = HASHED;
			goto done
		:: else
		fi;
#ifdef BUG_FREE_UNHASHED
		free_counted(owner);
#else
		if :: !hashing[owner] -> free_counted(owner) :: else fi;
#endif
		adds = 0; owner = 0;
		if
		:: then == COUNT -> pc = COUNT; then = TAKE; goto done
		:: then == HOME -> then = TAKE; goto home
		:: else -> goto take
		fi;
hashed_one:
		/* It holds what it held: it was not given away and filled again. */
		assert(p_state[piece(owner, adds)] >= PIECE_READY && p_begin[piece(owner, adds)] == hashed[owner]);
		hashing[owner] = false;
		hashed[owner]++;
		if :: state[owner] == DRAINING -> broadcast(SETTLED) :: else fi;
		goto hash;

leaves:
		gone++;
		if :: gone == READERS -> close_source() :: else fi;
		goto out;
done:
		i = 0; k = 0
	}
	od;
out:
	skip
}

#ifdef STOP
proctype stopper()
{
	byte k;

	/* source_stop() */
end_stop:
	atomic { !stopped && gone < READERS -> asked_to_stop = true; stop() }
}
#endif

init
{
	byte n = 0;

	atomic {
		do
		:: n < READERS -> in[n] = NO; number[n] = NO; whole[n] = true; run worker(n); n++
		:: else -> break
		od;
#ifdef STOP
		run stopper()
#endif
	}
}
