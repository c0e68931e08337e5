/*-------------------------------------------------------------------------
 *
 * check_heap.c
 *		Is every row in every table of an index, once and as it is?
 *
 * A row that a snapshot sees was inserted by a transaction that has since
 * committed, so it has its entries in all tables; and no vacuum removes them
 * as long as the snapshot is there.  A row that the snapshot does not see may have its
 * entries in some tables only: its insertion goes on, or was broken off.  In one table a
 * row that the snapshot sees has one entry of each of its words.  The TID of another row may be found there
 * twice: vacuum removed the row's entry after the check had read it, and a new row, which
 * got the TID, has its entry further to the right.
 *
 * The entries of all tables and the rows of the heap are sorted by TID and
 * merged.  How the heap is read follows contrib/amcheck, verify_nbtree.c.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/inspect/inspect.h"
#include "index/opclass_lookup.h"
#include "index/pair_sort.h"

/*
 * One entry of a tree, or a word of a row of the heap.  Items are sorted by TID, then
 * tree, then word: so a row follows its entries.
 */
typedef struct CheckItem
{
	uint64		tid;			/* tid_number */
	uint16		tree;
	uint64		key;			/* that the key was made of */
} CheckItem;

/* In the place of the tree: a row that has words, or one that has none. */
#define HEAP_ROW			PG_UINT16_MAX
#define PLACEHOLDER_HEAP_ROW	(PG_UINT16_MAX - 1)

/* All items of a TID. */
typedef struct RowItems
{
	CheckItem  *item;
	int64		n;
	int64		max_items;		/* allocated */
} RowItems;

typedef struct HeapCheck
{
	Relation	index;
	const Opclass *opclass;
	IndexMeta	meta;
	Tuplesortstate *sort;
} HeapCheck;

/* A TID is 48 bits, so there is room for the tree beside it. */
static void
put_item(HeapCheck *check, const CheckItem *item)
{
	pair_sort_put(check->sort, item->tid << 16 | item->tree, item->key);
}

static bool
get_item(HeapCheck *check, CheckItem *item)
{
	uint64		head;

	if (!pair_sort_get(check->sort, &head, &item->key))
		return false;
	item->tid = head >> 16;
	item->tree = head & 0xFFFF;
	return true;
}

static void
put_page(void *arg, Relation index, BlockNumber block, Page page)
{
	HeapCheck  *check = arg;
	int			tree = TreePageGetOpaque(page)->tree;

	for (int i = 0; i < page_nentries(page); i++)
	{
		CheckItem	item;

		item.tid = tid_number(leaf_tid(page, i));
		item.tree = tree;
		item.key = design_fingerprint(&check->meta.design.table[tree],
									   page_keys(page)[i]);
		put_item(check, &item);
	}
}

static void
put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		bool alive, void *arg)
{
	HeapCheck  *check = arg;
	Words		words;
	CheckItem	item;

	opclass_get_words(check->opclass, values[0], isnull[0], &words);
	item.tid = tid_number(tid);
	item.tree = words.wordless ? PLACEHOLDER_HEAP_ROW : HEAP_ROW;
	for (int i = 0; i < words.n; i++)
	{
		item.key = words.word[i];
		put_item(check, &item);
	}
	words_free(&words);
}

pg_noreturn static void report_row(HeapCheck *check, uint64 tid, const char *what);

static void
report_row(HeapCheck *check, uint64 tid, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" does not match its table at row (%u,%u)",
					RelationGetRelationName(check->index),
					(BlockNumber) (tid >> 16), (OffsetNumber) (tid & 0xFFFF)),
			 errdetail("A check found that %s.", what),
			 errhint("Please REINDEX it.")));
}

/*
 * Compare a row of the heap, by its words, with its n entries.  Both are in order: there
 * has to be an entry of every word in each tree.
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
			report_row(check, tid, "it stands twice in one tree");
	}
	if (n < ntrees * nkeys)
		report_row(check, tid, "an entry of it is missing");
	for (int64 i = 0; i < n; i++)
	{
		if (entries[i].tree < first || entries[i].tree >= first + ntrees)
			report_row(check, tid, "it has an entry in a tree where it does not belong");
		if (i >= ntrees * nkeys || entries[i].tree != first + i / nkeys ||
			entries[i].key != row[i % nkeys].key)
			report_row(check, tid, "an entry has another key than the row");
	}
}

/*
 * Compare what there is of a TID, if it is that of a row which the snapshot sees.
 */
static void
compare_tid(HeapCheck *check, const RowItems *items)
{
	int64		nentries = items->n;

	while (nentries > 0 && items->item[nentries - 1].tree >= PLACEHOLDER_HEAP_ROW)
		nentries--;
	if (nentries < items->n)
		compare_row(check, &items->item[nentries], items->n - nentries,
					items->item, nentries);
}

static void
add_item(RowItems *items, const CheckItem *item)
{
	if (items->n == items->max_items)
	{
		items->max_items *= 2;
		items->item = repalloc_huge(items->item, items->max_items * sizeof(CheckItem));
	}
	items->item[items->n++] = *item;
}

/*
 * Read the sorted items, one TID after the other.
 */
static void
compare_all(HeapCheck *check)
{
	RowItems	items = {.max_items = MAX_TREES};
	CheckItem	item;

	items.item = palloc(items.max_items * sizeof(CheckItem));
	while (get_item(check, &item))
	{
		CHECK_FOR_INTERRUPTS();
		if (items.n > 0 && item.tid != items.item[0].tid)
		{
			compare_tid(check, &items);
			items.n = 0;
		}
		add_item(&items, &item);
	}
	compare_tid(check, &items);
	pfree(items.item);
}

/*
 * Put in the rows that the snapshot sees.  This computes index expressions.
 */
static void
put_heap(HeapCheck *check, Relation heap, Snapshot snapshot)
{
	IndexInfo  *info = BuildIndexInfo(check->index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	/* so that the scan takes the snapshot for what it is, and waits for nobody */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	table_index_build_scan(heap, check->index, info, true, false, put_row, check, scan);
}

/*
 * Compare an index with its table, both opened by inspect_open_index: so the current
 * user is their owner.  Raises an error at the first difference.
 */
void
check_against_heap(Relation heap, Relation index)
{
	HeapCheck	check;
	Snapshot	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	/* a young index may lack what an older snapshot sees (broken HOT chains) */
	if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be checked using transaction snapshot",
						RelationGetRelationName(index)),
				 errhint("Check it in a later transaction.")));

	check.index = index;
	check.opclass = opclass_of_trees(index);
	check.meta = *meta_reread(index);
	check.sort = pair_sort_begin(maintenance_work_mem);
	for (int tree = 0; tree < check.meta.ntrees; tree++)
		inspect_walk_level(index, tree, 0, put_page, &check);
	put_heap(&check, heap, snapshot);
	tuplesort_performsort(check.sort);
	compare_all(&check);
	tuplesort_end(check.sort);
	UnregisterSnapshot(snapshot);
}
