/*
 * The C function that an SQL function calls
 *
 * ALTER FUNCTION can change a function's name and schema, so functions are recognized by
 * their C functions.  FmgrInfo.fn_addr does not suffice.  It is the address of a wrapper
 * if the function has a SET clause, if it is SECURITY DEFINER, or if a module hooks
 * function calls.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "function_address.h"

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
char *
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
