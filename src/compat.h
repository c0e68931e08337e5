/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between the supported releases of PostgreSQL
 *
 * The only place that tests PG_VERSION_NUM.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/* The accessors of variable-length data moved here in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * The library exports what SQL calls, nothing else.  From 16 on PGXS hides all
 * that is not marked, and the macro marks; before, the Makefile and this do.
 */
#if PG_VERSION_NUM < 160000 && defined(__GNUC__) && !defined(FRONTEND)
#include "fmgr.h"

#undef PGDLLEXPORT
#define PGDLLEXPORT						__attribute__((visibility("default")))

#undef PG_FUNCTION_INFO_V1
#define PG_FUNCTION_INFO_V1(funcname) \
extern PGDLLEXPORT Datum funcname(PG_FUNCTION_ARGS); \
extern PGDLLEXPORT const Pg_finfo_record * CppConcat(pg_finfo_,funcname)(void); \
const Pg_finfo_record * \
CppConcat(pg_finfo_,funcname) (void) \
{ \
	static const Pg_finfo_record my_finfo = { 1 }; \
	return &my_finfo; \
} \
extern int no_such_variable
#endif

/*
 * Functions that a minor release added: DatumGetHeapTupleHeader() was a macro up to 15.18,
 * and InitMaterializedSRF() came with 15.1.  A library that calls them does not load in an
 * older minor release of the same major.
 */
#define get_tuple_header(datum)			((HeapTupleHeader) PG_DETOAST_DATUM(datum))
#if PG_VERSION_NUM < 160000
#define InitMaterializedSRF				SetSingleFuncCall
#endif

/* These have other names from 20 on. */
#if PG_VERSION_NUM >= 200000
#define pg_attribute_always_inline		pg_always_inline
#define ssup_datum_unsigned_cmp			ssup_datum_uint64_cmp
#endif

/* btree families that have no symbol of their own in pg_opfamily_d.h */
#define FLOAT_BTREE_FAMILY		1970
#define NUMERIC_BTREE_FAMILY	1988

/* Input functions report bad input softly from 16 on. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define ereturn(context, result, ...)	ereport(ERROR, __VA_ARGS__)
#endif

/* A hint to the processor, where the compiler can give one. */
#ifdef __GNUC__
#define pg_prefetch(address)			__builtin_prefetch(address)
#else
#define pg_prefetch(address)			((void) 0)
#endif

/* The datum of a sort need not be copied from 16 on, and must be freed before. */
#if PG_VERSION_NUM >= 160000
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, false, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		((void) (datum))
#else
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		pfree(DatumGetPointer(datum))
#endif

/* Pin a page where it was seen a moment ago; false if it is there no longer. */
#if PG_VERSION_NUM >= 160000
#define read_recent_buffer(relation, block, recent) \
	ReadRecentBuffer((relation)->rd_locator, MAIN_FORKNUM, (block), (recent))
#else
#define read_recent_buffer(relation, block, recent) \
	ReadRecentBuffer((relation)->rd_node, MAIN_FORKNUM, (block), (recent))
#endif

/*
 * Extend a relation by at least one page and at most n, whose buffers are pinned;
 * *extended becomes their number, and the result is the first block.  The caller has
 * the extension lock.  Up to 15 pages come one by one.
 */
#if PG_VERSION_NUM >= 160000
#define extend_relation(relation, n, buffers, extended) \
	ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, NULL, \
						EB_SKIP_EXTENSION_LOCK, (n), (buffers), (extended))
#else
#define extend_relation(relation, n, buffers, extended) \
	(*(extended) = 1, *(buffers) = ReadBuffer((relation), P_NEW), \
	 BufferGetBlockNumber(*(buffers)))
#endif

/* The planner is asked for statistics of arrays from 17 on. */
#if PG_VERSION_NUM >= 170000
#define estimate_elements(root, array)	estimate_array_length((root), (array))
#else
#define estimate_elements(root, array)	estimate_array_length(array)
#endif

/* Ownership is asked for by object class from 16 on. */
#if PG_VERSION_NUM >= 160000
#define user_owns_relation(relation, user) \
	object_ownercheck(RelationRelationId, (relation), (user))
#else
#define user_owns_relation(relation, user)	pg_class_ownercheck((relation), (user))
#endif

/* So are privileges.  Includers need catalog/pg_proc.h and utils/acl.h. */
#if PG_VERSION_NUM >= 160000
#define user_may_execute(function, user) \
	(object_aclcheck(ProcedureRelationId, (function), (user), \
					 ACL_EXECUTE) == ACLCHECK_OK)
#else
#define user_may_execute(function, user) \
	(pg_proc_aclcheck((function), (user), ACL_EXECUTE) == ACLCHECK_OK)
#endif

/* Rows may be removed though a snapshot sees them, up to 16. */
#if PG_VERSION_NUM >= 170000
#define test_for_old_snapshot(snapshot, relation, page)	((void) 0)
#else
#define test_for_old_snapshot(snapshot, relation, page) \
	TestForOldSnapshot((snapshot), (relation), (page))
#endif

/* The caches of the catalog have a type from 19 on.  Includers need utils/syscache.h. */
#if PG_VERSION_NUM >= 190000
#define syscache_id						SysCacheIdentifier
#else
#define syscache_id						int
#endif

/*
 * What tells this transaction from others of the session has moved in 17.
 * Includers need storage/proc.h.
 */
#if PG_VERSION_NUM >= 170000
#define my_local_transaction()			(MyProc->vxid.lxid)
#else
#define my_local_transaction()			(MyProc->lxid)
#endif

/* A point where VACUUM may pause is told from one of ANALYZE from 18 on. */
#if PG_VERSION_NUM >= 180000
#define vacuum_may_pause()				vacuum_delay_point(false)
#else
#define vacuum_may_pause()				vacuum_delay_point()
#endif

/* EXPLAIN ANALYZE shows the number of searches from 18 on. */
#if PG_VERSION_NUM >= 180000
#define count_index_scan(scan) \
	do { \
		pgstat_count_index_scan((scan)->indexRelation); \
		if ((scan)->instrument) \
			(scan)->instrument->nsearches++; \
	} while (0)
#else
#define count_index_scan(scan)			pgstat_count_index_scan((scan)->indexRelation)
#endif

/* Maintenance has a safe search_path from 17 on. */
#if PG_VERSION_NUM >= 170000
#define restrict_search_path()			RestrictSearchPath()
#else
#define restrict_search_path()			((void) 0)
#endif

/*
 * Core knows how many workers a build may ask for from 17 on, for the access
 * methods that say that they can use them.  Before, includers need
 * optimizer/optimizer.h, which does not hurt later.
 */
#if PG_VERSION_NUM >= 170000
#define ACCESS_METHOD_CAN_BUILD_PARALLEL	.amcanbuildparallel = true,
#define build_parallel_workers(heap, index, info) \
	((info)->ii_ParallelWorkers)
#else
#define ACCESS_METHOD_CAN_BUILD_PARALLEL
#define build_parallel_workers(heap, index, info) \
	plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index))
#endif

/* Comparisons have names that access methods share from 18 on. */
#if PG_VERSION_NUM >= 180000
#include "access/cmptype.h"
#else
#define COMPARE_EQ						3
#endif

/* A handler's answer is kept as it is from 19 on, and copied and freed before. */
#if PG_VERSION_NUM >= 190000
#define RETURN_ACCESS_METHOD(routine)	PG_RETURN_POINTER(routine)
#else
#define RETURN_ACCESS_METHOD(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(IndexAmRoutine)), (routine), \
							 sizeof(IndexAmRoutine)))
#endif

/* A scan of a table takes options from 19 on. */
#if PG_VERSION_NUM >= 190000
#define begin_parallel_scan(table, scan) \
	table_beginscan_parallel((table), (scan), SO_NONE)
#else
#define begin_parallel_scan(table, scan)	table_beginscan_parallel((table), (scan))
#endif

/*
 * The hook called for each table of a query before the query's conditions are
 * handed to its tables.  Includers need optimizer/plancat.h, and from 19 on
 * optimizer/pathnode.h, which does not hurt before.
 */
#if PG_VERSION_NUM >= 190000
#define table_hook						build_simple_rel_hook
#define table_hook_type					build_simple_rel_hook_type
#define TABLE_HOOK_PARAMETERS \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define TABLE_HOOK_ARGUMENTS			root, rel, rte
#else
#define table_hook						get_relation_info_hook
#define table_hook_type					get_relation_info_hook_type
#define TABLE_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel
#define TABLE_HOOK_ARGUMENTS			root, relation, inhparent, rel
#endif

/*
 * A RestrictInfo with another clause over the same relations; and to put it in
 * the place of the old one, which has a number from 16 on.
 */
#if PG_VERSION_NUM >= 160000
#define make_restrictinfo_like(root, clause, r) \
	make_restrictinfo((root), (clause), (r)->is_pushed_down, (r)->has_clone, \
					  (r)->is_clone, (r)->pseudoconstant, (r)->security_level, \
					  (r)->required_relids, (r)->incompatible_relids, \
					  (r)->outer_relids)
#define replace_restrictinfo(old, new) \
	((new)->rinfo_serial = (old)->rinfo_serial, *(old) = *(new))
#else
#define make_restrictinfo_like(root, clause, r) \
	make_restrictinfo((root), (clause), (r)->is_pushed_down, \
					  (r)->outerjoin_delayed, (r)->pseudoconstant, \
					  (r)->security_level, (r)->required_relids, \
					  (r)->outer_relids, (r)->nullable_relids)
#define replace_restrictinfo(old, new)	(*(old) = *(new))
#endif

/* Returns whether an outer join below a clause can make the columns of a relation NULL. */
#if PG_VERSION_NUM >= 160000
#define is_nulled_below(r, rel) \
	bms_overlap((r)->clause_relids, (rel)->nulling_relids)
#else
#define is_nulled_below(r, rel) \
	bms_is_member((rel)->relid, (r)->nullable_relids)
#endif

/* Window functions are told from 19 on to leave NULLs out, and have to refuse. */
#if PG_VERSION_NUM >= 190000
#define reject_null_treatment(window, fcinfo) \
	WinCheckAndInitializeNullTreatment((window), false, (fcinfo))
#else
#define reject_null_treatment(window, fcinfo)	((void) 0)
#endif

/* Replaces pg_attribute_noreturn() from 18 on; stands before the declaration. */
#ifndef pg_noreturn
#define pg_noreturn						__attribute__((noreturn))
#endif

#endif							/* SIMHASH_COMPAT_H */
