/*
 * A set of shingles
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SHINGLE_SET_H
#define SIMHASH_SHINGLE_SET_H

typedef struct SetShingle SetShingle;
typedef struct SetArena SetArena;

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
	SetShingle **slots;			/* addresses of shingles; a free slot is NULL */
	int			slot_bits;		/* log2 of the number of slots */
	uint32		count;
	SetArena   *arenas;			/* arenas of shingles, the newest first */
} ShingleSet;

extern void shingle_set_init(ShingleSet *set, SetBudget *budget);
extern void shingle_set_begin(ShingleSet *set, SetBudget *budget, MemoryContext context);
extern void shingle_set_clear(ShingleSet *set);
extern void shingle_set_free(ShingleSet *set);
extern const SetShingle *shingle_set_put(ShingleSet *set, const char *bytes, size_t length);
extern const SetShingle *shingle_set_find(const ShingleSet *set, const char *bytes,
										  size_t length);
extern void shingle_set_add(void *set, const char *bytes, size_t length);
extern uint32 shingle_set_intersection(const ShingleSet *a, const ShingleSet *b);

#endif							/* SIMHASH_SHINGLE_SET_H */
