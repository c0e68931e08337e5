/*
 * The smallest hash of each window of consecutive hashes
 *
 * Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document
 * fingerprinting", 2003: texts that have a whole window in common, anywhere, select a
 * hash in common.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_WINNOW_H
#define SIMHASH_WINNOW_H

/* Maximum number of hashes of a window. */
#define WINDOW_MAX			65536

typedef struct WindowHash
{
	uint64		hash;
	uint64		number;			/* number of the hash in the text, from 0 */
} WindowHash;

typedef struct Winnower
{
	uint64		window;
	uint64		count;			/* number of hashes added so far */
	uint64		selected;		/* hash selected last */

	/* Start and end (exclusive) of the queue.  Position p is queue[p & mask]. */
	uint64		first;
	uint64		end;
	uint64		mask;
	WindowHash *queue;
} Winnower;

extern void winnow_begin(Winnower *winnower, int window);
extern bool winnow_next(Winnower *winnower, uint64 hash, uint64 *selected);
extern bool winnow_finish(Winnower *winnower, uint64 *selected);

#endif							/* SIMHASH_WINNOW_H */
