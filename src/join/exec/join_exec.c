/*
 * Start, rescan, end and EXPLAIN of a similarity join
 *
 * EXPLAIN ANALYZE has the lines of docs/deduplicate.md, over all loops and all workers of a
 * parallel join.  If the leader does not fetch all rows, as with LIMIT, those of workers
 * may be missing.  Only the rows removed are core's counter: an average over the loops.  In
 * the text format, the removed are not shown if there are none.  An inner or left join has
 * the same Pairs and Rows Removed by Join Filter in any memory, since verify() accepts a
 * pair of rows once.  Their difference is the number of matches.  A semi or anti join tries
 * no pair of a row that has a match, and a self-join not always both orders of a pair, so what
 * these count depends on the order.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "join/exec/join_parallel.h"

static const CustomExecMethods join_exec_methods;

/* The methods of each JoinMethod. */
static const JoinMethods *const join_methods[] = {
	[JOIN_BY_DISTANCE] = &join_by_distance,
	[JOIN_BY_BANDS] = &join_by_bands,
	[JOIN_BY_PREFIX] = &join_by_prefix
};

/*
 * Create the state of a similarity join.  A CustomScan callback.
 */
static Node *
create_state(CustomScan *scan)
{
	SimHashJoinState *state = (SimHashJoinState *) newNode(sizeof(SimHashJoinState), T_CustomScanState);

	state->css.methods = &join_exec_methods;
	join_read_spec(scan, &state->spec);
	return (Node *) state;
}

/*
 * Return true if the result may need columns of the right input, which are those of the left
 * side of a self-join, too.  For a semijoin, checks the target list and the filter, which may
 * contain the right ctid for EvalPlanQual.  An antijoin needs none, because it returns these
 * columns as NULL.
 */
static bool
needs_right_columns(const SimHashJoinState *state)
{
	const Plan *plan = state->css.ss.ps.plan;
	Bitmapset  *columns = NULL;

	if (!join_needs_one_match(state->spec.jointype) || join_is_self(&state->spec))
		return true;
	if (state->spec.jointype == JOIN_ANTI)
		return false;
	pull_varattnos((Node *) plan->targetlist, INDEX_VAR, &columns);
	pull_varattnos((Node *) plan->qual, INDEX_VAR, &columns);
	return bms_prev_member(columns, -1) + FirstLowInvalidHeapAttributeNumber >
		state->left.ncolumns;
}

/*
 * Create the state of the methods.
 */
static JoinMatch *
make_match(SimHashJoinState *state)
{
	const JoinMethods *methods = join_methods[state->spec.method];
	JoinMatch  *match = palloc0(methods->state_size);

	match->methods = methods;
	match->jointype = state->spec.jointype;
	match->pairs_itself = join_is_self(&state->spec) && state->spec.excludes == EXCLUDES_NONE;
	match->has_equalities = state->spec.equal != NIL;
	match->is_swapped = state->spec.is_swapped;
	match->memory = get_hash_memory_limit();
	match->right = &state->right.store;
	match->left = join_is_self(&state->spec) ? match->right : &state->left.store;
	match->context = AllocSetContextCreate(CurrentMemoryContext, "similarity join pairs",
										   ALLOCSET_DEFAULT_SIZES);
	return match;
}

/*
 * Start the node.  A CustomScan callback.
 */
static void
join_begin(CustomScanState *css, EState *estate, int eflags)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	JoinSpec   *spec = &state->spec;

	state->match = make_match(state);
	state->filter = list_concat_copy(spec->cheap_clauses, spec->clauses);
	if (!join_is_self(spec))
		join_input_init(state, &state->left, linitial(scan->custom_plans), 0, spec->left_key,
						estate, eflags);
	else
	{
		state->left.ncolumns = list_length(scan->custom_scan_tlist) / 2;
		state->left.done = state->left.complete = true;
	}
	join_input_init(state, &state->right, llast(scan->custom_plans), state->left.ncolumns,
					spec->right_key, estate, eflags);
	if (join_is_self(spec))
		state->left.slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(state->right.plan),
												  &TTSOpsMinimalTuple);
	state->radius = ExecInitExpr(spec->radius, &css->ss.ps);
	state->cheap_clauses = ExecInitQual(spec->cheap_clauses, &css->ss.ps);
	state->clauses = ExecInitQual(spec->clauses, &css->ss.ps);
	state->left.store.keeps_tuples = true;
	state->right.store.keeps_tuples = state->match->methods->stores_values ||
		state->filter != NIL || needs_right_columns(state);

	/* a parameter of the client with one of these numbers only costs time */
	state->key_params = pull_paramids((Expr *) list_make3(spec->left_key, spec->right_key,
														  spec->equal));
	if (state->match->methods->keys_need_radius)
		state->key_params = bms_add_members(state->key_params, pull_paramids(spec->radius));

	/* check that the user may execute the functions of all clauses */
	ExecInitQual(spec->distance_clauses, &css->ss.ps);

	state->rest = palloc(sizeof(EntryReader));
	if (scan->scan.plan.parallel_aware)
		state->kept_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(&css->ss.ps),
												  &TTSOpsMinimalTuple);
	state->phase = BEGIN_JOIN;
}

/*
 * Forget the rows of an input, and prepare to read it again.
 */
static void
rescan_input(JoinInput *input)
{
	join_store_close(&input->store);
	input->done = input->complete = false;
	if (input->plan->chgParam == NULL)
		ExecReScan(input->plan);
}

/*
 * Prepare to return the rows again, perhaps with other parameters.  Keeps the rows of the
 * right input, or of both, if they are complete and their parameters have not changed.
 * Keeps the right rows alone only if there are no partitions, which limit the loaded right
 * entries.  A CustomScan callback.
 */
static void
join_rescan(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinInput  *left = &state->left;
	JoinInput  *right = &state->right;
	bool		keeps_left;
	bool		keeps_right;

	if (css->ss.ps.chgParam)
	{
		if (left->plan)
			UpdateChangedParamSet(left->plan, css->ss.ps.chgParam);
		UpdateChangedParamSet(right->plan, css->ss.ps.chgParam);
	}
	keeps_right = right->complete && right->plan->chgParam == NULL &&
		!bms_overlap(css->ss.ps.chgParam, state->key_params);
	keeps_left = keeps_right && left->done && left->complete &&
		(left->plan == NULL || left->plan->chgParam == NULL);
	keeps_right = keeps_left || (keeps_right && !state->match->partitioned);

	/* other participants may read other rows the next time */
	if (css->ss.ps.plan->parallel_aware)
		keeps_left = keeps_right = false;
	MemoryContextReset(state->match->context);
	join_row_clear(state);
	if (state->parallel)
		join_parallel_reset(state);
	if (!keeps_left && left->plan)
		rescan_input(left);
	if (!keeps_right)
		rescan_input(right);
	state->phase = BEGIN_JOIN;
}

/*
 * End the node.  A CustomScan callback.
 */
static void
join_end(CustomScanState *css)
{
	SimHashJoinState *state = (SimHashJoinState *) css;

	if (state->parallel)
		join_parallel_reset(state);
	if (state->left.plan)
	{
		join_store_close(&state->left.store);
		ExecEndNode(state->left.plan);
	}
	join_store_close(&state->right.store);
	ExecEndNode(state->right.plan);
}

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
 * Show the number of removed rows or pairs.  Like core, leaves it out of the text format if
 * it is 0.
 */
static void
explain_removed(const char *label, double n, ExplainState *es)
{
	if (n > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat(label, NULL, n, 0, es);
}

/*
 * Show the condition of the join.  With ANALYZE, also show counters, memory and disk
 * space, over all loops of this process and its workers.  A CustomScan callback.
 */
static void
join_explain(CustomScanState *css, List *ancestors, struct ExplainState *es)
{
	SimHashJoinState *state = (SimHashJoinState *) css;
	JoinSpec   *spec = &state->spec;
	Plan	   *plan = css->ss.ps.plan;
	const JoinMethods *methods = state->match->methods;
	JoinCounters counters = state->counters;

	if (spec->jointype != JOIN_INNER)
		ExplainPropertyText("Join Type", spec->jointype == JOIN_LEFT ? "Left" :
							spec->jointype == JOIN_SEMI ? "Semi" : "Anti", es);
	if (join_is_self(spec))
		ExplainPropertyBool("Self Join", true, es);
	explain_clauses("Join Cond", spec->distance_clauses, plan, ancestors, es);
	explain_clauses("Join Filter", state->filter, plan, ancestors, es);
	if (!es->analyze)
		return;
	if (state->filter != NIL && css->ss.ps.instrument)
		explain_removed("Rows Removed by Join Filter",
						css->ss.ps.instrument->nfiltered2 / Max(css->ss.ps.instrument->nloops, 1), es);
	methods->count(state->match, &counters);
	join_counters_add(&counters, &state->of_workers, false);
	methods->explain(state->match, &counters, es);
	if (methods->verify)
	{
		ExplainPropertyFloat("Candidate Pairs", NULL, counters.ncandidates, 0, es);
		if (spec->cheap_clauses != NIL)
			explain_removed("Candidates Removed by Join Filter", counters.nremoved, es);
	}
	ExplainPropertyFloat("Pairs", NULL, counters.npairs, 0, es);
	ExplainPropertyInteger("Passes", NULL, counters.npasses, es);
	ExplainPropertyInteger("Batches", NULL, counters.nbatches, es);
	ExplainPropertyInteger("Memory Usage", "kB", (counters.memory + 1023) / 1024, es);
	if (counters.disk > 0)
		ExplainPropertyInteger("Disk Usage", "kB", (counters.disk + 1023) / 1024, es);
}

static const CustomExecMethods join_exec_methods = {
	.CustomName = JOIN_NODE_NAME,
	.BeginCustomScan = join_begin,
	.ExecCustomScan = join_next_row,
	.EndCustomScan = join_end,
	.ReScanCustomScan = join_rescan,
	.EstimateDSMCustomScan = join_parallel_estimate,
	.InitializeDSMCustomScan = join_parallel_init,
	.ReInitializeDSMCustomScan = join_parallel_reinit,
	.InitializeWorkerCustomScan = join_parallel_attach,
	.ShutdownCustomScan = join_parallel_shutdown,
	.ExplainCustomScan = join_explain
};

static const CustomScanMethods join_scan_methods = {
	.CustomName = JOIN_NODE_NAME,
	.CreateCustomScanState = create_state
};

/*
 * Register the plan node.  The planner finds it by its name, and so does core, which reads
 * plans for parallel workers.  Called once, when the library is loaded.
 */
void
join_exec_init(void)
{
	RegisterCustomScanMethods(&join_scan_methods);
}
