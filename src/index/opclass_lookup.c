/*-------------------------------------------------------------------------
 *
 * opclass_lookup.c
 *		Lookup of the operator class of an index
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "function_address.h"
#include "index/opclass_lookup.h"
#include "index/params.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"

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

/*
 * Return the Opclass of an index that has been built.  Raises an error if the metapage
 * has a design or parameters that an index of this Opclass cannot have.
 */
const Opclass *
opclass_of_trees(Relation index)
{
	const Opclass *opclass = opclass_of_index(index);

	if ((opclass->multi_key != NULL) != design_is_whole(&meta_get(index)->design.options))
		page_report_corruption(index, META_BLOCK, "its design is that of other values");
	params_check_stored(index, opclass);
	return opclass;
}
