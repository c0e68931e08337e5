/*
 * Find the extension's own functions, types and operators
 *
 * A superuser can rename these objects, or give their names to other objects.  So a
 * function is recognized by the C function that it calls, among the members of the
 * extension.  Types are the argument and result types of these functions.  Operators are
 * looked up in the operator family of an index.
 *
 * Reading all members takes almost a millisecond.  So the result is cached until a
 * function changes.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/planner.h"
#include "type/hash_array.h"
#include "type/minhash_type.h"
#include "type/simhash_type.h"
#include "type/strategy.h"

/* --- the distances ------------------------------------------------------------ */

const Distance distance_hamming = {
	.symmetric = true,
	.radius_type = INT8OID,
	.within_strategy = STRATEGY_WITHIN
};

const Distance distance_containment = {
	.of_arrays = true,
	.symmetric = false,
	.radius_type = FLOAT8OID,
	.within_strategy = STRATEGY_WITHIN
};

const Distance distance_jaccard = {
	.of_arrays = true,
	.symmetric = true,
	.radius_type = FLOAT8OID,
	.within_strategy = STRATEGY_RESEMBLES
};

/*
 * Read the center and the radius of a ball.  Returns false if either is NULL.
 */
bool
distance_open_ball(const Distance *distance, Datum ball, Datum *center, Datum *radius)
{
	float8		fraction;

	if (!distance->of_arrays)
	{
		*center = SimHashGetDatum(DatumGetSimHashBallP(ball)->center);
		*radius = Int64GetDatum(DatumGetSimHashBallP(ball)->radius);
		return true;
	}
	if (!sketch_ball_open(ball, center, &fraction))
		return false;
	*radius = Float8GetDatum(fraction);
	return true;
}

/* --- the C function that an SQL function calls ------------------------------- */

/*
 * ALTER FUNCTION can change a function's name and schema, so functions are recognized by their C
 * functions.  FmgrInfo.fn_addr does not suffice.  It is the address of a wrapper if the function
 * has a SET clause, if it is SECURITY DEFINER, or if a module hooks function calls.
 */

static char *
text_attribute(HeapTuple tuple, AttrNumber attribute)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(PROCOID, tuple, attribute, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

/*
 * Return the name of the C function that an SQL function calls.  `tuple` is the SQL
 * function's pg_proc tuple.  Returns NULL if the SQL function's language is not C.
 */
static char *
function_symbol(HeapTuple tuple)
{
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang != ClanguageId)
		return NULL;
	return text_attribute(tuple, Anum_pg_proc_prosrc);
}

/*
 * Return the address of the C function that an SQL function calls.  If the SQL function's
 * language is not C, return the address that fmgr calls.  Raises an error if the SQL
 * function does not exist, or if its library cannot be loaded.
 */
PGFunction
function_address(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	FmgrInfo	info;
	char	   *symbol;
	char	   *library;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	symbol = function_symbol(tuple);
	library = text_attribute(tuple, Anum_pg_proc_probin);
	ReleaseSysCache(tuple);
	if (symbol && library)
		return (PGFunction) load_external_function(library, symbol, true, NULL);
	fmgr_info(function, &info);
	return info.fn_addr;
}

/* --- finding objects ---------------------------------------------------------- */

static SimHashObjects hamming_objects = {.distance = &distance_hamming};
static SimHashObjects containment_objects = {.distance = &distance_containment};
static SimHashObjects jaccard_objects = {.distance = &distance_jaccard};
static SimHashObjects band_objects = {.distance = NULL};

static SimHashObjects *const all_objects[] = {
	&hamming_objects, &jaccard_objects, &containment_objects, &band_objects
};

/* An SQL function of the extension that the planner needs */
typedef struct Member
{
	const char *symbol;			/* name of the C function */
	PGFunction	address;		/* address of the C function */
	SimHashObjects *objects;	/* objects of the distance that the function belongs to */
	Oid		   *function;		/* the field of `objects` that stores its OID */
} Member;

/* C function, objects, and field of each member */
#define MEMBERS(MEMBER) \
	MEMBER(simhash_hamming_distance, hamming_objects, distance_function) \
	MEMBER(simhash_within, hamming_objects, within) \
	MEMBER(simhash_between, hamming_objects, between) \
	MEMBER(simhash_beside, hamming_objects, beside) \
	MEMBER(simhash_beside, containment_objects, beside) \
	MEMBER(simhash_beside, jaccard_objects, beside) \
	MEMBER(simhash_ball, hamming_objects, ball) \
	MEMBER(simhash_in_ball, hamming_objects, in_ball) \
	MEMBER(simhash_radius_float8, hamming_objects, radius_float8) \
	MEMBER(simhash_radius_numeric, hamming_objects, radius_numeric) \
	MEMBER(simhash_radius_below_float8, hamming_objects, below_float8) \
	MEMBER(simhash_radius_below_numeric, hamming_objects, below_numeric) \
	MEMBER(simhash_containment_distance, containment_objects, distance_function) \
	MEMBER(simhash_containment_within, containment_objects, within) \
	MEMBER(simhash_containment_between, containment_objects, between) \
	MEMBER(simhash_sketch_radius_below, containment_objects, fraction_below) \
	MEMBER(simhash_sketch_ball, containment_objects, ball) \
	MEMBER(simhash_containment_in_ball, containment_objects, in_ball) \
	MEMBER(simhash_array_distance, jaccard_objects, distance_function) \
	MEMBER(simhash_jaccard_within, jaccard_objects, within) \
	MEMBER(simhash_jaccard_between, jaccard_objects, between) \
	MEMBER(simhash_sketch_radius_below, jaccard_objects, fraction_below) \
	MEMBER(simhash_sketch_ball, jaccard_objects, ball) \
	MEMBER(simhash_jaccard_in_ball, jaccard_objects, in_ball) \
	MEMBER(simhash_sketch_overlaps, containment_objects, overlaps) \
	MEMBER(simhash_sketch_contained, containment_objects, contained) \
	MEMBER(simhash_minhash_shares_band, band_objects, within) \
	MEMBER(simhash_minhash_distance, band_objects, distance_function)

#define DECLARATION(symbol, objects, field)	extern Datum symbol(PG_FUNCTION_ARGS);
#define INITIALIZER(symbol, objects, field) \
	{#symbol, symbol, &(objects), &(objects).field},

MEMBERS(DECLARATION)

static const Member members[] = {MEMBERS(INITIALIZER)};

/*
 * members_changes counts changes of functions.  members_read is the value that members_changes had
 * when the members were last read.  If the two are equal, the cache is valid.
 */
static uint64 members_changes = 1;
static uint64 members_read = 0;

/*
 * If the planner needs a function of the extension, store its OID.
 */
static void
record_function(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	char	   *symbol;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	symbol = function_symbol(tuple);
	for (int i = 0; i < lengthof(members) && symbol; i++)
	{
		const Member *member = &members[i];
		SimHashObjects *objects = member->objects;

		if (OidIsValid(*member->function) || strcmp(symbol, member->symbol) != 0 ||
			function_address(function) != member->address)
			continue;
		*member->function = function;
		if (member->function == &objects->distance_function)
			objects->type = form->proargtypes.values[0];
		else if (member->function == &objects->ball)
			objects->ball_type = form->prorettype;
	}
	ReleaseSysCache(tuple);
}

/*
 * Find the functions that the planner needs, among all functions that are members of the
 * extension.
 */
static void
read_members(Oid extension)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == ProcedureRelationId && form->deptype == DEPENDENCY_EXTENSION)
			record_function(form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
}

/*
 * Find the members, unless the cache is valid.  Searches for the extension by name, since
 * an extension cannot be renamed.
 */
static void
find_members(void)
{
	uint64		changes = members_changes;
	Oid			extension;

	if (members_read == changes)
		return;
	for (int i = 0; i < lengthof(all_objects); i++)
		*all_objects[i] = (SimHashObjects) {.distance = all_objects[i]->distance};
	extension = get_extension_oid("simhash", true);
	if (OidIsValid(extension))
		read_members(extension);
	for (int i = 0; i < lengthof(members); i++)
		members[i].objects->incomplete |= !OidIsValid(*members[i].function);

	/* changes that occurred while this function ran invalidate the cache again */
	members_read = changes;
}

/*
 * Invalidate the cache.  An invalidation callback, which core calls when a function changes.
 */
static void
forget_objects(Datum argument, syscache_id cache, uint32 hash)
{
	members_changes++;
}

/*
 * Register the invalidation callback.  Called once, when the library is loaded.
 */
void
objects_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_objects, (Datum) 0);
}

/*
 * Set *objects to the objects of a distance.  Returns false if a function of the distance
 * is missing.
 */
bool
objects_find(const Distance *distance, SimHashObjects *objects)
{
	find_members();
	for (int i = 0; i < lengthof(all_objects); i++)
		if (all_objects[i]->distance == distance)
			*objects = *all_objects[i];
	return !objects->incomplete;
}

/*
 * Set *objects to the objects of the distance that a function bounds: `within` or `between`
 * of that distance.  Returns false for any other function.
 */
bool
objects_find_condition(Oid function, SimHashObjects *objects)
{
	if (function < FirstNormalObjectId)
		return false;
	for (int i = 0; i < lengthof(all_objects); i++)
		if (all_objects[i] != &band_objects && objects_find(all_objects[i]->distance, objects) &&
			(function == objects->within || function == objects->between))
			return true;
	return false;
}

/*
 * Return the OID of simhash_beside(), or InvalidOid.
 */
Oid
objects_beside(void)
{
	find_members();
	return hamming_objects.beside;
}

/*
 * Return the distance that a function computes, or NULL if it computes none.
 */
const Distance *
objects_distance(Oid function)
{
	if (function < FirstNormalObjectId)
		return NULL;
	find_members();
	for (int i = 0; i < lengthof(all_objects); i++)
		if (function == all_objects[i]->distance_function)
			return all_objects[i]->distance;
	return NULL;
}

/*
 * Return the distance whose balls have a type, or NULL if there is none.  If the balls of
 * several distances have this type, return the one whose operator calls `function`, else
 * the first: =~= of sketch balls compares by Jaccard distance.
 */
const Distance *
objects_distance_of_ball(Oid type, Oid function)
{
	const Distance *distance = NULL;

	if (type < FirstNormalObjectId)
		return NULL;
	find_members();
	for (int i = 0; i < lengthof(all_objects); i++)
		if (type == all_objects[i]->ball_type &&
			(distance == NULL || function == all_objects[i]->in_ball))
			distance = all_objects[i]->distance;
	return distance;
}

/*
 * Return the objects of signatures.  `within` is shares_band(), which is also the function of %,
 * and `distance_function` is jaccard_distance() of signatures, which is also that of <%>.
 */
const SimHashObjects *
objects_of_signatures(void)
{
	find_members();
	return &band_objects;
}

/*
 * Return the operator in an operator family that searches within a ball, or InvalidOid if
 * the family has no such operator.
 */
Oid
objects_search_operator(const SimHashObjects *objects, Oid opfamily)
{
	Oid			operator = get_opfamily_member(opfamily, objects->type, objects->ball_type,
											   objects->distance->within_strategy);

	return OidIsValid(operator) && get_opcode(operator) == objects->in_ball ?
		operator : InvalidOid;
}
