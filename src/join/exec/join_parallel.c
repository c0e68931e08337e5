/*
 * A similarity join by several processes
 *
 * The leader and the workers read a part of each input, and keep it in temporary files that all
 * of them can read.  They distribute the entries to partitions, in all rounds at once.  Then each
 * claims one partition after the other, and returns its matches.  Nobody waits any more then,
 * so no participant waits for one whose rows are not fetched.
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
 * rows.  Each may use work_mem * hash_mem_multiplier.  A rescan reads both inputs again.
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
	ALLOCATE_COUNTS,			/* one participant */
	COUNT_RIGHT_ROWS,
	READ_LEFT_ROWS,
	MAKE_ENTRIES,
	CHOOSE_PARTITIONS,			/* one participant */
	WRITE_PARTITIONS,
	JOIN_PARTITIONS
} WritePhase;

/* What a participant shares of an input. */
typedef struct SharedInput
{
	uint64		nrows;			/* number of rows that it has kept */
	uint64		nentries;
	dsa_pointer start;			/* see join_partitions_write(); invalid if it has no entries */
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
	Size		entry_size;
	uint32		n;				/* number of partitions in each round */
	int			nrounds;
	dsa_pointer matched;		/* bitmap of left rows that have a match; invalid for an inner
								 * join */
	pg_atomic_uint64 next;		/* number of the next partition, over all rounds */
	pg_atomic_uint32 njoining;	/* number of participants that may have matches to return */
	pg_atomic_uint32 nunmatched;	/* number of participants that have offered to return left
									 * rows without a match: the first one does */
	JoinParticipant participant[FLEXIBLE_ARRAY_MEMBER];

	/* the method's data follow */
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

/* --- reading ---------------------------------------------------------------------- */

/*
 * Add up the rows of the participants, or those of the participants before one.
 */
static uint64
sum_rows(const JoinShared *shared, int end, bool is_left)
{
	uint64		nrows = 0;

	for (int i = 0; i < end; i++)
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
 * Prepare to keep the rows of an input in shared files.
 */
static void
share_store(SimHashJoinState *state, JoinStore *store, Size limit, double divisor, bool is_left)
{
	JoinMatch  *match = state->match;

	join_store_reset(store, limit, join_match_capacity(match, match->memory, divisor),
					 match->entry_size);
	join_store_share(store, &state->parallel->shared->files.fs,
					 is_left ? "left_tuples" : "right_tuples",
					 is_left ? "left_values" : "right_values",
					 state->parallel->participant, match->nparticipants);
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
	join_match_spill(match, match->right);
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

	state->match->nright = sum_rows(shared, shared->nparticipants, false);
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
	while ((result = join_input_read_left(state)) != NULL)
		keep_result(state, result);
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
	match->nleft = sum_rows(shared, shared->nparticipants, !join_match_is_self(match));
	if (state->matchable && match->nleft > 0 && !match->knows_radius)
		join_evaluate_radius(state);
}

/*
 * Complete the entries, and share their number.
 */
static void
make_entries(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParticipant *own = &state->parallel->shared->participant[state->parallel->participant];

	know_rows(state);
	if (match->knows_radius)
		match->methods->share(match, SHARE_ENTRIES);
	join_match_spill(match, match->right);
	own->right.nentries = match->right->entries.file.n;
	if (!join_match_is_self(match))
		own->left.nentries = match->left->entries.file.n;

	/* free the arrays of entries */
	join_match_limit(match, match->memory);
}

/* --- partitions ------------------------------------------------------------------- */

/*
 * Choose the partitions, and allocate the bitmap of left rows.  One participant does.
 */
static void
choose_partitions(SimHashJoinState *state)
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
	shared->n = 1;
	shared->nrounds = 1;

	/* this participant may have read no rows */
	match->methods->share(match, SHARE_RESULTS);
	join_match_limit(match, match->memory);
	if (match->knows_radius)
		shared->nrounds = join_match_choose(match, Max(nleft, nright), &shared->n);
	match->methods->share(match, SHARE_PARTITIONS);
	shared->entry_size = match->entry_size;
	if (state->spec.jointype != JOIN_INNER)
		shared->matched = dsa_allocate_extended(match->area,
												(match->nleft / 32 + 1) * sizeof(uint32),
												DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
}

/*
 * Write the partitions of an input of this participant.
 */
static void
write_partitions(SimHashJoinState *state, bool is_left)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared = parallel->shared;
	JoinParticipant *own = &shared->participant[parallel->participant];
	SharedInput *input = is_left ? &own->left : &own->right;
	JoinStore  *store = is_left ? match->left : match->right;
	SharedFiles *files = is_left ? &parallel->left_files : &parallel->right_files;
	BufFile    *file;

	match->methods->share(match, SHARE_RESULTS);
	join_store_export(store);
	if (input->nentries == 0)
		return;
	file = shared_files_create(files);
	input->start = dsa_allocate_extended(match->area,
										 ((Size) shared->n * shared->nrounds + 1) * sizeof(uint64),
										 DSA_ALLOC_HUGE);
	join_partitions_write(match->context, shared->n, shared->nrounds, match->methods->partition_of,
						  match, match->memory, &store->entries.file, file,
						  sum_rows(shared, parallel->participant, is_left),
						  dsa_get_address(match->area, input->start));
	shared_files_export(files);
	parallel->disk += input->nentries * shared->nrounds * match->entry_size;
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
	match->partitions = (JoinPartitions) {.n = shared->n,.nrounds = shared->nrounds};
	if (!join_match_is_self(match))
	{
		join_entries_close(&match->left->entries);
		join_entries_init(&match->left->entries, match->left->context, 0, match->entry_size);
	}
	join_entries_close(&match->right->entries);
	join_entries_init(&match->right->entries, match->right->context, 0, match->entry_size);
	join_match_limit(match, match->memory);
	if (DsaPointerIsValid(shared->matched))
		state->matched = dsa_get_address(match->area, shared->matched);
	match->done = join_needs_one_match(state->spec.jointype) ? state->matched : NULL;
	state->uses_pending = !join_needs_one_match(state->spec.jointype);
	state->counters.nbatches = Max(state->counters.nbatches, shared->n);
	pg_atomic_fetch_add_u32(&shared->njoining, 1);
}

/*
 * Set the parts of partitions from `first` to `end` (exclusive) that the participants have
 * written.  Returns their number of entries.
 */
static uint64
set_source(SimHashJoinState *state, bool is_left, uint64 first, uint64 end)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared = parallel->shared;
	bool		is_other = is_left && !join_match_is_self(match);
	SharedFiles *files = is_other ? &parallel->left_files : &parallel->right_files;
	JoinEntryFile *source = is_left ? parallel->left_source : parallel->right_source;
	JoinEntries *entries = is_left ? match->left_entries : &match->right->entries;
	uint64		n = 0;

	for (int i = 0; i < shared->nparticipants; i++)
	{
		SharedInput *input = is_other ? &shared->participant[i].left :
			&shared->participant[i].right;

		source[i] = (JoinEntryFile) {.entry_size = match->entry_size};
		if (DsaPointerIsValid(input->start))
		{
			const uint64 *start = dsa_get_address(match->area, input->start);

			source[i].first = start[first];
			source[i].n = start[end] - start[first];
		}
		if (source[i].n > 0)
			source[i].file = shared_files_open(files, i);
		n += source[i].n;
	}
	entries->source = source;
	entries->nmore = shared->nparticipants - 1;
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
	JoinShared *shared = state->parallel->shared;

	for (;;)
	{
		uint64		i = pg_atomic_fetch_add_u64(&shared->next, 1);

		CHECK_FOR_INTERRUPTS();
		if (!state->matchable || i >= (uint64) shared->n * shared->nrounds)
			return false;
		match->round = i / shared->n;
		if (set_source(state, false, i, i + 1) > 0 && set_source(state, true, i, i + 1) > 0)
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
	set_source(state, true, 0, shared->n);
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
				write_partitions(state, false);
				if (!join_match_is_self(match))
					write_partitions(state, true);
				break;
			default:
				break;
		}
		is_elected = BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
		if (is_elected && phase + 1 == ALLOCATE_COUNTS)
			match->methods->share(match, SHARE_ALLOCATE);
		if (is_elected && phase + 1 == CHOOSE_PARTITIONS)
			choose_partitions(state);
	}
	BarrierDetach(barrier);
}

/*
 * Begin the join in parallel, and return true.  Returns false if this process is alone.
 */
bool
join_parallel_begin(SimHashJoinState *state)
{
	JoinMatch  *match = state->match;
	JoinParallel *parallel = state->parallel;
	JoinShared *shared;

	match->shared = NULL;
	if (parallel == NULL || (parallel->context && parallel->context->nworkers_launched == 0))
		return false;
	shared = parallel->shared;
	match->shared = method_data(shared);
	match->area = state->css.ss.ps.state->es_query_dsa;
	match->nparticipants = shared->nparticipants;
	match->methods->begin(match);
	match->methods->share(match, SHARE_BEGIN);
	match->knows_radius = false;
	match->partitioned = true;
	match->chunk.entry = NULL;
	match->left_entries = &match->left->entries;
	match->right_entries = &match->right->entries;
	share_store(state, match->right, match->right_limit, match->right_divisor, false);
	if (!join_match_is_self(match))
		share_store(state, match->left, match->left_limit > 0 ? match->left_limit :
					match->right_limit, match->partitioned_divisor, true);
	pending_init(&state->pending, match->right->context, match->memory / PENDING_DIVISOR);
	state->returns_pending = state->exchange = false;
	shared_files_init(&parallel->left_files, match->right->context, &shared->files.fs, "left",
					  parallel->participant, shared->nparticipants);
	shared_files_init(&parallel->right_files, match->right->context, &shared->files.fs, "right",
					  parallel->participant, shared->nparticipants);
	build_partitions(state);
	begin_partitions(state);
	return true;
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
		((SimHashJoinState *) css)->match->methods->shared_size;
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
		shared->participant[i].left = (SharedInput) {.start = InvalidDsaPointer};
		shared->participant[i].right = (SharedInput) {.start = InvalidDsaPointer};
	}
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
	Size		size = shared->nparticipants * sizeof(JoinEntryFile);

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
		free_shared(area, &shared->participant[i].left.start);
		free_shared(area, &shared->participant[i].right.start);
	}
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
	parallel->disk = 0;
	ExecClearTuple(state->kept_slot);
	join_row_clear(state);
	ExecClearTuple(state->left.slot);
	ExecClearTuple(state->right.slot);
	shared_files_close(&parallel->left_files);
	shared_files_close(&parallel->right_files);
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
