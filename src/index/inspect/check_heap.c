/*
 * Check that every heap row has its entries in every tree of an index, once each
 *
 * A row visible to the snapshot was inserted by a transaction that has committed, or by an
 * earlier command of this transaction.  So the row has its entries in all trees.  Each tree
 * has one entry for each key of the row.  No vacuum removes these entries while the snapshot
 * exists.
 *
 * A row that is not visible may have entries in some trees only, if its insertion is
 * still running or was interrupted.  Its TID may also occur twice in one tree.  Vacuum may
 * remove the row's entry after the check has read that entry.  Then a new row gets the
 * TID, and the new row's entry is further to the right.
 *
 * The entries of all trees and the rows of the heap are sorted by TID and merged.  The
 * scan of the heap follows contrib/amcheck, verify_nbtree.c.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/load/load.h"
#include "index/pair_sort.h"

/*
 * An entry of a tree, or a key of a heap row.  Items are sorted by TID, then tree, then
 * key.  So the items of a heap row follow the items of the row's entries.
 */
typedef struct CheckItem
{
	uint64		tid;			/* as tid_number returns it */
	uint16		tree;			/* number of the tree, from 0, or HEAP_ROW or
								 * PLACEHOLDER_HEAP_ROW */
	uint64		key;			/* key of the value, not permuted */
} CheckItem;

/*
 * Values of CheckItem.tree for a heap row with keys, and for a heap row without keys.
 * Both are greater than the number of any tree.
 */
#define HEAP_ROW			PG_UINT16_MAX
#define PLACEHOLDER_HEAP_ROW	(PG_UINT16_MAX - 1)

/* State of the check of an index against its heap. */
typedef struct HeapCheck
{
	Relation	index;
	IndexMeta	meta;
	PairSort   *sort;			/* sorts CheckItems by TID, then tree, then key */
	BlockNumber nblocks;		/* length of the heap, read after the entries */

	/* all items of a TID */
	CheckItem  *item;			/* array of length max_items */
	int64		n;				/* number of items in use */
	int64		max_items;		/* number of items allocated */
} HeapCheck;

/*
 * Put an item into the sort.  A TID has 48 bits, so one 64-bit number contains the TID and
 * the tree.
 */
static void
put_item(HeapCheck *check, const ItemPointerData *tid, uint16 tree, uint64 key)
{
	pair_sort_put(check->sort, tid_number(tid) << 16 | tree, key);
}

/*
 * Put the entries of a copy of a leaf into the sort (a PageVisitor).
 */
static void
put_page(void *arg, Page page)
{
	HeapCheck  *check = arg;
	int			tree = TreePageGetOpaque(page)->tree;

	for (int i = 0; i < page_nentries(page); i++)
		put_item(check, leaf_tid(page, i), tree,
				 design_fingerprint(&check->meta.design.table[tree], page_keys(page)[i]));
}

/*
 * Put a key of a heap row into the sort (an AddKey).
 */
static void
put_key(void *arg, bool is_placeholder, uint64 key, const ItemPointerData *tid)
{
	put_item(arg, tid, is_placeholder ? PLACEHOLDER_HEAP_ROW : HEAP_ROW, key);
}

/*
 * Raise an error about a TID of the heap.  `what` completes "A check found that ...".
 */
pg_noreturn static void
report_row(HeapCheck *check, uint64 tid, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" does not match its table at TID (%u,%u)",
					RelationGetRelationName(check->index),
					(BlockNumber) (tid >> 16), (OffsetNumber) (tid & 0xFFFF)),
			 errdetail("A check found that %s.", what),
			 errhint("Please REINDEX it.")));
}

/*
 * Compare row[0..nkeys-1], the items of a heap row, with entries[0..n-1], the entries of
 * this row.  Both arrays must be sorted.  Raises an error unless each tree that must have
 * entries of the row has one entry for each key, and no other tree has any.
 */
static void
compare_row(HeapCheck *check, const CheckItem *row, int64 nkeys,
			const CheckItem *entries, int64 n)
{
	bool		is_placeholder = row->tree == PLACEHOLDER_HEAP_ROW;
	int			first = is_placeholder ? placeholder_tree(&check->meta) : 0;
	int			ntrees = is_placeholder ? 1 : check->meta.design.ntables;
	uint64		tid = row->tid;

	for (int64 i = 1; i < n; i++)
	{
		if (entries[i].tree == entries[i - 1].tree &&
			(nkeys == 1 || entries[i].key == entries[i - 1].key))
			report_row(check, tid, "it has a duplicate entry in one tree");
	}
	if (n < ntrees * nkeys)
		report_row(check, tid, "one of its entries is missing");
	for (int64 i = 0; i < n; i++)
	{
		if (entries[i].tree < first || entries[i].tree >= first + ntrees)
			report_row(check, tid, "it has an entry in the wrong tree");
		/* surplus entries are here, too: no tree has this number */
		if (entries[i].tree != first + i / nkeys || entries[i].key != row[i % nkeys].key)
			report_row(check, tid, "an entry has a key that the row does not have");
	}
}

/*
 * Compare the heap row of a TID with the entries of this TID.  If no row visible to the
 * snapshot has this TID, only checks that the heap has its block.  The heap does not become
 * shorter meanwhile, because that takes an exclusive lock.
 */
static void
compare_tid(HeapCheck *check)
{
	int64		nentries = check->n;

	while (nentries > 0 && check->item[nentries - 1].tree >= PLACEHOLDER_HEAP_ROW)
		nentries--;
	if (nentries < check->n)
		compare_row(check, &check->item[nentries], check->n - nentries,
					check->item, nentries);
	else if (nentries > 0 && check->item->tid >> 16 >= check->nblocks)
		report_row(check, check->item->tid, "its block is past the end of the table");
}

/*
 * Read all sorted items, and compare the items of each TID.  Checks for interrupts.
 */
static void
compare_all(HeapCheck *check)
{
	uint64		head;
	uint64		key;

	check->n = 0;
	check->max_items = MAX_TREES;
	check->item = palloc(check->max_items * sizeof(CheckItem));
	while (pair_sort_get(check->sort, &head, &key))
	{
		CHECK_FOR_INTERRUPTS();
		if (check->n > 0 && head >> 16 != check->item[0].tid)
		{
			compare_tid(check);
			check->n = 0;
		}
		if (check->n == check->max_items)
		{
			check->max_items *= 2;
			check->item = repalloc_huge(check->item, check->max_items * sizeof(CheckItem));
		}
		check->item[check->n++] = (CheckItem) {head >> 16, head & 0xFFFF, key};
	}
	compare_tid(check);
	pfree(check->item);
}

/*
 * Compare an index with its table.  Both must have been opened by inspect_open_index, so
 * that the current user is the table's owner.  Raises an error at the first difference.
 */
void
check_against_heap(Relation heap, Relation index)
{
	HeapCheck	check;
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	IndexInfo  *info;
	double		nindexed;

	/* a new index may lack rows that an older snapshot sees (broken HOT chains) */
	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be checked using transaction snapshot",
						RelationGetRelationName(index)),
				 errhint("Check it in a later transaction.")));

	check.index = index;
	check.meta = *meta_reread(index);
	check.sort = pair_sort_begin(CurrentMemoryContext, maintenance_work_mem);
	for (int tree = 0; tree < check.meta.ntrees; tree++)
		inspect_walk_level(index, tree, 0, put_page, &check);
	check.nblocks = heap->rd_tableam == GetHeapamTableAmRoutine() ?
		RelationGetNumberOfBlocks(heap) : MaxBlockNumber;

	/*
	 * Put the rows visible to the snapshot into the sort.  ii_Concurrent, because the scan has
	 * an MVCC snapshot.  Not ii_Unique, so that the scan does not wait for other transactions
	 * (as in verify_nbtree.c).  This runs the expressions and the predicate of the index.
	 */
	info = BuildIndexInfo(index);
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	heap_scan_keys(heap, index, info, check.meta.params, false,
				   table_beginscan_strat(heap, snapshot, 0, NULL, true, true), put_key, &check,
				   &nindexed);
	compare_all(&check);
	pair_sort_end(check.sort);
	UnregisterSnapshot(snapshot);
}
