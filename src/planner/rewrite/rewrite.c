/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *		Rewriting comparisons of distances, so that an index can serve them
 *
 * fp <~> q <= 3 compares integers: PostgreSQL matches no index with it.  So
 * before the clauses of a query are handed to its tables, those that an index
 * can serve are put in terms of simhash_within, whose support function says
 * how.  See README.md for where in planning that is and what it must leave
 * alone.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "compat.h"
#include "planner/rewrite/bound.h"
#include "planner/rewrite/comparison.h"
#include "planner/rewrite/indexable.h"
#include "planner/rewrite/privileges.h"
#include "planner/rewrite/rewrite.h"

/*
 * For whom clauses are rewritten: a table of the query.  Where the table is a
 * partition, a child or a member of a UNION ALL, they are written in terms of
 * one of its parents, and appinfos leads from there to the table.
 */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;
	List	   *appinfos;
	bool		for_siblings;	/* the clauses also apply to other children */

	Oid			spelling_class; /* asked for last: is it compared elsewhere? */
	Oid			spelling;
	bool		compared;
} Rewrite;

/*
 * The conditions of a parent as they were before they were rewritten for one of
 * its members.  Known as long as the planner's own data.
 */
typedef struct Original
{
	RelOptInfo *parent;
	List	   *conditions;
	struct Original *next;
	MemoryContextCallback forget;
} Original;

static bool enable_rewrite = true;
static Original *originals = NULL;

static List *rewrite_list(Rewrite *rewrite, List *clauses);

/* --- putting it in terms of simhash_within -------------------------------- */

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
 * Whether the comparison has to stay in the plan though the radius says all of
 * it.  Of the members of a parent that share the clause only this one is seen,
 * but none compares a distance between two tables.
 */
static bool
must_keep(Rewrite *rewrite, const Comparison *comparison)
{
	if (rewrite->for_siblings &&
		bms_membership(pull_varnos(rewrite->root, (Node *)
								   list_make2(comparison->a, comparison->b))) != BMS_MULTIPLE)
		return true;
	if (comparison->spelling != rewrite->spelling ||
		comparison->spelling_class != rewrite->spelling_class)
	{
		rewrite->compared = compared_elsewhere(rewrite->root, rewrite->rel, comparison);
		rewrite->spelling = comparison->spelling;
		rewrite->spelling_class = comparison->spelling_class;
	}
	return rewrite->compared;
}

/*
 * Append what a comparison is rewritten to: simhash_within in its place or
 * beside it.  `clauses` is the list it comes from, which may have that already,
 * for another table.
 */
static List *
append_comparison(Rewrite *rewrite, List *result, List *clauses, Node *clause)
{
	Comparison	comparison;
	Expr	   *radius;
	Expr	   *within;
	bool		exact;

	if (!read_comparison(clause, &comparison))
		return lappend(result, clause);
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

		/* what is expensive is not done twice */
		if (contain_subplans(clause))
			return result;
	}
	if (!list_member(clauses, within) && !list_member(result, within))
		result = lappend(result, within);
	return result;
}

/*
 * Rewrite a clause below AND and OR.  What does not change keeps its node.
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
 * Rewrite an implicitly ANDed list.
 */
static List *
rewrite_list(Rewrite *rewrite, List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		result = append_clause(rewrite, result, clauses, lfirst(lc));
	return result;
}

/* --- where the clauses are ------------------------------------------------ */

/*
 * The conditions of WHERE and ON, which are still in the jointree.
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

static List *
clauses_of(List *restrictinfos)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, restrictinfos)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	return clauses;
}

static void
forget_original(void *argument)
{
	Original  **link = &originals;

	while (*link != argument)
		link = &(*link)->next;
	*link = (*link)->next;
}

static Original *
find_original(RelOptInfo *parent)
{
	Original   *original = originals;

	while (original && original->parent != parent)
		original = original->next;
	return original;
}

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
 * Whatever was rewritten for the previous member of a parent was for that one.
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
 * A member copies the conditions of its parent right after the hook was called
 * for it: so they are rewritten for this one member.
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
 * Whether a parent has members for which the hook is not called, up to 18: those
 * of a UNION ALL that are no tables.  They get what was made for the table before.
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
 * Join clauses are copied when all members are known, and the other tables of
 * the join hold the same RestrictInfo: so it is changed where it is, for all.
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
		 * A scan cannot apply a clause that comes after an outer join has added
		 * NULLs, and no member can be put into it.
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
 * A partition, a child or a member of a UNION ALL gets its conditions from its
 * parent, where they were handed out already: those on the parent alone stand
 * in the next one above, those of joins in the topmost, or, if they are
 * equalities, in an equivalence class.
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

		/* what equals a constant was handed out */
		if (class->ec_merged == NULL && !class->ec_has_const &&
			bms_is_member(parent->relid, class->ec_relids))
			rewrite_join_clauses(rewrite, parent, class->ec_sources);
	}
}

/* --- for a table -------------------------------------------------------------- */

/*
 * Rewrite, on behalf of a table, the conditions that one of its indexes can
 * serve.  A parent has none itself.
 */
static void
rewrite_for_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Rewrite		rewrite = {.root = root, .rel = rel};
	ListCell   *lc;

	/* building an index plans a query without a jointree */
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
 * Rewrite conditions on behalf of a table, of which the planner knows the indexes.
 */
void
rewrite_relation(PlannerInfo *root, RelOptInfo *rel)
{
	restore_conditions(root, rel);
	rewrite_for_table(root, rel);
}

/*
 * Called once, when the library is loaded.
 */
void
rewrite_init(void)
{
	DefineCustomBoolVariable("simhash.enable_rewrite",
							 "Lets indexes serve comparisons of distances.",
							 "Plans do without where it is off.",
							 &enable_rewrite, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("simhash");
}
