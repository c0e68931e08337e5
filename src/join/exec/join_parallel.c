/*
 * A similarity join by several processes
 *
 * The leader and the workers read a part of each input, and keep it in shared memory, or in
 * temporary files that all of them can read.  They distribute the entries to partitions, in all
 * rounds at once.  Then each claims one partition after the other, and returns its matches.
 * Nobody waits any more then, so no participant waits for one whose rows are not fetched.
 *
 * Before that, participants wait for each other at a barrier, as those of a parallel hash join do
 * (nodeHashjoin.c).  So no row is returned while a participant is attached to the barrier.  Rows
 * that the serial join returns while it reads are kept until then.  A participant that comes late
 * takes part in what is left.
 *
 * Whoever finishes the last partition returns the left rows without a match.  Each left row has
 * a bit in shared memory that says whether it has one.
 *
 * The participant that sets the bit returns the row of a semijoin.
 *
 * What has to be the same in all processes is shared by JoinMethods.share(): the salt and the
 * parameters of signatures, the counts of elements, and the cut.  A participant may have read no
 * rows.  Each may use work_mem * hash_mem_multiplier, half of it as shared memory.  A rescan reads
 * both inputs again.
 *
 * Without shared memory or workers, the leader runs the serial join.  Its children return all of
 * their rows then.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/sharedfileset.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

#include "join/exec/join_parallel.h"

/* Phases of the barrier. */
typedef enum WritePhase
{
	READ_RIGHT_ROWS,
	ALLOCATE_COUNTS,			/* one participant; chooses the partitions of arrays */
	COUNT_RIGHT_ROWS,
	READ_LEFT_ROWS,
	MAKE_ENTRIES,
	CHOOSE_PARTITIONS,			/* one participant; those of arrays have been chosen */
	WRITE_PARTITIONS,
	JOIN_PARTITIONS
} WritePhase;

/* What a participant shares of an input. */
typedef struct SharedInput
{
	uint64		nrows;			/* number of rows that it has kept */
	uint64		nentries;		/* not used if entries need the radius */
	dsa_pointer partitions;		/* EntryList of all rounds; invalid if it has no entries */
} SharedInput;

typedef struct JoinParticipant
{
	SharedInput left;
	SharedInput right;
	JoinCounters counters;
} JoinParticipant;

struct JoinShared
{
	dsm_handle	segment;
	SharedFileSet files;
	Barrier		barrier;
	int			nparticipants;	/* maximum number, with the leader */
	EntrySize	entry_size;
	uint32		n;				/* number of partitions in each round */
	int			nrounds;
	dsa_pointer matched;		/* bitmap of left rows that have a match; invalid for an inner
								 * join */
	pg_atomic_uint64 next;		/* number of the next partition, over all rounds */
	pg_atomic_uint32 njoining;	/* number of participants that may have matches to return */
	pg_atomic_uint32 nunmatched;	/* number of participants that have offered to return left
									 * rows without a match: the first one does */
	JoinParticipant participant[FLEXIBLE_ARRAY_MEMBER];

	/* the method's data and a SharedArenaTable follow */
};

/*
 * Return the data of the method.
 */
static void *
method_data(JoinShared *shared)
{
	return (char *) shared + MAXALIGN(offsetof(JoinShared, participant) +
									  shared->nparticipants * sizeof(JoinParticipant));
}

static SharedArenaTable *
arena_table(JoinMatch *match, JoinShared *shared)
{
	return (SharedArenaTable *) ((char *) method_data(shared) + MAXALIGN(match->methods->shared_size));
}

/*
 * Return the size of the shared memory for each participant, in bytes.
 */
static Size
shared_memory(void)
{
	return get_hash_memory_limit() / 2;
}

/* --- reading ---------------------------------------------------------------------- */

/*
 * Add up the rows of the participants.
 */
static uint64
sum_rows(const JoinShared *shared, bool is_left)
{
	uint64		nrows = 0;

	for (int i = 0; i < shared->nparticipants; i++)
		nrows += is_left ? shared->participant[i].left.nrows : shared->participant[i].right.nrows;
	return nrows;
}

/*
 * Keep a row to return it later.
 */
static void
keep_result(SimHashJoinState *state, TupleTableSlot *result)
{
	JoinParallel *parallel = state->parallel;

	if (parallel->kept == NULL)
		parallel->kept = tuplestore_begin_heap(false, false, work_mem);
	tuplestore_puttupleslot(parallel->kept, result);
}

/*
 * Return the next row of the result that was kept while the inputs were read, or NULL.
 */
TupleTableSlot *
join_parallel_return_kept(SimHashJoinState *state)
{
	JoinParallel *parallel = state->parallel;
	TupleTableSlot *slot = state->kept_slot;
	PlanState  *ps = &state->css.ss.ps;
	TupleTableSlot *result = ps->ps_ProjInfo ? ps->ps_ResultTupleSlot : state->css.ss.ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;

	CHECK_FOR_INTERRUPTS();
	if (parallel->kept == NULL || !tuplestore_gettupleslot(parallel->kept, true, false, slot))
		return NULL;

	/* parents expect a virtual tuple */
	ExecClearTuple(result);
	slot_getallattrs(slot);
	memcpy(result->tts_values, slot->tts_values, natts * sizeof(Datum));
	memcpy(result->tts_isnull, slot->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(result);
}

/*
 * Begin to write the partitions of an input of this participant.
 */
static void
begin_writing(SimHashJoinState *state, bool is_left)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;
	JoinParticipant *own = &shared->participant[state->parallel->participant];
	SharedInput *input = is_left ? &own->left : &own->right;
	JoinStore  *store = is_left ? match->left : match->right;

	input->partitions = dsa_allocate_extended(match->area, (Size) shared->n * shared->nrounds *
											  sizeof(EntryList),
											  DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
	join_match_begin_writing(match, store, shared->n, dsa_get_address(match->area, input->partitions));
}

/*
 * Read this participant's part of the right input.
 */
static void
read_right(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	SharedInput *shared = &state->parallel->shared->participant[state->parallel->participant].right;
	TupleTableSlot *result;

	while ((result = join_input_read_right(state)) != NULL)
		keep_result(state, result);
	shared->nrows = match->right->nrows;
	match->methods->share(match, SHARE_RIGHT_ROWS);
}

/*
 * Set the number of all right rows, which is complete.
 */
static void
know_right_rows(SimHashJoinState *state)
{
	JoinShared *shared = state->parallel->shared;

	state->match->nright = sum_rows(shared, false);
	state->matchable = state->match->nright > 0;
}

/*
 * Read this participant's part of the left input.
 */
static void
read_left(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;
	TupleTableSlot *result;

	know_right_rows(state);
	if (join_match_is_self(match) || (!state->matchable && !join_returns_unmatched(match)))
		return;

	/* the right rows have decided on the size of entries */
	match->methods->share(match, SHARE_RESULTS);
	join_entries_init(&match->left->entries, match->left->context,
					  join_match_capacity(match, match->memory, match->partitioned_divisor),
					  match->entry_size);
	if (match->methods->keys_need_radius)
		begin_writing(state, true);
	while ((result = join_input_read_left(state)) != NULL)
		keep_result(state, result);
	if (match->methods->keys_need_radius)
		join_match_end_writing(match->left);
	shared->participant[state->parallel->participant].left.nrows = match->left->nrows;
}

/*
 * Set the numbers of all rows, which are complete, and evaluate the radius if both inputs have
 * rows.
 */
static void
know_rows(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;

	if (!match->knows_radius)
		know_right_rows(state);
	match->nleft = sum_rows(shared, !join_match_is_self(match));
	if (state->matchable && match->nleft > 0 && !match->knows_radius)
		join_evaluate_radius(state);
}

/*
 * Move the tuples of an input that are in memory of this process to a file, and share the number of
 * entries.
 */
static void
complete_input(JoinMatch *match, JoinStore *store, SharedInput *own)
{
	if (store->entries.source || store->tuples.memory > 0)
		join_match_spill(match, store);
	own->nentries = store->entries.nwritten + store->entries.n;
}

/*
 * Complete the entries, and share their number.
 */
static void
make_entries(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParticipant *own = &state->parallel->shared->participant[state->parallel->participant];
	bool		writes = match->methods->keys_need_radius && match->right->nrows > 0;

	know_rows(state);
	if (writes)
		begin_writing(state, false);
	if (match->knows_radius)
		match->methods->share(match, SHARE_ENTRIES);
	if (writes)
		join_match_end_writing(match->right);
	complete_input(match, match->right, &own->right);
	if (!join_match_is_self(match))
		complete_input(match, match->left, &own->left);
}

/* --- partitions ------------------------------------------------------------------- */

/*
 * Choose the partitions for nentries entries of the larger input.  One participant does.
 */
static void
choose_partitions(SimHashJoinState *state, double nentries)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;

	match->right->entries.capacity = join_match_capacity(match, match->memory,
														 match->partitioned_divisor);
	shared->nrounds = join_match_choose(match, nentries, &shared->n);
}

/*
 * Choose the partitions, unless that has been done before, and allocate the bitmap of left rows.
 * One participant does.
 */
static void
prepare_partitions(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;
	uint64		nleft = 0;
	uint64		nright = 0;

	for (int i = 0; i < shared->nparticipants; i++)
	{
		nleft += shared->participant[i].left.nentries;
		nright += shared->participant[i].right.nentries;
	}
	join_check_rows(Max(match->nleft, match->nright));

	/* this participant may have read no rows */
	match->methods->share(match, SHARE_RESULTS);
	if (match->knows_radius && !match->methods->keys_need_radius)
		choose_partitions(state, Max(nleft, nright));
	match->methods->share(match, SHARE_PARTITIONS);
	shared->entry_size = match->entry_size;
	if (state->spec.jointype != JOIN_INNER)
		shared->matched = dsa_allocate_extended(match->area,
												(match->nleft / 32 + 1) * sizeof(uint32),
												DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
}

/*
 * Write the partitions of an input of this participant, unless its entries were written when they
 * were made, and let the others read them.
 */
static void
write_partitions(SimHashJoinState *state, bool is_left)
{
	JoinMatch  *match = state->match;
	JoinStore  *store = is_left ? match->left : match->right;
	JoinEntries *entries = &store->entries;

	if (!match->methods->keys_need_radius && store->nrows > 0)
	{
		begin_writing(state, is_left);
		for (int round = 0; round < state->parallel->shared->nrounds; round++)
		{
			join_entries_write(entries);
			entry_writer_end(entries->writer);
		}
		join_match_end_writing(store);
	}
	join_store_export(store);
}

/*
 * Prepare to load entries of partitions.
 */
static void
begin_loading(JoinStore *store, EntrySize entry_size)
{
	join_entries_close(&store->entries);
	join_entries_init(&store->entries, store->context, 0, entry_size);
}

/*
 * Get what the others have shared, and prepare to join partitions.
 */
static void
begin_partitions(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared = parallel->shared;

	know_rows(state);
	match->methods->share(match, SHARE_RESULTS);
	match->entry_size = shared->entry_size;
	match->npartitions = shared->n;
	match->nrounds = shared->nrounds;
	if (!join_match_is_self(match))
		begin_loading(match->left, match->entry_size);
	begin_loading(match->right, match->entry_size);
	join_match_limit(match, match->memory);
	if (DsaPointerIsValid(shared->matched))
		state->matched = dsa_get_address(match->area, shared->matched);
	match->done = join_needs_one_match(state->spec.jointype) ? state->matched : NULL;
	state->counters.nbatches = Max(state->counters.nbatches, shared->n);
	pg_atomic_fetch_add_u32(&shared->njoining, 1);
}

/*
 * Set the parts of partitions from `first` to `end` (exclusive) that the participants have
 * written, in an array.  Returns their number of entries.
 */
static uint64
set_source(SimHashJoinState *state, bool is_left, uint64 first, uint64 end, EntryReader *source)
{
	JoinMatch  *match = state->match;
	JoinShared *shared = state->parallel->shared;
	bool		is_other = is_left && !join_match_is_self(match);
	JoinStore  *store = is_other ? match->left : match->right;
	JoinEntries *entries = is_left ? match->left_entries : &match->right->entries;
	uint32		first_row = 0;
	uint64		n = 0;

	entries->source = source;
	entries->nsources = shared->nparticipants * (end - first);
	for (int i = 0; i < shared->nparticipants; i++)
	{
		SharedInput *input = is_other ? &shared->participant[i].left :
			&shared->participant[i].right;
		const EntryList *lists = dsa_get_address(match->area, input->partitions);

		for (uint64 p = first; p < end; p++, source++)
		{
			*source = (EntryReader) {
				.entry_size = match->entry_size, .blocks = &store->blocks, .tuples = &store->tuples,
				.first_row = first_row
			};
			if (lists)
				source->list = lists[p];
			n += source->list.n;
		}
		first_row += input->nrows;
	}
	join_entries_rewind(entries);
	return n;
}

/*
 * Claim the next partition that has entries of both inputs.  Returns false if there are no more.
 */
bool
join_parallel_next_partition(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared = parallel->shared;

	for (;;)
	{
		uint64		i = pg_atomic_fetch_add_u64(&shared->next, 1);

		CHECK_FOR_INTERRUPTS();
		if (!state->matchable || i >= (uint64) shared->n * shared->nrounds)
			return false;
		match->round = i / shared->n;
		if (set_source(state, false, i, i + 1, parallel->right_source) > 0 &&
			set_source(state, true, i, i + 1, parallel->left_source) > 0)
			return true;
	}
}

/*
 * Return true if this participant is to return the left rows without a match.  Called once it has
 * returned the matches of its partitions.  All partitions have been claimed then.  So the last
 * one to call it knows all matches.
 */
bool
join_parallel_returns_unmatched(SimHashJoinState *state)
{
	JoinShared *shared = state->parallel->shared;

	if (pg_atomic_sub_fetch_u32(&shared->njoining, 1) > 0 ||
		!join_returns_unmatched(state->match) ||
		pg_atomic_fetch_add_u32(&shared->nunmatched, 1) > 0)
		return false;
	set_source(state, true, 0, shared->n,
			   MemoryContextAllocHuge(state->match->left->context,
									  (Size) shared->n * shared->nparticipants *
									  sizeof(EntryReader)));
	state->match->left_entries->n = 0;
	return true;
}

/* --- the barrier ------------------------------------------------------------------ */

/*
 * Read the inputs and write partitions, together with the other participants.  Returns once all
 * partitions have been written.
 */
static void
build_partitions(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	Barrier    *barrier = &state->parallel->shared->barrier;

	for (int phase = BarrierAttach(barrier); phase < JOIN_PARTITIONS; phase++)
	{
		bool		is_elected;

		switch (phase)
		{
			case READ_RIGHT_ROWS:
				read_right(state);
				break;
			case COUNT_RIGHT_ROWS:
				match->methods->share(match, SHARE_COUNTS);
				break;
			case READ_LEFT_ROWS:
				read_left(state);
				break;
			case MAKE_ENTRIES:
				make_entries(state);
				break;
			case WRITE_PARTITIONS:
				match->methods->share(match, SHARE_RESULTS);
				write_partitions(state, false);
				if (!join_match_is_self(match))
					write_partitions(state, true);
				break;
			default:
				break;
		}
		is_elected = BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
		if (is_elected && phase + 1 == ALLOCATE_COUNTS)
		{
			match->methods->share(match, SHARE_ALLOCATE);
			if (match->methods->keys_need_radius)
				choose_partitions(state, match->nentries);
		}
		if (is_elected && phase + 1 == CHOOSE_PARTITIONS)
			prepare_partitions(state);
	}
	BarrierDetach(barrier);
}

/*
 * Prepare to join in parallel, unless this process is alone.
 */
void
join_parallel_begin(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;

	match->shared = NULL;
	match->nparticipants = 1;
	match->memory = get_hash_memory_limit();
	if (parallel == NULL || (parallel->context && parallel->context->nworkers_launched == 0))
		return;
	match->memory -= shared_memory();
	match->shared = method_data(parallel->shared);
	match->area = state->css.ss.ps.state->es_query_dsa;
	match->nparticipants = parallel->shared->nparticipants;
}

/*
 * Read the inputs and write partitions.  Called once the right store has been reset.
 */
void
join_parallel_build(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared = parallel->shared;

	match->methods->share(match, SHARE_BEGIN);
	match->partitioned = true;
	parallel->arenas = shared_arenas_attach(arena_table(match, shared), match->area,
											match->right->context);
	join_store_share(match->right, parallel->arenas, &shared->files.fs, false,
					 parallel->participant, match->nparticipants);
	if (!join_match_is_self(match))
	{
		join_store_reset(match->left,
						 match->left_limit > 0 ? match->left_limit : match->right_limit,
						 join_match_capacity(match, match->memory, match->partitioned_divisor),
						 match->entry_size);
		join_store_share(match->left, parallel->arenas, &shared->files.fs, true,
						 parallel->participant, match->nparticipants);
	}
	build_partitions(state);
	begin_partitions(state);
}

/* --- shared memory ---------------------------------------------------------------- */

/*
 * Return the size of the shared state.  A CustomScan callback.
 */
Size
join_parallel_estimate(CustomScanState *css, ParallelContext *context)
{
	return MAXALIGN(offsetof(JoinShared, participant) +
					(context->nworkers + 1) * sizeof(JoinParticipant)) +
		MAXALIGN(((SimHashJoinState *) css)->match->methods->shared_size) +
		shared_arenas_table_size(context->nworkers + 1);
}

/*
 * Prepare the shared state for a scan.
 */
static void
init_scan(SimHashJoinState *state, JoinShared *shared)
{
	JoinMatch  *match = state->match;

	BarrierInit(&shared->barrier, 0);
	shared->matched = InvalidDsaPointer;
	pg_atomic_init_u64(&shared->next, 0);
	pg_atomic_init_u32(&shared->njoining, 0);
	pg_atomic_init_u32(&shared->nunmatched, 0);
	for (int i = 0; i < shared->nparticipants; i++)
	{
		shared->participant[i].left = (SharedInput) {.partitions = InvalidDsaPointer};
		shared->participant[i].right = (SharedInput) {.partitions = InvalidDsaPointer};
	}
	shared->n = shared->nrounds = 1;
	shared_arenas_init(arena_table(match, shared), shared->nparticipants, shared_memory());
	match->shared = method_data(shared);
	match->nparticipants = shared->nparticipants;
	match->methods->share(match, SHARE_INIT);
	match->shared = NULL;
}

/*
 * Set what this participant has of its own.
 */
static void
init_participant(SimHashJoinState *state, JoinShared *shared, ParallelContext *context)
{
	JoinParallel *parallel = palloc0(sizeof(JoinParallel));
	Size		size = shared->nparticipants * sizeof(EntryReader);

	parallel->shared = shared;
	parallel->context = context;
	parallel->participant = ParallelWorkerNumber + 1;
	parallel->left_source = palloc0(size);
	parallel->right_source = palloc0(size);
	state->rest = palloc0(size);
	state->parallel = parallel;
}

/*
 * Initialize the shared state.  Without a segment there are no workers, and the leader runs the
 * serial join.  A CustomScan callback.
 */
void
join_parallel_init(CustomScanState *css, ParallelContext *context, void *coordinate)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinShared *shared = coordinate;

	if (context->seg == NULL)
		return;
	shared->segment = dsm_segment_handle(context->seg);
	shared->nparticipants = context->nworkers + 1;
	for (int i = 0; i < shared->nparticipants; i++)
		memset(&shared->participant[i].counters, 0, sizeof(JoinCounters));
	SharedFileSetInit(&shared->files, context->seg);
	init_scan(state, shared);
	init_participant(state, shared, context);
}

/*
 * Free shared memory, and invalidate the pointer to it.
 */
static void
free_shared(dsa_area *area, dsa_pointer *pointer)
{
	if (DsaPointerIsValid(*pointer))
		dsa_free(area, *pointer);
	*pointer = InvalidDsaPointer;
}

/*
 * Prepare the shared state for another scan.  No worker is attached.  A CustomScan callback.
 */
void
join_parallel_reinit(CustomScanState *css, ParallelContext *context, void *coordinate)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinMatch  *match = state->match;
	JoinShared *shared = coordinate;
	dsa_area   *area = css->ss.ps.state->es_query_dsa;

	if (state->parallel == NULL)
		return;
	join_parallel_reset(state);
	SharedFileSetDeleteAll(&shared->files);
	free_shared(area, &shared->matched);
	for (int i = 0; i < shared->nparticipants; i++)
	{
		free_shared(area, &shared->participant[i].left.partitions);
		free_shared(area, &shared->participant[i].right.partitions);
	}
	shared_arenas_free(arena_table(match, shared), area);
	match->area = area;
	match->shared = method_data(shared);
	match->methods->share(match, SHARE_FREE);
	init_scan(state, shared);
}

/*
 * Attach to the shared state.  A CustomScan callback.
 */
void
join_parallel_attach(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	JoinShared *shared = coordinate;

	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
	init_participant((SimHashJoinState *) css, shared, NULL);
}

/*
 * Close the files, and forget all rows.
 */
void
join_parallel_reset(SimHashJoinState *state)
{
	JoinParallel *parallel = state->parallel;

	if (parallel->kept)
		tuplestore_end(parallel->kept);
	parallel->kept = NULL;
	ExecClearTuple(state->kept_slot);
	join_row_clear(state);
	ExecClearTuple(state->left.slot);
	ExecClearTuple(state->right.slot);
	if (state->left.plan)
		join_store_close(&state->left.store);
	join_store_close(&state->right.store);
	state->left.done = state->left.complete = join_match_is_self(state->match);
	state->right.done = state->right.complete = false;
	state->matched = NULL;
	state->match->done = NULL;
	state->phase = BEGIN_JOIN;
}

/*
 * Pass the counters of a worker on to the leader.  In the leader, forgets the shared state, which
 * may be freed next.  If the leader does not read all rows, workers may still be running, and
 * their counters are missing.  A CustomScan callback.
 */
void
join_parallel_shutdown(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinParallel *parallel = state->parallel;

	if (parallel == NULL)
		return;
	if (parallel->context == NULL)
	{
		state->match->methods->count(state->match, &state->counters);
		join_counters_add(&parallel->shared->participant[parallel->participant].counters,
						  &state->counters, true);
	}
	else
	{
		JoinCounters counters = {0};

		for (int i = 1; i < parallel->shared->nparticipants; i++)
			join_counters_add(&counters, &parallel->shared->participant[i].counters, false);
		join_counters_add(&state->of_workers, &counters, true);
	}
	join_parallel_reset(state);
	state->match->shared = NULL;
	state->parallel = NULL;
	state->phase = JOIN_DONE;
}
