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
#include "utils/rel.h"

#include "index/kind.h"

/* The functions that name a kind. */
static const PGFunction kind_functions[] = {simhash_kind, simhash_ball_kind};

/*
 * The kind that a support function names; NULL if it names none.  No other function is
 * called, for it could return anything.
 */
const IndexKind *
kind_of_function(FmgrInfo *function)
{
	for (int i = 0; i < lengthof(kind_functions); i++)
	{
		if (function->fn_addr == kind_functions[i])
			return (const IndexKind *)
				DatumGetPointer(FunctionCall1(function, (Datum) 0));
	}
	return NULL;
}

/*
 * The kind that the operator class of an index names.  A superuser may have made a class
 * that names the kind of another type.
 */
const IndexKind *
kind_of_index(Relation index)
{
	const IndexKind *kind = kind_of_function(index_getprocinfo(index, 1, KIND_PROC));

	if (kind == NULL || kind->length != TupleDescAttr(RelationGetDescr(index), 0)->attlen)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("the operator class of index \"%s\" names no kind of such values",
						RelationGetRelationName(index)),
				 errhint("amvalidate tells what is wrong with an operator class.")));
	return kind;
}
