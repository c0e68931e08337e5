/*
 * Common runs that are only a few symbols apart, joined
 *
 * Take the longest run, and search for its neighbours on both sides.  The neighbour after
 * a run is another run that begins at most `gap` symbols after it in a, if those symbols
 * also occur at most `gap` symbols after it in b.  The neighbour before it is defined in the
 * same way.  Then search for the neighbour of the neighbour, and so on.  Then take the
 * longest of the remaining runs.
 *
 * A short run occurs in many places of b, and only its first position is known.  So its
 * position is searched for beside that of its longer neighbour.
 *
 * A run that occurs elsewhere in b may stand in a gap: an inserted word may be a word of
 * b.  The search skips it.  If it finds a neighbour behind it, the skipped run is part of
 * the gap.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "functions/runs.h"

/*
 * Maximum number of runs that a search for a neighbour tries.  It bounds the time for
 * texts whose runs are single words.
 */
#define MAX_TRIES		16

typedef struct Joiner
{
	const Symbol *a;
	const Symbol *b;
	int			nb;
	int			gap;
	CommonRuns *found;
	int		   *position;		/* for each run its index in found->by_position */
	bool	   *taken;			/* for each run, true if it is in the result, or in a
								 * gap of it */
	int		   *next;			/* result: JoinedRuns.next */
	int32	   *border;			/* scratch space of find_run() */
} Joiner;

/*
 * Return the first position of n symbols in b from `from` to `to` - 1, or the last
 * position if `last` is true, or -1 if they do not occur there.  n is at least 1.  This is
 * the algorithm of Knuth, Morris and Pratt: its time is linear for any symbols.
 */
static int32
find_run(Joiner *joiner, const Symbol *run, int32 n, int32 from, int32 to, bool last)
{
	int32	   *border = joiner->border;
	int32		position = -1;

	/* border[i]: length of the longest proper prefix of run[0..i] that is its suffix, too */
	border[0] = 0;
	for (int32 i = 1, k = 0; i < n; i++)
	{
		while (k > 0 && run[i] != run[k])
			k = border[k - 1];
		k += run[i] == run[k];
		border[i] = k;
	}
	for (int32 i = from, k = 0; i < to && (last || position < 0); i++)
	{
		while (k > 0 && (k == n || joiner->b[i] != run[k]))
			k = border[k - 1];
		k += joiner->b[i] == run[k];
		if (k == n)
			position = i - n + 1;
	}
	return position;
}

/*
 * Find where a run occurs in b beside another run, within the gap: after it if step is 1,
 * before it if step is -1.  Sets run->b to the nearest of these positions.  Returns false if
 * there is none.
 */
static bool
align(Joiner *joiner, CommonRun *run, const CommonRun *other, int step)
{
	int32		from = other->b + other->length;
	int32		to = Min(from + joiner->gap + run->length, joiner->nb);
	int32		position;

	if (step < 0)
	{
		to = other->b;
		from = Max(to - joiner->gap - run->length, 0);
	}
	position = find_run(joiner, &joiner->a[run->a], run->length, from, to, step < 0);
	if (position < 0)
		return false;
	run->b = position;
	return true;
}

/*
 * Join the neighbours of a run on one side, and their neighbours: after it if step is 1,
 * before it if step is -1.  Returns the outermost of them, or the run itself.  Checks for
 * interrupts.
 */
static int
extend(Joiner *joiner, int run, int step)
{
	CommonRun  *runs = joiner->found->runs;
	const int  *by_position = joiner->found->by_position;
	int			tries = 0;

	for (int i = joiner->position[run] + step;
		 i >= 0 && i < joiner->found->n && tries < MAX_TRIES; i += step)
	{
		int			other = by_position[i];
		const CommonRun *left = &runs[step > 0 ? run : other];
		const CommonRun *right = &runs[step > 0 ? other : run];

		CHECK_FOR_INTERRUPTS();
		if (joiner->taken[other] || right->a - left->a - left->length > joiner->gap)
			break;
		tries++;
		if (!align(joiner, &runs[other], &runs[run], step))
			continue;
		joiner->next[step > 0 ? run : other] = step > 0 ? other : run;
		for (int j = i; j != joiner->position[run]; j -= step)
			joiner->taken[by_position[j]] = true;
		run = other;
		tries = 0;
	}
	return run;
}

/*
 * Compare two JoinedRuns for qsort(): the longer one comes first, and of equal ones the
 * first in a.
 */
static int
compare_joined(const void *x, const void *y)
{
	const JoinedRun *a = x;
	const JoinedRun *b = y;

	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return (a->a > b->a) - (a->a < b->a);
}

/*
 * Join the common runs of a and b that are at most `gap` symbols apart in both, as
 * described at the top of this file.  Sets the position in b of each joined run.  Checks
 * for interrupts.
 */
void
join_common_runs(const Symbol *a, int na, const Symbol *b, int nb, int gap,
				 CommonRuns *found, JoinedRuns *result)
{
	int			nruns = Max(found->n, 1);
	Joiner		joiner = {
		.a = a,
		.b = b,
		.nb = nb,
		.gap = gap,
		.found = found,
		.position = palloc(nruns * sizeof(int)),
		.taken = palloc0(nruns * sizeof(bool)),
		.next = palloc(nruns * sizeof(int)),
		.border = palloc(Max(na, 1) * sizeof(int32)),
	};

	for (int i = 0; i < found->n; i++)
	{
		joiner.position[found->by_position[i]] = i;
		joiner.next[i] = NO_RUN;
	}
	result->n = 0;
	result->joined = palloc(nruns * sizeof(JoinedRun));
	result->next = joiner.next;
	for (int i = 0; i < found->n; i++)
	{
		JoinedRun	joined = {0};

		if (joiner.taken[i])
			continue;
		joiner.taken[i] = true;
		extend(&joiner, i, 1);
		joined.first = extend(&joiner, i, -1);
		joined.a = found->runs[joined.first].a;
		for (int j = joined.first; j != NO_RUN; j = joiner.next[j])
			joined.length += found->runs[j].length;
		result->joined[result->n++] = joined;
	}
	qsort(result->joined, result->n, sizeof(JoinedRun), compare_joined);
	pfree(joiner.position);
	pfree(joiner.taken);
	pfree(joiner.border);
}
