/*-------------------------------------------------------------------------
 *
 * kind.c
 *		Which kind of values an index has
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "function_address.h"
#include "index/kind.h"
#include "index/make.h"
#include "index/tree/meta.h"
#include "index/tree/page.h"

/* The functions that name a kind. */
static const PGFunction kind_functions[] = {
	simhash_kind, simhash_ball_kind, simhash_sketch_kind, simhash_minhash_kind
};

static bool
names_kind(PGFunction address)
{
	for (int i = 0; i < lengthof(kind_functions); i++)
		if (address == kind_functions[i])
			return true;
	return false;
}

/*
 * Return the kind that a support function names; NULL if it names none.  No other function
 * is called, for it could return anything.
 */
static const IndexKind *
kind_of_function(FmgrInfo *function)
{
	/* the address in FmgrInfo may be a wrapper's */
	if (!names_kind(function->fn_addr) && !names_kind(function_address(function->fn_oid)))
		return NULL;
	return (const IndexKind *) DatumGetPointer(FunctionCall1(function, (Datum) 0));
}

static bool
is_of_type(const IndexKind *kind, Oid type, int length)
{
	return kind->length == length && (!OidIsValid(kind->type) || kind->type == type);
}

/*
 * The kind that an operator class names, by its family and the type; NULL if it names
 * none, or one of other values.
 */
const IndexKind *
kind_of_class(Oid family, Oid type)
{
	Oid			oid = get_opfamily_proc(family, type, type, KIND_PROC);
	const IndexKind *kind;
	FmgrInfo	function;

	if (!OidIsValid(oid))
		return NULL;
	fmgr_info(oid, &function);
	kind = kind_of_function(&function);
	return kind && is_of_type(kind, type, get_typlen(type)) ? kind : NULL;
}

/*
 * The kind that the operator class of an index names.  A superuser may have made a class
 * that names the kind of another type.
 */
const IndexKind *
kind_of_index(Relation index)
{
	const IndexKind *kind = kind_of_function(index_getprocinfo(index, 1, KIND_PROC));

	if (kind == NULL ||
		!is_of_type(kind, index->rd_opcintype[0],
					TupleDescAttr(RelationGetDescr(index), 0)->attlen))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("the operator class of index \"%s\" names no kind of such values",
						RelationGetRelationName(index)),
				 errhint("amvalidate tells what is wrong with an operator class.")));
	return kind;
}

/*
 * The same, of an index that has been built: whose trees are those of the kind.
 */
const IndexKind *
kind_of_trees(Relation index)
{
	const IndexKind *kind = kind_of_index(index);

	if (kind->several != design_is_whole(&meta_get(index)->design.options))
		page_report_corruption(index, META_BLOCK, "its design is that of other values");
	make_check_stored(index, kind);
	return kind;
}
