/*-------------------------------------------------------------------------
 *
 * companion.c
 *		The companion clause: the comparison beside a call of simhash_within
 *
 * The rewrite keeps a comparison if simhash_within is not equivalent to it, or if the
 * planner needs the comparison unchanged.  It adds simhash_within beside the
 * comparison.  The two clauses are nearly equivalent, so their estimates must not be
 * multiplied as if they were independent.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/companion.h"
#include "planner/rewrite/bound.h"

/* A call to search for, of simhash_within or containment_within. */
typedef struct WithinCall
{
	const Predicate *predicate; /* its arguments */
	Oid			within;			/* OID of the function */
} WithinCall;

/*
 * The OR arm in which the last call was found.  The planner estimates one arm after the
 * other.  So the next call is in the same arm or in the next one.  Each search begins
 * there, so a long OR is not searched from its beginning for each of its arms.
 */
static int	last_or_arm = 0;

static bool find_in_clauses(List *clauses, const WithinCall *call, Companion *companion);

/*
 * Return true if a predicate has the arguments a and b.  If its distance is symmetric,
 * they may be exchanged.
 */
static bool
is_same_pair(const Predicate *predicate, Node *a, Node *b)
{
	return (equal(predicate->a, a) && equal(predicate->b, b)) ||
		(predicate->distance->symmetric &&
		 equal(predicate->a, b) && equal(predicate->b, a));
}

/*
 * Return true if a node is the call that is searched for.
 */
static bool
is_call(Node *node, const WithinCall *call)
{
	FuncExpr   *func = (FuncExpr *) node;

	return IsA(node, FuncExpr) && func->funcid == call->within &&
		equal(lthird(func->args), call->predicate->radius) &&
		is_same_pair(call->predicate, linitial(func->args), lsecond(func->args));
}

/*
 * Return true if a clause compares the same distance with the same bound.  Reads it into
 * *comparison.
 */
static bool
is_comparison(Node *node, const WithinCall *call, Comparison *comparison)
{
	bool		exact;

	return read_comparison(node, comparison) &&
		is_same_pair(call->predicate, comparison->a, comparison->b) &&
		equal(bound_radius(comparison, &exact), call->predicate->radius);
}

/*
 * Return the clause of a list element.  The element is a RestrictInfo if the planner has
 * distributed the clauses to relations already.
 */
static Node *
clause_of(ListCell *lc)
{
	Node	   *node = lfirst(lc);

	return IsA(node, RestrictInfo) ? (Node *) ((RestrictInfo *) node)->clause : node;
}

/*
 * Search the arms of an OR for the call, beginning at the arm of the last call.  Returns
 * true if the call was found.
 */
static bool
find_in_or_arms(List *arms, const WithinCall *call, Companion *companion)
{
	int			narms = list_length(arms);

	for (int i = 0; i < narms; i++)
	{
		int			n = (last_or_arm + i) % narms;
		Node	   *arm = list_nth(arms, n);

		/* an arm without AND has no companion clause */
		if (is_andclause(arm) ? find_in_clauses(((BoolExpr *) arm)->args, call, companion) :
			is_call(arm, call))
		{
			last_or_arm = n;
			return true;
		}
	}
	return false;
}

/*
 * Search an implicitly ANDed list of clauses for the call, and the ORs below it.  Then
 * search the list that contains the call for the companion clause.  Other lists are not
 * searched for comparisons.  Returns true if the call was found.
 */
static bool
find_in_clauses(List *clauses, const WithinCall *call, Companion *companion)
{
	bool		found = false;
	ListCell   *lc;

	companion->clause = NULL;
	foreach(lc, clauses)
	{
		Node	   *node = clause_of(lc);

		if (is_call(node, call))
			found = true;
		else if (is_orclause(node) &&
				 find_in_or_arms(((BoolExpr *) node)->args, call, companion))
			return true;
	}
	if (!found)
		return false;
	foreach(lc, clauses)
	{
		Node	   *node = clause_of(lc);

		if (is_comparison(node, call, &companion->comparison))
		{
			companion->clause = (OpExpr *) node;
			break;
		}
	}
	return true;
}

/*
 * Forget the OR arm of the last call, so that plans do not depend on earlier queries.
 */
void
companion_init(void)
{
	last_or_arm = 0;
}

/*
 * Find the companion clause of a predicate, among the clauses of its tables.  Sets
 * companion->clause to NULL if there is none.
 */
void
companion_find(PlannerInfo *root, const Predicate *predicate, Companion *companion)
{
	SimHashObjects objects;
	WithinCall	call = {.predicate = predicate};
	Relids		relids;
	int			relid = -1;

	companion->clause = NULL;
	if (predicate->distance == NULL || predicate->b == NULL ||
		!objects_find(predicate->distance, &objects) ||
		objects.within != predicate->function)
		return;
	call.within = objects.within;
	relids = bms_union(pull_varnos(root, predicate->a), pull_varnos(root, predicate->b));
	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		RelOptInfo *rel = relid < root->simple_rel_array_size ?
			root->simple_rel_array[relid] : NULL;

		if (rel && (find_in_clauses(rel->baserestrictinfo, &call, companion) ||
					find_in_clauses(rel->joininfo, &call, companion)))
			break;
	}
	bms_free(relids);
}

/*
 * Return true if the distance itself has statistics that the comparison may see.
 * ANALYZE collects them for an expression of an index or of extended statistics.
 */
bool
companion_has_statistics(PlannerInfo *root, const Companion *companion, int varRelid)
{
	OpExpr	   *op = companion->clause;
	Node	   *distance = linitial(op->args);
	VariableStatData data;
	bool		result;

	if (distance == companion->comparison.bound)
		distance = lsecond(op->args);
	examine_variable(root, distance, varRelid, &data);
	result = HeapTupleIsValid(data.statsTuple) &&
		statistic_proc_security_check(&data, get_opcode(op->opno));
	ReleaseVariableStats(data);
	return result;
}
