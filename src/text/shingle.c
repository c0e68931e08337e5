/*
 * Shingles: every run of `width` consecutive units of a text
 *
 * (Broder, "On the resemblance and containment of documents", 1997: a w-shingle is a
 * contiguous subsequence of w tokens.)
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "text/shingle.h"

/*
 * Initialize a shingler for a text.  width must be 1 to SHINGLE_MAX_WIDTH, in units.
 */
void
shingler_init(Shingler *shingler, int width, ShingleUnit unit,
			  ShingleConsumer consume, void *arg)
{
	shingler->width = width;
	shingler->unit = unit;
	shingler->consume = consume;
	shingler->arg = arg;
	shingler->nunits = 0;
	shingler->base = 0;
	shingler->used = 0;
	shingler->size = sizeof(shingler->inline_buffer);
	shingler->buffer = shingler->inline_buffer;
}

/*
 * Make space for n more bytes of the current unit.  Drops the units that no later shingle
 * contains.  If the remaining units take more than half of the buffer, enlarges it, so
 * that each byte is moved a bounded number of times.
 *
 * The new size is twice the number of bytes needed, limited to MaxAllocSize unless more are
 * needed.  The tokens of an array take at most MaxAllocSize, unless their conversion to
 * UTF-8 lengthens them.
 */
void
shingler_enlarge(Shingler *shingler, size_t n)
{
	uint64		newest = shingler->nunits;
	uint64		oldest = newest - Min(newest, (uint64) shingler->width - 1);
	size_t		from = Min(*shingler_start(shingler, oldest) - shingler->base,
						   shingler->used);
	size_t		live = shingler->used - from;
	size_t		size = Max(live + n, Min(2 * (live + n), MaxAllocSize));
	char	   *buffer = shingler->buffer;

	if (size > shingler->size)
	{
		shingler->size = size;
		buffer = MemoryContextAllocHuge(CurrentMemoryContext, size);
	}
	memmove(buffer, shingler->buffer + from, live);
	if (buffer != shingler->buffer && shingler->buffer != shingler->inline_buffer)
		pfree(shingler->buffer);
	shingler->buffer = buffer;
	shingler->base += from;
	shingler->used = live;
}

/*
 * End the text.  If the text has fewer units than a shingle, all of them are one shingle.
 * Frees the buffer.  Returns true if there was a unit.
 */
bool
shingler_finish(Shingler *shingler)
{
	if (shingler->nunits > 0 && shingler->nunits < (uint64) shingler->width)
		shingler->consume(shingler->arg, shingler->buffer, shingler->used);
	if (shingler->buffer != shingler->inline_buffer)
		pfree(shingler->buffer);
	return shingler->nunits > 0;
}
