/*
 * common_passages(a, b, ...): the passages that two documents share
 * edited_passages(a, b, ...): the same, joined where only a few words differ
 *
 * Both documents are sequences of units, which are words or characters.  The symbol of a
 * unit is its ShingleId in the set of b's units.  So units are equal, not only their hashes.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "functions/arguments.h"
#include "functions/runs.h"
#include "functions/shingle_set.h"

#define JOINED_COLUMNS		8

/*
 * Maximum gap between two passages that edited_passages() joins.  The time grows with it.
 */
#define MAX_GAP				1000

/*
 * A document as a sequence of units.
 */
typedef struct Sequence
{
	struct varlena *document;	/* detoasted */
	ShingleSet *set;
	bool		is_set;			/* true if `set` is the set of this document's own units */
	int			n;
	int			capacity;
	Symbol	   *symbols;
	Passage    *passages;
} Sequence;

/*
 * Append the next unit.  Raises an error if the sequence has AUTOMATON_MAX units already.
 * A LocatedConsumer.
 */
static void
take_unit(void *arg, const char *unit, size_t length, Passage passage)
{
	Sequence   *sequence = arg;

	if (sequence->n == AUTOMATON_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents are too large to compare"),
				 errdetail("A document has more than %d words or characters.", AUTOMATON_MAX),
				 errhint("Compare chunks of them, cut by text_windows().")));
	if (sequence->n == sequence->capacity)
	{
		sequence->capacity *= 2;
		sequence->symbols = repalloc_huge(sequence->symbols, sequence->capacity * sizeof(Symbol));
		sequence->passages = repalloc_huge(sequence->passages, sequence->capacity * sizeof(Passage));
	}
	sequence->symbols[sequence->n] = sequence->is_set ?
		shingle_set_put(sequence->set, unit, length) :
		shingle_set_find(sequence->set, unit, length);
	sequence->passages[sequence->n++] = passage;
}

/*
 * Read the document that is argument i of a function, as a sequence.  If is_set is true, adds
 * its units to `set`, else searches for them there.
 */
static void
read_sequence(FunctionCallInfo fcinfo, int i, const Cut *cut, ShingleSet *set, bool is_set,
			  Sequence *sequence)
{
	*sequence = (Sequence) {
		.document = cut->is_array ? PG_GETARG_VARLENA_P(i) : PG_GETARG_VARLENA_PP(i),
		.set = set,
		.is_set = is_set,
		.capacity = 256,
		.symbols = palloc(256 * sizeof(Symbol)),
		.passages = palloc(256 * sizeof(Passage))
	};
	locate_document(PointerGetDatum(sequence->document), cut, take_unit, sequence);
}

/*
 * Return the text of the units from `first` to `end` - 1, as it is written, or an empty
 * text if there are none.
 */
static Datum
text_of_units(const Sequence *sequence, int32 first, int32 end)
{
	const Passage *passages = sequence->passages;
	int32		start = first < end ? passages[first].start.byte : 0;
	int32		length = first < end ? passages[end - 1].end.byte - start : 0;

	return PointerGetDatum(cstring_to_text_with_len(VARDATA_ANY(sequence->document) + start,
													length));
}

/*
 * Set two columns: the position of the units from `first` to `end` - 1, in characters from
 * 1, and their number of characters.
 */
static void
set_position(Datum *values, const Sequence *sequence, int32 first, int32 end)
{
	int32		start = sequence->passages[first].start.character;

	values[0] = Int32GetDatum(start + 1);
	values[1] = Int32GetDatum(sequence->passages[end - 1].end.character - start);
}

/*
 * The two documents of common_passages() or edited_passages(), and their common runs.
 */
typedef struct ComparedDocuments
{
	Cut			cut;			/* cuts a document into units */
	ShingleSet	set;
	SetBudget	budget;
	Sequence	a;
	Sequence	b;
	int			minimum;
	CommonRuns	found;
} ComparedDocuments;

/*
 * Return the texts of the gaps between the runs of a list, as an array.  `in_b` chooses the
 * document.  A gap is empty if the other document has something inserted there.
 */
static Datum
gap_texts(const ComparedDocuments *c, const JoinedRuns *joined, int first, bool in_b)
{
	ArrayBuildState *gaps = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	for (int i = first; joined->next[i] != NO_RUN; i = joined->next[i])
	{
		const CommonRun *run = &c->found.runs[i];
		const CommonRun *next = &c->found.runs[joined->next[i]];
		Datum		gap = in_b ? text_of_units(&c->b, run->b + run->length, next->b) :
			text_of_units(&c->a, run->a + run->length, next->a);

		CHECK_FOR_INTERRUPTS();
		accumArrayResult(gaps, gap, false, TEXTOID, CurrentMemoryContext);
	}
	return makeArrayResult(gaps, CurrentMemoryContext);
}

/*
 * Add the passages of the runs found to the result, or those of the joined runs if `joined`
 * is not NULL, the longest first.  Those of tokens are positions in the arrays, and a number of
 * tokens.  Checks for interrupts.
 */
static void
report_passages(ReturnSetInfo *result, const ComparedDocuments *c, const JoinedRuns *joined)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "common passage",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	const CommonRun *runs = c->found.runs;
	int			n = joined ? joined->n : c->found.n;

	for (int i = 0; i < n; i++)
	{
		int			first = joined ? joined->joined[i].first : i;
		int			last = first;
		Datum		values[JOINED_COLUMNS];
		bool		nulls[JOINED_COLUMNS] = {false};

		while (joined && joined->next[last] != NO_RUN)
			last = joined->next[last];
		if (c->cut.is_array)
		{
			values[0] = Int32GetDatum(runs[i].a + 1);
			values[1] = Int32GetDatum(runs[i].b + 1);
			values[2] = Int32GetDatum(runs[i].length);
		}
		else
		{
			set_position(&values[0], &c->a, runs[first].a, runs[last].a + runs[last].length);
			set_position(&values[2], &c->b, runs[first].b, runs[last].b + runs[last].length);
			values[4] = Int32GetDatum(joined ? joined->joined[i].length : runs[i].length);
			values[5] = text_of_units(&c->a, runs[first].a, runs[last].a + runs[last].length);
		}
		if (joined)
		{
			values[6] = gap_texts(c, joined, first, false);
			values[7] = gap_texts(c, joined, first, true);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
}

/*
 * Find the common runs of the documents of arguments 0 and 1.  Argument 2 is the minimum.
 * unit_argument is the number of the argument with the unit, if the function is one of
 * texts.  A function of arrays of tokens has no such argument.
 */
static void
find_passages(FunctionCallInfo fcinfo, int unit_argument, ComparedDocuments *c)
{
	bool		are_arrays = PG_NARGS() <= unit_argument;

	c->cut.is_array = are_arrays;
	c->cut.width = 1;
	c->cut.unit = are_arrays ? UNIT_WORD : get_unit(fcinfo, unit_argument);
	c->minimum = PG_ARGISNULL(2) ? sketch_default_width(c->cut.unit) : PG_GETARG_INT32(2);
	check_range(c->minimum, 1, PG_INT32_MAX, "minimum",
				"The shortest passage has at least 1 word or character.");

	shingle_set_begin(&c->set, &c->budget, CurrentMemoryContext);
	read_sequence(fcinfo, 1, &c->cut, &c->set, true, &c->b);
	read_sequence(fcinfo, 0, &c->cut, &c->set, false, &c->a);
	find_common_runs(c->a.symbols, c->a.n, c->b.symbols, c->b.n, c->minimum, &c->found);
}

/*
 * common_passages(a text, b text, minimum int, unit text) and common_passages(a text[], b
 * text[], minimum int)
 */
PG_FUNCTION_INFO_V1(simhash_common_passages);
Datum
simhash_common_passages(PG_FUNCTION_ARGS)
{
	ComparedDocuments c;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	find_passages(fcinfo, 3, &c);
	report_passages((ReturnSetInfo *) fcinfo->resultinfo, &c, NULL);
	return (Datum) 0;
}

/*
 * edited_passages(a text, b text, minimum int, gap int, unit text)
 */
PG_FUNCTION_INFO_V1(simhash_edited_passages);
Datum
simhash_edited_passages(PG_FUNCTION_ARGS)
{
	ComparedDocuments c;
	JoinedRuns	joined;
	int			gap = PG_ARGISNULL(3) ? -1 : PG_GETARG_INT32(3);

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	if (!PG_ARGISNULL(3))
		check_range(gap, 0, MAX_GAP, "gap", "A gap has 0 to %d words or characters.");
	find_passages(fcinfo, 4, &c);
	if (PG_ARGISNULL(3))
		gap = Min(c.minimum, MAX_GAP);
	join_common_runs(c.a.symbols, c.a.n, c.b.symbols, c.b.n, gap, &c.found, &joined);
	report_passages((ReturnSetInfo *) fcinfo->resultinfo, &c, &joined);
	return (Datum) 0;
}
