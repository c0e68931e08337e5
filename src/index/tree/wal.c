/*
 * WAL records of entries appended to leaves
 *
 * Records are generic WAL, which PostgreSQL replays without this library.  The interface
 * of generic WAL copies each page, and compares the copy with the page to find the bytes
 * that differ.  That takes most of the time of an insertion.  But which bytes an appended
 * entry changes is known: pd_lower and pd_upper, the key at the old pd_lower, and the TID
 * at the new pd_upper.  So this file changes the pages in place and writes the same record
 * by hand, where the format of the record is known (GENERIC_WAL_IS_KNOWN).
 *
 * The format is that of generic_xlog.c.  The data of a page are fragments, which redo
 * copies to the page in order.  A fragment is an offset on the page, a length, each of two
 * bytes and not aligned, and the bytes.  Redo then clears the hole of the page.
 *
 * A record by hand must keep these conditions, and does:
 *
 *	- Buffers are pinned and locked exclusively until they have the record's LSN.  The
 *	  callers unlock the leaves after wal_finish.
 *	- Nothing raises an error in the critical section.  The pages are checked, and have
 *	  space, before wal_begin.  page_append and the calls that make the record allocate
 *	  nothing: at most 4 blocks and 4 pieces of data, of the 5 and 20 that are always
 *	  allocated.
 *	- Pages change and are marked as dirty before XLogInsert.  That is the order of
 *	  wal_finish.  So an image of the page that XLogInsert takes has the change, too.
 *	- The fragments restore all that changed.  page_append changes pd_lower and pd_upper,
 *	  which are adjacent, the keys from the old pd_lower on, and the TIDs from the new
 *	  pd_upper on: three fragments.  Equal bytes at the ends of the first are left out.
 *	  nsorted stays.
 *	- The data live until XLogInsert.  They are on the stack of wal_finish.
 *	- No fragment contains pd_lsn or pd_checksum.  The first fragment starts at pd_lower
 *	  or later, behind both.
 *	- The hole is zero, since redo clears it, and page images leave it out.  An append
 *	  writes only bytes that leave the hole.  All that enlarges the hole uses the
 *	  interface, which clears it.
 *	- RelationNeedsWAL is false: unlogged and temporary indexes, and new ones with
 *	  wal_level = minimal.  The page is changed in place, without a record.  A hole that
 *	  is not zero does no harm then.  Once a new index is logged, the fragments contain
 *	  all bytes that leave the hole.
 *
 * PostgreSQL does not promise the format of these records to extensions.  But it stays
 * within a major release.  GENERIC_WAL_IS_KNOWN (compat.h) is true for the major releases
 * whose generic_xlog.c was read: 15 to 19, with one format.  All others use the interface,
 * as does simhash.generic_wal = on.  The tests run both.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "index/tree/tree.h"

/*
 * The option simhash.generic_wal: true to use the interface of generic WAL.  If the format
 * of the records is not known, the interface is used anyway.
 */
static bool generic_wal;

/* Maximum number of fragments of a page. */
#define MAX_FRAGMENTS		3

/* Size of the header of a fragment: offset and length. */
#define FRAGMENT_HEADER		(2 * sizeof(OffsetNumber))

/* Fragments of all pages of a record. */
typedef struct Fragments
{
	char		data[WAL_MAX_PAGES * MAX_FRAGMENTS * FRAGMENT_HEADER +
					 WAL_MAX_PAGES * WAL_BOUNDS_SIZE +
					 WAL_MAX_ENTRIES * LEAF_ENTRY_SIZE];
	int			size;
} Fragments;

/*
 * Define the option simhash.generic_wal.  Called once, when the library is loaded.
 */
void
wal_init(void)
{
	DefineCustomBoolVariable("simhash.generic_wal",
							 "Writes WAL records of insertions by PostgreSQL's interface for generic WAL.",
							 "Otherwise the extension makes these records itself, which takes less time.",
							 &generic_wal, false, PGC_SUSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
}

/*
 * Begin a WAL record.  The caller then registers each leaf, and appends entries to the
 * page that wal_register returns, WAL_MAX_ENTRIES at most in all.  After wal_begin the
 * caller must do nothing that can raise an error, because the record may be made in a
 * critical section.
 */
void
wal_begin(WalRecord *record, Relation index)
{
	record->npages = 0;
	record->generic = generic_wal || !GENERIC_WAL_IS_KNOWN ? GenericXLogStart(index) : NULL;
	record->is_logged = RelationNeedsWAL(index);
	if (record->generic)
		return;
	if (record->is_logged)
		XLogBeginInsert();
	START_CRIT_SECTION();
}

/*
 * Register a leaf that is locked exclusively.  Returns the page to which the caller
 * appends entries.
 */
Page
wal_register(WalRecord *record, Buffer leaf)
{
	WalPage    *page = &record->page[record->npages++];

	Assert(record->npages <= WAL_MAX_PAGES);
	if (record->generic)
		return GenericXLogRegisterBuffer(record->generic, leaf, 0);
	page->buffer = leaf;
	page->nentries = page_nentries(BufferGetPage(leaf));
	memcpy(page->bounds, (char *) BufferGetPage(leaf) + WAL_BOUNDS_OFFSET, WAL_BOUNDS_SIZE);
	return BufferGetPage(leaf);
}

/*
 * Add a fragment: `length` bytes of the page, from `start` on.
 */
static void
add_fragment(Fragments *fragments, Page page, const void *start, Size length)
{
	OffsetNumber header[2] = {(const char *) start - (const char *) page, length};

	memcpy(fragments->data + fragments->size, header, FRAGMENT_HEADER);
	memcpy(fragments->data + fragments->size + FRAGMENT_HEADER, start, length);
	fragments->size += FRAGMENT_HEADER + length;
	Assert(fragments->size <= sizeof(fragments->data));
}

/*
 * Add a fragment of pd_lower and pd_upper, without equal bytes at its ends: the high byte
 * of one of them seldom changes.  pd_lower grew, so some byte differs.
 */
static void
add_bounds(Fragments *fragments, Page page, const char *old)
{
	const char *new = (const char *) page + WAL_BOUNDS_OFFSET;
	int			start = 0;
	int			end = WAL_BOUNDS_SIZE;

	while (new[start] == old[start])
		start++;
	while (new[end - 1] == old[end - 1])
		end--;
	add_fragment(fragments, page, new + start, end - start);
}

/*
 * Register the changes of a page as its data in the WAL record.
 */
static void
register_changes(const WalRecord *record, int i, Fragments *fragments)
{
	Page		page = BufferGetPage(record->page[i].buffer);
	int			old = record->page[i].nentries;
	int			new = page_nentries(page);
	int			start = fragments->size;

	Assert(new > old);
	add_bounds(fragments, page, record->page[i].bounds);
	add_fragment(fragments, page, &page_keys(page)[old], (new - old) * sizeof(uint64));
	add_fragment(fragments, page, leaf_tid(page, new - 1),
				 (new - old) * sizeof(ItemPointerData));

	XLogRegisterBuffer(i, record->page[i].buffer, REGBUF_STANDARD);
	XLogRegisterBufData(i, fragments->data + start, fragments->size - start);
}

/*
 * Mark the pages as dirty, write the WAL record, and end the critical section.  The leaves
 * stay locked.
 */
void
wal_finish(WalRecord *record)
{
	Fragments	fragments;
	XLogRecPtr	lsn;

	if (record->generic)
	{
		GenericXLogFinish(record->generic);
		return;
	}
	for (int i = 0; i < record->npages; i++)
		MarkBufferDirty(record->page[i].buffer);
	if (record->is_logged)
	{
		fragments.size = 0;
		for (int i = 0; i < record->npages; i++)
			register_changes(record, i, &fragments);
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		for (int i = 0; i < record->npages; i++)
			PageSetLSN(BufferGetPage(record->page[i].buffer), lsn);
	}
	END_CRIT_SECTION();
}
