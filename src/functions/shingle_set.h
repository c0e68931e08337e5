/*
 * A set of shingles
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SHINGLE_SET_H
#define SIMHASH_SHINGLE_SET_H

/*
 * Identifies a shingle while it is in a set: its position in ShingleSet.words.
 */
typedef uint32 ShingleId;

#define NO_SHINGLE		0

/* Memory that one set may use, or several sets together. */
typedef struct SetBudget
{
	MemoryContext context;
	size_t		limit;			/* maximum number of bytes; exceeding it raises an error */
	size_t		allocated;
} SetBudget;

typedef struct ShingleSet
{
	SetBudget  *budget;
	ShingleId  *slots;			/* a free slot is NO_SHINGLE */
	int			slot_bits;		/* log2 of the number of slots */
	uint32		count;
	uint32		used;			/* end of the shingles in `words` (exclusive) */
	size_t		capacity;		/* of `words`, in words of 8 bytes */
	uint64	   *words;			/* the shingles, from word 1 on, in the order in which they
								 * were added */
} ShingleSet;

extern void shingle_set_init(ShingleSet *set, SetBudget *budget);
extern void shingle_set_begin(ShingleSet *set, SetBudget *budget, MemoryContext context);
extern void shingle_set_clear(ShingleSet *set);
extern void shingle_set_free(ShingleSet *set);
extern ShingleId shingle_set_put(ShingleSet *set, const char *bytes, size_t length);
extern ShingleId shingle_set_find(const ShingleSet *set, const char *bytes, size_t length);
extern void shingle_set_add(void *set, const char *bytes, size_t length);
extern uint32 shingle_set_intersection(const ShingleSet *a, const ShingleSet *b);

#endif							/* SIMHASH_SHINGLE_SET_H */
