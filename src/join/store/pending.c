/*
 * Pairs that wait for tuples from temporary files
 *
 * Pairs are found in the order of fingerprints.  Fetching the tuples of one pair after the
 * other would read a block of a file for nearly each tuple.  So pairs are collected and
 * sorted by the locations of their right tuples.  As many right tuples as memory allows
 * are loaded in this order.  Their pairs are sorted by the locations of their left tuples,
 * and returned in this order.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/store/pending.h"

/* Number of pairs whose right tuples are prefetched. */
#define PAIRS_AHEAD			8

#define RS_SORT				sort_by_left
#define RS_SCOPE			static
#define RS_ELEMENT_TYPE		JoinPair
#define RS_HIGH(a)			((a)->left)
#define RS_LOW(a)			UINT64CONST(0)
#include "radix_sort.h"

#define RS_SORT				sort_by_right
#define RS_SCOPE			static
#define RS_ELEMENT_TYPE		JoinPair
#define RS_HIGH(a)			((a)->right)
#define RS_LOW(a)			((a)->left)
#include "radix_sort.h"

/*
 * Initialize an empty set of pending pairs, which take at most `memory` bytes.  Their
 * loaded tuples take at most `memory` bytes, one tuple and the rest of an arena.  To free the
 * memory, the caller resets or deletes the context.
 */
void
pending_init(PendingPairs *pending, MemoryContext context, Size memory)
{
	memset(pending, 0, sizeof(PendingPairs));
	pending->context = context;
	pending->memory = memory;
	pending->capacity = Min(memory, MaxAllocSize) / sizeof(JoinPair);
	join_tuples_init(&pending->tuples, context, 0);
}

/*
 * Add a pair.  The set must not be full.
 */
void
pending_add(PendingPairs *pending, const JoinPair *pair)
{
	if (pending->pair == NULL)
		pending->pair = MemoryContextAlloc(pending->context, pending->capacity * sizeof(JoinPair));
	pending->pair[pending->n++] = *pair;
}

/*
 * Sort the pairs by their right tuples.  Of several pairs of the same rows, keep the one with the
 * least tag.  Call it after the last pending_add() and before pending_next().
 */
void
pending_sort(PendingPairs *pending)
{
	JoinPair   *pair = pending->pair;
	uint32		n = 0;

	sort_by_right(pair, pending->n);
	for (uint32 i = 0; i < pending->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (n == 0 || pair[i].right != pair[n - 1].right || pair[i].left != pair[n - 1].left)
			pair[n++] = pair[i];
		else
			pair[n - 1].tag = Min(pair[n - 1].tag, pair[i].tag);
	}
	pending->n = n;
	pending->next = pending->end = 0;
}

/*
 * Load the right tuples of the next pairs, as many as memory allows, and sort these pairs
 * by their left tuples.  Frees the tuples loaded before.
 */
static void
load_tuples(PendingPairs *pending, JoinTuples *right)
{
	TupleLocation location = NO_TUPLE;
	TupleLocation loaded = NO_TUPLE;
	Size		size = 0;

	join_tuples_free(&pending->tuples);
	while (pending->end < pending->n && size < pending->memory)
	{
		JoinPair   *pair = &pending->pair[pending->end++];

		CHECK_FOR_INTERRUPTS();
		if (!(pair->right & IN_FILE))
			continue;
		if (pair->right != location)
		{
			MinimalTuple tuple = join_tuples_fetch(right, pair->right);

			location = pair->right;
			loaded = join_tuples_add(&pending->tuples, tuple);
			size += tuple->t_len;
		}
		pair->right = loaded;
	}
	sort_by_left(pending->pair + pending->next, pending->end - pending->next);
}

/*
 * Return the next of the sorted pairs.  Its right tuple is in memory.  After the last pair,
 * empties the set and returns NULL.
 */
const JoinPair *
pending_next(PendingPairs *pending, JoinTuples *right)
{
	if (pending->next == pending->end && pending->end < pending->n)
		load_tuples(pending, right);
	if (pending->next == pending->end)
	{
		pending->n = 0;
		return NULL;
	}
	if (pending->next + PAIRS_AHEAD < pending->end)
		join_tuple_prefetch(pending->pair[pending->next + PAIRS_AHEAD].right);
	return &pending->pair[pending->next++];
}
