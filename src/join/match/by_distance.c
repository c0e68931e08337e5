/*
 * Methods of a join of fingerprints within a radius
 *
 * An entry has the fingerprint of a row.  Loaded entries are sorted by hash value and fingerprint,
 * and paired by distance_pairs.c.  If neither input fits into memory, entries are partitioned by
 * blocks of their bits (pairs/block_cut.c): each block that can be the first of a choice.  The
 * partitions by a block contain all pairs that a choice beginning with this block finds.  So each
 * input is read and written once for each such block, not once for each choice.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "digest/splitmix.h"
#include "join/match/distance_pairs.h"
#include "join/match/join_methods.h"
#include "type/simhash_type.h"

/* Maximum number of fingerprints in the sample of an input. */
#define INPUT_SAMPLE		4096

typedef struct DistanceMatch
{
	JoinMatch	match;			/* must be first */
	JoinPairs	pairs;
	JoinValue  *left_value;		/* the current pair of values */
	JoinValue  *right_value;
	uint32		left_entry;		/* numbers of the next entries in these values */
	uint32		right_entry;
	SimHash		sample[2 * INPUT_SAMPLE];	/* random samples of the right and the left
											 * fingerprints, see sample_size() */
	BlockCut	cut;			/* the blocks to partition by */
	uint64		mask[SIMHASH_BITS]; /* bits of each block that entries are partitioned by.
									 * Entries of the same partition whose hash values are
									 * equal agree on these bits. */
} DistanceMatch;

/*
 * What the participants in a parallel join share
 */
typedef struct SharedDistance
{
	pg_atomic_uint32 nsample;
	SimHash		sample[2 * INPUT_SAMPLE];	/* parts of all samples */
	BlockCut	cut;
	uint64		mask[SIMHASH_BITS];
} SharedDistance;

StaticAssertDecl(sizeof(JoinValue) + 2 * sizeof(SimHash) + sizeof(uint32) <= DISTANCE_JOINED_SIZE,
				 "memory for a value");
StaticAssertDecl(sizeof(JoinEntry) + REFS_JOINED_SIZE <= DISTANCE_JOINED_SIZE,
				 "memory for sorting an entry");

static void
distance_begin(JoinMatch *match)
{
	DistanceMatch *state = (DistanceMatch *) match;

	state->pairs.context = match->context;
	state->pairs.near_pairs.random = pg_prng_uint64(&pg_global_prng_state);
	match->entry_size = join_entry_size(ENTRY_SIZE, match->jointype, match->has_equalities);
	match->joined_size = DISTANCE_JOINED_SIZE;
	match->right_limit = match->memory / DISTANCE_ALL_TUPLES_DIVISOR;
	match->right_divisor = DISTANCE_ENTRIES_DIVISOR;
	match->partitioned_divisor = DISTANCE_PARTITIONED_DIVISOR;
}

/* --- rows ------------------------------------------------------------------------ */

/*
 * Return the size of the sample of an input's fingerprints.
 */
static uint32
sample_size(const JoinStore *store)
{
	return Min(store->nrows, INPUT_SAMPLE);
}

/*
 * Consider the fingerprint of the next row for the sample of an input.  The sample of the left
 * input follows that of the right one, which is complete.  Every row so far is in the sample with
 * the same probability (Vitter, "Random sampling with a reservoir", 1985, algorithm R).
 */
static void
add_to_sample(DistanceMatch *state, const JoinStore *store, SimHash fp)
{
	uint64		i = store->nrows;

	if (i >= INPUT_SAMPLE)
		i = draw_below(&state->pairs.near_pairs.random, Min(i + 1, PG_UINT32_MAX));
	if (i < INPUT_SAMPLE)
		state->sample[store == state->match.right ? i : sample_size(state->match.right) + i] = fp;
}

/*
 * Number of entries of an input that a partition should not exceed even if more fit into
 * memory.  While they are joined, they mostly stay in the processor's cache.
 */
#define CACHED_ENTRIES		(1 << 15)

/* Number of entries by which the tuples to write are prefetched. */
#define TUPLES_AHEAD		16

/*
 * Move the tuples in memory of this process to the temporary file, sorted like their entries.  So
 * tuples whose fingerprints are in the same partition are close to each other in the file.
 */
static void
distance_spill_tuples(JoinMatch *match, JoinStore *store)
{
	JoinEntries *entries = &store->entries;

	if (!store->keeps_tuples)
		return;
	join_sort(entries->entry + store->ntuples_written, entries->n - store->ntuples_written);
	for (; store->ntuples_written < entries->n; store->ntuples_written++)
	{
		JoinEntry  *entry = &entries->entry[store->ntuples_written];

		CHECK_FOR_INTERRUPTS();
		if (entry->location & IN_SHARED_ARENA)
			continue;
		if (store->ntuples_written + TUPLES_AHEAD < entries->n)
			join_tuple_prefetch(entry[TUPLES_AHEAD].location);
		entry->location = join_tuples_write(&store->tuples, entry->location);
	}
	join_tuples_free(&store->tuples);
	store->tuples.limit = match->memory / DISTANCE_TUPLES_DIVISOR;
}

static bool
distance_add(JoinMatch *match, JoinStore *store, Datum key, uint32 hash, TupleTableSlot *slot)
{
	JoinEntry	entry = {DatumGetSimHash(key), NO_TUPLE, hash, store->nrows};

	if (store->entries.n == store->entries.capacity)
		join_match_spill(match, store);
	if (store->keeps_tuples)
	{
		bool		free_tuple;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &free_tuple);

		if (join_tuples_is_full(&store->tuples, tuple))
			distance_spill_tuples(match, store);
		entry.location = join_tuples_add(&store->tuples, tuple);
	}
	add_to_sample((DistanceMatch *) match, store, entry.key);
	join_entries_add(&store->entries, &entry);
	return true;
}

static bool
distance_set_radius(JoinMatch *match, Datum radius, bool isnull)
{
	int64		bits = isnull ? -1 : DatumGetInt64(radius);

	((DistanceMatch *) match)->pairs.near_pairs.radius = bits < 0 ? 0 : simhash_clamp_radius(bits);
	return bits >= 0;
}

/* --- partitions ------------------------------------------------------------------ */

/*
 * Return the bits of a fingerprint at the positions set in `mask`, moved into the low
 * bits.  The mask must not have all bits set.
 */
static uint64
gather_bits(SimHash fp, uint64 mask)
{
	uint64		bits = 0;
	int			nbits = 0;

	while (mask != 0)
	{
		int			shift = pg_rightmost_one_pos64(mask);
		int			length = pg_rightmost_one_pos64(~(mask >> shift));
		uint64		run = (UINT64CONST(1) << length) - 1;

		bits |= (fp >> shift & run) << nbits;
		nbits += length;
		mask &= ~(run << shift);
	}
	return bits;
}

/*
 * Return the number of the partition of an entry, by the equality keys and by some of the
 * most significant bits of a block.  So tuples of a partition by the first block are close
 * to each other in the file.  A PartitionFunction.
 */
static uint32
distance_partition_of(const void *arg, const JoinEntry *entry, int block)
{
	return entry->hash + gather_bits(entry->key, ((const DistanceMatch *) arg)->mask[block]);
}

/*
 * Return the size of the samples of both inputs together.
 */
static uint32
samples_size(const JoinMatch *match)
{
	return sample_size(match->right) +
		(join_match_is_self(match) ? 0 : sample_size(match->left));
}

/*
 * Cut the fingerprints into blocks, as their sample suggests.
 */
static void
make_cut(DistanceMatch *state)
{
	const JoinMatch *match = &state->match;
	NearPairs  *near_pairs = &state->pairs.near_pairs;
	SharedDistance *shared = match->shared;
	double		nleft = match->nleft;
	double		nright = match->nright;
	double		nvalues = join_match_is_self(match) ? nright : nleft + nright;

	/* a chunk of a partition is joined once for each chunk of the other input */
	double		chunks = Max(nleft, nright) / match->right->entries.capacity /
		Min(join_partitions_max(match->memory),
			exp2((double) SIMHASH_BITS / (near_pairs->radius + 2)));

	block_cut_make(&state->cut, shared ? shared->sample : state->sample,
				   shared ? pg_atomic_read_u32(&shared->nsample) : samples_size(match),
				   nvalues * Max(chunks, 1), near_pairs->radius, nleft * nright,
				   &near_pairs->random);
}

/*
 * Choose the blocks to partition by.  A round partitions by a block that can be the first of
 * a choice.
 */
static int
distance_choose_rounds(JoinMatch *match, double nentries, uint32 *n)
{
	DistanceMatch *state = (DistanceMatch *) match;
	BlockCut   *cut = &state->cut;
	int			nrounds = 1;

	make_cut(state);
	while (*n > 1 && *n * 2 <= join_partitions_max(match->memory) &&
		   nentries / *n > CACHED_ENTRIES)
		*n *= 2;

	/* with one partition, each round would join all chunks again */
	if (*n == 1)
		cut->agree = 0;
	if (cut->agree > 0)
		nrounds = cut->nblocks - cut->agree + 1;
	for (int block = 0; block < nrounds; block++)
	{
		uint64		mask = cut->agree > 0 ? cut->mask[block] : 0;
		int			nbits = Min(pg_popcount64(mask), pg_leftmost_one_pos32(*n));

		/* leave the most significant bits */
		while (pg_popcount64(mask) > nbits)
			mask &= mask - 1;
		state->mask[block] = mask;
	}
	return nrounds;
}

/*
 * Share the samples, and the cut that is made from them.
 */
static void
distance_share(JoinMatch *match, JoinShareStep step)
{
	DistanceMatch *state = (DistanceMatch *) match;
	SharedDistance *shared = match->shared;
	uint32		nsample = samples_size(match);
	uint32		nshared = Min(nsample, lengthof(shared->sample) / match->nparticipants);
	uint32		first;

	switch (step)
	{
		case SHARE_INIT:
			pg_atomic_init_u32(&shared->nsample, 0);
			memset(&shared->cut, 0, sizeof(shared->cut));
			memset(shared->mask, 0, sizeof(shared->mask));
			break;
		case SHARE_ENTRIES:
			first = pg_atomic_fetch_add_u32(&shared->nsample, nshared);
			for (uint32 i = 0; i < nshared; i++)
				shared->sample[first + i] = state->sample[(uint64) i * nsample / nshared];
			break;
		case SHARE_PARTITIONS:
			shared->cut = state->cut;
			memcpy(shared->mask, state->mask, sizeof(shared->mask));
			break;
		case SHARE_RESULTS:
			state->cut = shared->cut;
			memcpy(state->mask, shared->mask, sizeof(shared->mask));
			break;
		default:
			break;
	}
}

/* --- pairs ----------------------------------------------------------------------- */

/*
 * Sort loaded entries, unless they have been paired already.
 */
static void
sort_entries(const JoinMatch *match, JoinEntries *entries)
{
	if (!entries->sorted && match->has_equalities)
		join_sort(entries->entry, entries->n);
	else if (!entries->sorted)
		entries_sort_by_key(entries, match->context);
	entries->sorted = true;
}

static void
distance_begin_pairs(JoinMatch *match)
{
	DistanceMatch *state = (DistanceMatch *) match;
	bool		by_block = match->partitioned && match->npartitions > 1 && state->cut.agree > 0;

	MemoryContextReset(match->context);
	sort_entries(match, match->left_entries);
	sort_entries(match, match->right_entries);
	state->left_value = state->right_value = NULL;
	join_pairs_begin(&state->pairs, match->left_entries, match->right_entries, match->done,
					 by_block ? &state->cut : NULL, match->round,
					 by_block ? pg_popcount64(state->mask[match->round]) : 0);
}

static bool
distance_next_pair(JoinMatch *match, JoinEntry **left, JoinEntry **right)
{
	DistanceMatch *state = (DistanceMatch *) match;

	do
	{
		JoinValue  *a = state->left_value;
		JoinValue  *b = state->right_value;
		const JoinEntry *first = match->left_entries->entry;

		for (; a && state->left_entry < a->nleft; state->left_entry++, state->right_entry = 0)
		{
			CHECK_FOR_INTERRUPTS();
			*left = &a->left[state->left_entry];
			if (state->pairs.is_self && a == b && match->done == NULL)
				state->right_entry = Max(state->right_entry, state->left_entry);
			while (state->right_entry < b->nright && !join_row_is_done(match->done, (*left)->row))
			{
				*right = &b->right[state->right_entry++];
				if (!state->pairs.is_self ||
					!join_pair_is_repeated(match->done, match->pairs_itself, *left - first,
										   *right - first, (*right)->row))
					return true;
			}
		}
		if (a)
			join_pairs_count_unmatched(&state->pairs, a);
		state->left_entry = state->right_entry = 0;
	} while (join_pairs_next(&state->pairs, &state->left_value, &state->right_value));
	state->left_value = state->right_value = NULL;
	return false;
}

static void
distance_count(const JoinMatch *match, JoinCounters *counters)
{
	const JoinPairs *pairs = &((const DistanceMatch *) match)->pairs;

	counters->nvalues = pairs->ndistinct;
	counters->ncompared = pairs->ncompared;
	counters->largest_group = Max(pairs->largest_group, match->knows_radius);
	counters->agree = match->knows_radius && pairs->near_pairs.radius == 0 ? -1 : pairs->agree;
	counters->nblocks = pairs->nblocks;
}

/*
 * Show the method of the largest group, and counters.  counters->largest_group is 0 if the radius
 * is not known.  counters->agree is -1 if the radius is 0.
 */
static void
distance_explain(const JoinMatch *match, const JoinCounters *counters, ExplainState *es)
{
	const char *method = counters->agree < 0 ? "equal fingerprints" :
		counters->agree == 0 ? "all pairs" :
		psprintf("agree on %d of %d blocks", counters->agree, counters->nblocks);

	if (counters->largest_group > 0)
		ExplainPropertyText("Method", method, es);
	ExplainPropertyFloat("Values", NULL, counters->nvalues, 0, es);
	ExplainPropertyFloat("Comparisons", NULL, counters->ncompared, 0, es);
}

const JoinMethods join_by_distance = {
	.state_size = sizeof(DistanceMatch),
	.begin = distance_begin,
	.add = distance_add,
	.spill_tuples = distance_spill_tuples,
	.set_radius = distance_set_radius,
	.choose_rounds = distance_choose_rounds,
	.partition_of = distance_partition_of,
	.share = distance_share,
	.shared_size = sizeof(SharedDistance),
	.begin_pairs = distance_begin_pairs,
	.next_pair = distance_next_pair,
	.count = distance_count,
	.explain = distance_explain
};
