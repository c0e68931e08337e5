/*-------------------------------------------------------------------------
 *
 * winnow.c
 *		Of each window of consecutive hashes the smallest one
 *
 * A queue has those hashes of the window that no later one of it falls below or equals,
 * so they ascend, and the first one is the smallest.  Each hash comes and goes once.
 *
 * Which of equal hashes is meant does not matter: a selection is a set of hashes, without
 * their places.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

#include "port/pg_bitutils.h"

#include "digest/winnow.h"

/*
 * Begin with no hash.  window is 1 to WINDOW_MAX.
 */
void
winnow_begin(Winnower *winnower, int window)
{
	uint32		size = pg_nextpower2_32(window);

	winnower->window = window;
	winnower->count = 0;
	winnower->selected = 0;
	winnower->first = 0;
	winnower->end = 0;
	winnower->mask = size - 1;
	winnower->queue = winnower->inline_queue;
	if (size > WINDOW_INLINE)
		winnower->queue = palloc(size * sizeof(WindowHash));
}

static inline WindowHash *
queued(Winnower *winnower, uint64 position)
{
	return &winnower->queue[position & winnower->mask];
}

/*
 * Take the next hash.  Returns true if a window is complete with it, and its smallest
 * hash is another than that of the window before.
 */
bool
winnow_next(Winnower *winnower, uint64 hash, uint64 *selected)
{
	uint64		number = winnower->count++;
	uint64		end = winnower->end;

	if (winnower->first < end &&
		queued(winnower, winnower->first)->number + winnower->window == number)
		winnower->first++;
	while (winnower->first < end && queued(winnower, end - 1)->hash >= hash)
		end--;
	queued(winnower, end)->hash = hash;
	queued(winnower, end)->number = number;
	winnower->end = end + 1;

	*selected = queued(winnower, winnower->first)->hash;
	if (number + 1 < winnower->window ||
		(number + 1 > winnower->window && *selected == winnower->selected))
		return false;
	winnower->selected = *selected;
	return true;
}

/*
 * There are no more hashes.  Returns true if there were some, but not a whole window:
 * then the smallest of all is selected.
 */
bool
winnow_finish(Winnower *winnower, uint64 *selected)
{
	bool		is_short = winnower->count > 0 && winnower->count < winnower->window;

	if (is_short)
		*selected = queued(winnower, winnower->first)->hash;
	if (winnower->queue != winnower->inline_queue)
		pfree(winnower->queue);
	return is_short;
}
