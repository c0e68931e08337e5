/*
 * CREATE INDEX
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"

#include "index/access_method.h"
#include "index/load/load.h"
#include "index/opclass.h"

/*
 * Minimum memory for placeholders, in kilobytes.  It is the minimum of
 * maintenance_work_mem in PostgreSQL 15.
 */
#define MIN_PLACEHOLDER_MEMORY	1024

/*
 * ambuildphasename: return the name of a phase in pg_stat_progress_create_index.
 */
char *
simhash_buildphasename(int64 phase)
{
	int			tree = phase / BUILD_PHASES % BUILD_TREES;
	int			ntables = phase / BUILD_PHASES / BUILD_TREES;
	const char *done;

	switch (phase % BUILD_PHASES)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PHASE_SCAN:
			return "scanning table";
		case PHASE_SORT:
			done = "sorting";
			break;
		case PHASE_WRITE:
			done = "writing";
			break;
		default:
			return NULL;
	}
	if (tree > ntables)
		return psprintf("%s placeholders", done);
	return psprintf("%s permuted table %d of %d", done, tree, ntables);
}

/*
 * Add a key to its spool, of the spools of the groups (an AddKey).
 */
static void
spool_key(void *arg, bool is_placeholder, uint64 key, const ItemPointerData *tid)
{
	spool_add(((Spool **) arg)[is_placeholder ? ROWS_WITH_PLACEHOLDER : ROWS_WITH_KEYS], key, tid);
}

/*
 * Build all trees in this process.  Sets roots[] to the roots of the trees, and the
 * numbers of rows in *result.
 */
static void
build_serially(Relation heap, Relation index, struct IndexInfo *info, int32 params,
			   const Design *design, TreeRoot *roots, IndexBuildResult *result)
{
	Spool	   *spools[NGROUPS];
	pg_atomic_uint64 done;

	/*
	 * Placeholders get an eighth of the memory.  Usually there are few of them, but there
	 * may be many.
	 */
	spools[ROWS_WITH_KEYS] = spool_create(maintenance_work_mem / 8 * 7);
	spools[ROWS_WITH_PLACEHOLDER] = spool_create(Max(maintenance_work_mem / 8,
													 MIN_PLACEHOLDER_MEMORY));

	build_report_phase(PHASE_SCAN);
	result->heap_tuples = heap_scan_keys(heap, index, info, params, true, NULL, spool_key,
										 spools, &result->index_tuples);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 spool_count(spools[ROWS_WITH_KEYS]) * design->ntables +
								 spool_count(spools[ROWS_WITH_PLACEHOLDER]));
	pg_atomic_init_u64(&done, 0);
	for (int i = 0; i <= design->ntables; i++)
	{
		Spool	   *spool = spools[i < design->ntables ? ROWS_WITH_KEYS : ROWS_WITH_PLACEHOLDER];

		build_report_tree(i, design->ntables);
		spool_begin(spool, &design->table[i]);
		roots[i] = build_tree(index, i, spool, &done);
	}
	for (RowGroup group = 0; group < NGROUPS; group++)
		spool_free(spools[group]);
}

/*
 * ambuild: build the trees, with parallel workers if there are any, and then the
 * metapage.
 */
IndexBuildResult *
simhash_build(Relation heap, Relation index, struct IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	DesignOptions options = options_design(index);
	Design		design;
	TreeRoot	roots[MAX_TREES];
	int32		params = params_of_column(index, opclass_of_index(index));
	PGAlignedBlock meta;

	/* the metapage must be the first page, although it is written last */
	if (build_extend(index, 1) != META_BLOCK)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));

	design_init(&design, &options);
	if (!build_in_parallel(heap, index, info, &design, roots, result))
		build_serially(heap, index, info, params, &design, roots, result);

	meta_init(meta.data, &design, params, roots);
	build_write_page(ReadBuffer(index, META_BLOCK), meta.data, RelationNeedsWAL(index));
	return result;
}

/*
 * ambuildempty: write the metapage and an empty leaf for each tree to the initialization
 * fork.  Logs them, although the index is unlogged.
 */
void
simhash_buildempty(Relation index)
{
	DesignOptions options = options_design(index);
	Design		design;
	TreeRoot	roots[MAX_TREES];
	PGAlignedBlock page;

	design_init(&design, &options);
	for (int i = 0; i <= design.ntables; i++)
	{
		roots[i].block = META_BLOCK + 1 + i;
		roots[i].level = 0;
	}
	meta_init(page.data, &design, params_of_column(index, opclass_of_index(index)), roots);
	for (int i = 0; i <= design.ntables + 1; i++)
	{
		build_write_page(ReadBufferExtended(index, INIT_FORKNUM, P_NEW, RBM_NORMAL, NULL),
						 page.data, true);
		page_init(page.data, i, 0, &lowest_entry);
	}
}
