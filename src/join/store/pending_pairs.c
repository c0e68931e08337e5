/*-------------------------------------------------------------------------
 *
 * pending_pairs.c
 *		Batches of pairs whose tuples are in temporary files
 *
 * Pairs are found in the order of fingerprints.  Fetching the tuples of one pair after the
 * other would read a block of a file for nearly each tuple.  So pairs are collected and
 * sorted by the locations of their right tuples.  As many right tuples as memory allows
 * are loaded in this order.  Their pairs are sorted by the locations of their left tuples,
 * and returned in this order.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/store/pending_pairs.h"

#define ST_SORT				sort_by_left
#define ST_ELEMENT_TYPE		JoinPair
#define ST_COMPARE(a, b)	(((a)->left > (b)->left) - ((a)->left < (b)->left))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT				sort_by_right
#define ST_ELEMENT_TYPE		JoinPair
#define ST_COMPARE(a, b)	(((a)->right > (b)->right) - ((a)->right < (b)->right))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Initialize an empty batch.  Its pairs take at most `memory` bytes.  Its loaded tuples
 * take at most `memory` bytes and one tuple more.  To free the batch, the caller resets or
 * deletes the context.
 */
void
join_batch_init(JoinBatch *batch, MemoryContext context, Size memory)
{
	memset(batch, 0, sizeof(JoinBatch));
	batch->context = context;
	batch->memory = memory;
	batch->capacity = Min(memory, MaxAllocSize) / sizeof(JoinPair);
	batch->tuple_context = AllocSetContextCreate(context, "similarity join batch",
												 ALLOCSET_DEFAULT_SIZES);
}

/*
 * Return true if a batch has reached its capacity.
 */
bool
join_batch_is_full(const JoinBatch *batch)
{
	return batch->n == batch->capacity;
}

/*
 * Add a pair to a batch that is not full.  `row` is the number of the left row.
 */
void
join_batch_add(JoinBatch *batch, TupleLocation left, TupleLocation right, uint32 row)
{
	if (batch->pair == NULL)
		batch->pair = MemoryContextAlloc(batch->context, batch->capacity * sizeof(JoinPair));
	batch->pair[batch->n++] = (JoinPair) {left, right, row};
}

/*
 * Sort the pairs of a batch by their right tuples.  Call it after the last
 * join_batch_add() and before join_batch_next().
 */
void
join_batch_sort(JoinBatch *batch)
{
	sort_by_right(batch->pair, batch->n);
	batch->next = batch->end = 0;
}

/*
 * Load the right tuples of the next pairs, as many as memory allows, and sort these pairs
 * by their left tuples.  Frees the tuples loaded before.
 */
static void
load_tuples(JoinBatch *batch, JoinTuples *right)
{
	TupleLocation location = 0;
	MinimalTuple tuple = NULL;
	Size		size = 0;

	MemoryContextReset(batch->tuple_context);
	while (batch->end < batch->n && size < batch->memory)
	{
		JoinPair   *pair = &batch->pair[batch->end++];

		CHECK_FOR_INTERRUPTS();
		if (tuple == NULL || pair->right != location)
		{
			MinimalTuple fetched = join_tuples_fetch(right, pair->right);

			location = pair->right;
			tuple = MemoryContextAllocHuge(batch->tuple_context, fetched->t_len);
			memcpy(tuple, fetched, fetched->t_len);
			size += fetched->t_len;
		}
		pair->right = join_tuple_location(tuple);
	}
	sort_by_left(batch->pair + batch->next, batch->end - batch->next);
}

/*
 * Return the next pair of a sorted batch.  Its right tuple is in memory.  After the last
 * pair, empties the batch and returns NULL.
 */
const JoinPair *
join_batch_next(JoinBatch *batch, JoinTuples *right)
{
	if (batch->next == batch->end && batch->end < batch->n)
		load_tuples(batch, right);
	if (batch->next == batch->end)
	{
		batch->n = 0;
		return NULL;
	}
	return &batch->pair[batch->next++];
}
