/*
 * The smallest hash of each window of consecutive hashes
 *
 * A queue keeps a hash of the window only if every later hash of the window is greater.
 * So the queue ascends, and its first hash is the smallest of the window.  Each hash
 * enters and leaves the queue once.
 *
 * It does not matter which one of several equal hashes is selected, because a selection is
 * a set of hashes without their positions.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bitutils.h"

#include "digest/winnow.h"

/*
 * Initialize a winnower.  window, the number of hashes of a window, is 1 to WINDOW_MAX.
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
	winnower->queue = palloc(size * sizeof(WindowHash));
}

/*
 * Return the element of the queue at a position.
 */
static inline WindowHash *
queued(Winnower *winnower, uint64 position)
{
	return &winnower->queue[position & winnower->mask];
}

/*
 * Add the next hash.  Returns true if the hash completes a window whose smallest hash
 * differs from that of the window before.  Sets *selected to that smallest hash.  If the
 * result is false, *selected is not meaningful.
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
 * End the sequence, and free its memory.  Returns true if hashes were added, but fewer
 * than a window has.  Then sets *selected to the smallest of them.
 */
bool
winnow_finish(Winnower *winnower, uint64 *selected)
{
	bool		is_short = winnower->count > 0 && winnower->count < winnower->window;

	if (is_short)
		*selected = queued(winnower, winnower->first)->hash;
	pfree(winnower->queue);
	return is_short;
}
