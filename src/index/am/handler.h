/*-------------------------------------------------------------------------
 *
 * handler.h
 *		The functions of the access method, by file
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_HANDLER_H
#define SIMHASH_HANDLER_H

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/pathnodes.h"

#include "index/simhash/design.h"

/* Strategies of an operator class. */
#define STRATEGY_WITHIN		1	/* fp <@ ball, array <%@ ball */
#define STRATEGY_EQUAL		2	/* fp = fp */
#define STRATEGY_DISTANCE	3	/* ORDER BY fp <~> fp */
#define STRATEGY_NEAR		4	/* ball =~= ball */
#define STRATEGY_OVERLAP	5	/* array && array */
#define STRATEGY_SHARES_BAND	6	/* signature % signature */
#define STRATEGY_CONTAINMENT	7	/* ORDER BY array <%>> array */
#define STRATEGY_CONTAINS	8	/* array @> array */
#define NSTRATEGIES			8

/* build.c */
extern IndexBuildResult *simhash_build(Relation heap, Relation index,
									   struct IndexInfo *info);
extern void simhash_buildempty(Relation index);
extern char *simhash_buildphasename(int64 phase);

/* insert_row.c */
extern bool simhash_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck unique_check, bool index_unchanged,
						   struct IndexInfo *info);

/* scan.c */
extern IndexScanDesc simhash_beginscan(Relation index, int nkeys, int norderbys);
extern void simhash_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey orderbys, int norderbys);
extern bool simhash_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 simhash_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void simhash_endscan(IndexScanDesc scan);

/* vacuum.c */
extern IndexBulkDeleteResult *simhash_bulkdelete(IndexVacuumInfo *info,
												 IndexBulkDeleteResult *stats,
												 IndexBulkDeleteCallback callback,
												 void *callback_state);
extern IndexBulkDeleteResult *simhash_vacuumcleanup(IndexVacuumInfo *info,
													IndexBulkDeleteResult *stats);

/* cost.c */
extern void simhash_costestimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup_cost,
								 Cost *total_cost, Selectivity *selectivity,
								 double *correlation, double *pages);

/* options.c */
extern void options_init(void);
extern bytea *simhash_options(Datum reloptions, bool validate);
extern DesignOptions options_design(Relation index);

/* validate.c */
extern bool simhash_validate(Oid opclass);

#endif							/* SIMHASH_HANDLER_H */
