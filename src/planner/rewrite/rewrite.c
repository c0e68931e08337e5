/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *		Rewrite comparisons of distances, so that an index can serve them
 *
 * The condition fp <~> q <= 3 compares integers, so PostgreSQL finds no index that matches
 * it.  This file rewrites conditions that an index could serve to calls of simhash_within.
 * The support function of simhash_within returns the index condition.  The rewrite happens
 * before the planner distributes a query's clauses to its tables.  README.md explains the
 * order of these steps, and what the rewrite must not change.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/guc.h"

#include "compat.h"
#include "planner/bound.h"
#include "planner/comparison.h"
#include "planner/rewrite/indexable.h"
#include "planner/rewrite/privileges.h"
#include "planner/rewrite/rewrite.h"

/*
 * The table that clauses are rewritten for.  If the table is a child, the clauses
 * reference one of its parents.  A child is a partition, an inheritance child or a member
 * of a UNION ALL.
 */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;
	List	   *appinfos;		/* AppendRelInfos from the parent that the clauses
								 * reference down to the table */
	bool		for_siblings;	/* true if the clauses also apply to other children */

	/* Arguments and result of the last call of compared_elsewhere(), a cache */
	Oid			callee_class;
	Oid			callee;
	bool		compared;
} Rewrite;

/*
 * The conditions of a parent before they were rewritten for one of its children.  Freed
 * when planner_cxt is reset.
 */
typedef struct Original
{
	RelOptInfo *parent;
	List	   *conditions;		/* RestrictInfos */
	struct Original *next;
	MemoryContextCallback forget;	/* removes this Original from `originals` */
} Original;

static bool enable_rewrite = true;	/* simhash.enable_rewrite */
static Original *originals = NULL;	/* list of the Originals of all parents */

static List *rewrite_list(Rewrite *rewrite, List *clauses);

/* --- rewriting a clause ------------------------------------------------------ */

/*
 * Return an expression with references to the parent replaced by references to the table.
 */
static Node *
translate(Rewrite *rewrite, Node *node)
{
	ListCell   *lc;

	foreach(lc, rewrite->appinfos)
	{
		AppendRelInfo *appinfo = lfirst(lc);

		node = adjust_appendrel_attrs(rewrite->root, node, 1, &appinfo);
	}
	return node;
}

/*
 * Return true if a comparison must stay in the plan although simhash_within is equivalent
 * to it.
 *
 * If the clause also applies to other children, other uses of the distance can be checked
 * for this child only.  So the comparison must stay, unless its distance is between two
 * tables.  No object of another child contains such a distance.
 */
static bool
must_keep(Rewrite *rewrite, const Comparison *comparison)
{
	if (rewrite->for_siblings &&
		bms_membership(pull_varnos(rewrite->root, (Node *)
								   list_make2(comparison->a, comparison->b))) != BMS_MULTIPLE)
		return true;
	if (comparison->callee != rewrite->callee ||
		comparison->callee_class != rewrite->callee_class)
	{
		rewrite->compared = compared_elsewhere(rewrite->root, rewrite->rel, comparison);
		rewrite->callee = comparison->callee;
		rewrite->callee_class = comparison->callee_class;
	}
	return rewrite->compared;
}

/*
 * Return true if an index can search for an operator on arrays whose operands are the
 * column a and the query b.
 */
static bool
array_operator_indexable(Rewrite *rewrite, const Comparison *operands, Node *a, Node *b)
{
	a = translate(rewrite, a);
	b = translate(rewrite, b);
	return indexable_by_relation(rewrite->root, rewrite->rel, &operands->objects, a, b, b);
}

/*
 * Maximum number of elements of a constant array for which core's estimates suffice.  Core
 * takes each element for up to 0.5% of the rows.
 */
#define FEW_ELEMENTS	4

/*
 * Return true if an expression is a constant array of few elements.
 */
static bool
is_short_array(Node *node)
{
	Const	   *constant = (Const *) node;
	ArrayType  *array;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	array = DatumGetArrayTypeP(constant->constvalue);
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) <= FEW_ELEMENTS;
}

/*
 * Return the call that replaces an operator on arrays of hashes.  Core would estimate the
 * operator as if elements were independent, and as if comparing each with each were cheap.
 * Returns the clause itself if no index can serve it, or if the array is short.  Then a
 * bitmap scan need not filter its rows by the call.  Below a security barrier a short array
 * makes no difference: an administrator may have marked the call as leakproof.
 */
static Node *
replace_array_operator(Rewrite *rewrite, Node *clause)
{
	ArrayOperator operator;
	Comparison *operands = &operator.operands;
	Node	   *column;
	Node	   *query;
	Node	   *call;

	if (!read_array_operator(clause, &operator))
		return clause;
	column = operands->a;
	query = operands->b;
	if (!array_operator_indexable(rewrite, operands, column, query))
	{
		column = operands->b;
		query = operands->a;
		if (!operator.symmetric ||
			!array_operator_indexable(rewrite, operands, column, query))
			return clause;
	}
	call = (Node *) makeFuncExpr(operator.function, BOOLOID,
								 list_make2(copyObject(column), copyObject(query)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if ((rewrite->root->qual_security_level == 0 && is_short_array(query)) ||
		!privileges_suffice(rewrite->root, clause) ||
		!privileges_suffice(rewrite->root, call) || must_keep(rewrite, operands))
		return clause;
	return call;
}

/*
 * Append a comparison to the result.  If an index can serve it, append simhash_within
 * instead of the comparison or after it.  `clauses` is the list that contains the
 * comparison.  It may already contain the same call of simhash_within, added for another
 * table.
 */
static List *
append_comparison(Rewrite *rewrite, List *result, List *clauses, Node *clause)
{
	Comparison	comparison;
	Expr	   *radius;
	Expr	   *within;
	bool		exact;

	if (!read_comparison(clause, &comparison))
		return lappend(result, replace_array_operator(rewrite, clause));
	radius = bound_radius(&comparison, &exact);
	if (!indexable_by_relation(rewrite->root, rewrite->rel, &comparison.objects,
							   translate(rewrite, comparison.a),
							   translate(rewrite, comparison.b),
							   translate(rewrite, (Node *) radius)) ||
		!privileges_suffice_for_search(rewrite->root, &comparison.objects))
		return lappend(result, clause);
	within = (Expr *) makeFuncExpr(comparison.objects.within, BOOLOID,
								   list_make3(copyObject(comparison.a),
											  copyObject(comparison.b), radius),
								   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	if (!privileges_suffice(rewrite->root, clause) ||
		!privileges_suffice(rewrite->root, (Node *) within))
		return lappend(result, clause);
	if (!exact || must_keep(rewrite, &comparison))
	{
		result = lappend(result, clause);

		/* a subplan is expensive, so do not evaluate it in two clauses */
		if (contain_subplans(clause))
			return result;
	}
	if (!list_member(clauses, within) && !list_member(result, within))
		result = lappend(result, within);
	return result;
}

/*
 * Append a clause to the result, with the comparisons in it rewritten, also below AND and
 * OR.  A clause that does not change is appended as the same node.
 */
static List *
append_clause(Rewrite *rewrite, List *result, List *clauses, Node *clause)
{
	List	   *arms = NIL;
	bool		changed = false;
	ListCell   *lc;

	if (is_andclause(clause))
		return list_concat(result, rewrite_list(rewrite, ((BoolExpr *) clause)->args));
	if (!is_orclause(clause))
		return append_comparison(rewrite, result, clauses, clause);

	foreach(lc, ((BoolExpr *) clause)->args)
	{
		Node	   *arm = lfirst(lc);
		List	   *conjuncts = is_andclause(arm) ? ((BoolExpr *) arm)->args : list_make1(arm);
		List	   *rewritten = rewrite_list(rewrite, conjuncts);

		if (!equal(rewritten, conjuncts))
		{
			arm = (Node *) make_ands_explicit(rewritten);
			changed = true;
		}
		arms = lappend(arms, arm);
	}
	return lappend(result, changed ? (Node *) make_orclause(arms) : clause);
}

/*
 * Return a rewritten copy of an implicitly ANDed list.  Checks for interrupts, since each
 * comparison is looked up in the whole list.
 */
static List *
rewrite_list(Rewrite *rewrite, List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		CHECK_FOR_INTERRUPTS();
		result = append_clause(rewrite, result, clauses, lfirst(lc));
	}
	return result;
}

/* --- conditions in the jointree ----------------------------------------------- */

/*
 * Rewrite the conditions of WHERE and ON, which are still in the jointree.
 */
static void
rewrite_jointree(Rewrite *rewrite, Node *node)
{
	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;
		ListCell   *lc;

		foreach(lc, from->fromlist)
			rewrite_jointree(rewrite, lfirst(lc));
		from->quals = (Node *) rewrite_list(rewrite, (List *) from->quals);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		rewrite_jointree(rewrite, join->larg);
		rewrite_jointree(rewrite, join->rarg);
		join->quals = (Node *) rewrite_list(rewrite, (List *) join->quals);
	}
}

/* --- conditions of a parent ------------------------------------------------- */

/*
 * Return the clauses of a list of RestrictInfos.
 */
static List *
clauses_of(List *restrictinfos)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, restrictinfos)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	return clauses;
}

/*
 * Remove an Original from the list.  Called when planner_cxt is reset.
 */
static void
forget_original(void *argument)
{
	Original  **link = &originals;

	while (*link != argument)
		link = &(*link)->next;
	*link = (*link)->next;
}

/*
 * Return the Original of a parent, or NULL if its conditions were never rewritten.
 */
static Original *
find_original(RelOptInfo *parent)
{
	Original   *original = originals;

	while (original && original->parent != parent)
		original = original->next;
	return original;
}

/*
 * Record the conditions of a parent until planner_cxt is reset, unless they are already
 * recorded.
 */
static void
keep_original(PlannerInfo *root, RelOptInfo *parent)
{
	Original   *original;

	if (find_original(parent))
		return;
	original = MemoryContextAlloc(root->planner_cxt, sizeof(Original));
	original->parent = parent;
	original->conditions = parent->baserestrictinfo;
	original->next = originals;
	originals = original;
	original->forget.func = forget_original;
	original->forget.arg = original;
	MemoryContextRegisterResetCallback(root->planner_cxt, &original->forget);
}

/*
 * Restore the conditions of a child's parent, which may have been rewritten for the
 * previous child.
 */
static void
restore_conditions(PlannerInfo *root, RelOptInfo *rel)
{
	RelOptInfo *parent;
	Original   *original;

	if (originals == NULL || rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return;
	parent = root->simple_rel_array[root->append_rel_array[rel->relid]->parent_relid];
	original = find_original(parent);
	if (original)
		parent->baserestrictinfo = original->conditions;
}

/*
 * Rewrite the conditions of a parent for one child.  Core copies them to the child as soon
 * as the hook returns.
 */
static void
rewrite_base_conditions(Rewrite *rewrite, RelOptInfo *parent)
{
	List	   *clauses = clauses_of(parent->baserestrictinfo);
	List	   *conditions = NIL;
	bool		changed = false;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, parent->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *rewritten = append_clause(rewrite, NIL, clauses, (Node *) rinfo->clause);

		changed |= list_length(rewritten) != 1 || linitial(rewritten) != rinfo->clause;
		foreach(lc2, rewritten)
		{
			Expr	   *clause = lfirst(lc2);

			conditions = lappend(conditions, clause == rinfo->clause ? rinfo :
								 make_restrictinfo_like(rewrite->root, clause, rinfo));
		}
	}
	if (!changed)
		return;
	keep_original(rewrite->root, parent);
	parent->baserestrictinfo = conditions;
}

/*
 * Return true if a parent has children for which core up to 18 does not call the hook.
 * These are members of a UNION ALL that are not tables.  Core copies the conditions to
 * them as they were rewritten for the previous table.
 */
static bool
has_unhooked_children(PlannerInfo *root, RelOptInfo *parent)
{
	ListCell   *lc;

	if (planner_rt_fetch(parent->relid, root)->rtekind == RTE_RELATION)
		return false;
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst(lc);

		if (appinfo->parent_relid == parent->relid &&
			planner_rt_fetch(appinfo->child_relid, root)->rtekind != RTE_RELATION)
			return true;
	}
	return false;
}

/*
 * Rewrite join clauses of a parent in place, for all children.  Core copies join clauses
 * to the children only after all children are known.  The other tables of a join share the
 * RestrictInfo.
 */
static void
rewrite_join_clauses(Rewrite *rewrite, RelOptInfo *parent, List *restrictinfos)
{
	List	   *clauses = clauses_of(parent->joininfo);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *rewritten;

		/*
		 * Skip a clause above an outer join that can make the parent's columns NULL.  A
		 * scan cannot apply the clause, and a child's expression cannot replace a column
		 * in it.
		 */
		if (is_nulled_below(rinfo, parent))
			continue;
		rewritten = append_clause(rewrite, NIL, clauses, (Node *) rinfo->clause);
		foreach(lc2, rewritten)
		{
			Expr	   *clause = lfirst(lc2);
			RestrictInfo *other;

			if (clause == rinfo->clause)
				continue;
			other = make_restrictinfo_like(rewrite->root, clause, rinfo);
			if (foreach_current_index(lc2) == 0)
				replace_restrictinfo(rinfo, other);
			else
				distribute_restrictinfo_to_rels(rewrite->root, other);
		}
	}
}

/*
 * Rewrite conditions for a child: a partition, an inheritance child or a member of a UNION
 * ALL.  Core has already distributed the conditions to the child's parents.  Conditions on
 * the parent alone are in the immediate parent.  Join clauses are in the topmost parent.
 * Equalities of two tables are in equivalence classes.
 */
static void
rewrite_for_child(Rewrite *rewrite)
{
	PlannerInfo *root = rewrite->root;
	AppendRelInfo *appinfo = root->append_rel_array[rewrite->rel->relid];
	RelOptInfo *parent = NULL;
	ListCell   *lc;

	for (; appinfo; appinfo = root->append_rel_array[parent->relid])
	{
		bool		next_above = parent == NULL;

		parent = root->simple_rel_array[appinfo->parent_relid];
		rewrite->appinfos = lcons(appinfo, rewrite->appinfos);
		if (next_above)
		{
			rewrite->for_siblings = has_unhooked_children(root, parent);
			rewrite_base_conditions(rewrite, parent);
		}
	}
	rewrite->for_siblings = true;
	rewrite_join_clauses(rewrite, parent, list_copy(parent->joininfo));
	foreach(lc, root->eq_classes)
	{
		EquivalenceClass *class = lfirst(lc);

		/*
		 * the clauses of a class with a constant have already been distributed to tables
		 */
		if (class->ec_merged == NULL && !class->ec_has_const &&
			bms_is_member(parent->relid, class->ec_relids))
			rewrite_join_clauses(rewrite, parent, class->ec_sources);
	}
}

/* --- conditions for a table ---------------------------------------------------- */

/*
 * Rewrite the conditions that an index of the table can serve.  Does nothing for a parent,
 * since scans do not use an index of a parent.
 */
static void
rewrite_for_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Rewrite		rewrite = {.root = root, .rel = rel};
	ListCell   *lc;

	/* plan_create_index_workers() makes a dummy query without a jointree */
	if (!enable_rewrite || rte->rtekind != RTE_RELATION || rte->inh ||
		root->parse->jointree == NULL || !indexable_has_custom_opclass(rel))
		return;

	foreach(lc, rte->securityQuals)
		lfirst(lc) = rewrite_list(&rewrite, (List *) lfirst(lc));
	if (rel->reloptkind == RELOPT_BASEREL)
		rewrite_jointree(&rewrite, (Node *) root->parse->jointree);
	else
		rewrite_for_child(&rewrite);
}

/*
 * Rewrite conditions for a table.  The planner must have read the table's indexes.
 */
void
rewrite_relation(PlannerInfo *root, RelOptInfo *rel)
{
	restore_conditions(root, rel);
	rewrite_for_table(root, rel);
}

/*
 * Define options.  Called once, when the library is loaded.
 */
void
rewrite_init(void)
{
	DefineCustomBoolVariable("simhash.enable_rewrite",
							 "Enables the use of indexes for comparisons of distances.",
							 "If off, the planner does not rewrite comparisons of distances.",
							 &enable_rewrite, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
}
