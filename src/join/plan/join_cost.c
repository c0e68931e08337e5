/*
 * Cost of a similarity join
 *
 * The join reads each row of both inputs once, and computes its keys.  Then it compares
 * fingerprints that agree on some blocks of their bits (pairs/block_cut.c), or merges the
 * bands of signatures, or the prefixes of arrays.  Cheap clauses are evaluated for each
 * candidate that is found, the others for each pair that matches so far.  A self-join has one
 * input, whose rows meet in one order.
 *
 * Costs are in PostgreSQL's units.  The executor evaluates an operator at cpu_operator_cost.
 *
 * Time:
 *
 *	- m equal fingerprints, or signatures: a semi or anti join without further clauses
 *	  takes linear time.  An inner join takes the time of its output.
 *	- m equal arrays: each pair meets once.  But all left chunks are loaded beside all
 *	  right ones, also if a semi join has found its matches by another key. 300,000 rows
 *	  of 20 elements, a semi join within 0.2: 2 to 3 s with 4 MB of work_mem, 90 s with
 *	  64 kB.
 *	- A cheap clause that is nearly always false is evaluated for each candidate, another
 *	  one for each pair within the distance.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "join/plan/join_clause.h"
#include "pairs/block_cut.h"
#include "type/minhash_type.h"

/*
 * Constants measured on one machine, by test/bench/join_grid.sh.  One unit of cost is about
 * 2 microseconds here.  That is between a search of an index in memory, which takes about 1
 * microsecond for each unit that it costs, and a nested loop, which takes 3 or 4.
 *
 * Reading a row into an input takes as long as LOADING_OPERATORS operators of the executor.
 * Writing an entry to one more temporary file takes as long as SPILLING_OPERATORS.  A pair
 * costs what any join charges for a row.
 */
#define LOADING_OPERATORS			36
#define SPILLING_OPERATORS			4

/*
 * Number of comparisons of two fingerprints that take as long as one operator of the executor.
 */
#define COMPARISONS_PER_OPERATOR	40

/* Sorting and merging the key of one band takes as long as this many operators. */
#define BAND_OPERATORS				2

/*
 * Putting an element of an array in order takes as long as ELEMENT_OPERATORS operators, and
 * making, sorting and merging an entry of a prefix as PREFIX_ENTRY_OPERATORS.
 */
#define ELEMENT_OPERATORS			6
#define PREFIX_ENTRY_OPERATORS		12

/*
 * The chunks of the inputs that are joined with each other
 */
typedef struct Chunks
{
	double		left;			/* number of left rows in a chunk */
	double		right;			/* number of right rows in a chunk */
	double		n;				/* number of pairs of chunks, at least 1 */
	bool		partitioned;	/* true if neither input fits into memory */
} Chunks;

/*
 * What the cost of a method depends on
 */
typedef struct MethodCosts
{
	double		nentries;		/* number of entries of a row */
	EntrySize	entry;			/* size of one */
	Size		joined;			/* more bytes for it while it is joined */
	double		right_divisor;	/* the memory divided by this is for the right entries */
	int			nrounds;		/* number of times that entries are partitioned; 0 if they are
								 * written to their partitions at once */
	double		pairing;		/* operators to pair the entries of a row; 0 for JOIN_BY_DISTANCE,
								 * see pairing_operators() */
} MethodCosts;

/* --- methods ---------------------------------------------------------------------- */

/*
 * Return the number of bands of the signatures, if a column's type tells it.  Otherwise
 * returns the default.
 */
static int
number_of_bands(const JoinClauses *clauses)
{
	int32		typmod = exprTypmod((Node *) clauses->spec.left_key);

	if (typmod < 0)
		typmod = exprTypmod((Node *) clauses->spec.right_key);
	return typmod < 0 ? MINHASH_DEFAULT_BANDS : minhash_params_of_typmod(typmod).bands;
}

/*
 * Return the average length of the prefix of an array.  A row has an entry for each element
 * of its prefix.
 */
static double
prefix_length(const JoinClauses *clauses)
{
	return floor(Max(clauses->radius, 0) * clauses->elements) + 1;
}

/*
 * Return the sizes and costs of the join's method.
 */
static MethodCosts
method_costs(const JoinClauses *clauses)
{
	MethodCosts costs = {.nentries = 1};
	Size		size = ENTRY_SIZE;

	switch (clauses->spec.method)
	{
		case JOIN_BY_DISTANCE:
			costs.joined = DISTANCE_JOINED_SIZE;
			costs.right_divisor = DISTANCE_ENTRIES_DIVISOR;
			costs.nrounds = Max(clauses->radius, 0) + 1;
			break;
		case JOIN_BY_BANDS:
			costs.nrounds = number_of_bands(clauses);
			size = join_band_entry_size(costs.nrounds);
			costs.joined = REFS_JOINED_SIZE;
			costs.right_divisor = BAND_ENTRIES_DIVISOR;
			costs.pairing = BAND_OPERATORS * costs.nrounds;
			break;
		case JOIN_BY_PREFIX:
			size = PREFIX_ENTRY_SIZE;
			costs.nentries = prefix_length(clauses);
			costs.joined = REFS_JOINED_SIZE;
			costs.right_divisor = PREFIX_ENTRIES_DIVISOR;
			costs.pairing = clauses->elements * ELEMENT_OPERATORS +
				costs.nentries * PREFIX_ENTRY_OPERATORS;
			break;
	}
	costs.entry = join_entry_size(size, clauses->spec.jointype, clauses->equal != NIL);
	return costs;
}

/*
 * Return the cost of finding the pairs of two chunks, in operators.  `pairs` is the number
 * of pairs for which the equalities hold.  A self-join has no left rows of its own.
 */
static double
pairing_operators(const JoinClauses *clauses, const MethodCosts *costs, const Chunks *chunks,
				  double pairs)
{
	double		nrows = chunks->left + chunks->right;

	if (clauses->spec.method == JOIN_BY_DISTANCE)
		return block_cut_cost(nrows, clauses->radius, pairs) / COMPARISONS_PER_OPERATOR;
	return nrows * costs->pairing;
}

/* --- all methods ------------------------------------------------------------------ */

/*
 * Return the fraction of pairs that satisfy the clause of the distance, or %.
 *
 * The planner has usually cached it in the clause, and calls this for each join order.  A
 * clause that is not exact has an estimate of its own.  The estimate of a call of
 * simhash_beside() is relative to that of the clause beside it.
 */
static Selectivity
fraction_found(PlannerInfo *root, const JoinClauses *clauses)
{
	Selectivity cached = clauses->distance->norm_selec;

	if (clauses->exact && cached >= 0 && !condition_is_beside((Node *) clauses->distance->clause))
		return cached;
	return selectivity_of_join(root, &clauses->condition, JOIN_INNER, NULL);
}

/*
 * Return the fraction of pairs for which the equalities hold.  The estimate is for an
 * inner join whatever the join type is, because the join finds each pair.
 */
static Selectivity
fraction_equal(PlannerInfo *root, const JoinClauses *clauses)
{
	SpecialJoinInfo sjinfo = {
		.type = T_SpecialJoinInfo,
		.min_lefthand = clauses->left_relids,
		.min_righthand = clauses->right_relids,
		.syn_lefthand = clauses->left_relids,
		.syn_righthand = clauses->right_relids,
		.jointype = JOIN_INNER
	};

	return clauselist_selectivity(root, clauses->equal, 0, JOIN_INNER, &sjinfo);
}

/*
 * Return the cost of computing the keys of an input's rows and of grouping equal values.  The
 * input has one argument of each of the equalities: the first one if it is the left input.
 */
static QualCost
key_cost(PlannerInfo *root, Expr *key, List *equal, bool is_left)
{
	List	   *exprs = list_make1(key);
	ListCell   *lc;
	QualCost	cost;

	foreach(lc, equal)
		exprs = lappend(exprs, list_nth(lfirst_node(OpExpr, lc)->args, is_left ? 0 : 1));
	cost_qual_eval(&cost, exprs, root);
	cost.per_tuple += cpu_tuple_cost +
		(LOADING_OPERATORS + list_length(equal)) * cpu_operator_cost;
	return cost;
}

/*
 * Return the size in bytes of a row's columns in memory and in files.
 */
static double
row_size(const Path *path)
{
	return MAXALIGN(path->pathtarget->width) + MAXALIGN(SizeofMinimalTupleHeader);
}

/*
 * Estimate the chunks.  If the right entries fit into memory, the left input is joined in
 * chunks as it is read.  Otherwise both inputs are read before the join.  Partitions are
 * estimated as one chunk, and so is an input that core knows to be empty: its number of
 * rows is 0.  `left` is NULL if the join is a self-join.  A parallel join partitions always.
 */
static Chunks
estimate_chunks(const Path *left, const Path *right, const MethodCosts *method, bool is_parallel)
{
	Size		memory = get_hash_memory_limit();
	double		of_entry = method->nentries * (method->entry.in_memory + method->joined);
	double		max_right = floor(memory / method->right_divisor / of_entry);
	double		max_left = Max(memory - right->rows * of_entry, memory / MIN_CHUNK_DIVISOR) /
		(of_entry + row_size(left ? left : right));
	Chunks		chunks = {0, Max(right->rows, 1), 1, false};

	if (left == NULL)
	{
		chunks.partitioned = is_parallel || right->rows > max_right;
		return chunks;
	}
	chunks.left = Max(left->rows, 1);
	if (is_parallel)
		chunks.partitioned = true;
	else if (right->rows <= max_right)
		chunks.left = Min(chunks.left, Max(max_left, 1));
	else if (left->rows <= max_left)
		chunks.right = Max(max_right, 1);
	else
		chunks.partitioned = true;
	chunks.n = ceil(Max(left->rows, 1) / chunks.left) *
		ceil(Max(right->rows, 1) / chunks.right);
	return chunks;
}

/*
 * Return the cost of writing rows to temporary files and reading them.  Tuples are written
 * once.  Entries are written and read once more for each round in which they are
 * partitioned.  A parallel join keeps shared_memory bytes of this in memory.
 */
static Cost
spilling_cost(const Path *left, const Path *right, const Chunks *chunks,
			  const MethodCosts *method, double shared_memory)
{
	double		of_entry = method->nentries * method->entry.in_file;
	double		entries = right->rows;
	double		tuples = right->rows * row_size(right);
	double		copies = 1;

	if (chunks->partitioned)
	{
		copies += method->nrounds;
		if (left)
		{
			entries += left->rows;
			tuples += left->rows * row_size(left);
		}
	}
	else if (chunks->right >= right->rows)
		return 0;
	return entries * copies * SPILLING_OPERATORS * cpu_operator_cost +
		2 * seq_page_cost *
		ceil(Max(tuples + entries * copies * of_entry - shared_memory, 0) / BLCKSZ);
}

/*
 * Add the cost of reading an input and of computing its keys to that of a join.  The first
 * `fraction` of its rows is read before the first pair.
 */
static void
add_reading(PlannerInfo *root, const JoinClauses *clauses, const Path *input, bool is_left,
			double fraction, Cost *startup, Cost *run)
{
	QualCost	key = key_cost(root, is_left ? clauses->spec.left_key : clauses->spec.right_key,
							   clauses->spec.equal, is_left);
	Cost		reading = input->total_cost - input->startup_cost + input->rows * key.per_tuple;

	*startup += input->startup_cost + key.startup + fraction * reading;
	*run += (1 - fraction) * reading;
}

/*
 * Return the number of processes that a parallel path divides its work by, as
 * get_parallel_divisor() of costsize.c does.  Returns 1 for other paths.
 */
static double
parallel_divisor(const CustomPath *path)
{
	int			nworkers = path->path.parallel_workers;

	if (!path->path.parallel_aware)
		return 1;
	return nworkers + (parallel_leader_participation ? Max(1 - 0.3 * nworkers, 0) : 0);
}

/*
 * Return a path with the number of all rows of an input.  If it is partial, each process reads a
 * part of them.
 */
static Path
all_rows_of(const Path *input, bool is_partial)
{
	Path		all = *input;

	if (is_partial)
		all.rows = input->parent->rows;
	return all;
}

/*
 * Set the costs of a path.  path->path.rows must be set: to all rows, and those of a parallel path
 * are divided here.  A path that is not parallel itself is not parallel safe if the join writes
 * files: each worker would join and write all of it.
 */
void
join_cost(PlannerInfo *root, const JoinClauses *clauses, CustomPath *path)
{
	bool		is_self = join_is_self(&clauses->spec);
	double		divisor = parallel_divisor(path);
	Path		all_left = all_rows_of(linitial(path->custom_paths), path->path.parallel_aware);
	Path		all_right = all_rows_of(llast(path->custom_paths), path->path.parallel_aware);
	const Path *left = &all_left;
	const Path *right = &all_right;
	JoinType	jointype = clauses->spec.jointype;
	MethodCosts method = method_costs(clauses);
	Chunks		chunks = estimate_chunks(is_self ? NULL : left, right, &method,
											 path->path.parallel_aware);
	double		pairs = left->rows * right->rows * fraction_equal(root, clauses);
	double		shared_memory = path->path.parallel_aware ?
		(path->path.parallel_workers + 1) * (double) get_hash_memory_limit() / 2 : 0;
	Cost		spilling = spilling_cost(is_self ? NULL : left, right, &chunks, &method, shared_memory);
	Cost		startup = 0;
	Cost		reading = 0;
	Cost		run = spilling;
	QualCost	cost;

	if (!path->path.parallel_aware &&
		(spilling > 0 || right->rows * row_size(right) > get_hash_memory_limit()))
		path->path.parallel_safe = false;

	/* the first pair needs all of the right input, and a chunk of the left one */
	add_reading(root, clauses, llast(path->custom_paths), false, 1, &startup, &reading);
	if (!is_self)
		add_reading(root, clauses, linitial(path->custom_paths), true,
					Min(chunks.left / Max(left->rows, 1), 1), &startup, &reading);

	/* at first all pairs for which the equalities hold, then those that are found */
	run += chunks.n * cpu_operator_cost *
		pairing_operators(clauses, &method, &chunks, (is_self ? pairs / 2 : pairs) / chunks.n);
	pairs *= fraction_found(root, clauses);

	/* without other clauses, the first pair of a left row decides about it */
	if ((jointype == JOIN_SEMI || jointype == JOIN_ANTI) && clauses->match == NIL &&
		clauses->cheap == NIL)
		pairs = Min(pairs, left->rows);
	cost_qual_eval(&cost, list_concat_copy(clauses->cheap, clauses->match), root);
	startup += cost.startup;
	run += pairs * (cpu_operator_cost + cost.per_tuple);

	cost_qual_eval(&cost, clauses->filter, root);
	startup += cost.startup + path->path.pathtarget->cost.startup;
	run += path->path.rows *
		(cpu_tuple_cost + cost.per_tuple + path->path.pathtarget->cost.per_tuple);
	path->path.startup_cost = startup;
	path->path.total_cost = startup + reading + run / divisor;
	path->path.rows = clamp_row_est(path->path.rows / divisor);
}
