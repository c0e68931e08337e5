/*-------------------------------------------------------------------------
 *
 * passages.c
 *		common_passages(a, b, ...): the passages that two documents share
 *
 * Both documents are sequences of units, which are words or characters.  The symbol of a
 * unit is its address in the set of b's units.  So units are equal, not only their hashes.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "functions/arguments.h"
#include "functions/common_runs.h"
#include "functions/shingle_set.h"
#include "text/cursor.h"
#include "text/document.h"
#include "text/locate.h"
#include "text/salt.h"

#define PASSAGE_COLUMNS		6
#define RUN_COLUMNS			3

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
 * Append the next token of an array.  A ShingleConsumer.
 */
static void
add_token(void *arg, const char *token, size_t length)
{
	Sequence   *sequence = arg;

	take_unit(sequence, token, length, (Passage) {sequence->n, sequence->n + 1});
}

/*
 * Initialize an empty set and its budget of MaxAllocSize bytes.
 */
static void
begin_set(ShingleSet *set, SetBudget *budget)
{
	salt_init();
	budget->context = CurrentMemoryContext;
	budget->limit = MaxAllocSize;
	budget->allocated = 0;
	shingle_set_init(set, budget);
}

static void
check_minimum(int32 minimum)
{
	if (minimum < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("minimum %d is out of range", minimum),
				 errhint("The shortest passage has at least 1 word or character.")));
}

/*
 * Set starts[] and ends[] to the byte offsets of the passages.  Visits the passages in the
 * order of their positions, so that the text is read only once.  Checks for interrupts.
 */
static void
find_bytes(text *body, const CommonRuns *found, const Passage *passages, size_t *starts,
		   size_t *ends)
{
	const char *data = VARDATA_ANY(body);
	size_t		length = VARSIZE_ANY_EXHDR(body);
	TextPosition start = TEXT_BEGIN;
	TextPosition end = TEXT_BEGIN;

	for (int i = 0; i < found->n; i++)
	{
		int			run = found->by_position[i];

		CHECK_FOR_INTERRUPTS();
		advance_to(data, length, &start, passages[run].start);
		advance_to(data, length, &end, passages[run].end);
		starts[run] = start.byte;
		ends[run] = end.byte;
	}
}

/*
 * Return the range of characters of a run, from the first character of its first unit to
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
 * Add the passages of the runs found to the result, the longest first.  Checks for
 * interrupts.
 */
static void
report_passages(ReturnSetInfo *result, text *body, const Sequence *a, const Sequence *b,
				const CommonRuns *found)
{
	Passage    *passages = palloc_extended((found->n + 1) * sizeof(Passage), MCXT_ALLOC_HUGE);
	size_t	   *starts = palloc_extended((found->n + 1) * sizeof(size_t), MCXT_ALLOC_HUGE);
	size_t	   *ends = palloc_extended((found->n + 1) * sizeof(size_t), MCXT_ALLOC_HUGE);

	for (int i = 0; i < found->n; i++)
		passages[i] = run_passage(a, found->runs[i].a, found->runs[i].length);
	find_bytes(body, found, passages, starts, ends);
	for (int i = 0; i < found->n; i++)
	{
		Passage		in_b = run_passage(b, found->runs[i].b, found->runs[i].length);
		text	   *passage = cstring_to_text_with_len(VARDATA_ANY(body) + starts[i],
													   ends[i] - starts[i]);
		bool		nulls[PASSAGE_COLUMNS] = {false};
		Datum		values[PASSAGE_COLUMNS] = {
			Int32GetDatum(passages[i].start + 1),
			Int32GetDatum(passages[i].end - passages[i].start),
			Int32GetDatum(in_b.start + 1),
			Int32GetDatum(in_b.end - in_b.start),
			Int32GetDatum(found->runs[i].length),
			PointerGetDatum(passage)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree(passage);
	}
}

/*
 * common_passages(a text, b text, minimum int, unit text)
 */
PG_FUNCTION_INFO_V1(simhash_common_passages_text);
Datum
simhash_common_passages_text(PG_FUNCTION_ARGS)
{
	ShingleSet	set;
	SetBudget	budget;
	Sequence	a;
	Sequence	b;
	CommonRuns	found;
	ShingleUnit unit;
	int			minimum;
	text	   *body;
	text	   *other;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	unit = get_unit(fcinfo, 3);
	minimum = PG_ARGISNULL(2) ? sketch_default_width(unit) : PG_GETARG_INT32(2);
	check_minimum(minimum);
	body = PG_GETARG_TEXT_PP(0);
	other = PG_GETARG_TEXT_PP(1);

	begin_set(&set, &budget);
	begin_sequence(&b, &set, true);
	locate_shingles(VARDATA_ANY(other), VARSIZE_ANY_EXHDR(other), 1, unit, take_unit, &b);
	begin_sequence(&a, &set, false);
	locate_shingles(VARDATA_ANY(body), VARSIZE_ANY_EXHDR(body), 1, unit, take_unit, &a);
	find_common_runs(a.symbols, a.n, b.symbols, b.n, minimum, &found);
	report_passages((ReturnSetInfo *) fcinfo->resultinfo, body, &a, &b, &found);
	return (Datum) 0;
}

/*
 * common_passages(a text[], b text[], minimum int)
 */
PG_FUNCTION_INFO_V1(simhash_common_passages_tokens);
Datum
simhash_common_passages_tokens(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ShingleSet	set;
	SetBudget	budget;
	Sequence	a;
	Sequence	b;
	CommonRuns	found;
	int			minimum;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	minimum = PG_ARGISNULL(2) ? sketch_default_width(UNIT_WORD) : PG_GETARG_INT32(2);
	check_minimum(minimum);

	begin_set(&set, &budget);
	begin_sequence(&b, &set, true);
	token_shingles(check_array(PG_GETARG_ARRAYTYPE_P(1), "tokens"), 1, add_token, &b);
	begin_sequence(&a, &set, false);
	token_shingles(check_array(PG_GETARG_ARRAYTYPE_P(0), "tokens"), 1, add_token, &a);
	find_common_runs(a.symbols, a.n, b.symbols, b.n, minimum, &found);
	for (int i = 0; i < found.n; i++)
	{
		bool		nulls[RUN_COLUMNS] = {false};
		Datum		values[RUN_COLUMNS] = {
			Int32GetDatum(found.runs[i].a + 1),
			Int32GetDatum(found.runs[i].b + 1),
			Int32GetDatum(found.runs[i].length)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
