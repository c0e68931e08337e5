/*-------------------------------------------------------------------------
 *
 * join_signatures.c
 *		Signatures of the rows of a join, and the keys of their bands
 *
 * The entry of a row has the keys of all bands, and its signature is stored apart from its
 * tuple.  If no clause and no output needs the column of signatures, the tuple has a NULL
 * instead.  So the tuples stay small, and a signature is fetched only if the other clauses
 * hold for a pair.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"

#include "join/exec/join_signatures.h"

/*
 * Return the index of the column of an input that has the signatures.  Returns -1 if the
 * key is an expression, or if something else in the plan node needs the column, too.
 */
static int
signature_column(const SimHashJoinState *state, const JoinInput *input, const Expr *key)
{
	const Plan *plan = state->css.ss.ps.plan;
	Bitmapset  *columns = NULL;
	AttrNumber	attno;

	if (!IsA(key, Var))
		return -1;
	attno = ((const Var *) key)->varattno;
	pull_varattnos((Node *) plan->targetlist, INDEX_VAR, &columns);
	pull_varattnos((Node *) plan->qual, INDEX_VAR, &columns);
	pull_varattnos((Node *) state->spec.clauses, INDEX_VAR, &columns);
	if (bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, columns))
		return -1;
	return attno - 1 - input->first_column;
}

/*
 * Prepare an input for signatures, which `key` computes.
 */
void
join_signatures_init(SimHashJoinState *state, JoinInput *input, const Expr *key, EState *estate)
{
	input->signature_column = signature_column(state, input, key);
	input->narrow = ExecInitExtraTupleSlot(estate, ExecGetResultType(input->plan),
										   &TTSOpsVirtual);
}

/*
 * Set the parameters of the signatures that get keys to those of the first row.
 */
static void
set_params(SimHashJoinState *state, JoinInput *input, int32 params)
{
	state->bands.params = (uint64) params;
	state->bands.nbands = minhash_params_of_typmod(params).bands;
	state->left.entry_size = state->right.entry_size =
		MAXALIGN(sizeof(JoinEntry) + state->bands.nbands * sizeof(uint32));
	join_entries_init(&input->entries, input->context,
					  input == &state->right ? join_right_capacity(state) : PG_INT32_MAX,
					  input->entry_size);
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
 * Set the parameters of an entry, and its keys.  A key is a hash value of a band and of
 * the equality keys.  Entries with other parameters than the first row get no keys.  The
 * signature must be valid until join_signatures_add() is called.
 */
void
join_signatures_set_keys(SimHashJoinState *state, JoinInput *input, Minhash *sig,
						 JoinEntry *entry)
{
	int32		params = minhash_typmod(sig->params);
	int			rows = sig->params.rows;

	input->signature = sig;
	if (state->bands.nbands == 0)
		set_params(state, input, params);
	entry->fp = (uint64) params;
	if (entry->fp != state->bands.params)
	{
		state->has_other_params = true;
		return;
	}
	for (int i = 0; i < state->bands.nbands; i++)
		join_entry_keys(entry)[i] = hash_band(state->salt, sig->minima + i * rows, rows, entry->hash);
}

/*
 * Store a copy of the signature that join_signatures_set_keys() got.  Returns its location.
 */
static TupleLocation
store_signature(JoinInput *input)
{
	Size		size = MINHASH_SIZE(minhash_length(input->signature));
	Minhash    *copy = palloc(size);
	TupleLocation location;

	memcpy(copy, input->signature, size);
	/* as a tuple does, it begins with its size in bytes */
	copy->vl_len_ = size;
	location = join_tuples_put(&input->signatures, (MinimalTuple) copy);
	pfree(copy);
	return location;
}

/*
 * Store the signature of a row, and return the row's tuple, which is followed by the
 * location of the signature.
 */
MinimalTuple
join_signatures_add(JoinInput *input, TupleTableSlot *slot)
{
	TupleLocation location = store_signature(input);
	MinimalTuple tuple;
	MinimalTuple result;
	bool		free_tuple;
	Size		size;

	if (input->signature_column >= 0)
	{
		TupleTableSlot *narrow = ExecClearTuple(input->narrow);

		memcpy(narrow->tts_values, slot->tts_values, input->ncolumns * sizeof(Datum));
		memcpy(narrow->tts_isnull, slot->tts_isnull, input->ncolumns * sizeof(bool));
		narrow->tts_isnull[input->signature_column] = true;
		slot = ExecStoreVirtualTuple(narrow);
	}
	tuple = ExecFetchSlotMinimalTuple(slot, &free_tuple);
	size = MAXALIGN(tuple->t_len);
	result = palloc(size + sizeof(location));
	memcpy(result, tuple, tuple->t_len);
	memcpy((char *) result + size, &location, sizeof(location));
	result->t_len = size + sizeof(location);
	if (free_tuple)
		pfree(tuple);
	return result;
}

/*
 * Fetch the signature of the tuple in the slot of an input.
 */
static const Minhash *
fetch_signature(JoinInput *input)
{
	bool		free_tuple;
	MinimalTuple tuple = ExecFetchSlotMinimalTuple(input->slot, &free_tuple);
	TupleLocation location;

	memcpy(&location, (char *) tuple + tuple->t_len - sizeof(location), sizeof(location));
	Assert(!free_tuple);
	return (const Minhash *) join_tuples_fetch(&input->signatures, location);
}

/*
 * Return true if the signatures of the joined row share a band.  Raises an error if they
 * have different parameters.
 */
bool
join_signatures_share_band(SimHashJoinState *state)
{
	const Minhash *left = fetch_signature(&state->left);
	const Minhash *right = fetch_signature(&state->right);

	if (state->spec.is_swapped)
		minhash_check_comparable(right, left);
	else
		minhash_check_comparable(left, right);
	return minima_share_band(left->minima, right->minima, left->params.bands, left->params.rows);
}
