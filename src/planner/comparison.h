/*
 * Read comparisons of a distance with a number
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_COMPARISON_H
#define SIMHASH_COMPARISON_H

#include "nodes/primnodes.h"

#include "planner/objects.h"

/*
 * A call with two arguments, written as an operator or as a function.
 */
typedef struct Call
{
	Oid			callee_class;	/* OperatorRelationId or ProcedureRelationId */
	Oid			callee;			/* OID of the operator or function, in that catalog */
	Oid			function;		/* OID of the function that is called */
	List	   *args;
} Call;

/*
 * A comparison of a distance with a bound: distance(a, b) < bound, or with <= or =.  If
 * the query has the distance on the right side, the comparison is commuted.
 */
typedef struct Comparison
{
	SimHashObjects objects;
	Node	   *a;
	Node	   *b;
	Node	   *bound;			/* expression of any numeric type that is_bound_type()
								 * accepts */
	int			strategy;		/* btree strategy number */
	Oid			callee_class;	/* OperatorRelationId or ProcedureRelationId */
	Oid			callee;			/* OID of the operator or function that computes the
								 * distance */
} Comparison;

/*
 * An operator on arrays of hashes that sketch_overlaps(a, b) or sketch_contained(a, b) can
 * replace.
 */
typedef struct ArrayOperator
{
	Comparison	operands;		/* objects, a, b, callee_class and callee */
	Oid			function;		/* sketch_overlaps or sketch_contained */
	bool		symmetric;		/* true if b may be the index column, too */
} ArrayOperator;

extern bool read_call(Node *node, Call *call);
extern bool read_comparison(Node *clause, Comparison *comparison);
extern const Const *read_signature_bound(Node *clause);
extern bool read_array_operator(Node *clause, ArrayOperator *result);

/* bound.c */
extern Expr *bound_radius(const Comparison *comparison, bool *exact);
extern void check_signature_bound(Node *clause);

#endif							/* SIMHASH_COMPARISON_H */
