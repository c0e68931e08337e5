/*-------------------------------------------------------------------------
 *
 * sketch.h
 *		Some of a text's hashes, which stand for it
 *
 * A set: what occurs again changes nothing.  Memory is bounded by what is kept.
 *
 *		Sketch		sketch;
 *
 *		sketch_begin(&sketch, SKETCH_ALL);
 *		fits = sketch_add(&sketch, hash);
 *		fits = sketch_finish(&sketch);
 *		sketch_write(&sketch, array);
 *		sketch_free(&sketch);
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SKETCH_H
#define SIMHASH_SKETCH_H

/* Elements of a sketch, at most: 256 MB.  Tests have a smaller one. */
#ifndef SKETCH_MAX
#define SKETCH_MAX			(1 << 25)
#endif

/* Keep all hashes, not only the smallest. */
#define SKETCH_ALL			PG_INT32_MAX

/* Hashes that need no memory but the sketch itself. */
#define SKETCH_INLINE		256

typedef struct Sketch
{
	int			max_size;		/* of the smallest hashes that are kept, or SKETCH_ALL */
	uint64		greatest;		/* hash that may be one of them */
	int			n;				/* hashes, some of them perhaps twice */
	int			capacity;
	uint64	   *hashes;			/* inline_hashes, or allocated */
	uint64		inline_hashes[SKETCH_INLINE];
} Sketch;

extern void sketch_begin(Sketch *sketch, int max_size);
extern bool sketch_enlarge(Sketch *sketch);
extern bool sketch_finish(Sketch *sketch);
extern void sketch_write(const Sketch *sketch, int64 *elements);
extern void sketch_free(Sketch *sketch);

/*
 * Add a hash.  Returns false if there are more than SKETCH_MAX.
 */
static inline bool
sketch_add(Sketch *sketch, uint64 hash)
{
	if (hash > sketch->greatest)
		return true;
	sketch->hashes[sketch->n++] = hash;
	return sketch->n < sketch->capacity || sketch_enlarge(sketch);
}

#endif							/* SIMHASH_SKETCH_H */
