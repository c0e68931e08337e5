/*-------------------------------------------------------------------------
 *
 * meta.h
 *		The metapage: what an index is, and where its trees begin
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_META_H
#define SIMHASH_META_H

#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "index/simhash/design.h"

#define META_BLOCK			0
#define META_MAGIC			0x5348584D	/* "SHXM" */
#define META_VERSION		6

/*
 * There is a tree for each table of the design, and one more, the last, for
 * the rows that are NULL.
 */
#define MAX_TREES			(DESIGN_MAX_TABLES + 1)

/* The highest level of a tree: with two links a page, 2^32 blocks make no more. */
#define MAX_LEVEL			31

typedef struct TreeRoot
{
	BlockNumber block;
	uint32		level;			/* 0: the root is a leaf */
} TreeRoot;

/* The metapage as it stands on disk. */
typedef struct MetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* the design */
	uint16		prefix;
	uint16		nested;
	uint16		ntrees;
	BlockNumber free_page;		/* the first free page (free_list.c), or
								 * InvalidBlockNumber */
	uint32		nfree;			/* number of free pages */
	int32		params;			/* of all values (params.h), or NO_PARAMS */
	TreeRoot	root[MAX_TREES];	/* the first ntrees are stored */
} MetaPageData;

#define MetaPageGetData(page) ((MetaPageData *) PageGetContents(page))

/*
 * The metapage as each backend keeps it.  The roots may be out of date: then they have
 * right siblings (descend.c).
 */
typedef struct IndexMeta
{
	int			ntrees;
	int32		params;			/* of all values (params.h), or NO_PARAMS */
	Design		design;
	TreeRoot	root[MAX_TREES];
	BlockNumber nblocks;		/* of the file, when its length was last asked for */
} IndexMeta;

static inline int
placeholder_tree(const IndexMeta *meta)
{
	return meta->design.ntables;
}

extern void meta_init(Page page, const Design *design, int32 params,
					  const TreeRoot *roots);
extern Buffer meta_lock(Relation index, int lock);
extern const IndexMeta *meta_get(Relation index);
extern const IndexMeta *meta_reread(Relation index);
extern BlockNumber meta_count_free(Relation index);
extern bool meta_has_block(Relation index, BlockNumber block);

#endif							/* SIMHASH_META_H */
