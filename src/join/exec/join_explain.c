/*-------------------------------------------------------------------------
 *
 * join_explain.c
 *		EXPLAIN of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "join/exec/join_state.h"

/*
 * Show clauses under a label.
 */
static void
explain_clauses(const char *label, List *clauses, Plan *plan, List *ancestors, ExplainState *es)
{
	List	   *context;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	ExplainPropertyText(label, deparse_expression((Node *) make_ands_explicit(clauses), context,
												  true, false), es);
}

/*
 * Show the condition of the join.  With ANALYZE, also show counters, memory and disk
 * space, over all loops of this process.  A CustomScan callback.
 */
void
join_explain(CustomScanState *css, List *ancestors, struct ExplainState *es)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinSpec   *spec = &state->spec;
	Plan	   *plan = css->ss.ps.plan;

	if (spec->jointype != JOIN_INNER)
		ExplainPropertyText("Join Type", spec->jointype == JOIN_LEFT ? "Left" :
							spec->jointype == JOIN_SEMI ? "Semi" : "Anti", es);
	explain_clauses("Join Cond", spec->distance_clauses, plan, ancestors, es);
	explain_clauses("Join Filter", spec->clauses, plan, ancestors, es);
	if (!es->analyze)
		return;
	if (spec->clauses != NIL && css->ss.ps.instrument && css->ss.ps.instrument->nloops > 0)
		ExplainPropertyFloat("Rows Removed by Join Filter", NULL,
							 css->ss.ps.instrument->nfiltered2 / css->ss.ps.instrument->nloops,
							 0, es);
	state->match->methods->explain(state->match, es);
	ExplainPropertyFloat("Pairs", NULL, state->npairs, 0, es);
	ExplainPropertyInteger("Passes", NULL, state->npasses, es);
	ExplainPropertyInteger("Batches", NULL, state->nbatches, es);
	ExplainPropertyInteger("Memory Usage", "kB", (state->peak_memory + 1023) / 1024, es);
	if (state->disk > 0)
		ExplainPropertyInteger("Disk Usage", "kB", (state->disk + 1023) / 1024, es);
}
