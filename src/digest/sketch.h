/*
 * A set of some of a text's hashes
 *
 * A sketch has all hashes that the caller selects.  A repeated hash changes nothing.  The
 * number of distinct hashes bounds the memory.
 *
 *		Sketch		sketch;
 *
 *		sketch_begin(&sketch);
 *		fits = sketch_add(&sketch, hash);
 *		fits = sketch_finish(&sketch);
 *		sketch_write(&sketch, array);
 *		sketch_free(&sketch);
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SKETCH_H
#define SIMHASH_SKETCH_H

/*
 * Maximum number of elements of a sketch, which take 256 MB.  Tests define a lower number.
 */
#ifndef SKETCH_MAX
#define SKETCH_MAX			(1 << 25)
#endif

/* Number of hashes that fit into the struct itself. */
#define SKETCH_INLINE		256

typedef struct Sketch
{
	int			n;				/* number of hashes in the array, perhaps with duplicates */
	int			capacity;
	uint64	   *hashes;			/* inline_hashes, or allocated */
	uint64		inline_hashes[SKETCH_INLINE];
} Sketch;

extern void sketch_begin(Sketch *sketch);
extern bool sketch_enlarge(Sketch *sketch);
extern bool sketch_finish(Sketch *sketch);
extern void sketch_write(const Sketch *sketch, int64 *elements);
extern void sketch_free(Sketch *sketch);

/*
 * Add a hash.  Returns false if more than SKETCH_MAX hashes have to be kept.
 */
static inline bool
sketch_add(Sketch *sketch, uint64 hash)
{
	sketch->hashes[sketch->n++] = hash;
	return sketch->n < sketch->capacity || sketch_enlarge(sketch);
}

#endif							/* SIMHASH_SKETCH_H */
