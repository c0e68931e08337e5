/*
 * Functions of this folder, by the file that defines them
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include <limits.h>

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

/* --- objects.c ------------------------------------------------------------------- */

/*
 * A distance that an index can search by: the Hamming distance of fingerprints, or the
 * containment distance or Jaccard distance of arrays of hashes.
 */
typedef struct Distance
{
	bool		of_arrays;		/* true for distances of arrays of hashes */
	bool		symmetric;		/* true if either argument may be the index column */
	Oid			radius_type;	/* type of a ball's radius */
	int			within_strategy;	/* strategy of the operator that searches within a ball */
} Distance;

/*
 * Objects of the extension that belong to a distance and that occur in clauses or plans.
 * Functions that the distance does not have are InvalidOid.
 */
typedef struct SimHashObjects
{
	const Distance *distance;	/* NULL for signatures that share a band */
	Oid			type;			/* simhash or bigint[] */
	Oid			ball_type;		/* simhash_ball or sketch_ball */
	Oid			distance_function;	/* hamming_distance, containment_distance or
									 * jaccard_distance */
	Oid			within;			/* simhash_within, containment_within or jaccard_within; for
								 * signatures, shares_band */
	Oid			between;		/* simhash_between, containment_between or jaccard_between */
	Oid			ball;			/* function that makes a ball */
	Oid			in_ball;		/* function of the operator <@, <%>@ or <%@ */
	Oid			radius_float8;	/* simhash_radius(double precision) */
	Oid			radius_numeric; /* simhash_radius(numeric) */
	Oid			below_float8;	/* simhash_radius_below(double precision) */
	Oid			below_numeric;	/* simhash_radius_below(numeric) */
	Oid			fraction_below; /* sketch_radius_below */
	Oid			beside;			/* simhash_beside */
	Oid			overlaps;		/* sketch_overlaps, which replaces && */
	Oid			contained;		/* sketch_contained, which replaces <@ */
	bool		incomplete;		/* true if a function was not found */
} SimHashObjects;

extern const Distance distance_hamming;
extern const Distance distance_containment;
extern const Distance distance_jaccard;

extern bool distance_open_ball(const Distance *distance, Datum ball, Datum *center,
							   Datum *radius);
extern PGFunction function_address(Oid function);
extern void objects_init(void);
extern bool objects_find(const Distance *distance, SimHashObjects *objects);
extern bool objects_find_condition(Oid function, SimHashObjects *objects);
extern Oid	objects_beside(void);
extern const Distance *objects_distance(Oid function);
extern const Distance *objects_distance_of_ball(Oid type, Oid function);
extern const SimHashObjects *objects_of_signatures(void);
extern Oid	objects_search_operator(const SimHashObjects *objects, Oid opfamily);

/* --- bound.c --------------------------------------------------------------------- */

extern Node *make_constant(Oid type, Datum value);
extern Expr *bound_radius(const SimHashObjects *objects, Node *bound, bool below);
extern void bound_check_unit(bool of_bits, Node *bound);
extern float8 fraction_below(float8 bound);

/* --- condition.c ----------------------------------------------------------------- */

/* Radius in bits to assume if the planner does not know the radius.  8 is a common choice. */
#define UNKNOWN_RADIUS			8

/* Radius to assume if the distance is a fraction and the planner does not know the radius. */
#define UNKNOWN_FRACTION_RADIUS	0.5

/*
 * The condition above < distance(a, b) <= radius, or, if distance is NULL, that two
 * signatures share a band.  It holds for all rows that match the clause from which it was
 * read, except for a <@ b if a is empty.
 */
typedef struct Condition
{
	const Distance *distance;
	Oid			function;		/* the function that computes the condition; statistics are
								 * used only if it may see them */
	Oid			type;			/* type of signatures, or InvalidOid for a distance */
	Oid			ball;			/* type of balls, or InvalidOid if neither a nor b may be a
								 * column of balls */
	Node	   *a;
	Node	   *b;				/* NULL for an unknown constant */
	Node	   *radius;			/* NULL if unknown; the greatest distance if there is no upper
								 * bound */
	Node	   *above;			/* NULL if there is no lower bound */
	double		count;			/* number of conditions of which one must hold.  For an array
								 * of balls, of which only the greatest radius is stored, it
								 * may be above 1. */

	/* The operator or function that a comparison or an operator on arrays calls */
	Oid			callee_class;	/* OperatorRelationId or ProcedureRelationId */
	Oid			callee;			/* OID in that catalog */
} Condition;

/*
 * The searches of an index scan for fingerprints within balls.  A path without conditions on
 * fingerprints has one search, which is for all rows.
 */
typedef struct Searches
{
	int			column;			/* number of the index column from 0, or -1 if no condition
								 * is on fingerprints */
	double		count;			/* number of searches, one for each element of an array */
	int			radius;			/* in bits, the smallest of several clauses */
	bool		unknown;		/* true if the radius is assumed, because it is not known */
	Node	   *center;			/* center of the smallest ball; NULL if there is no ball, or if
								 * its center is not known */
	bool		nulls;			/* true if the scan searches for NULLs rather than for
								 * fingerprints */
	List	   *others;			/* RestrictInfos of the conditions on earlier columns, and of
								 * other conditions on this column */
} Searches;

extern bool condition_read_comparison(Node *clause, Condition *condition);
extern bool condition_read_array_operator(Node *clause, Condition *condition, bool *symmetric);
extern bool condition_read_call(Oid function, List *args, Condition *condition);
extern bool condition_read(Node *clause, Condition *condition);
extern bool condition_read_implied(Node *clause, Condition *weakest);
extern bool condition_read_operator(PlannerInfo *root, Oid operator, List *args,
									Condition *condition, Selectivity *otherwise);
extern bool condition_read_search(PlannerInfo *root, Node *clause, Oid opfamily,
								  Condition *condition);
extern void condition_read_searches(PlannerInfo *root, IndexPath *path, Searches *searches);
extern void condition_check_signatures(Node *clause);
extern bool condition_is_beside(Node *clause);
extern bool condition_is_bounded(const Condition *condition);
extern bool condition_is_equality(const Condition *condition);
extern bool condition_merge(Condition *condition, const Condition *other);
extern Node *condition_make_call(const Condition *condition, Oid function, List *further);
extern Node *condition_make_bounds(const Condition *condition, const SimHashObjects *objects);
extern double condition_radius(PlannerInfo *root, const Distance *distance, Node *radius,
							   bool *known);

/* --- sample.c -------------------------------------------------------------------- */

/*
 * Maximum number of common values in a sample, and of histogram bounds.  A sample to
 * compare with a single value has all values that ANALYZE kept.  Two samples to compare
 * with each other have few, since all pairs of their values are compared.
 */
#define SAMPLE_ALL				INT_MAX
#define SAMPLE_PAIRED			64
#define SAMPLE_PAIRED_LARGE		40	/* for signatures and arrays */

typedef struct Sample
{
	Oid			type;			/* type of the values, if they are signatures, arrays or
								 * balls; InvalidOid if they have 64 bits, of any type */
	bool		of_balls;		/* true if the values are the centers of balls */
	double		radius;			/* average radius of the balls, in bits */
	double		nonnull;		/* fraction of rows whose value is not NULL */
	int			ncommon;		/* number of common values */
	int			nvalues;		/* number of common values and histogram bounds */
	Datum	   *value;			/* common values, the most common first, then histogram
								 * bounds */
	double	   *fraction;		/* fraction of rows that the value represents, for each
								 * value */
	double		rest;			/* fraction of rows whose value is neither NULL nor one of
								 * the common values of the sample */
	double		ndistinct;		/* number of distinct values of the rows that `rest`
								 * counts, at least 1 */
} Sample;

/*
 * A test of pairs of values: of fingerprints for their distance, or of signatures for a shared
 * band.
 */
typedef struct SampleTest
{
	bool		of_signatures;
	bool		of_equal;		/* true if the test holds for equal values */
	double		min_fraction;	/* lower bound: fraction of unrelated pairs for which
								 * the test holds */
	double		self_pairs;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */

	/* For fingerprints: the distances for which the test holds, inclusive, in bits */
	int			low;
	int			high;
} SampleTest;

extern void sample_column(VariableStatData *column, Oid function, Oid type, int limit,
						  Sample *sample);
extern double sample_ndistinct(VariableStatData *column);
extern double sample_inner_rows(const VariableStatData *column, const SpecialJoinInfo *sjinfo);
extern void sample_free(Sample *sample);
extern double sample_near(const Sample *sample, Datum value, const SampleTest *test);
extern double sample_pairs(const Sample *a, const Sample *b, const SampleTest *test);
extern double sample_semijoin(const Sample *outer, const Sample *inner,
							  double inner_rows, const SampleTest *test,
							  double max_equal);

/* --- the other files ------------------------------------------------------------- */

/* array_estimate.c */
extern Selectivity array_estimate(PlannerInfo *root, const Condition *condition, bool of_join,
								  JoinType jointype, SpecialJoinInfo *sjinfo);
extern double array_count_elements(PlannerInfo *root, Node *node);
extern double array_comparison_cost(double a, double b);

/* gist_cost.c */
extern void gist_cost_init(RelOptInfo *rel);

/* privileges.c */
extern bool privileges_suffice(PlannerInfo *root, Node *expression);
extern bool privileges_suffice_for_search(PlannerInfo *root, const SimHashObjects *objects);

/* selectivity.c */

/* State that outlives a hook's call while core plans a query. */
typedef struct PlannerRun
{
	PlannerInfo *root;
	Const	   *last_ball;		/* of support.c; NULL before the first one */

	/* The sample of the column restricted last, and what it was made for */
	RelOptInfo *rel;
	double		tuples;			/* rel->tuples */
	Node	   *column;
	Condition	condition;		/* of which type, ball and function are used */
	Sample		sample;

	MemoryContextCallback forget;
} PlannerRun;

extern PlannerRun *planner_run_of(PlannerInfo *root);
extern int	selectivity_nearest_radius(double nrows);
extern Selectivity selectivity_of_restriction(PlannerInfo *root, const Condition *condition,
											  int varRelid);
extern Selectivity selectivity_of_join(PlannerInfo *root, const Condition *condition,
									   JoinType jointype, SpecialJoinInfo *sjinfo);

/* self_join.c */

/* Pairs of rows of one table that a clause excludes. */
typedef enum ExcludedPairs
{
	EXCLUDES_NONE,
	EXCLUDES_ITSELF,			/* a row and itself */
	EXCLUDES_OTHER_ORDER		/* that, and each other pair in one of its two orders */
} ExcludedPairs;

/* How the two sides of a join are related. */
typedef struct SelfJoin
{
	bool		same_values;	/* true if both sides are the same column of one table */
	double		excluded;		/* fraction of pairs that are a row and itself, if another
								 * clause excludes them; otherwise 0 */
} SelfJoin;

extern bool is_same_of_both(Node *of_a, Node *of_b, int a, int b);
extern ExcludedPairs excluded_pairs(Expr *clause, int a, int b);
extern SelfJoin self_join_read(PlannerInfo *root, const Condition *condition);

/*
 * Return the greatest probability to assume that a row has an equal one on the other side.
 * Each row of a table has one in that table.  Of two tables the samples do not tell, so assume
 * a half, as eqjoinsel_semi() does if it has no statistics.  Then neither the rows with a match
 * nor those without one are estimated as none.
 */
static inline double
self_join_max_equal(const SelfJoin *self)
{
	return self->same_values && self->excluded == 0 ? 1 : 0.5;
}

/* rewrite/other_uses.c */
extern bool compared_elsewhere(PlannerInfo *root, RelOptInfo *rel, Index relid,
							   const Condition *condition);
extern bool is_foreign(PlannerInfo *root, Index relid);

/* rewrite/rewrite.c */
extern void rewrite_init(void);

/* rewrite/rewrite_clause.c */

/* A rewrite of the clauses of a query level, while the planner builds a relation. */
typedef struct Rewrite
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* the relation */
	List	   *appinfos;		/* if it is a child: AppendRelInfos from the parent that the
								 * clauses reference down to it */
	bool		only_arrays;	/* true if comparisons of distances are rewritten elsewhere */

	/* Arguments and result of the last call of compared_elsewhere(), a cache */
	Oid			callee_class;
	Oid			callee;
	Index		relid;
	bool		compared;

	/* Relations that were tested, and those that are foreign, a cache */
	Relids		tested;
	Relids		foreign;
} Rewrite;

extern List *rewrite_list(Rewrite *rewrite, List *clauses);

#endif							/* SIMHASH_PLANNER_H */
