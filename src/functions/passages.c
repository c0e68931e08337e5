/*
 * common_passages(a, b, ...): the passages that two documents share
 * edited_passages(a, b, ...): the same, joined where only a few words differ
 *
 * Both documents are sequences of units, which are words or characters.  The symbol of a
 * unit is its address in the set of b's units.  So units are equal, not only their hashes.
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
#include "functions/common_runs.h"
#include "functions/shingle_set.h"

#define PASSAGE_COLUMNS		6
#define JOINED_COLUMNS		8
#define RUN_COLUMNS			3

/*
 * Maximum gap between two passages that edited_passages() joins.  The time grows with it.
 */
#define MAX_GAP				1000

/*
 * A document as a sequence of units.
 */
typedef struct Sequence
{
	ShingleSet *set;
	bool		is_set;			/* true if `set` is the set of this document's own units */
	int			n;
	int			capacity;
	Symbol	   *symbols;
	Passage    *passages;
} Sequence;

static void
begin_sequence(Sequence *sequence, ShingleSet *set, bool is_set)
{
	sequence->set = set;
	sequence->is_set = is_set;
	sequence->n = 0;
	sequence->capacity = 256;
	sequence->symbols = palloc(sequence->capacity * sizeof(Symbol));
	sequence->passages = palloc(sequence->capacity * sizeof(Passage));
}

/*
 * Double the capacity of a sequence.  Raises an error if it has AUTOMATON_MAX units
 * already.
 */
static void
enlarge_sequence(Sequence *sequence)
{
	if (sequence->n == AUTOMATON_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents are too large to compare"),
				 errdetail("A document has more than %d words or characters.", AUTOMATON_MAX),
				 errhint("Compare chunks of them, cut by text_windows().")));
	sequence->capacity *= 2;
	sequence->symbols = repalloc_huge(sequence->symbols, sequence->capacity * sizeof(Symbol));
	sequence->passages = repalloc_huge(sequence->passages, sequence->capacity * sizeof(Passage));
}

/*
 * Append the next unit.  Raises an error if the sequence has AUTOMATON_MAX units already.
 * A LocatedConsumer.
 */
static void
take_unit(void *arg, const char *unit, size_t length, Passage passage)
{
	Sequence   *sequence = arg;

	if (sequence->n == sequence->capacity)
		enlarge_sequence(sequence);
	sequence->symbols[sequence->n] = sequence->is_set ?
		shingle_set_put(sequence->set, unit, length) :
		shingle_set_find(sequence->set, unit, length);
	sequence->passages[sequence->n++] = passage;
}

/*
 * Return the text of the units from `first` to `end` - 1, as it is written, or an empty
 * text if there are none.
 */
static Datum
text_of_units(text *body, const Sequence *sequence, int32 first, int32 end)
{
	const Passage *passages = sequence->passages;
	int32		start = first < end ? passages[first].start.byte : 0;
	int32		length = first < end ? passages[end - 1].end.byte - start : 0;

	return PointerGetDatum(cstring_to_text_with_len(VARDATA_ANY(body) + start, length));
}

/*
 * Return the range of a run, from the first character of its first unit to
 * the last character of its last unit.
 */
static Passage
run_passage(const Sequence *sequence, int32 first, int32 length)
{
	return (Passage) {
		sequence->passages[first].start, sequence->passages[first + length - 1].end
	};
}

/*
 * Set the columns that common_passages() and edited_passages() have in common, for the
 * passage from one run to another, of `units` common units.
 */
static void
set_passage(Datum *values, text *body, const Sequence *a, const Sequence *b, CommonRun first,
			CommonRun last, int units)
{
	Passage		in_a = run_passage(a, first.a, last.a + last.length - first.a);
	Passage		in_b = run_passage(b, first.b, last.b + last.length - first.b);

	values[0] = Int32GetDatum(in_a.start.character + 1);
	values[1] = Int32GetDatum(in_a.end.character - in_a.start.character);
	values[2] = Int32GetDatum(in_b.start.character + 1);
	values[3] = Int32GetDatum(in_b.end.character - in_b.start.character);
	values[4] = Int32GetDatum(units);
	values[5] = text_of_units(body, a, first.a, last.a + last.length);
}

/*
 * Add the passages of the runs found to the result, the longest first.  Checks for
 * interrupts.
 */
static void
report_passages(ReturnSetInfo *result, text *body, const Sequence *a, const Sequence *b,
				const CommonRuns *found)
{
	Datum		values[PASSAGE_COLUMNS];
	bool		nulls[PASSAGE_COLUMNS] = {false};

	for (int i = 0; i < found->n; i++)
	{
		CommonRun	run = found->runs[i];

		CHECK_FOR_INTERRUPTS();
		set_passage(values, body, a, b, run, run, run.length);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(DatumGetPointer(values[PASSAGE_COLUMNS - 1]));
	}
}

/*
 * Add the runs of tokens found to the result, the longest first.  Checks for interrupts.
 */
static void
report_runs(ReturnSetInfo *result, const CommonRuns *found)
{
	bool		nulls[RUN_COLUMNS] = {false};

	for (int i = 0; i < found->n; i++)
	{
		Datum		values[RUN_COLUMNS] = {
			Int32GetDatum(found->runs[i].a + 1),
			Int32GetDatum(found->runs[i].b + 1),
			Int32GetDatum(found->runs[i].length)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * Return the texts of the gaps between the runs of a list, as an array.  `in_b` chooses the
 * document.  A gap is empty if the other document has something inserted there.
 */
static Datum
gap_texts(text *body, const Sequence *sequence, const CommonRuns *found,
		  const JoinedRuns *joined, int first, bool in_b)
{
	ArrayBuildState *gaps = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	for (int i = first; joined->next[i] != NO_RUN; i = joined->next[i])
	{
		const CommonRun *run = &found->runs[i];
		const CommonRun *next = &found->runs[joined->next[i]];
		Datum		gap = text_of_units(body, sequence, (in_b ? run->b : run->a) + run->length,
										in_b ? next->b : next->a);

		CHECK_FOR_INTERRUPTS();
		accumArrayResult(gaps, gap, false, TEXTOID, CurrentMemoryContext);
	}
	return makeArrayResult(gaps, CurrentMemoryContext);
}

/*
 * Add the passages of the joined runs to the result, the longest first.  Checks for
 * interrupts.
 */
static void
report_joined(ReturnSetInfo *result, text *body, text *other, const Sequence *a,
			  const Sequence *b, const CommonRuns *found, const JoinedRuns *joined)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "edited passage",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);

	for (int i = 0; i < joined->n; i++)
	{
		int			first = joined->joined[i].first;
		int			last = first;
		Datum		values[JOINED_COLUMNS];
		bool		nulls[JOINED_COLUMNS] = {false};

		while (joined->next[last] != NO_RUN)
			last = joined->next[last];
		set_passage(values, body, a, b, found->runs[first], found->runs[last],
					joined->joined[i].length);
		values[PASSAGE_COLUMNS] = gap_texts(body, a, found, joined, first, false);
		values[PASSAGE_COLUMNS + 1] = gap_texts(other, b, found, joined, first, true);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
}

/*
 * The two documents of common_passages() or edited_passages(), and their common runs.
 */
typedef struct ComparedDocuments
{
	Cut			cut;			/* cuts a document into units */
	struct varlena *body;		/* the first document, detoasted */
	struct varlena *other;		/* the second document, detoasted */
	ShingleSet	set;
	SetBudget	budget;
	Sequence	a;
	Sequence	b;
	int			minimum;
	CommonRuns	found;
} ComparedDocuments;

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
	begin_sequence(&c->b, &c->set, true);
	begin_sequence(&c->a, &c->set, false);
	c->body = are_arrays ? PG_GETARG_VARLENA_P(0) : PG_GETARG_VARLENA_PP(0);
	c->other = are_arrays ? PG_GETARG_VARLENA_P(1) : PG_GETARG_VARLENA_PP(1);
	locate_document(PointerGetDatum(c->other), &c->cut, take_unit, &c->b);
	locate_document(PointerGetDatum(c->body), &c->cut, take_unit, &c->a);
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
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ComparedDocuments c;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	find_passages(fcinfo, 3, &c);
	if (c.cut.is_array)
		report_runs(result, &c.found);
	else
		report_passages(result, c.body, &c.a, &c.b, &c.found);
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
	report_joined((ReturnSetInfo *) fcinfo->resultinfo, c.body, c.other, &c.a, &c.b,
				  &c.found, &joined);
	return (Datum) 0;
}
