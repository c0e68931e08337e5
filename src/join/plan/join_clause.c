/*
 * Clauses of a similarity join: the distance, equalities and others
 *
 * A clause that bounds a Hamming distance is preferred.  The next best one bounds a Jaccard
 * distance of arrays.  A clause that tests whether two signatures share a band, sig % sig or
 * shares_band(), is used only if there is neither.
 *
 * The planner's part has rewritten comparisons to calls (planner/condition.c).  One of the two
 * values is computed from the left rows, the other one from the right rows.  The radius depends
 * on neither side.
 *
 * The join pairs rows by their values before it evaluates any other clause.  So the clause
 * that bounds the distance must be one that core, too, could evaluate first.  See
 * "Security-level constraints on qual clauses" in src/backend/optimizer/README.
 *
 * Pairs of signatures and of arrays are candidates until their values have been compared.
 * Cheap clauses are evaluated before that, all others after it.
 *
 * The containment distance, a.sk <%>> b.sk <= r, is not served.  Only the rows of b have a
 * prefix.  An array of a may have any number of further elements, so it needs an entry for
 * each element, not for a fifth of them.  The size filter, the index prefix and half of the
 * previous keys fall away.  A nested loop with the index of a serves it.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "join/plan/join_clause.h"

/* --- the distance ---------------------------------------------------------------- */

/*
 * Return true if an expression contains columns of one relation, and of no other.
 */
static bool
is_computed_from(PlannerInfo *root, Node *expression, RelOptInfo *rel)
{
	Relids		relids = pull_varnos(root, expression);

	return !bms_is_empty(relids) && bms_is_subset(relids, rel->relids);
}

/*
 * Find out which of two values is computed from the left side, and which from the right
 * side.  Sets *is_swapped to true if `a` is computed from the right side.  Returns false if
 * the values are not of different sides.
 */
static bool
find_sides(PlannerInfo *root, Node *a, Node *b, RelOptInfo *left, RelOptInfo *right,
		   bool *is_swapped)
{
	*is_swapped = !is_computed_from(root, a, left);
	return is_computed_from(root, a, *is_swapped ? right : left) &&
		is_computed_from(root, b, *is_swapped ? left : right);
}

/*
 * Use a clause, with the condition that it implies, for a method of joining.
 */
static void
use_clause(JoinClauses *clauses, JoinMethod method, RestrictInfo *rinfo,
		   const Condition *condition, bool is_swapped)
{
	clauses->condition = *condition;
	if (is_swapped)
	{
		clauses->condition.a = condition->b;
		clauses->condition.b = condition->a;
	}
	clauses->spec.method = method;
	clauses->distance = rinfo;
	clauses->spec.is_swapped = is_swapped;
	clauses->spec.left_key = (Expr *) clauses->condition.a;
	clauses->spec.right_key = (Expr *) clauses->condition.b;
	clauses->spec.radius = (Expr *) condition->radius;
}

/*
 * If a clause bounds a Hamming distance or a Jaccard distance of arrays from above, use it as
 * the distance of the join, unless the clause used so far is at least as good.  A clause is
 * better if its radius is smaller, or if the radii are equal and only this clause is exact.
 * A clause that all pairs match is not used.  The executor needs EXECUTE on the functions of
 * the radius, which the clause may not contain, so the user must have it.
 */
static void
take_distance(PlannerInfo *root, RestrictInfo *rinfo, Condition bound, bool is_swapped,
			  RelOptInfo *left, RelOptInfo *right, JoinClauses *clauses)
{
	const Distance *used = clauses->distance ? clauses->condition.distance : NULL;
	bool		exact = bound.above == NULL;
	bool		known;
	double		radius;

	if (bound.distance == &distance_containment || !condition_is_bounded(&bound) ||
		bms_overlap(pull_varnos(root, bound.radius), left->relids) ||
		bms_overlap(pull_varnos(root, bound.radius), right->relids) ||
		!privileges_suffice(root, bound.radius))
		return;

	radius = condition_radius(root, bound.distance, bound.radius, &known);
	if (used && (used != bound.distance ? used == &distance_hamming :
				 radius > clauses->radius ||
				 (radius == clauses->radius && (clauses->exact || !exact))))
		return;
	bound.above = NULL;
	use_clause(clauses, bound.distance->of_arrays ? JOIN_BY_PREFIX : JOIN_BY_DISTANCE,
			   rinfo, &bound, is_swapped);
	clauses->exact = exact;
	clauses->radius = radius;
	if (bound.distance->of_arrays)
		clauses->elements = Max(array_count_elements(root, bound.a),
								array_count_elements(root, bound.b));
}

/*
 * Use a clause if it bounds the distance of values of the two sides, or if it tests whether
 * their signatures share a band and no other clause is used so far.  It must not be volatile
 * or contain a subplan, because the plan evaluates parts of the clause apart.
 */
static void
take_clause(PlannerInfo *root, RestrictInfo *rinfo, RelOptInfo *left, RelOptInfo *right,
			JoinClauses *clauses)
{
	Node	   *clause = (Node *) rinfo->clause;
	Condition	condition;
	bool		is_swapped;

	if (!condition_read(clause, &condition) || contain_volatile_functions(clause) ||
		contain_subplans(clause) ||
		!find_sides(root, condition.a, condition.b, left, right, &is_swapped))
		return;
	if (condition.distance)
		take_distance(root, rinfo, condition, is_swapped, left, right, clauses);
	else if (clauses->distance == NULL)
	{
		use_clause(clauses, JOIN_BY_BANDS, rinfo, &condition, is_swapped);
		clauses->exact = true;
	}
}

/* --- equalities ------------------------------------------------------------------ */

/*
 * If a clause is an equality that can be hashed, add it to the equalities.  The operator
 * must be strict, so that rows with a NULL match nothing.
 */
static void
take_equality(RestrictInfo *rinfo, RelOptInfo *left, RelOptInfo *right, JoinClauses *clauses)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Oid			operator = rinfo->hashjoinoperator;
	bool		is_swapped;
	RegProcedure left_hash;
	RegProcedure right_hash;

	if (!rinfo->can_join || !OidIsValid(operator) || contain_subplans((Node *) op))
		return;
	is_swapped = !bms_is_subset(rinfo->left_relids, left->relids);
	if (!bms_is_subset(rinfo->left_relids, is_swapped ? right->relids : left->relids) ||
		!bms_is_subset(rinfo->right_relids, is_swapped ? left->relids : right->relids))
		return;
	if (is_swapped)
		operator = get_commutator(operator);
	if (!OidIsValid(operator) || !op_strict(operator) ||
		!get_op_hash_functions(operator, &left_hash, &right_hash))
		return;
	clauses->equal = lappend(clauses->equal, rinfo);
	clauses->spec.equal = lappend(clauses->spec.equal,
								  make_opclause(operator, BOOLOID, false,
												list_nth(op->args, is_swapped ? 1 : 0),
												list_nth(op->args, is_swapped ? 0 : 1),
												InvalidOid, op->inputcollid));
}

/* --- all clauses ----------------------------------------------------------------- */

/*
 * A clause is cheap up to this number of operators, for example (a.rank, a.id) < (b.rank,
 * b.id).  To compare two arrays of 50 elements takes as long as about 40 of them.
 */
#define CHEAP_OPERATORS		2

/* A leakproof clause precedes those of lower levels if it costs less than so many operators. */
#define LEAKPROOF_OPERATORS	10

/*
 * Return the security level of a clause, as order_qual_clauses() in core does.  Clauses of lower
 * levels must be evaluated before it.
 */
static Index
level_of(const RestrictInfo *rinfo)
{
	return rinfo->leakproof &&
		rinfo->eval_cost.per_tuple < LEAKPROOF_OPERATORS * cpu_operator_cost ? 0 :
		rinfo->security_level;
}

/*
 * Return true if clause `one` should be evaluated before clause `other`: its security level
 * is lower, or the levels are equal and it is cheaper.
 */
static bool
precedes(const RestrictInfo *one, const RestrictInfo *other)
{
	return level_of(one) != level_of(other) ? level_of(one) < level_of(other) :
		one->eval_cost.per_tuple < other->eval_cost.per_tuple;
}

/*
 * Insert a clause into a list in the order of evaluation, after the clauses of equal level
 * and cost, as order_qual_clauses() in core does.
 */
static List *
insert_clause(List *list, RestrictInfo *rinfo)
{
	int			position = list_length(list);

	while (position > 0 && precedes(rinfo, list_nth(list, position - 1)))
		position--;
	return list_insert_nth(list, position, rinfo);
}

/*
 * Return true if a function is user-defined, or belongs to an extension.  A
 * check_function_callback.
 */
static bool
is_user_defined(Oid function, void *context)
{
	return function >= FirstGenbkiObjectId;
}

/*
 * Return true if an expression may take longer than its declared cost: it calls a user-defined
 * function, which may also be the constraint of a domain, or reads a column of variable
 * length, which may have to be detoasted.  An expression_tree_walker callback.
 */
static bool
may_be_slow(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return get_typlen(((Var *) node)->vartype) < 0;
	return IsA(node, CoerceToDomain) || check_functions_in_node(node, is_user_defined, context) ||
		expression_tree_walker(node, may_be_slow, context);
}

/*
 * Return true if a clause is cheap.  A clause that may be slow is not, since the declared cost of
 * user-defined functions is mostly the default, that of one operator, and core does not charge
 * for detoasting.
 */
static bool
is_cheap(const RestrictInfo *rinfo)
{
	return rinfo->eval_cost.per_tuple <= CHEAP_OPERATORS * cpu_operator_cost &&
		!may_be_slow((Node *) rinfo->clause, NULL);
}

/*
 * Read the clauses of a join.  Leaves out pseudoconstant clauses.  Returns false if no
 * clause bounds the distance between fingerprints or arrays of the two sides, or tests whether
 * their signatures share a band, or if another clause must be evaluated before every such
 * clause.
 */
bool
join_clause_read(PlannerInfo *root, JoinType jointype, RelOptInfo *joinrel,
				 RelOptInfo *left, RelOptInfo *right, List *restrictlist,
				 JoinClauses *clauses)
{
	List	   *match = NIL;
	List	   *first = NIL;
	Index		min_level = PG_UINT32_MAX;
	QualCost	cost;
	ListCell   *lc;

	*clauses = (JoinClauses) {.left_relids = left->relids,.right_relids = right->relids};
	/* sets eval_cost of each clause */
	cost_qual_eval(&cost, restrictlist, root);
	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		if (IS_OUTER_JOIN(jointype) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			clauses->filter = insert_clause(clauses->filter, rinfo);
		else
		{
			match = lappend(match, rinfo);
			min_level = Min(min_level, rinfo->security_level);
		}
	}

	/* the clauses that core could evaluate first */
	foreach(lc, match)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->leakproof || rinfo->security_level <= min_level)
			first = lappend(first, rinfo);
	}
	foreach(lc, first)
		take_clause(root, lfirst(lc), left, right, clauses);
	if (clauses->distance == NULL)
		return false;
	foreach(lc, first)
		take_equality(lfirst(lc), left, right, clauses);
	foreach(lc, match)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo == clauses->distance && clauses->exact)
			continue;
		if (clauses->spec.method != JOIN_BY_DISTANCE && list_member_ptr(first, rinfo) &&
			is_cheap(rinfo))
			clauses->cheap = insert_clause(clauses->cheap, rinfo);
		else
			clauses->match = insert_clause(clauses->match, rinfo);
	}
	clauses->spec.jointype = jointype;
	clauses->spec.cheap_clauses = extract_actual_clauses(clauses->cheap, false);
	clauses->spec.clauses = extract_actual_clauses(clauses->match, false);
	clauses->spec.distance_clauses = list_make1(clauses->distance->clause);
	return true;
}
