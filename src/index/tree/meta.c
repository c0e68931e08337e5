/*
 * The metapage: design, parameters and roots of an index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/rel.h"

#include "index/opclass.h"
#include "index/tree/tree.h"

/*
 * Format the metapage of an index of this design.  `params` are the parameters of all
 * values, or NO_PARAMS.  roots[] has the root of each tree.
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

	/* otherwise generic WAL would take the data for the hole, and not log it */
	((PageHeader) page)->pd_lower =
		(char *) &meta->root[meta->ntrees] - (char *) page;
}

/*
 * Check the levels and blocks of the roots, and that there are fewer free pages than
 * blocks.  Raises an error if one of these values is impossible.
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
			page_report_corruption(index, META_BLOCK, "the level of a root is too high");
		if (root->block == META_BLOCK || root->block >= nblocks)
			page_report_corruption(index, META_BLOCK, "a root is the metapage or past the end of the file");
	}
}

/*
 * Check the metapage, which is locked.  Raises an error if the metapage is damaged, or has
 * another format version than META_VERSION.
 */
static void
check_metapage(Relation index, Page page)
{
	MetaPageData *meta = MetaPageGetData(page);
	DesignOptions design = {meta->blocks, meta->prefix, meta->nested};

	if (PageIsNew(page) || meta->magic != META_MAGIC)
		page_report_corruption(index, META_BLOCK, "it is not a metapage");
	if (meta->version != META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but version %u is expected",
						RelationGetRelationName(index), meta->version,
						META_VERSION),
				 meta->version > META_VERSION ?
				 errhint("Install the newer library that wrote the index, then reconnect.  If there is none, please REINDEX it.") :
				 errhint("Please REINDEX it.  Until then, VACUUM (INDEX_CLEANUP OFF) vacuums its table.")));
	if (!design_is_valid(&design))
		page_report_corruption(index, META_BLOCK, "its design is unknown");
	if (meta->ntrees != design_count_tables(&design) + 1)
		page_report_corruption(index, META_BLOCK, "it has the wrong number of trees");
	check_roots(index, meta);
}

/*
 * Pin, lock and check the metapage, and return its buffer.  Raises an error if the metapage
 * is missing or damaged.
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
 * Read the metapage into the relation cache, and return the copy there.  Share-locks the
 * metapage meanwhile.
 */
const IndexMeta *
meta_reread(Relation index)
{
	Buffer		buffer = meta_lock(index, BUFFER_LOCK_SHARE);
	MetaPageData *page = MetaPageGetData(BufferGetPage(buffer));
	DesignOptions design = {page->blocks, page->prefix, page->nested};
	IndexMeta  *meta;

	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt,
												   sizeof(IndexMeta));
	meta = index->rd_amcache;
	meta->ntrees = page->ntrees;
	meta->params = page->params;
	design_init(&meta->design, &design);
	memcpy(meta->root, page->root, page->ntrees * sizeof(TreeRoot));
	UnlockReleaseBuffer(buffer);
	return meta;
}

/*
 * Return the metapage from the relation cache.  Reads the metapage if it is not in there.
 *
 * The result is valid until the relation's cache entry is rebuilt.  That may happen
 * whenever a heavyweight lock is taken or a catalog is read.  Do not use the pointer after
 * that.
 */
const IndexMeta *
meta_get(Relation index)
{
	return index->rd_amcache ? index->rd_amcache : meta_reread(index);
}

/*
 * Return the number of free pages, from the metapage.  Share-locks the metapage
 * meanwhile.
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
 * Return true if a block is not past the end of the index.
 *
 * An index never becomes shorter.  So the length of the file is read again only if the
 * block is past the length in the relation cache.
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

/*
 * Return the parameters of an index.  The caller must hold a lock on the index.  Does not
 * check the parameters, because the planner tolerates invalid ones.
 */
int32
params_of_index(Oid index)
{
	Relation	relation = index_open(index, NoLock);
	int32		params = meta_get(relation)->params;

	index_close(relation, NoLock);
	return params;
}

/*
 * Raise an error if the parameters in the metapage are not those of the column, or if no value
 * of the Opclass can have them.  An index remains usable if a superuser has removed the type
 * modifier from the catalog.  This is called for every row inserted, so it allocates no memory.
 */
static void
check_params(Relation index, const Opclass *opclass)
{
	int32		params = meta_get(index)->params;
	int32		expected = params_of_catalog(index, opclass);

	if (params != expected &&
		(!opclass->has_params || params_are_valid(expected) || !params_are_valid(params)))
		page_report_corruption(index, META_BLOCK, "its parameters are those of other values");
}

/*
 * Return the Opclass of an index that has been built.  Raises an error if the metapage
 * has a design or parameters that an index of this Opclass cannot have.
 */
const Opclass *
opclass_of_trees(Relation index)
{
	const Opclass *opclass = opclass_of_index(index);

	if ((opclass->multi_key != NULL) != design_is_whole(&meta_get(index)->design.options))
		page_report_corruption(index, META_BLOCK, "its design is that of other values");
	check_params(index, opclass);
	return opclass;
}
