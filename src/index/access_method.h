/*
 * Functions of the access method, by the file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ACCESS_METHOD_H
#define SIMHASH_ACCESS_METHOD_H

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/pathnodes.h"

#include "index/simhash/design.h"

/* load/build.c */
extern IndexBuildResult *simhash_build(Relation heap, Relation index,
									   struct IndexInfo *info);
extern void simhash_buildempty(Relation index);
extern char *simhash_buildphasename(int64 phase);

/* tree/insert.c */
extern bool simhash_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck unique_check, bool index_unchanged,
						   struct IndexInfo *info);

/* scan/scan.c */
extern IndexScanDesc simhash_beginscan(Relation index, int nkeys, int norderbys);
extern void simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey orderbys, int norderbys);
extern bool simhash_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 simhash_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void simhash_endscan(IndexScanDesc scan);

/* tree/vacuum.c */
extern IndexBulkDeleteResult *simhash_bulkdelete(IndexVacuumInfo *info,
												 IndexBulkDeleteResult *stats,
												 IndexBulkDeleteCallback callback,
												 void *callback_state);
extern IndexBulkDeleteResult *simhash_vacuumcleanup(IndexVacuumInfo *info,
													IndexBulkDeleteResult *stats);

/* am/cost.c */
extern void simhash_costestimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup_cost,
								 Cost *total_cost, Selectivity *selectivity,
								 double *correlation, double *pages);

/* options.c */
extern void options_init(void);
extern bytea *simhash_options(Datum reloptions, bool validate);
extern DesignOptions options_design(Relation index);

/* am/handler.c */
extern void create_hook_init(void);

/* am/validate.c */
extern bool simhash_validate(Oid opclass);

#endif							/* SIMHASH_ACCESS_METHOD_H */
