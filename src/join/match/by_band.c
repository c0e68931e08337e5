/*-------------------------------------------------------------------------
 *
 * by_band.c
 *		Methods of a join of signatures that share a band
 *
 * An entry has the keys of all bands of a row's signature.  The signature is a value that
 * is stored apart from the tuple.  Keys are hash values, so the signatures of each pair are
 * tested, after the other clauses.  If neither input fits into memory, entries are
 * partitioned by one band after the other.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "join/match/band_pairs.h"
#include "join/match/join_methods.h"
#include "type/minhash_type.h"

/* An entry is sorted by a key in the time that writing and reading so many bytes takes. */
#define BYTES_PER_SORTING	64

/* Number of random numbers that hash a band: one for two minima, and two more. */
#define BAND_SALT			(2 + MINHASH_MAX_ROWS / 2)

typedef struct BandMatch
{
	JoinMatch	match;			/* must be first */
	JoinBands	bands;
	bool		has_other_params;	/* true if a signature has other parameters than the first */
	uint64		salt[BAND_SALT];	/* random numbers for the keys of bands */
	JoinEntry	entry;			/* entry of the row last read, with the keys that follow it;
								 * zeroed at first, because all bytes go to files */
	uint32		keys[MINHASH_MAX_BANDS];
} BandMatch;

StaticAssertDecl(offsetof(BandMatch, keys) == offsetof(BandMatch, entry) + sizeof(JoinEntry),
				 "keys follow the entry");
StaticAssertDecl(2 * sizeof(uint64) == BAND_JOINED_SIZE, "memory for a place in the order");

static void
band_init(JoinMatch *match)
{
	BandMatch  *state = (BandMatch *) match;

	state->bands.context = match->context;
	for (int i = 0; i < BAND_SALT; i++)
		state->salt[i] = pg_prng_uint64(&pg_global_prng_state);
}

static void
band_begin(JoinMatch *match)
{
	BandMatch  *state = (BandMatch *) match;

	state->bands.nbands = 0;
	state->has_other_params = false;
	match->entry_size = ENTRY_SIZE;
	match->joined_size = BAND_JOINED_SIZE;
	match->right_limit = match->left_limit = match->memory / SIGNATURES_PART;
	match->reserved = match->memory / PENDING_PART * 2;
	match->right_part = BAND_ENTRIES_PART;
	match->partitioned_part = BAND_PARTITION_PART;
}

/* --- rows ------------------------------------------------------------------------ */

/*
 * Set the parameters of the signatures that get keys to those of the first row.
 */
static void
set_params(BandMatch *state, JoinStore *store, int32 params)
{
	JoinMatch  *match = &state->match;

	state->bands.params = (uint64) params;
	state->bands.nbands = minhash_params_of_typmod(params).bands;
	match->entry_size = join_band_entry_size(state->bands.nbands);
	join_entries_init(&store->entries, store->context,
					  store == match->left ? PG_INT32_MAX :
					  join_match_capacity(match, match->memory, match->right_part),
					  match->entry_size);
}

/*
 * Return the hash value of a band and of the equality keys.  The hash function is NH, with
 * random numbers as its key (Black et al., "UMAC: fast and secure message authentication",
 * 1999), followed by a multiplication.  So any two bands have the same hash value with a
 * probability of about 2^-32, whoever chose them.
 */
static inline uint32
hash_band(const uint64 *salt, const uint32 *minima, int rows, uint32 equal)
{
	uint64		sum = (uint64) (equal + (uint32) salt[1]) *
		((rows & 1 ? minima[--rows] : 0) + (uint32) (salt[1] >> 32));

	for (int i = 0; i < rows; i += 2)
		sum += (uint64) (minima[i] + (uint32) salt[2 + i / 2]) *
			(minima[i + 1] + (uint32) (salt[2 + i / 2] >> 32));
	return (sum * (salt[0] | 1)) >> 32;
}

/*
 * Spill entries.  Tuples and signatures have limits of their own.
 */
static void
band_spill(JoinMatch *match, JoinStore *store)
{
	join_entries_spill(&store->entries);
}

/*
 * Keep a row.  A key is a hash value of a band and of the equality keys.  Signatures with
 * other parameters than the first one get no keys.
 */
static bool
band_add(JoinMatch *match, JoinStore *store, Datum key, uint32 hash, TupleTableSlot *slot)
{
	BandMatch  *state = (BandMatch *) match;
	Minhash    *sig = minhash_detoast(key);
	int32		params = minhash_typmod(sig->params);
	int			rows = sig->params.rows;
	JoinEntry  *entry = &state->entry;

	if (state->bands.nbands == 0)
		set_params(state, store, params);
	*entry = (JoinEntry) {(uint64) params, NO_TUPLE, hash, store->nrows};
	if (join_bands_is_other(&state->bands, entry))
		state->has_other_params = true;
	else
		for (int i = 0; i < state->bands.nbands; i++)
			state->keys[i] = hash_band(state->salt, sig->minima + i * rows, rows, hash);
	if (store->entries.n == store->entries.capacity)
		band_spill(match, store);
	entry->location = join_tuples_put(&store->tuples,
									  join_store_value(store, slot, sig,
													   MINHASH_SIZE(minhash_length(sig))));
	join_entries_add(&store->entries, entry);
	return true;
}

/* --- partitions ------------------------------------------------------------------ */

/*
 * Return the number of the partition of an entry by a band.  A PartitionFunction.
 */
static uint32
band_partition_of(const void *arg, const JoinEntry *entry, int band)
{
	return join_bands_key(&((const BandMatch *) arg)->bands, entry, band);
}

/*
 * Return true if joining each chunk of left entries with each chunk of right ones takes
 * less time than partitioning by bands.  Chunks sort an entry again for each chunk of the
 * other input.  Partitions write an entry, with all of its keys, once for each band.
 */
static bool
chunks_are_cheaper(const JoinMatch *match)
{
	return (double) Max(match->left->entries.file.n, match->right->entries.file.n) /
		match->right->entries.capacity * BYTES_PER_SORTING < match->entry_size;
}

/*
 * Partition by all bands, and last by the equality keys if there are other parameters.
 */
static void
band_partition(JoinMatch *match, Size memory)
{
	BandMatch  *state = (BandMatch *) match;
	uint32		n = 1;

	join_match_limit(match, memory);
	if (!chunks_are_cheaper(match))
		n = join_match_partitions(match);
	join_partitions_init(&match->partitions, match->left->context, n,
						 n == 1 ? 1 : state->bands.nbands + state->has_other_params,
						 band_partition_of, state, match->memory,
						 &match->left->entries.file, &match->right->entries.file);
}

/* --- pairs ----------------------------------------------------------------------- */

static void
band_begin_pairs(JoinMatch *match)
{
	BandMatch  *state = (BandMatch *) match;
	bool		by_band = match->partitioned && match->partitions.n > 1;

	join_bands_begin(&state->bands, &match->left->entries, &match->right->entries, match->done,
					 by_band ? match->block : 0,
					 by_band ? match->block + 1 : state->bands.nbands + state->has_other_params);
}

static bool
band_next_pair(JoinMatch *match, JoinEntry **left, JoinEntry **right)
{
	return join_bands_next(&((BandMatch *) match)->bands, left, right);
}

/*
 * Return true if the signatures of two rows share a band.  Raises an error if they have
 * different parameters.
 */
static bool
band_verify(JoinMatch *match, TupleTableSlot *left, TupleTableSlot *right)
{
	const Minhash *a = join_fetch_value(match->left, left);
	const Minhash *b = join_fetch_value(match->right, right);

	if (match->is_swapped)
		minhash_check_comparable(b, a);
	else
		minhash_check_comparable(a, b);
	return minima_share_band(a->minima, b->minima, a->params.bands, a->params.rows);
}

static void
band_explain(const JoinMatch *match, ExplainState *es)
{
	const JoinBands *bands = &((const BandMatch *) match)->bands;

	if (bands->nbands > 0)
		ExplainPropertyText("Method", psprintf("%d bands", bands->nbands), es);
	ExplainPropertyFloat("Comparisons", NULL, bands->ncompared, 0, es);
}

const JoinMethods join_by_bands = {
	.state_size = sizeof(BandMatch),
	.stores_values = true,
	.init = band_init,
	.begin = band_begin,
	.add = band_add,
	.spill = band_spill,
	.partition = band_partition,
	.begin_pairs = band_begin_pairs,
	.next_pair = band_next_pair,
	.verify = band_verify,
	.explain = band_explain
};
