/*
 * A set of shingles
 *
 * The set is a hash table with open addressing and linear probing, at most three quarters
 * full.  The shingles themselves are compared, so two shingles with the same hash are
 * distinct.  The hash is salted, so that no text can be crafted whose shingles collide.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "functions/shingle_set.h"
#include "text/salt.h"

#define FIRST_SLOT_BITS		7

struct SetShingle
{
	uint64		hash;
	uint32		length;
	char		bytes[FLEXIBLE_ARRAY_MEMBER];
};

#define SHINGLE_SIZE(length) \
	TYPEALIGN(sizeof(uint64), offsetof(SetShingle, bytes) + (length))

/*
 * An arena of memory with shingles, stored in the order in which they were added.
 */
struct SetArena
{
	SetArena   *previous;
	size_t		size;			/* size of data, in bytes */
	size_t		used;			/* number of bytes of data in use */
	uint64		data[FLEXIBLE_ARRAY_MEMBER];
};

#define ARENA_OVERHEAD		offsetof(SetArena, data)
#define FIRST_ARENA_SIZE	(2048 - ARENA_OVERHEAD)
#define LAST_ARENA_SIZE		(1024 * 1024)

/*
 * Allocate memory within the budget.  Raises an error if that would exceed the budget.
 * While slots are being replaced, both the old and the new slots count.
 */
static void *
budget_alloc(SetBudget *budget, size_t size)
{
	if (budget->allocated > budget->limit ||
		size > budget->limit - budget->allocated)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents are too large to compare"),
				 errdetail("Their distinct shingles take more than %zu bytes.",
						   (size_t) MaxAllocSize),
				 errhint("Compare passages of them, or use a smaller shingle width.")));
	budget->allocated += size;
	return MemoryContextAllocHuge(budget->context, size);
}

static void
budget_free(SetBudget *budget, void *pointer, size_t size)
{
	pfree(pointer);
	budget->allocated -= size;
}

static size_t
slots_size(int bits)
{
	return sizeof(SetShingle *) << bits;
}

static void
alloc_slots(ShingleSet *set, int bits)
{
	set->slots = budget_alloc(set->budget, slots_size(bits));
	memset(set->slots, 0, slots_size(bits));
	set->slot_bits = bits;
}

static void
add_arena(ShingleSet *set, size_t size)
{
	SetArena   *arena = budget_alloc(set->budget, ARENA_OVERHEAD + size);

	arena->previous = set->arenas;
	arena->size = size;
	arena->used = 0;
	set->arenas = arena;
}

/*
 * Initialize an empty set.
 */
void
shingle_set_init(ShingleSet *set, SetBudget *budget)
{
	set->budget = budget;
	set->arenas = NULL;
	set->count = 0;
	alloc_slots(set, FIRST_SLOT_BITS);
	add_arena(set, FIRST_ARENA_SIZE);
}

/*
 * Initialize an empty set, and a budget of MaxAllocSize bytes for it alone.
 */
void
shingle_set_begin(ShingleSet *set, SetBudget *budget, MemoryContext context)
{
	salt_init();
	*budget = (SetBudget) {.context = context,.limit = MaxAllocSize};
	shingle_set_init(set, budget);
}

static void
free_arenas(ShingleSet *set, SetArena *arena)
{
	while (arena != NULL)
	{
		SetArena   *previous = arena->previous;

		budget_free(set->budget, arena, ARENA_OVERHEAD + arena->size);
		arena = previous;
	}
}

/*
 * Free the memory of a set.
 */
void
shingle_set_free(ShingleSet *set)
{
	free_arenas(set, set->arenas);
	budget_free(set->budget, set->slots, slots_size(set->slot_bits));
}

/*
 * Remove all shingles.  Keeps the slots and the newest arena for the next shingles, unless
 * the set has more than twice its initial slots and less than an eighth of them was used.
 */
void
shingle_set_clear(ShingleSet *set)
{
	if (set->slot_bits > FIRST_SLOT_BITS + 1 &&
		set->count < (1U << set->slot_bits) / 8)
	{
		shingle_set_free(set);
		shingle_set_init(set, set->budget);
		return;
	}
	memset(set->slots, 0, slots_size(set->slot_bits));
	free_arenas(set, set->arenas->previous);
	set->arenas->previous = NULL;
	set->arenas->used = 0;
	set->count = 0;
}

static inline uint32
next_slot(const ShingleSet *set, uint32 i)
{
	return (i + 1) & ((1U << set->slot_bits) - 1);
}

/*
 * Return the slot of a shingle, or the free slot to store it in.
 */
static inline SetShingle **
find_slot(const ShingleSet *set, uint64 hash, const char *bytes, size_t length)
{
	uint32		i = hash >> (64 - set->slot_bits);

	for (;; i = next_slot(set, i))
	{
		const SetShingle *shingle = set->slots[i];

		if (shingle == NULL ||
			(shingle->hash == hash && shingle->length == length &&
			 memcmp(shingle->bytes, bytes, length) == 0))
			return &set->slots[i];
	}
}

static inline SetShingle *
shingle_at(const SetArena *arena, size_t offset)
{
	return (SetShingle *) ((char *) arena->data + offset);
}

/*
 * Double the number of slots.  Reads the shingles in the order of memory, which is faster
 * than reading them in the order of slots.  Checks for interrupts.
 */
static void
double_slots(ShingleSet *set)
{
	int			bits = set->slot_bits;
	SetShingle **old = set->slots;

	alloc_slots(set, bits + 1);
	budget_free(set->budget, old, slots_size(bits));
	for (SetArena *arena = set->arenas; arena != NULL; arena = arena->previous)
	{
		size_t		offset = 0;

		CHECK_FOR_INTERRUPTS();
		while (offset < arena->used)
		{
			SetShingle *shingle = shingle_at(arena, offset);
			uint32		i = shingle->hash >> (64 - set->slot_bits);

			while (set->slots[i] != NULL)
				i = next_slot(set, i);
			set->slots[i] = shingle;
			offset += SHINGLE_SIZE(shingle->length);
		}
	}
}

/*
 * Append a shingle to the memory of a set.  Does not store it in a slot.
 */
static SetShingle *
make_shingle(ShingleSet *set, uint64 hash, const char *bytes, size_t length)
{
	size_t		size = SHINGLE_SIZE(length);
	SetShingle *shingle;

	if (size > set->arenas->size - set->arenas->used)
		add_arena(set, Max(Min(2 * set->arenas->size, LAST_ARENA_SIZE), size));
	shingle = shingle_at(set->arenas, set->arenas->used);
	set->arenas->used += size;
	shingle->hash = hash;
	shingle->length = length;
	memcpy(shingle->bytes, bytes, length);
	return shingle;
}

/*
 * Add a shingle if it is not in the set.  Returns the address of the shingle in the set.
 * The address does not change while the shingle is in the set.
 */
const SetShingle *
shingle_set_put(ShingleSet *set, const char *bytes, size_t length)
{
	uint64		hash = salted_hash_bytes(bytes, length);
	SetShingle **slot = find_slot(set, hash, bytes, length);
	SetShingle *shingle = *slot;

	if (shingle != NULL)
		return shingle;
	*slot = shingle = make_shingle(set, hash, bytes, length);
	if (++set->count > (1U << set->slot_bits) / 4 * 3)
		double_slots(set);
	return shingle;
}

/*
 * Add a shingle to `set`, a ShingleSet.  A ShingleConsumer.
 */
void
shingle_set_add(void *set, const char *bytes, size_t length)
{
	(void) shingle_set_put(set, bytes, length);
}

/*
 * Return the address of a shingle in the set, or NULL if it is not in the set.
 */
const SetShingle *
shingle_set_find(const ShingleSet *set, const char *bytes, size_t length)
{
	return *find_slot(set, salted_hash_bytes(bytes, length), bytes, length);
}

/*
 * Return the number of shingles that are in both sets.  Checks for interrupts.
 */
uint32
shingle_set_intersection(const ShingleSet *a, const ShingleSet *b)
{
	uint32		n = 0;

	if (a->count > b->count)
		return shingle_set_intersection(b, a);
	for (const SetArena *arena = a->arenas; arena != NULL; arena = arena->previous)
	{
		size_t		offset = 0;

		CHECK_FOR_INTERRUPTS();
		while (offset < arena->used)
		{
			const SetShingle *shingle = shingle_at(arena, offset);

			n += *find_slot(b, shingle->hash, shingle->bytes, shingle->length) != NULL;
			offset += SHINGLE_SIZE(shingle->length);
		}
	}
	return n;
}
