/*
 * The operator class of an index, and the parameters of its column, from the catalog
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "index/opclass.h"
#include "planner/planner.h"
#include "type/minhash_type.h"

/* --- parameters --------------------------------------------------------------- */

/*
 * Raise an error for an index whose column or expression has no valid parameters.  The
 * hint shows how to write parameters.
 */
pg_noreturn static void
report_missing(Relation index)
{
	char	   *type = format_type_with_typemod(index->rd_opcintype[0],
												MINHASH_TYPMOD(MINHASH_DEFAULT_BANDS,
															   MINHASH_DEFAULT_ROWS,
															   MINHASH_OF_WORDS,
															   MINHASH_DEFAULT_WORDS));

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("index \"%s\" cannot be built without the parameters of its values",
					RelationGetRelationName(index)),
			 errhint("Write them as a type modifier.  For example, give the column the type %s, or index ((%s::%s)).  To change the column to a type without them, drop the index first.",
					 type, pg_get_indexdef_columns(RelationGetRelid(index), false), type)));
}

/*
 * Return the type modifier of the indexed column or expression, or that of the base type if
 * its type is a domain.  Returns NO_PARAMS if the values of the Opclass have no parameters.
 * Does not check the parameters.
 */
int32
params_of_catalog(Relation index, const Opclass *opclass)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);
	int32		params = column->atttypmod;

	if (!opclass->has_params)
		return NO_PARAMS;
	(void) getBaseTypeAndTypmod(column->atttypid, &params);
	return params;
}

/*
 * Return the parameters of the indexed column or expression.  Returns NO_PARAMS if the
 * values of the Opclass have no parameters.  Raises an error if they are missing or invalid.
 */
int32
params_of_column(Relation index, const Opclass *opclass)
{
	int32		params = params_of_catalog(index, opclass);

	if (opclass->has_params && !params_are_valid(params))
		report_missing(index);
	return params;
}

/*
 * Return true if a value can have these parameters.
 */
bool
params_are_valid(int32 params)
{
	return minhash_params_are_valid(minhash_params_of_typmod(params));
}

/*
 * Raise the error for a value whose parameters, `found`, differ from the parameters of
 * the index, `params`.
 */
void
params_report_other(Relation index, int32 params, int32 found)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("index \"%s\" contains signatures with parameters %s, but the value has %s",
					RelationGetRelationName(index),
					minhash_params_name(minhash_params_of_typmod(params)),
					minhash_params_name(minhash_params_of_typmod(found))),
			 errhint("Make the value with the parameters of the index, or create an index of other signatures.")));
}

/* --- operator class ----------------------------------------------------------- */

/* Support functions of this extension.  Each returns an Opclass. */
static const PGFunction support_functions[] = {
	simhash_opclass, simhash_ball_opclass, simhash_sketch_opclass, simhash_sketch_ball_opclass,
	simhash_minhash_opclass
};

/*
 * Return true if a function is one of support_functions.
 */
static bool
is_support_function(PGFunction address)
{
	for (int i = 0; i < lengthof(support_functions); i++)
		if (address == support_functions[i])
			return true;
	return false;
}

/*
 * Return the Opclass that a support function returns.  Returns NULL if the function is
 * not one of this extension.  Such a function is not called, because it could return
 * anything.
 */
static const Opclass *
call_support_function(FmgrInfo *function)
{
	/* fn_addr may be the address of a wrapper, such as fmgr_security_definer */
	if (!is_support_function(function->fn_addr) &&
		!is_support_function(function_address(function->fn_oid)))
		return NULL;
	return (const Opclass *) DatumGetPointer(FunctionCall1(function, (Datum) 0));
}

/*
 * Return true if values of a type can be read as those of an Opclass.  `length` is the
 * typlen of the type in pg_type.
 */
static bool
takes_type(const Opclass *opclass, Oid type, int length)
{
	return opclass->length == length &&
		(!OidIsValid(opclass->type) || opclass->type == type ||
		 (opclass->type == RECORDOID && type_is_rowtype(type)));
}

/*
 * Return the Opclass of an operator family and a type.  Returns NULL if the family has no
 * support function of this extension, or if the support function is for another type.
 */
const Opclass *
opclass_of_family(Oid family, Oid type)
{
	Oid			oid = get_opfamily_proc(family, type, type, OPCLASS_PROC);
	const Opclass *opclass;
	FmgrInfo	function;

	if (!OidIsValid(oid))
		return NULL;
	fmgr_info(oid, &function);
	opclass = call_support_function(&function);
	return opclass && takes_type(opclass, type, get_typlen(type)) ? opclass : NULL;
}

/*
 * Return the Opclass of an index.  Raises an error if its support function is not one of
 * this extension, or is for another type.  A superuser may have created an operator class
 * with such a function.
 */
const Opclass *
opclass_of_index(Relation index)
{
	const Opclass *opclass =
		call_support_function(index_getprocinfo(index, 1, OPCLASS_PROC));

	if (opclass == NULL ||
		!takes_type(opclass, index->rd_opcintype[0],
					TupleDescAttr(RelationGetDescr(index), 0)->attlen))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("the operator class of index \"%s\" has no support function for its type",
						RelationGetRelationName(index)),
				 errhint("amvalidate tells what is wrong with an operator class.")));
	return opclass;
}
