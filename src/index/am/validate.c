/*
 * Validation of an operator class
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "compat.h"
#include "index/access_method.h"
#include "index/opclass.h"
#include "planner/planner.h"

/*
 * Report a fault of an operator family at level INFO, and return false.
 */
static bool
complain(const char *opfamily, const char *what, const char *object)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator family \"%s\" of access method simhash contains %s %s",
					opfamily, what, object)));
	return false;
}

/*
 * Check an operator: its strategy, its sort family, its left type and its function.  The
 * function must be the one that the Opclass has for the strategy, because scans interpret
 * the operator's argument themselves.  Reports each fault.  Returns true if there is
 * none.
 */
static bool
validate_operator(const char *opfamily, const Opclass *opclass,
				  Form_pg_amop operator, Oid type)
{
	const char *name = format_operator(operator->amopopr);
	int			strategy = operator->amopstrategy;
	PGFunction	expected = strategy <= NSTRATEGIES ? opclass->operators[strategy] : NULL;
	Oid			sort_family = strategy == STRATEGY_DISTANCE ? INTEGER_BTREE_FAM_OID :
		strategy == STRATEGY_CONTAINMENT || strategy == STRATEGY_JACCARD ? FLOAT_BTREE_FAMILY :
		InvalidOid;
	bool		ok = true;

	if (expected == NULL)
		ok = complain(opfamily, "operator with invalid strategy number:", name);
	if (operator->amopsortfamily != sort_family)
		ok = complain(opfamily, "invalid ORDER BY specification for operator", name);

	/* operators on arrays are declared for type anyarray */
	if ((operator->amoplefttype != type && operator->amoplefttype != ANYARRAYOID) ||
		(expected && function_address(get_opcode(operator->amopopr)) != expected))
		ok = complain(opfamily, "wrong operator for its strategy number:", name);
	return ok;
}

/*
 * Return true if an operator class has all operators of its Opclass, and no other
 * operators.  Reports each fault.
 */
static bool
validate_operators(const char *opfamily, const Opclass *opclass, CatCList *operators,
				   Oid type)
{
	uint32		seen = 0;
	bool		ok = true;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop operator = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		ok &= validate_operator(opfamily, opclass, operator, type);
		if (operator->amopstrategy <= NSTRATEGIES)
			seen |= 1 << operator->amopstrategy;
	}
	for (int strategy = 1; strategy <= NSTRATEGIES; strategy++)
		if (opclass->operators[strategy] && !(seen & (1 << strategy)))
			ok = complain(opfamily, "no operator for strategy", psprintf("%d", strategy));
	return ok;
}

/*
 * amvalidate: return true if an operator class is valid.  Reports each fault.
 */
bool
simhash_validate(Oid opclass_oid)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
	HeapTuple	family_tuple;
	Form_pg_opclass form;
	char	   *opfamily;
	CatCList   *operators;
	Oid			function;
	const Opclass *opclass;
	bool		ok;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	family_tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(form->opcfamily));
	if (!HeapTupleIsValid(family_tuple))
		elog(ERROR, "cache lookup failed for operator family %u", form->opcfamily);
	opfamily = NameStr(((Form_pg_opfamily) GETSTRUCT(family_tuple))->opfname);
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(form->opcfamily));

	function = get_opfamily_proc(form->opcfamily, form->opcintype, form->opcintype, OPCLASS_PROC);
	opclass = opclass_of_family(form->opcfamily, form->opcintype);
	if (!OidIsValid(function))
		ok = complain(opfamily, "no function for support number", psprintf("%d", OPCLASS_PROC));
	else if (opclass == NULL)
		ok = complain(opfamily, "wrong support function for its type:",
					  format_procedure(function));
	else
		ok = validate_operators(opfamily, opclass, operators, form->opcintype);
	if (OidIsValid(form->opckeytype) && form->opckeytype != form->opcintype)
		ok = complain(opfamily, "invalid storage type:", format_type_be(form->opckeytype));

	ReleaseCatCacheList(operators);
	ReleaseSysCache(family_tuple);
	ReleaseSysCache(tuple);
	return ok;
}
