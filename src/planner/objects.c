/*-------------------------------------------------------------------------
 *
 * objects.c
 *		Finding the extension's own functions, types and operators
 *
 * Nothing is remembered: every look-up is one in the system caches.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/planner.h"

#define DISTANCE_SYMBOL		"simhash_hamming_distance"

extern Datum simhash_hamming_distance(PG_FUNCTION_ARGS);

static Oid
find_type(const char *name, Oid schema)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
						   CStringGetDatum(name), ObjectIdGetDatum(schema));
}

static Oid
find_function(const char *name, const Oid *types, int ntypes, Oid schema)
{
	oidvector  *arguments = buildoidvector(types, ntypes);
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum(name),
										   PointerGetDatum(arguments),
										   ObjectIdGetDatum(schema));

	pfree(arguments);
	return function;
}

/*
 * Find the objects that stand in the same schema as a function of the
 * extension.  Returns false if one is missing.
 */
bool
objects_find(Oid function, SimHashObjects *objects)
{
	Oid			schema = get_func_namespace(function);

	if (!OidIsValid(schema))
		return false;
	objects->type = find_type("simhash", schema);
	objects->ball_type = find_type("simhash_ball", schema);
	if (!OidIsValid(objects->type) || !OidIsValid(objects->ball_type))
		return false;
	objects->within = find_function("simhash_within",
									(Oid[]) {objects->type, objects->type, INT8OID},
									3, schema);
	objects->ball = find_function("simhash_ball",
								  (Oid[]) {objects->type, INT8OID}, 2, schema);
	objects->radius_float8 = find_function("simhash_radius", (Oid[]) {FLOAT8OID}, 1, schema);
	objects->radius_numeric = find_function("simhash_radius", (Oid[]) {NUMERICOID}, 1, schema);
	objects->in_ball = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
									   CStringGetDatum("<@"),
									   ObjectIdGetDatum(objects->type),
									   ObjectIdGetDatum(objects->ball_type),
									   ObjectIdGetDatum(schema));
	return OidIsValid(objects->within) && OidIsValid(objects->ball) &&
		OidIsValid(objects->radius_float8) && OidIsValid(objects->radius_numeric) &&
		OidIsValid(objects->in_ball);
}

/*
 * Whether a function computes distances.  Its C symbol says so, and as any
 * library may have one of that name, its address has the last word.
 */
bool
objects_is_distance(Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		candidate;
	FmgrInfo	info;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	candidate = form->prolang == ClanguageId && form->pronargs == 2 &&
		form->prorettype == INT4OID;
	if (candidate)
	{
		bool		isnull;
		Datum		symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc,
											 &isnull);
		char	   *name = isnull ? NULL : TextDatumGetCString(symbol);

		candidate = name && strcmp(name, DISTANCE_SYMBOL) == 0;
	}
	ReleaseSysCache(tuple);
	if (!candidate)
		return false;
	fmgr_info(function, &info);
	return info.fn_addr == simhash_hamming_distance;
}

static bool
is_forbidden(Oid function, void *context)
{
	return !user_may_execute(function, GetUserId());
}

static bool
contains_forbidden(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, is_forbidden, context))
		return true;
	return expression_tree_walker(node, contains_forbidden, context);
}

/*
 * Whether the user may execute all functions of an expression.  The executor
 * asks that of what stands in the plan: so for what leaves it, or comes into
 * it, the planner has to.
 */
bool
objects_executable(Node *expression)
{
	return !contains_forbidden(expression, NULL);
}

/*
 * Whether the user may execute what an index condition is made of.
 */
bool
objects_searchable(const SimHashObjects *objects)
{
	return !is_forbidden(objects->ball, NULL) &&
		!is_forbidden(get_opcode(objects->in_ball), NULL);
}
