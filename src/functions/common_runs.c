/*
 * The runs of symbols that two sequences have in common
 *
 * First find all runs of a that are in b and are not part of a longer such run.  These
 * runs may overlap.  A sequence that repeats itself can have as many runs as symbols, each
 * nearly as long as the sequence.  So take the longest run, and trim the other runs by the
 * symbols that it covers.  Then take the longest of the remaining runs, and so on.  No
 * symbol of a is in two runs of the result.
 *
 * No run contains another one, so a trimmed run is still a single run.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "functions/runs.h"

/* Number of symbols between checks for interrupts. */
#define INTERRUPT_INTERVAL	1024

/* Value for a symbol of a that is in no run of the result. */
#define NOT_COVERED			(-1)

/*
 * Find all runs of a that are in b, have at least `minimum` symbols and are not part of a
 * longer such run, in the order of a.  Does not set their positions in b, which
 * locate_runs() finds.  Checks for interrupts.
 */
static void
find_longest_runs(const SuffixAutomaton *automaton, const Symbol *a, int na, int minimum,
				  CommonRuns *result)
{
	int			capacity = 64;
	AutomatonMatch match = AUTOMATON_NO_MATCH;

	result->n = 0;
	result->runs = palloc(capacity * sizeof(CommonRun));
	for (int i = 0; i <= na; i++)
	{
		AutomatonMatch before = match;

		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		automaton_match(automaton, i < na ? a[i] : NO_SYMBOL, &match);
		if (match.length == before.length + 1 || before.length < minimum)
			continue;
		if (result->n == capacity)
		{
			capacity *= 2;
			result->runs = repalloc_huge(result->runs, capacity * sizeof(CommonRun));
		}
		result->runs[result->n++] = (CommonRun) {.a = i - before.length,.length = before.length};
	}
}

/*
 * Compare two runs for the heap.  Longer runs come first, and runs of equal length are in
 * the order of a.  x and y are indexes in the array of runs, which is `arg`.
 */
static int
compare_runs(Datum x, Datum y, void *arg)
{
	const CommonRun *runs = arg;
	const CommonRun *a = &runs[DatumGetInt32(x)];
	const CommonRun *b = &runs[DatumGetInt32(y)];

	if (a->length != b->length)
		return a->length > b->length ? 1 : -1;
	return a->a < b->a ? 1 : -1;
}

/*
 * Return a run without its symbols that are in runs already taken.  covered[] has the
 * number of the run that covers each symbol of a, or NOT_COVERED.
 */
static CommonRun
trim_run(CommonRun run, const int *covered, const CommonRun *taken)
{
	while (run.length > 0 && covered[run.a] != NOT_COVERED)
	{
		const CommonRun *by = &taken[covered[run.a]];
		int32		cut = Min(by->a + by->length - run.a, run.length);

		run.a += cut;
		run.length -= cut;
	}
	while (run.length > 0 && covered[run.a + run.length - 1] != NOT_COVERED)
		run.length = taken[covered[run.a + run.length - 1]].a - run.a;
	return run;
}

/*
 * Move runs from the candidates to the result, the longest first, as described at the top
 * of this file.  Checks for interrupts.
 */
static void
take_runs(CommonRuns *candidates, int na, int minimum, CommonRuns *result)
{
	binaryheap *heap = binaryheap_allocate(Max(candidates->n, 1), compare_runs,
										   candidates->runs);
	int		   *covered = MemoryContextAllocHuge(CurrentMemoryContext,
												 Max(na, 1) * sizeof(int));

	for (int i = 0; i < na; i++)
		covered[i] = NOT_COVERED;
	for (int i = 0; i < candidates->n; i++)
		binaryheap_add_unordered(heap, Int32GetDatum(i));
	binaryheap_build(heap);
	result->n = 0;
	result->runs = palloc_extended(Max(candidates->n, 1) * sizeof(CommonRun),
								   MCXT_ALLOC_HUGE);
	while (!binaryheap_empty(heap))
	{
		CommonRun  *run = &candidates->runs[DatumGetInt32(binaryheap_first(heap))];
		int32		length = run->length;

		CHECK_FOR_INTERRUPTS();
		*run = trim_run(*run, covered, result->runs);
		if (run->length == length)
		{
			for (int i = 0; i < length; i++)
				covered[run->a + i] = result->n;
			result->runs[result->n++] = *run;
		}
		else if (run->length >= minimum)
		{
			binaryheap_replace_first(heap, binaryheap_first(heap));
			continue;
		}
		(void) binaryheap_remove_first(heap);
	}

	result->by_position = palloc_extended(Max(result->n, 1) * sizeof(int), MCXT_ALLOC_HUGE);
	for (int i = 0, n = 0; i < na; i++)
		if (covered[i] != NOT_COVERED && result->runs[covered[i]].a == i)
			result->by_position[n++] = covered[i];
	pfree(covered);
	binaryheap_free(heap);
}

/*
 * Set the first position of each run of the result in b.  This is done after trimming,
 * because the rest of a trimmed run may occur earlier in b than the whole run.  No symbol
 * of a is in two runs of the result, so this takes linear time.  Checks for interrupts.
 */
static void
locate_runs(const SuffixAutomaton *automaton, const Symbol *a, CommonRuns *result)
{
	for (int i = 0; i < result->n; i++)
	{
		CommonRun  *run = &result->runs[i];
		AutomatonMatch match = AUTOMATON_NO_MATCH;

		for (int j = 0; j < run->length; j++)
		{
			if (j % INTERRUPT_INTERVAL == 0)
				CHECK_FOR_INTERRUPTS();
			automaton_match(automaton, a[run->a + j], &match);
		}
		run->b = automaton_first_end(automaton, match) - run->length;
	}
}

/*
 * Find the runs of at least `minimum` symbols that a and b have in common.  minimum must
 * be at least 1.  na and nb, the numbers of symbols of a and b, must be at most
 * AUTOMATON_MAX.  A symbol of a that is not in b may be NO_SYMBOL.
 */
void
find_common_runs(const Symbol *a, int na, const Symbol *b, int nb, int minimum,
				 CommonRuns *result)
{
	SuffixAutomaton automaton;
	CommonRuns	candidates;

	automaton_init(&automaton, nb);
	for (int i = 0; i < nb; i++)
	{
		if (i % INTERRUPT_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		automaton_extend(&automaton, b[i]);
	}
	find_longest_runs(&automaton, a, na, minimum, &candidates);
	take_runs(&candidates, na, minimum, result);
	pfree(candidates.runs);
	locate_runs(&automaton, a, result);
	automaton_free(&automaton);
}
