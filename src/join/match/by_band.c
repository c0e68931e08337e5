/*
 * Methods of a join of signatures that share a band
 *
 * An entry has one key for each band of a row's signature.  The signature is a value that is
 * stored apart from the tuple.  For one band after the other, both inputs are sorted by the key of
 * this band, and merged.  A pair may share several keys.  It is returned for the first of them
 * only.  The keys of the two entries decide that, so no set of pairs is needed.  If neither input
 * fits into memory, entries are partitioned by one band after the other.
 *
 * Keys are hash values, so the signatures of each pair are tested, after the cheap clauses.
 * A pair that shares a band shares its key, so it is returned.
 *
 * Nearly all signatures have the same parameters.  Entries with other parameters than the
 * first one have no keys.  They are paired last, with all entries of the same equality keys.
 * The comparison then raises the error that a nested loop raises, or returns its result.  The
 * planner cannot exclude these rows: to_minhash(body) has no type modifier.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/spin.h"
#include "utils/memutils.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "join/match/join_methods.h"
#include "type/minhash_type.h"

/* An entry is sorted by a key in the time that writing and reading so many bytes takes. */
#define BYTES_PER_SORTING	64

/* Number of random numbers that hash a band: one for two minima, and two more. */
#define BAND_SALT			(2 + MINHASH_MAX_ROWS / 2)

/*
 * The state, which is an iterator over pairs of a left entry and a right entry.  After the
 * last band, it returns the pairs in which an entry has other parameters, if there are any.
 */
typedef struct BandMatch
{
	JoinMatch	match;			/* must be first */
	uint64		params;			/* parameters of the first signature, and of the entries that
								 * have keys */
	bool		has_others;		/* true if a signature has other parameters than the first */
	int			nbands;
	int			band;			/* the current band; nbands for other parameters */
	int			end_band;		/* (exclusive) */
	EntryRefs	left;			/* sorted by the keys of the current band */
	EntryRefs	right;
	uint64	   *scratch;		/* scratch space for sorting */
	uint32		right_other;	/* end of the right entries with the current key and other
								 * parameters (exclusive) */
	uint32		next_left;		/* the next pair, in ref[] */
	uint32		next_right;
	uint64		ncompared;		/* number of tested pairs, for EXPLAIN */
	uint64		salt[BAND_SALT];	/* random numbers for the keys of bands */
	JoinEntry	entry;			/* entry of the row last read, with the keys that follow it;
								 * zeroed at first, because all bytes go to files */
	uint32		keys[MINHASH_MAX_BANDS];
} BandMatch;

/*
 * What the participants in a parallel join share
 */
typedef struct SharedBands
{
	slock_t		mutex;
	uint64		salt[BAND_SALT];
	uint64		params;			/* parameters of the first signature, once nbands is not 0 */
	int			nbands;
	bool		has_others;
} SharedBands;

StaticAssertDecl(offsetof(BandMatch, keys) == offsetof(BandMatch, entry) + sizeof(JoinEntry),
				 "keys follow the entry");

/*
 * Return the keys of the bands of an entry, which follow it.
 */
static inline uint32 *
band_keys(const JoinEntry *entry)
{
	return (uint32 *) (entry + 1);
}

/*
 * Return true if an entry has other parameters than the entries with keys.
 */
static inline bool
has_other_params(const BandMatch *state, const JoinEntry *entry)
{
	return entry->key != state->params;
}

/*
 * Return the key of an entry for a band.  Returns the hash value of the equality keys if the
 * band is nbands, which stands for the pairs with other parameters.  Returns it for an entry
 * without keys, too.  That entry is in no pair of another band.
 */
static inline uint32
band_key(const BandMatch *state, const JoinEntry *entry, int band)
{
	return band == state->nbands || has_other_params(state, entry) ? entry->hash :
		band_keys(entry)[band];
}

static void
make_salt(uint64 *salt)
{
	for (int i = 0; i < BAND_SALT; i++)
		salt[i] = pg_prng_uint64(&pg_global_prng_state);
}

static void
band_begin(JoinMatch *match)
{
	BandMatch  *state = (BandMatch *) match;

	make_salt(state->salt);
	state->nbands = 0;
	state->has_others = false;
	match->entry_size = join_entry_size(ENTRY_SIZE, match->jointype, match->has_equalities);
	match->joined_size = REFS_JOINED_SIZE;
	match->right_limit = match->left_limit = match->memory / BAND_TUPLES_DIVISOR;
	match->reserved = match->memory / PENDING_DIVISOR * 2;
	match->right_divisor = BAND_ENTRIES_DIVISOR;
	match->partitioned_divisor = BAND_PARTITIONED_DIVISOR;
}

/* --- rows ------------------------------------------------------------------------ */

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
 * Set the parameters of entries with keys.  In a parallel join, they are those of the first
 * signature that any participant has read.
 */
static void
set_params(BandMatch *state, uint64 params, int nbands)
{
	SharedBands *shared = state->match.shared;

	if (shared)
	{
		SpinLockAcquire(&shared->mutex);
		if (shared->nbands == 0)
		{
			shared->params = params;
			shared->nbands = nbands;
		}
		params = shared->params;
		nbands = shared->nbands;
		SpinLockRelease(&shared->mutex);
	}
	state->params = params;
	state->nbands = nbands;
	state->match.entry_size = join_entry_size(join_band_entry_size(nbands), state->match.jointype,
											  state->match.has_equalities);
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

	if (state->nbands == 0)
	{
		set_params(state, (uint64) params, sig->params.bands);
		join_entries_init(&store->entries, store->context,
						  store != match->right && !match->shared ? PG_INT32_MAX :
						  join_match_capacity(match, match->memory, match->right_divisor),
						  match->entry_size);
	}
	*entry = (JoinEntry) {(uint64) params, NO_TUPLE, hash, store->nrows};
	if (has_other_params(state, entry))
		state->has_others = true;
	else
		for (int i = 0; i < state->nbands; i++)
			state->keys[i] = hash_band(state->salt, sig->minima + i * rows, rows, hash);
	entry->location = join_store_value(store, slot, sig, MINHASH_SIZE(minhash_length(sig)));
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
	return band_key((const BandMatch *) arg, entry, band);
}

/*
 * Return the number of bands, and one more for the pairs with other parameters if there are any.
 */
static int
number_of_rounds(const BandMatch *state)
{
	return state->nbands + state->has_others;
}

/*
 * Partition by all bands, and last by the equality keys if there are other parameters.  If
 * it takes less time, all chunks are joined with each other instead.  Chunks sort an entry
 * again for each chunk of the other input.  Partitions write an entry, with all of its keys,
 * once for each band.  The participants in a parallel join always join partitions.
 */
static int
band_choose_rounds(JoinMatch *match, double nentries, uint32 *n)
{
	if (match->shared)
		return Max(number_of_rounds((BandMatch *) match), 1);
	if (nentries / match->right->entries.capacity * BYTES_PER_SORTING < match->entry_size.in_file)
		*n = 1;
	return *n == 1 ? 1 : number_of_rounds((BandMatch *) match);
}

/*
 * Share the salt and the parameters.
 */
static void
band_share(JoinMatch *match, JoinShareStep step)
{
	BandMatch  *state = (BandMatch *) match;
	SharedBands *shared = match->shared;

	switch (step)
	{
		case SHARE_INIT:
			SpinLockInit(&shared->mutex);
			make_salt(shared->salt);
			shared->nbands = 0;
			shared->has_others = false;
			break;
		case SHARE_BEGIN:
			memcpy(state->salt, shared->salt, sizeof(shared->salt));
			break;
		case SHARE_ENTRIES:
			if (state->has_others)
				shared->has_others = true;
			break;
		case SHARE_PARTITIONS:
		case SHARE_RESULTS:
			if (shared->nbands > 0)
				set_params(state, shared->params, shared->nbands);
			state->has_others |= shared->has_others;
			break;
		default:
			break;
	}
}

/* --- sorting --------------------------------------------------------------------- */

/*
 * Sort the entries of a side by their keys of the current band.  Entries with other parameters
 * have no key of a band, and are left out.  After the last band, they are sorted by the
 * equality keys, together with all others.  Then the last bit of a key is 0 if the entry has
 * other parameters, so these entries come first.
 */
static void
sort_by_band(BandMatch *state, EntryRefs *side)
{
	side->n = side->first = side->end = 0;
	for (uint32 i = 0; i < side->entries->n; i++)
	{
		const JoinEntry *entry = join_entries_at(side->entries, i);
		uint32		key = band_key(state, entry, state->band);
		bool		is_other = has_other_params(state, entry);

		CHECK_FOR_INTERRUPTS();
		if (state->band == state->nbands)
			key = (key & ~1) | !is_other;
		else if (is_other)
			continue;
		side->ref[side->n++] = (uint64) key << 32 | i;
	}
	entry_refs_sort(side, &state->scratch);
}

/*
 * Return true if the loaded left entries are the right ones, too.
 */
static inline bool
is_self(const BandMatch *state)
{
	return state->match.left_entries == state->match.right_entries;
}

/*
 * Sort both sides by the current band, and begin at their first entries.
 */
static void
begin_band(BandMatch *state)
{
	sort_by_band(state, &state->right);
	if (is_self(state))
		state->left = state->right;
	else
		sort_by_band(state, &state->left);
	state->next_left = state->next_right = 0;
}

/* --- pairs ----------------------------------------------------------------------- */

/*
 * Start to pair the loaded entries.  If they are partitioned, go through the band of the round
 * only, else through all bands.  Band number nbands stands for the pairs with other parameters.
 */
static void
band_begin_pairs(JoinMatch *match)
{
	BandMatch  *state = (BandMatch *) match;
	bool		by_band = match->partitioned && match->nrounds > 1;

	MemoryContextReset(match->context);
	state->scratch = entry_refs_begin(&state->left, match->left_entries, &state->right,
									  match->right_entries, match->context);
	state->band = by_band ? match->round : 0;
	state->end_band = by_band ? match->round + 1 : number_of_rounds(state);
	begin_band(state);
}

/*
 * Advance to the next key that entries of both sides have.  Returns false if the current
 * band has no more.  After the last band, the last bit is no part of a key.
 */
static bool
next_key(BandMatch *state)
{
	EntryRefs  *left = &state->left;
	EntryRefs  *right = &state->right;

	if (!entry_refs_next_key(left, right, state->band == state->nbands ? 33 : 32))
		return false;
	state->next_left = left->first;
	state->next_right = state->right_other = right->first;
	if (state->band == state->nbands)
		while (state->right_other < right->end && !(right->ref[state->right_other] >> 32 & 1))
			state->right_other++;
	return true;
}

/*
 * Return true if two entries that share the key of the current band share no key of an
 * earlier band.
 */
static inline bool
is_first_band(const BandMatch *state, const JoinEntry *left, const JoinEntry *right)
{
	const uint32 *left_key = band_keys(left);
	const uint32 *right_key = band_keys(right);

	if (state->band == state->nbands)
		return true;
	for (int i = 0; i < state->band; i++)
		if (left_key[i] == right_key[i])
			return false;
	return true;
}

/*
 * Advance to the next pair of entries.  Returns false at the end, however often it is
 * called there.
 */
static bool
band_next_pair(JoinMatch *match, JoinEntry **left, JoinEntry **right)
{
	BandMatch  *state = (BandMatch *) match;

	while (state->band < state->end_band)
	{
		for (; state->next_left < state->left.end;
			 state->next_left++, state->next_right = state->right.first)
		{
			uint32		end = state->right.end;

			*left = entry_refs_at(&state->left, state->next_left);
			if (join_row_is_done(match->done, (*left)->row))
				continue;
			if (state->band == state->nbands && !has_other_params(state, *left))
				end = state->right_other;
			if (is_self(state) && match->done == NULL)
				state->next_right = Max(state->next_right, state->next_left);
			while (state->next_right < end)
			{
				uint32		position = state->next_right++;

				*right = entry_refs_at(&state->right, position);
				CHECK_FOR_INTERRUPTS();
				if (is_self(state) &&
					join_pair_is_repeated(match->done, match->pairs_itself, state->next_left,
										  position, (*right)->row))
					continue;
				state->ncompared++;
				if (is_first_band(state, *left, *right))
					return true;
			}
		}
		while (!next_key(state))
		{
			if (++state->band == state->end_band)
				return false;
			begin_band(state);
		}
	}
	return false;
}

/*
 * Return true if the signatures of two rows share a band.  Raises an error if they have
 * different parameters.  A store has a buffer for one signature of its files, so that of the
 * left row is copied if the right one may be read into the same buffer.
 */
static bool
band_verify(JoinMatch *match, TupleTableSlot *left, TupleTableSlot *right, uint64 tag)
{
	const Minhash *a = join_fetch_value(match->left, left);
	const Minhash *b;
	Minhash    *copy = NULL;
	bool		shares_band;

	if (join_match_is_self(match) && (const char *) a == match->left->values.buffer)
	{
		copy = palloc(MINHASH_SIZE(minhash_length(a)));
		a = memcpy(copy, a, MINHASH_SIZE(minhash_length(a)));
	}
	b = join_fetch_value(match->right, right);
	if (match->is_swapped)
		minhash_check_comparable(b, a);
	else
		minhash_check_comparable(a, b);
	shares_band = minima_share_band(a->minima, b->minima, a->params.bands, a->params.rows);
	if (copy)
		pfree(copy);
	return shares_band;
}

static void
band_count(const JoinMatch *match, JoinCounters *counters)
{
	const BandMatch *state = (const BandMatch *) match;

	counters->largest_group = counters->nblocks = state->nbands;
	counters->ncompared = state->ncompared;
}

static void
band_explain(const JoinMatch *match, const JoinCounters *counters, ExplainState *es)
{
	if (counters->nblocks > 0)
		ExplainPropertyText("Method", psprintf("%d bands", counters->nblocks), es);
	ExplainPropertyFloat("Comparisons", NULL, counters->ncompared, 0, es);
}

const JoinMethods join_by_bands = {
	.state_size = sizeof(BandMatch),
	.stores_values = true,
	.begin = band_begin,
	.add = band_add,
	.choose_rounds = band_choose_rounds,
	.partition_of = band_partition_of,
	.share = band_share,
	.shared_size = sizeof(SharedBands),
	.begin_pairs = band_begin_pairs,
	.next_pair = band_next_pair,
	.verify = band_verify,
	.count = band_count,
	.explain = band_explain
};
