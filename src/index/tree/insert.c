/*-------------------------------------------------------------------------
 *
 * insert.c
 *		Insertion of a row: one entry in the tree of each table
 *
 * What costs is the WAL record, so the usual case, in which no page must be
 * split, logs the leaves of several trees together.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "utils/rel.h"

#include "index/tree/descend.h"
#include "index/tree/insert.h"
#include "index/tree/meta.h"
#include "index/tree/split.h"

/* Trees whose leaves go into one record. */
#define GROUP_SIZE	MAX_GENERIC_XLOG_PAGES

/*
 * Lock a leaf, pinned, at which a descent for an entry has just arrived.  Returns false if
 * the entry cannot go there at once: because the leaf is full, or was split, or has an
 * incomplete split, which is to be finished first.  Then, too, the buffer is locked.
 *
 * The pin has kept the leaf from being merged into another.  Nothing keeps its right
 * sibling: so a process that holds leaves of other trees does not step right.
 */
static bool
lock_leaf(Buffer buffer, const Entry *entry)
{
	Page		page = BufferGetPage(buffer);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return !page_split_is_incomplete(page) && !page_is_left_of(page, entry) &&
		!page_is_full(page);
}

/*
 * Append entries to the leaves of `n` consecutive trees from `tree` on, in
 * one WAL record.  Returns false, having done nothing, if a leaf does not take its
 * entry at once: a process that splits a page, or finishes a split, holds no leaf of
 * another tree.
 *
 * The leaves are locked after all descents, in the order of the trees; everybody who
 * locks leaves of several trees does so in this order.
 */
static bool
insert_together(Relation index, int tree, int n, const Entry *entries)
{
	Buffer		buffers[GROUP_SIZE];
	GenericXLogState *state;
	int			nlocked = 0;
	bool		fit = true;

	for (int i = 0; i < n; i++)
	{
		buffers[i] = descend_arrive(index, tree + i, 0, &entries[i],
									BUFFER_LOCK_SHARE);
		LockBuffer(buffers[i], BUFFER_LOCK_UNLOCK);
	}
	while (fit && nlocked < n)
	{
		fit = lock_leaf(buffers[nlocked], &entries[nlocked]);
		nlocked++;
	}
	if (fit)
	{
		state = GenericXLogStart(index);
		for (int i = 0; i < n; i++)
			page_append(GenericXLogRegisterBuffer(state, buffers[i], 0),
						&entries[i], InvalidBlockNumber);
		GenericXLogFinish(state);
	}
	for (int i = 0; i < n; i++)
	{
		if (i < nlocked)
			LockBuffer(buffers[i], BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buffers[i]);
	}
	return fit;
}

/*
 * Insert an entry into one tree, splitting its leaf if need be.
 */
static void
insert_entry(Relation index, int tree, const Entry *entry)
{
	Buffer		buffer = split_descend(index, tree, 0, entry);

	if (page_is_full(BufferGetPage(buffer)))
		split_insert(index, buffer, entry, InvalidBlockNumber, InvalidBuffer);
	else
	{
		GenericXLogState *state = GenericXLogStart(index);

		page_append(GenericXLogRegisterBuffer(state, buffer, 0), entry,
					InvalidBlockNumber);
		GenericXLogFinish(state);
		UnlockReleaseBuffer(buffer);
	}
}

/*
 * Insert the entries of a word into the trees of the tables.
 *
 * A crash may leave a row in some of the trees only; then its transaction has
 * not committed, and nobody ever sees the row.
 */
void
insert_word(Relation index, uint64 word, ItemPointer tid)
{
	const Design *design = &meta_get(index)->design;
	int			ntables = design->ntables;
	Entry		entries[DESIGN_MAX_TABLES];

	for (int i = 0; i < ntables; i++)
	{
		entries[i].key = design_key(&design->table[i], word);
		entries[i].tid = *tid;
	}
	for (int i = 0; i < ntables; i += GROUP_SIZE)
	{
		int			n = Min(GROUP_SIZE, ntables - i);

		if (insert_together(index, i, n, &entries[i]))
			continue;
		for (int j = i; j < i + n; j++)
			insert_entry(index, j, &entries[j]);
	}
}

/*
 * Insert the entry of a row without words.
 */
void
insert_wordless(Relation index, uint64 word, ItemPointer tid)
{
	Entry		entry = {word, *tid};

	insert_entry(index, wordless_tree(meta_get(index)), &entry);
}
