/*
 * Differences between the supported releases of PostgreSQL
 *
 * This is the only file that tests PG_VERSION_NUM.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/* From 18 on, the magic block contains the name and version of the module. */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...)		PG_MODULE_MAGIC
#endif

/* From 16 on, the macros for variable-length data are in varatt.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * Export only the functions that SQL calls.  From 16 on, PGXS hides all symbols that are
 * not marked, and PG_FUNCTION_INFO_V1 marks functions.  On 15, the Makefile hides
 * symbols, and these definitions mark functions.
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
 * Avoid functions that a minor release added.  DatumGetHeapTupleHeader() was a macro up
 * to 15.18, and InitMaterializedSRF() came with 15.1.  A library that calls them does
 * not load in an older minor release of the same major release.
 */
#define get_tuple_header(datum)			((HeapTupleHeader) PG_DETOAST_DATUM(datum))
#if PG_VERSION_NUM < 160000
#define InitMaterializedSRF				SetSingleFuncCall
#endif

/*
 * Return true if a server keeps the ctid of rows that its executor reorders, because an index
 * returns a lower bound of their distance (xs_recheckorderby).  ExecForceStoreHeapTuple() loses it
 * up to 15.19, 16.15, 17.11 and 18.6, before commit a3d1ac495.  `version` is the
 * server_version_num of the running server, which may have another minor release than the headers.
 */
static inline bool
reordering_keeps_ctid(int version)
{
	static const int first[] = {150020, 160016, 170012, 180007, 190001};
	int			i = version / 10000 - 15;

	return i >= 0 && (i >= (int) lengthof(first) || version >= first[i]);
}

/* Names that differ from 20 on */
#if PG_VERSION_NUM >= 200000
#define pg_attribute_always_inline		pg_always_inline
#define ssup_datum_unsigned_cmp			ssup_datum_uint64_cmp
#endif

/* OIDs of btree operator families for which pg_opfamily_d.h has no macro. */
#define FLOAT_BTREE_FAMILY		1970
#define NUMERIC_BTREE_FAMILY	1988

/* From 16 on, input functions can report soft errors. */
#if PG_VERSION_NUM < 160000
#define ereturn(context, result, ...)	ereport(ERROR, __VA_ARGS__)
#elif !defined(FRONTEND)
#include "nodes/miscnodes.h"
#endif

/* Prefetch a cache line, if the compiler has a built-in function for it. */
#ifdef __GNUC__
#define pg_prefetch(address)			__builtin_prefetch(address)
#else
#define pg_prefetch(address)			((void) 0)
#endif

/*
 * Fetch the next datum of a sort.  From 16 on, the sort owns the datum.  On 15, the datum
 * is a copy, which the caller frees by tuplesort_free_datum().
 */
#if PG_VERSION_NUM >= 160000
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, false, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		((void) (datum))
#else
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		pfree(DatumGetPointer(datum))
#endif

/* From 16 on, the place of a relation's file and the tag of a page have these names. */
#if PG_VERSION_NUM < 160000
#define rd_locator						rd_node
#define relNumber						relNode
#define InitBufferTag(tag, locator, fork, block) \
	INIT_BUFFERTAG(*(tag), *(locator), (fork), (block))
#define BufferTagsEqual(a, b)			BUFFERTAGS_EQUAL(*(a), *(b))
#endif

/*
 * read_recent_keeps_usage: true if ReadRecentBuffer() raises the usage count of a buffer,
 * or the usage count is at its maximum.  Reads the count without a lock.  Includers need
 * storage/buf_internals.h.
 */
#if PG_VERSION_NUM >= 190000
#define read_recent_keeps_usage(buffer)	true
#else
#define read_recent_keeps_usage(buffer) \
	(BUF_STATE_GET_USAGECOUNT(pg_atomic_read_u32(&GetBufferDescriptor((buffer) - 1)->state)) == \
	 BM_MAX_USAGE_COUNT)
#endif

/*
 * Read exactly size bytes from a temporary file.  Raises an error if the file ends earlier.
 * Includers need storage/buffile.h.
 */
#if PG_VERSION_NUM >= 160000
#define read_temp_file(file, data, size)	BufFileReadExact((file), (data), (size))
#else
#define read_temp_file(file, data, size) \
	do { \
		if (BufFileRead((file), (data), (size)) != (size)) \
			elog(ERROR, "temporary file ends too early"); \
	} while (0)
#endif

/*
 * From 18 on, the state of EXPLAIN and the functions that format its output have headers
 * of their own.
 */
#if PG_VERSION_NUM >= 180000
#define EXPLAIN_STATE_HEADER			"commands/explain_state.h"
#define EXPLAIN_FORMAT_HEADER			"commands/explain_format.h"
#else
#define EXPLAIN_STATE_HEADER			"commands/explain.h"
#define EXPLAIN_FORMAT_HEADER			"commands/explain.h"
#endif

/*
 * Extend a relation by at least one page and at most n pages.  The caller must hold the
 * extension lock.  Pins the new buffers, sets *extended to their number, and returns the
 * number of the first new block.  On 15, adds one page at a time.
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

/* Estimate the number of elements of an array.  From 17 on, core uses statistics. */
#if PG_VERSION_NUM >= 170000
#define estimate_elements(root, array)	estimate_array_length((root), (array))
#else
#define estimate_elements(root, array)	estimate_array_length(array)
#endif

/* From 16 on, one function checks the owner of relations and of other objects, and so on. */
#if PG_VERSION_NUM < 160000
#define object_ownercheck(class, relation, user)	pg_class_ownercheck((relation), (user))
#define object_aclcheck(class, function, user, mode) \
	pg_proc_aclcheck((function), (user), (mode))
#endif

/*
 * Raise an error if rows that the snapshot sees may have been removed from the page.  Up
 * to 16, old_snapshot_threshold allows that.
 */
#if PG_VERSION_NUM >= 170000
#define TestForOldSnapshot(snapshot, relation, page)	((void) 0)
#endif

/* From 19 on, cache IDs have a type of their own.  Includers need utils/syscache.h. */
#if PG_VERSION_NUM >= 190000
#define syscache_id						SysCacheIdentifier
#else
#define syscache_id						int
#endif

/*
 * Return the local ID of this transaction, which is unique within the session.  The field
 * moved in 17.  Includers need storage/proc.h.
 */
#if PG_VERSION_NUM >= 170000
#define my_local_transaction()			(MyProc->vxid.lxid)
#else
#define my_local_transaction()			(MyProc->lxid)
#endif

/*
 * Check for interrupts, and sleep if VACUUM has reached its cost limit.  From 18 on, the
 * argument is true for ANALYZE.
 */
#if PG_VERSION_NUM >= 180000
#define vacuum_may_pause()				vacuum_delay_point(false)
#else
#define vacuum_may_pause()				vacuum_delay_point()
#endif

/*
 * Count an index scan in the cumulative statistics.  From 18 on, EXPLAIN ANALYZE shows
 * the number of searches, too.
 */
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

/* From 17 on, maintenance commands run with a safe search_path. */
#if PG_VERSION_NUM < 170000
#define RestrictSearchPath()			((void) 0)
#endif

/*
 * Return the number of workers that an index build may request.  From 17 on, core computes
 * it for access methods that set amcanbuildparallel.  Up to 16, includers need
 * optimizer/optimizer.h, which is harmless later.
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

/* From 18 on, core defines names for comparisons that all access methods use. */
#if PG_VERSION_NUM >= 180000
#include "access/cmptype.h"
#else
#define COMPARE_EQ						3
#endif

/*
 * Return the IndexAmRoutine of an access method's handler.  From 19 on, core keeps the
 * pointer.  Up to 18, core copies the struct and frees it, so return a palloc'd copy.
 */
#if PG_VERSION_NUM >= 190000
#define RETURN_ACCESS_METHOD(routine)	PG_RETURN_POINTER(routine)
#else
#define RETURN_ACCESS_METHOD(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(IndexAmRoutine)), (routine), \
							 sizeof(IndexAmRoutine)))
#endif

/* From 19 on, a table scan takes options. */
#if PG_VERSION_NUM >= 190000
#define begin_parallel_scan(table, scan) \
	table_beginscan_parallel((table), (scan), SO_NONE)
#else
#define begin_parallel_scan(table, scan)	table_beginscan_parallel((table), (scan))
#endif

/*
 * The hook that the planner calls for each table of a query, before it distributes the
 * quals to relations.  Includers need optimizer/plancat.h, and from 19 on
 * optimizer/pathnode.h, which is harmless earlier.
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
 * make_restrictinfo_like() returns a RestrictInfo for another clause over the same
 * relations as r.  replace_restrictinfo() overwrites a RestrictInfo in place.  From 16 on,
 * the result keeps the serial number of the overwritten one.
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

/* Return true if an outer join below a clause can make the columns of a relation NULL. */
#if PG_VERSION_NUM >= 160000
#define is_nulled_below(r, rel) \
	bms_overlap((r)->clause_relids, (rel)->nulling_relids)
#else
#define is_nulled_below(r, rel) \
	bms_is_member((rel)->relid, (r)->nullable_relids)
#endif

/*
 * From 16 on, a Var and a PlaceHolderVar record which outer joins can make them NULL.
 * These macros copy that record from one node to another.
 */
#if PG_VERSION_NUM >= 160000
#define copy_var_nulling(to, from) \
	((to)->varnullingrels = bms_copy((from)->varnullingrels))
#define copy_placeholder_nulling(to, from) \
	((to)->phnullingrels = bms_copy((from)->phnullingrels))
#else
#define copy_var_nulling(to, from)		((void) (to), (void) (from))
#define copy_placeholder_nulling(to, from)	((void) (to), (void) (from))
#endif

/*
 * Translate expressions of a partitioned table to expressions of a partition, over all
 * levels.  Includers need optimizer/appendinfo.h.
 */
#if PG_VERSION_NUM >= 160000
#define translate_for_child(root, node, child) \
	((List *) adjust_appendrel_attrs_multilevel((root), (Node *) (node), \
												(child), (child)->top_parent))
#else
#define translate_for_child(root, node, child) \
	((List *) adjust_appendrel_attrs_multilevel((root), (Node *) (node), \
												(child)->relids, \
												(child)->top_parent_relids))
#endif

/*
 * From 17 on, core evaluates clauses without columns above a custom path that replaces a
 * join, if the path lists these clauses.  Earlier, core does not evaluate them for such a
 * path.
 */
#if PG_VERSION_NUM >= 170000
#define CUSTOM_JOIN_IS_GATED			true
#define set_gating_clauses(path, clauses) \
	((path)->custom_restrictinfo = (clauses))
#else
#define CUSTOM_JOIN_IS_GATED			false
#define set_gating_clauses(path, clauses)	((void) (clauses))
#endif

/*
 * Set the number of disabled nodes of a path that joins two other paths, from 18 on.  From
 * 19 on, extensions can disable joins, and a disabled join counts as a node.  No option of
 * core disables this join, just as none disables a join of foreign tables.
 */
#if PG_VERSION_NUM >= 190000
#define set_disabled_nodes(path, left, right, extra) \
	((path)->disabled_nodes = (left)->disabled_nodes + (right)->disabled_nodes + \
	 (((extra)->pgs_mask & PGS_FOREIGNJOIN) == 0 || \
	  ((extra)->pgs_mask & PGS_CONSIDER_NONPARTIAL) == 0))
#elif PG_VERSION_NUM >= 180000
#define set_disabled_nodes(path, left, right, extra) \
	((path)->disabled_nodes = (left)->disabled_nodes + (right)->disabled_nodes)
#else
#define set_disabled_nodes(path, left, right, extra)	((void) (extra))
#endif

/* Raise an error if a window function is called with IGNORE NULLS, from 19 on. */
#if PG_VERSION_NUM < 190000
#define WinCheckAndInitializeNullTreatment(window, allowed, fcinfo)	((void) 0)
#endif

/*
 * From 18 on, pg_noreturn replaces pg_attribute_noreturn().  It is placed before the
 * declaration.
 */
#ifndef pg_noreturn
#define pg_noreturn						__attribute__((noreturn))
#endif

/*
 * True for the major releases whose generic_xlog.c has been read, so that tree/wal.c may
 * write generic WAL records itself.  Within a major release the format does not change,
 * because standbys of other minor releases replay the records.
 */
#define GENERIC_WAL_IS_KNOWN	(PG_VERSION_NUM >= 150000 && PG_VERSION_NUM < 200000)

#endif							/* SIMHASH_COMPAT_H */
