/*-------------------------------------------------------------------------
 *
 * meta.c
 *		The metapage: what an index is, and where its trees begin
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/tree/meta.h"
#include "index/tree/page.h"

static inline Size
meta_page_size(uint32 ntrees)
{
	return offsetof(MetaPageData, root) + ntrees * sizeof(TreeRoot);
}

/*
 * Format the metapage of an index of this design; one root for each tree.
 */
void
meta_init(Page page, const Design *design, int32 params, const TreeRoot *roots)
{
	MetaPageData *meta;

	PageInit(page, BLCKSZ, 0);
	meta = MetaPageGetData(page);
	meta->magic = META_MAGIC;
	meta->version = META_VERSION;
	meta->blocks = design->options.blocks;
	meta->prefix = design->options.prefix;
	meta->nested = design->options.nested;
	meta->ntrees = design->ntables + 1;
	meta->free_page = InvalidBlockNumber;
	meta->nfree = 0;
	meta->params = params;
	memcpy(meta->root, roots, meta->ntrees * sizeof(TreeRoot));

	/* so that generic WAL does not take it for a hole */
	((PageHeader) page)->pd_lower =
		((char *) meta + meta_page_size(meta->ntrees)) - (char *) page;
}

static inline DesignOptions
meta_page_design(const MetaPageData *meta)
{
	return (DesignOptions) {meta->blocks, meta->prefix, meta->nested};
}

/*
 * Check that roots are where pages of trees may be, and that there are no more free pages
 * than blocks.  Raises an error if not.
 */
static void
check_roots(Relation index, const MetaPageData *meta)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);

	if (meta->nfree >= nblocks)
		page_report_corruption(index, META_BLOCK, "it counts more free pages than there are blocks");
	for (int i = 0; i < meta->ntrees; i++)
	{
		const TreeRoot *root = &meta->root[i];

		if (root->level > MAX_LEVEL)
			page_report_corruption(index, META_BLOCK, "a root is on too high a level");
		if (root->block == META_BLOCK || root->block >= nblocks)
			page_report_corruption(index, META_BLOCK, "a root is where no page of a tree is");
	}
}

static void
check_metapage(Relation index, Page page)
{
	MetaPageData *meta = MetaPageGetData(page);
	DesignOptions design = meta_page_design(meta);

	if (PageIsNew(page) || meta->magic != META_MAGIC)
		page_report_corruption(index, META_BLOCK, "it is no metapage");
	if (meta->version != META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but version %u is expected",
						RelationGetRelationName(index), meta->version,
						META_VERSION),
				 errhint("Please REINDEX it.")));
	if (!design_is_valid(&design))
		page_report_corruption(index, META_BLOCK, "its design is unknown");
	if (meta->ntrees != design_count_tables(&design) + 1)
		page_report_corruption(index, META_BLOCK, "it has the wrong number of trees");
	check_roots(index, meta);
}

/*
 * Pin and lock the metapage, checked.
 */
Buffer
meta_lock(Relation index, int lock)
{
	Buffer		buffer;

	if (!meta_has_block(index, META_BLOCK))
		page_report_corruption(index, META_BLOCK, "it is missing");
	buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(buffer, lock);
	check_metapage(index, BufferGetPage(buffer));
	return buffer;
}

/*
 * Read the metapage, and keep what it says in the relation's cache.
 */
const IndexMeta *
meta_reread(Relation index)
{
	Buffer		buffer = meta_lock(index, BUFFER_LOCK_SHARE);
	MetaPageData *page = MetaPageGetData(BufferGetPage(buffer));
	IndexMeta  *meta;
	DesignOptions design;

	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt,
												   sizeof(IndexMeta));
	meta = index->rd_amcache;
	meta->ntrees = page->ntrees;
	meta->params = page->params;
	design = meta_page_design(page);
	design_init(&meta->design, &design);
	memcpy(meta->root, page->root, page->ntrees * sizeof(TreeRoot));
	UnlockReleaseBuffer(buffer);
	return meta;
}

/*
 * What the metapage said when it was read last.  Valid until the relation's
 * cache entry is rebuilt, which may be whenever locks are taken or catalogs
 * read: not to be held over such.
 */
const IndexMeta *
meta_get(Relation index)
{
	return index->rd_amcache ? index->rd_amcache : meta_reread(index);
}

/*
 * How many free pages an index has.
 */
BlockNumber
meta_count_free(Relation index)
{
	Buffer		buffer = meta_lock(index, BUFFER_LOCK_SHARE);
	BlockNumber nfree = MetaPageGetData(BufferGetPage(buffer))->nfree;

	UnlockReleaseBuffer(buffer);
	return nfree;
}

/*
 * Whether an index has a block.  An index never becomes shorter, so the length of the
 * file is asked for only where a block lies beyond the length known.
 */
bool
meta_has_block(Relation index, BlockNumber block)
{
	IndexMeta  *meta = index->rd_amcache;
	BlockNumber nblocks;

	if (meta && block < meta->nblocks)
		return true;
	nblocks = RelationGetNumberOfBlocks(index);
	if (meta)
		meta->nblocks = nblocks;
	return block < nblocks;
}
