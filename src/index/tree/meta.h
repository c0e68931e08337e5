/*
 * The metapage: design, parameters and roots of an index
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_META_H
#define SIMHASH_META_H

#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "index/opclass.h"
#include "index/simhash/design.h"

#define META_BLOCK			0
#define META_MAGIC			0x5348584D	/* "SHXM" */
#define META_VERSION		6

/*
 * There is one tree for each permuted table of the design.  The last tree contains the
 * placeholders: entries of NULLs and of values without keys.
 */
#define MAX_TREES			(DESIGN_MAX_TABLES + 1)

/*
 * Maximum level of a root.  If each inner page has at least two downlinks, a tree of 2^32
 * blocks has no higher level.
 */
#define MAX_LEVEL			31

/* The root of a tree. */
typedef struct TreeRoot
{
	BlockNumber block;
	uint32		level;			/* 0 if the root is a leaf */
} TreeRoot;

/* The metapage on disk. */
typedef struct MetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* first of the three options of the design (design.h) */
	uint16		prefix;
	uint16		nested;
	uint16		ntrees;			/* number of trees */
	BlockNumber free_page;		/* first page of the free list (free_list.c), or
								 * InvalidBlockNumber */
	uint32		nfree;			/* number of free pages */
	int32		params;			/* parameters of all values (opclass_lookup.h), or NO_PARAMS */
	TreeRoot	root[MAX_TREES];	/* only root[0..ntrees-1] are on disk */
} MetaPageData;

#define MetaPageGetData(page) ((MetaPageData *) PageGetContents(page))

/*
 * The metapage in a backend's relation cache.  The root of a tree may have been split after
 * the metapage was read.  Then root[] has the leftmost page of a lower level
 * (follow_root in descend.c).
 */
typedef struct IndexMeta
{
	int			ntrees;			/* number of trees */
	int32		params;			/* parameters of all values (opclass_lookup.h), or NO_PARAMS */
	Design		design;
	TreeRoot	root[MAX_TREES];
	BlockNumber nblocks;		/* length of the file in blocks, as last read */
} IndexMeta;

/* Return the number of the tree of placeholders, which is the last tree. */
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
extern const Opclass *opclass_of_trees(Relation index);
extern int32 params_of_index(Oid index);

#endif							/* SIMHASH_META_H */
