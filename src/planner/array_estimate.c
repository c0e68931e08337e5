/*
 * Selectivity of distances of arrays, estimated from their common elements
 *
 * ANALYZE keeps the most common elements of a column of arrays, with their frequencies.  A
 * document that contains a passage contains all elements of the passage.  So these
 * elements are not independent.  They occur together.  Therefore assume that a document
 * contains at least T elements of a passage if it contains the T-th most common one.
 *
 * By Jaccard distance the estimate from common elements is an upper bound, because rows of
 * frequent elements have other elements, too.  So the fraction of the sampled arrays within
 * the distance is used, if it is less.  ANALYZE samples arrays of up to 125 elements.  For a
 * longer one the upper bound stays.  The cost of the index is that of the upper bound, whose
 * rows it fetches.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/planner.h"
#include "type/hash_array.h"

/*
 * Frequency of an element in a column that was never analyzed.  The same as
 * DEFAULT_CONTAIN_SEL in array_selfuncs.c.
 */
#define DEFAULT_FREQUENCY	0.005

/*
 * Number of other rows to assume within a radius of 1 of a row, in proportion for a smaller
 * one, where two columns are compared and the statistics show none.  Collections with
 * near-duplicates had 1 (150,000 documents, cleaned once) to 10 (descriptions of packages).
 */
#define NEAR_ROWS			5.0

/* The listed elements, which are the common elements of the documents. */
typedef struct Elements
{
	int			n;				/* number of listed elements */
	int64	   *element;		/* listed elements, in ascending order */
	double	   *frequency;		/* fraction of documents that contain each of them */
	double		other;			/* frequency assumed for an element that is not listed */
	double		nonnull;		/* fraction of documents that are not NULL */

	/* Of a column with statistics, for a Jaccard distance; otherwise 0 or empty */
	double		unseen;			/* fraction assumed for documents of which the sample has none */
	Sample		sample;			/* documents that have few elements */
} Elements;

/* Maximum number of elements of a sampled array.  ANALYZE samples no value above 1 kB. */
#define MAX_SAMPLED_ELEMENTS	125

/*
 * Read the common elements of a column and their frequencies, if the function may see the
 * column's statistics.  Unless `limit` is 0, reads also a sample of at most 2 * limit documents.
 *
 * An unlisted element may be in a single row, or in nearly as many rows as the rarest
 * listed element.  Assume the geometric mean of these two frequencies.
 */
static void
read_statistics(VariableStatData *column, Oid function, int limit, Elements *elements)
{
	AttStatsSlot slot = {0};
	double		nrows = column->rel ? column->rel->tuples : 0;
	double		rarest = 1;
	double		nonnull;

	elements->nonnull = 1;
	if (!HeapTupleIsValid(column->statsTuple) ||
		!statistic_proc_security_check(column, function))
	{
		elements->other = DEFAULT_FREQUENCY;
		return;
	}
	nonnull = 1 - ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
	elements->nonnull = nonnull;
	if (get_attstatsslot(&slot, column->statsTuple, STATISTIC_KIND_MCELEM, InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS) &&
		slot.valuetype == INT8OID)
	{
		elements->n = Min(slot.nvalues, slot.nnumbers);
		elements->element = palloc(elements->n * sizeof(int64));
		elements->frequency = palloc(elements->n * sizeof(double));
		for (int i = 0; i < elements->n; i++)
		{
			elements->element[i] = DatumGetInt64(slot.values[i]);
			elements->frequency[i] = nonnull * slot.numbers[i];
			rarest = Min(rarest, slot.numbers[i]);
		}
	}
	free_attstatsslot(&slot);
	if (elements->n == 0)
		rarest = nrows >= 1 ? 1 / nrows : DEFAULT_FREQUENCY;
	elements->other = nonnull * (nrows >= 1 ? sqrt(rarest / nrows) : rarest);
	if (limit == 0 || nrows < 1)
		return;
	sample_column(column, function, INT8ARRAYOID, limit, &elements->sample);
	elements->unseen = nonnull / sqrt(Max(elements->sample.nvalues, 1) * nrows);
}

/*
 * Read the elements of the documents.  The documents are a column, or a single constant.
 * The elements of a constant have frequency 1.  See read_statistics() for `limit`.
 */
static void
read_documents(VariableStatData *documents, const Const *document, Oid function, int limit,
			   Elements *elements)
{
	memset(elements, 0, sizeof(Elements));
	if (document == NULL)
	{
		read_statistics(documents, function, limit, elements);
		return;
	}
	elements->element = hash_array_elements(document->constvalue, &elements->n);
	elements->frequency = palloc(elements->n * sizeof(double));
	for (int i = 0; i < elements->n; i++)
		elements->frequency[i] = 1;
}

/*
 * Compare two doubles in descending order, for qsort().
 */
static int
compare_descending(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x < y) - (x > y);
}

/*
 * Return the fraction of documents within a Jaccard distance of a set of keys, at most `max`.
 * Counts the sampled documents.  An array of the sample is no sign of further equal ones, unless
 * it is a common value.  Returns `max` if the keys are too many for a document of the sample.
 */
static double
fraction_resembling(const Elements *documents, const int64 *key, int nkeys, double radius,
					double max)
{
	const Sample *sample = &documents->sample;
	double		fraction = 0;

	if (sample->nvalues == 0 || nkeys > MAX_SAMPLED_ELEMENTS || max <= documents->unseen)
		return max;
	for (int i = 0; i < sample->nvalues; i++)
	{
		int			n;
		int64	   *element = hash_array_elements(sample->value[i], &n);
		Overlap		overlap = sorted_overlap(element, n, key, nkeys);
		double		distance = jaccard_distance_of(&overlap);

		if (distance <= radius && (distance > 0 || i < sample->ncommon))
			fraction += sample->fraction[i];
		pfree(element);
	}
	return Min(Max(fraction, documents->unseen), max);
}

/*
 * Return the fraction of documents within the radius of a passage.  Estimates the documents
 * that have as many elements of the passage as a document within the radius must have.  By
 * containment distance these are the same documents.  By Jaccard distance, those with many
 * further elements are beyond the radius.
 */
static double
fraction_within(const Elements *documents, const Distance *distance, Datum passage, double radius)
{
	int			nkeys;
	int64	   *key = hash_array_elements(passage, &nkeys);
	int			min_match = nkeys - max_missing(nkeys, radius);
	double	   *frequency = palloc(documents->n * sizeof(double));
	int			nlisted = 0;
	double		fraction = documents->other;

	for (int i = 0, j = 0; i < nkeys && j < documents->n;)
	{
		if (key[i] == documents->element[j])
			frequency[nlisted++] = documents->frequency[j];
		if (key[i] <= documents->element[j])
			i++;
		else
			j++;
	}
	qsort(frequency, nlisted, sizeof(double), compare_descending);
	if (nkeys == 0 || min_match > nkeys)
		fraction = 0;
	else if (min_match <= 0)
		fraction = 1;
	else if (min_match <= nlisted)
		fraction = frequency[min_match - 1];
	if (distance == &distance_jaccard && min_match > 0 && min_match <= nkeys)
		fraction = fraction_resembling(documents, key, nkeys, radius, fraction);
	pfree(frequency);
	pfree(key);
	return fraction;
}

/*
 * Return the average, over a sample of passages, of the fraction of documents within the
 * radius.  If ndocuments is above 0, return the average probability that at least one of
 * ndocuments documents is within the radius.
 */
static double
average_fraction(const Elements *documents, const Distance *distance, const Sample *passages,
				 double radius, double ndocuments)
{
	double		sum = 0;
	double		weight = 0;

	for (int i = 0; i < passages->nvalues; i++)
	{
		double		fraction = fraction_within(documents, distance, passages->value[i], radius);

		if (ndocuments > 0)
			fraction = Min(fraction * ndocuments, 1);
		sum += passages->fraction[i] * fraction;
		weight += passages->fraction[i];
	}
	if (weight > 0)
		return sum / weight;
	return radius >= 1 ? documents->nonnull : Min(documents->other * Max(ndocuments, 1), 1);
}

/*
 * Set the fraction of documents to assume for a passage without listed elements, which is from
 * a column of another relation.  Equal arrays are estimated as for the operator =, near ones by
 * the radius: ANALYZE keeps a hundred arrays, among which only large families show.
 * inner_rows is the number of inner rows of a semijoin or antijoin, else 0.
 */
static void
assume_pairs(Elements *elements, VariableStatData *documents, VariableStatData *passages,
			 double radius, const SelfJoin *self, double inner_rows)
{
	double		nrows = Max(documents->rel->tuples, 1);
	double		ndistinct = Max(sample_ndistinct(documents), sample_ndistinct(passages));
	double		fraction = NEAR_ROWS * Min(radius, 1) / nrows + 1 / ndistinct;

	fraction -= Min(self->excluded, fraction);
	if (inner_rows > 0)
		fraction = Min(fraction, self_join_max_equal(self) / inner_rows);
	fraction *= elements->nonnull;
	elements->other = Min(elements->other, fraction);
	elements->unseen = Min(elements->unseen, fraction);
}

/*
 * Return fraction_within_radius() if the passage is not a constant.  Passages are sampled
 * from their column if it has statistics, else from the column of documents.  A NULL passage
 * matches nothing.  So the fraction of passages that are not NULL is a factor in a join, unless
 * they are the inner rows of a semijoin, and in a restriction whose documents are no column.
 */
static Selectivity
selectivity_of_sample(Elements *elements, VariableStatData *documents,
					  VariableStatData *passages, const Condition *condition, double radius,
					  const SelfJoin *self, bool of_join, SpecialJoinInfo *semijoin)
{
	double		inner_documents = semijoin ? sample_inner_rows(documents, semijoin) : 0;
	double		inner_passages = semijoin && inner_documents == 0 ?
		sample_inner_rows(passages, semijoin) : 0;
	Sample		sample;
	Selectivity selectivity;

	sample_column(HeapTupleIsValid(passages->statsTuple) ? passages : documents,
				  condition->function, INT8ARRAYOID, SAMPLE_PAIRED_LARGE, &sample);
	if (documents->rel && passages->rel)
		assume_pairs(elements, documents, passages, radius, self,
					 inner_documents + inner_passages);
	selectivity = average_fraction(elements, condition->distance, &sample, radius,
								   inner_documents);
	if (inner_passages > 0)
		selectivity = Min(selectivity * inner_passages, 1);
	else if (of_join || documents->rel == NULL)
		selectivity *= sample.nonnull;
	sample_free(&sample);
	return selectivity;
}

/*
 * Return an array as a constant, or NULL if the planner does not know its value.
 */
static const Const *
constant_array(PlannerInfo *root, Node *array)
{
	Node	   *constant = array ? estimate_expression_value(root, array) : NULL;

	return constant && IsA(constant, Const) ? (const Const *) constant : NULL;
}

/*
 * Return true if the planner knows more of a column than of another: only this one has
 * statistics, or its statistics are of more rows.
 */
static bool
knows_more(const VariableStatData *column, const VariableStatData *other)
{
	if (!HeapTupleIsValid(column->statsTuple) || !HeapTupleIsValid(other->statsTuple))
		return HeapTupleIsValid(column->statsTuple);
	return column->rel && other->rel && column->rel->tuples > other->rel->tuples;
}

/*
 * Return the fraction of pairs, or of a table's rows if of_join is false, in which the document
 * is within the radius of the passage.  For semijoins and antijoins, return the fraction of
 * outer rows that have a match.  Only a Jaccard distance needs more than the common elements of
 * the documents.
 */
static Selectivity
fraction_within_radius(PlannerInfo *root, const Condition *condition, double radius,
					   bool of_join, JoinType jointype, SpecialJoinInfo *sjinfo)
{
	bool		semi = jointype == JOIN_SEMI || jointype == JOIN_ANTI;
	SelfJoin	self = self_join_read(root, condition);
	int			limit = 0;
	const Const *document = constant_array(root, condition->a);
	const Const *passage = constant_array(root, condition->b);
	VariableStatData documents;
	VariableStatData passages = {0};
	Elements	elements;
	Selectivity selectivity;

	if (radius < 0 || (document && document->constisnull) || (passage && passage->constisnull))
		return 0;
	examine_variable(root, condition->a, 0, &documents);
	/* b is NULL if it is a ball whose center is unknown */
	if (condition->b)
		examine_variable(root, condition->b, 0, &passages);
	if (condition->distance->symmetric && !passage && knows_more(&passages, &documents))
	{
		VariableStatData a = documents;

		documents = passages;
		passages = a;
		passage = document;
		document = NULL;
	}
	if (condition->distance == &distance_jaccard)
		limit = passage ? SAMPLE_ALL : SAMPLE_PAIRED_LARGE;
	read_documents(&documents, document, condition->function, limit, &elements);
	if (passage)
		selectivity = fraction_within(&elements, condition->distance, passage->constvalue, radius);
	else
		selectivity = selectivity_of_sample(&elements, &documents, &passages, condition,
											radius, &self, of_join, semi ? sjinfo : NULL);
	ReleaseVariableStats(documents);
	ReleaseVariableStats(passages);
	if (elements.n > 0)
	{
		pfree(elements.element);
		pfree(elements.frequency);
	}
	sample_free(&elements.sample);
	return selectivity;
}

/*
 * Return the fraction of pairs, or of a table's rows if of_join is false, in which the distance
 * of the document from the passage meets a condition.  For semijoins and antijoins, return the
 * fraction of outer rows that have a match.  In a semijoin no rows are estimated to have matches
 * below the lower bound only.
 */
Selectivity
array_estimate(PlannerInfo *root, const Condition *condition, bool of_join, JoinType jointype,
			   SpecialJoinInfo *sjinfo)
{
	bool		known;
	double		radius = condition_radius(root, condition->distance, condition->radius, &known);
	double		above = condition->above == NULL ? -1 :
		condition_radius(root, condition->distance, condition->above, &known);
	Selectivity selectivity = fraction_within_radius(root, condition, radius, of_join, jointype,
													 sjinfo);

	if (above >= 0 && jointype != JOIN_SEMI && jointype != JOIN_ANTI)
		selectivity -= fraction_within_radius(root, condition, Min(above, radius), of_join,
											  jointype, sjinfo);
	return Max(selectivity, 0);
}

/*
 * Number of elements to assume in the arrays of a column without statistics: those of a
 * page of text.
 */
#define DEFAULT_ELEMENTS	50.0

/* Number of elements of the arrays that ANALYZE ignores, which have more than 64 kB. */
#define IGNORED_ELEMENTS	(65536.0 / sizeof(int64))

/*
 * Return the estimated number of elements of an array: of a column from its statistics, of
 * anything else as core does.  Core takes 10 elements for a column, up to 16.  The planner may
 * ask before there are RelOptInfos, so this does not use examine_variable().
 */
double
array_count_elements(PlannerInfo *root, Node *node)
{
	Var		   *column = (Var *) node;
	RangeTblEntry *rte;
	HeapTuple	statistics = NULL;
	AttStatsSlot slot;
	int32		width;
	double		elements;

	if (root == NULL || !IsA(column, Var) || column->varlevelsup > 0)
		return estimate_elements(root, node);
	rte = planner_rt_fetch(column->varno, root);
	if (rte->rtekind == RTE_RELATION)
		statistics = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
									 Int16GetDatum(column->varattno), BoolGetDatum(rte->inh));
	if (!HeapTupleIsValid(statistics))
		return DEFAULT_ELEMENTS;
	width = ((Form_pg_statistic) GETSTRUCT(statistics))->stawidth;
	elements = (double) width / sizeof(int64);

	/* the numbers of the slot end with the average */
	if (get_attstatsslot(&slot, statistics, STATISTIC_KIND_DECHIST, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		elements = slot.numbers[slot.nnumbers - 1];
		free_attstatsslot(&slot);
	}
	else if (width > 0 && width <= TOAST_POINTER_SIZE)
		elements = IGNORED_ELEMENTS;
	ReleaseSysCache(statistics);
	return elements;
}

/*
 * Return the cost of comparing arrays of a and b elements.  The time is that of copying the
 * elements of the first array, and of searching for each of them in the second one.
 */
double
array_comparison_cost(double a, double b)
{
	return cpu_operator_cost * a * (1 + log2(2 + b));
}
