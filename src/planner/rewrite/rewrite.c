/*
 * Rewrite comparisons of distances, so that an index can serve them
 *
 * The condition fp <~> q <= 3 compares integers, so PostgreSQL finds no index that matches
 * it.  This file rewrites conditions that an index could serve to calls of simhash_within.
 * The support function of simhash_within returns the index condition.  The rewrite happens
 * before the planner distributes a query's clauses to its tables.  README.md explains the
 * order of these steps, and what the rewrite may touch.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "compat.h"
#include "planner/hooks.h"
#include "planner/planner_run.h"
#include "planner/rewrite/indexable.h"
#include "planner/rewrite/rewrite_clause.h"

/* The conditions of a parent before they were rewritten for one of its children */
typedef struct Original
{
	RelOptInfo *parent;
	List	   *conditions;		/* RestrictInfos */
} Original;

static bool enable_rewrite = true;	/* simhash.enable_rewrite */

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
 * Return the Original of a parent, or NULL if its conditions were never rewritten.
 */
static Original *
find_original(PlannerInfo *root, RelOptInfo *parent)
{
	ListCell   *lc;

	foreach(lc, planner_run_of(root)->originals)
		if (((Original *) lfirst(lc))->parent == parent)
			return lfirst(lc);
	return NULL;
}

/*
 * Record the conditions of a parent, unless they are already recorded.
 */
static void
keep_original(PlannerInfo *root, RelOptInfo *parent)
{
	PlannerRun *run = planner_run_of(root);
	MemoryContext old_context = MemoryContextSwitchTo(root->planner_cxt);
	Original   *original;

	if (find_original(root, parent) == NULL)
	{
		original = palloc(sizeof(Original));
		original->parent = parent;
		original->conditions = parent->baserestrictinfo;
		run->originals = lappend(run->originals, original);
	}
	MemoryContextSwitchTo(old_context);
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

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return;
	parent = root->simple_rel_array[root->append_rel_array[rel->relid]->parent_relid];
	original = find_original(root, parent);
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
	List	   *calls = calls_of(parent->baserestrictinfo);
	List	   *conditions = NIL;
	bool		changed = false;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, parent->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *rewritten = rewrite_clause(rewrite, NIL, calls, (Node *) rinfo->clause);

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
	List	   *calls = calls_of(parent->joininfo);
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
		rewritten = rewrite_clause(rewrite, NIL, calls, (Node *) rinfo->clause);
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
 * Rewrite the conditions that an index of the table can serve.  First restores those of the
 * table's parent.  Rewrites none for a table with children, since scans do not use its
 * indexes.  The planner must have read the table's indexes.
 */
void
rewrite_relation(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Rewrite		rewrite = {.root = root, .rel = rel};
	ListCell   *lc;

	restore_conditions(root, rel);

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
