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
#include "type/hash_array.h"
#include "type/minhash.h"
#include "type/simhash.h"

/* --- the distances ------------------------------------------------------------ */

extern Datum simhash_hamming_distance(PG_FUNCTION_ARGS);

static bool
open_fingerprint_ball(Datum ball, Datum *center, Datum *radius)
{
	const SimHashBall *value = DatumGetSimHashBallP(ball);

	*center = SimHashGetDatum(value->center);
	*radius = Int64GetDatum(value->radius);
	return true;
}

static bool
open_signature_ball(Datum ball, Datum *center, Datum *radius)
{
	const MinhashBall *value = minhash_ball_detoast(ball);

	*center = PointerGetDatum(minhash_ball_center(value));
	*radius = Float8GetDatum(value->radius);
	return true;
}

static bool
open_containment_ball(Datum ball, Datum *passage, Datum *radius)
{
	float8		number;

	if (!containment_ball_open(ball, passage, &number))
		return false;
	*radius = Float8GetDatum(number);
	return true;
}

const DistanceKind hamming_kind = {
	.symbol = "simhash_hamming_distance",
	.function = simhash_hamming_distance,
	.result = INT4OID,
	.type = "simhash",
	.ball = "simhash_ball",
	.in_ball = "<@",
	.within = "simhash_within",
	.radius = INT8OID,
	.open_ball = open_fingerprint_ball
};

const DistanceKind jaccard_kind = {
	.symbol = "simhash_minhash_distance",
	.function = simhash_minhash_distance,
	.result = FLOAT8OID,
	.type = "minhash",
	.ball = "minhash_ball",
	.in_ball = "<@",
	.within = "minhash_within",
	.radius = FLOAT8OID,
	.open_ball = open_signature_ball
};

const DistanceKind containment_kind = {
	.symbol = "simhash_containment_distance",
	.function = simhash_containment_distance,
	.commuted_symbol = "simhash_containment_distance_of",
	.commuted = simhash_containment_distance_of,
	.result = FLOAT8OID,
	.ball = "containment_ball",
	.in_ball = "<%@",
	.within = "containment_within",
	.radius = FLOAT8OID,
	.open_ball = open_containment_ball
};

static const DistanceKind *const kinds[] = {&hamming_kind, &jaccard_kind, &containment_kind};

/* --- finding objects ---------------------------------------------------------- */

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
 * Find the functions that make a radius of a bound.
 */
static bool
find_radius_functions(Oid schema, SimHashObjects *objects)
{
	/* that of signatures is the bound itself */
	if (objects->kind != &hamming_kind)
		return true;
	objects->radius_float8 = find_function("simhash_radius", (Oid[]) {FLOAT8OID}, 1, schema);
	objects->radius_numeric = find_function("simhash_radius", (Oid[]) {NUMERICOID}, 1, schema);
	return OidIsValid(objects->radius_float8) && OidIsValid(objects->radius_numeric);
}

/*
 * Find the objects of a distance that stand in the same schema as a function of the
 * extension.  Returns false if one is missing.
 */
bool
objects_find(Oid function, const DistanceKind *kind, SimHashObjects *objects)
{
	Oid			schema = get_func_namespace(function);

	if (!OidIsValid(schema))
		return false;
	objects->kind = kind;
	objects->type = kind->type ? find_type(kind->type, schema) : INT8ARRAYOID;
	objects->ball_type = find_type(kind->ball, schema);
	if (!OidIsValid(objects->type) || !OidIsValid(objects->ball_type))
		return false;
	objects->within = find_function(kind->within,
									(Oid[]) {objects->type, objects->type, kind->radius},
									3, schema);
	objects->ball = find_function(kind->ball, (Oid[]) {objects->type, kind->radius},
								  2, schema);
	objects->in_ball = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
									   CStringGetDatum(kind->in_ball),
									   ObjectIdGetDatum(objects->type),
									   ObjectIdGetDatum(objects->ball_type),
									   ObjectIdGetDatum(schema));
	return OidIsValid(objects->within) && OidIsValid(objects->ball) &&
		OidIsValid(objects->in_ball) && find_radius_functions(schema, objects);
}

/*
 * The distance that a function may compute, by what the catalog says: by its C symbol.
 */
static const DistanceKind *
distance_by_symbol(HeapTuple tuple, bool *commuted)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	bool		isnull;
	Datum		symbol;
	const char *name;

	if (form->prolang != ClanguageId || form->pronargs != 2 ||
		(form->prorettype != INT4OID && form->prorettype != FLOAT8OID))
		return NULL;
	symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	if (isnull)
		return NULL;
	name = TextDatumGetCString(symbol);
	for (int i = 0; i < lengthof(kinds); i++)
	{
		*commuted = kinds[i]->commuted && strcmp(name, kinds[i]->commuted_symbol) == 0;
		if (form->prorettype == kinds[i]->result &&
			(*commuted || strcmp(name, kinds[i]->symbol) == 0))
			return kinds[i];
	}
	return NULL;
}

/*
 * The distance that a function computes; NULL if it computes none.  *commuted tells whether
 * it takes its arguments the other way round.  As any library may have a function of that
 * symbol, its address has the last word.
 */
const DistanceKind *
objects_distance(Oid function, bool *commuted)
{
	HeapTuple	tuple;
	const DistanceKind *kind;
	FmgrInfo	info;

	if (function < FirstNormalObjectId)
		return NULL;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	kind = distance_by_symbol(tuple, commuted);
	ReleaseSysCache(tuple);
	if (kind == NULL)
		return NULL;
	fmgr_info(function, &info);
	return info.fn_addr == (*commuted ? kind->commuted : kind->function) ? kind : NULL;
}

/* --- what the user may execute ---------------------------------------------- */

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
