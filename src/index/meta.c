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

#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/meta.h"
#include "index/page.h"

static inline MetaPageData *
meta_page_data(Page page)
{
	return (MetaPageData *) PageGetContents(page);
}

static inline Size
meta_page_size(uint32 ntrees)
{
	return offsetof(MetaPageData, root) + ntrees * sizeof(TreeRoot);
}

/*
 * Format the metapage of an index of this design; one root for each tree.
 */
void
meta_init(Page page, const Design *design, const TreeRoot *roots)
{
	MetaPageData *meta;

	PageInit(page, BLCKSZ, 0);
	meta = meta_page_data(page);
	meta->magic = META_MAGIC;
	meta->version = META_VERSION;
	meta->blocks = design->options.blocks;
	meta->prefix = design->options.prefix;
	meta->nested = design->options.nested;
	meta->ntrees = design->ntables + 1;
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
 * The metapage's data, checked.  The buffer is locked.
 */
MetaPageData *
meta_page_check(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	MetaPageData *meta = meta_page_data(page);
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
	return meta;
}

/*
 * Read the metapage, and keep what it says in the relation's cache.
 */
const IndexMeta *
meta_reread(Relation index)
{
	Buffer		buffer = ReadBuffer(index, META_BLOCK);
	MetaPageData *page;
	IndexMeta  *meta;
	DesignOptions design;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = meta_page_check(index, buffer);
	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt,
												   sizeof(IndexMeta));
	meta = index->rd_amcache;
	meta->ntrees = page->ntrees;
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
