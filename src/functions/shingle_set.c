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
#define FIRST_CAPACITY		256		/* in words of 8 bytes */

/* Number of words from which on memory grows by a quarter, not twofold */
#define LARGE_SET			(128 * 1024)

typedef struct SetShingle
{
	uint64		hash;
	uint32		length;
	char		bytes[FLEXIBLE_ARRAY_MEMBER];
} SetShingle;

/* Number of words of a shingle of `length` bytes */
#define SHINGLE_WORDS(length) \
	(TYPEALIGN(sizeof(uint64), offsetof(SetShingle, bytes) + (length)) / sizeof(uint64))

/*
 * Allocate memory within the budget, or enlarge it from old_size bytes to `size` bytes if
 * `pointer` is not NULL.  Raises an error if that would exceed the budget.  While slots are
 * being replaced, both the old and the new slots count.
 */
static void *
budget_alloc(SetBudget *budget, void *pointer, size_t old_size, size_t size)
{
	if (budget->allocated > budget->limit ||
		size - old_size > budget->limit - budget->allocated)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents are too large to compare"),
				 errdetail("Their distinct shingles take more than %zu bytes.",
						   (size_t) MaxAllocSize),
				 errhint("Compare passages of them, or use a smaller shingle width.")));
	budget->allocated += size - old_size;
	return pointer ? repalloc_huge(pointer, size) :
		MemoryContextAllocHuge(budget->context, size);
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
	return sizeof(ShingleId) << bits;
}

static void
alloc_slots(ShingleSet *set, int bits)
{
	set->slots = budget_alloc(set->budget, NULL, 0, slots_size(bits));
	memset(set->slots, 0, slots_size(bits));
	set->slot_bits = bits;
}

/*
 * Initialize an empty set.
 */
void
shingle_set_init(ShingleSet *set, SetBudget *budget)
{
	set->budget = budget;
	set->count = 0;
	set->used = 1;
	set->capacity = FIRST_CAPACITY;
	set->words = budget_alloc(budget, NULL, 0, FIRST_CAPACITY * sizeof(uint64));
	alloc_slots(set, FIRST_SLOT_BITS);
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

/*
 * Free the memory of a set.
 */
void
shingle_set_free(ShingleSet *set)
{
	budget_free(set->budget, set->words, set->capacity * sizeof(uint64));
	budget_free(set->budget, set->slots, slots_size(set->slot_bits));
}

/*
 * Remove all shingles.  Keeps the memory for the next shingles, unless it is large, or the set has
 * more than twice its initial slots and less than an eighth of them was used.
 */
void
shingle_set_clear(ShingleSet *set)
{
	if (set->capacity > LARGE_SET ||
		(set->slot_bits > FIRST_SLOT_BITS + 1 && set->count < (1U << set->slot_bits) / 8))
	{
		shingle_set_free(set);
		shingle_set_init(set, set->budget);
		return;
	}
	memset(set->slots, 0, slots_size(set->slot_bits));
	set->used = 1;
	set->count = 0;
}

static inline uint32
next_slot(const ShingleSet *set, uint32 i)
{
	return (i + 1) & ((1U << set->slot_bits) - 1);
}

static inline SetShingle *
shingle_at(const ShingleSet *set, ShingleId id)
{
	return (SetShingle *) &set->words[id];
}

/* Loop over the shingles of a set in the order in which they were added. */
#define FOR_EACH_SHINGLE(set, id) \
	for (ShingleId id = 1; id < (set)->used; id += SHINGLE_WORDS(shingle_at(set, id)->length))

/*
 * Return the slot of a shingle, or the free slot to store it in.
 */
static inline ShingleId *
find_slot(const ShingleSet *set, uint64 hash, const char *bytes, size_t length)
{
	uint32		i = hash >> (64 - set->slot_bits);

	for (;; i = next_slot(set, i))
	{
		const SetShingle *shingle = shingle_at(set, set->slots[i]);

		if (set->slots[i] == NO_SHINGLE ||
			(shingle->hash == hash && shingle->length == length &&
			 memcmp(shingle->bytes, bytes, length) == 0))
			return &set->slots[i];
	}
}

/*
 * Double the number of slots.  Reads the shingles in the order of memory, which is faster
 * than reading them in the order of slots.  Checks for interrupts.
 */
static void
double_slots(ShingleSet *set)
{
	ShingleId  *old = set->slots;
	int			bits = set->slot_bits;

	alloc_slots(set, bits + 1);
	budget_free(set->budget, old, slots_size(bits));
	FOR_EACH_SHINGLE(set, id)
	{
		uint32		i = shingle_at(set, id)->hash >> (64 - set->slot_bits);

		CHECK_FOR_INTERRUPTS();
		while (set->slots[i] != NO_SHINGLE)
			i = next_slot(set, i);
		set->slots[i] = id;
	}
}

/*
 * Append a shingle to the memory of a set.  Does not store it in a slot.
 */
static ShingleId
make_shingle(ShingleSet *set, uint64 hash, const char *bytes, size_t length)
{
	size_t		nwords = SHINGLE_WORDS(length);
	ShingleId	id = set->used;
	SetShingle *shingle;

	if (nwords > set->capacity - set->used)
	{
		size_t		capacity = set->used + nwords;
		size_t		more = capacity < LARGE_SET ? capacity : capacity / 4;
		size_t		size = set->budget->allocated + (capacity - set->capacity) * sizeof(uint64);

		/* only shingles exceed the budget, not the space for further ones */
		if (size < set->budget->limit)
			capacity += Min(more, (set->budget->limit - size) / sizeof(uint64));
		set->words = budget_alloc(set->budget, set->words, set->capacity * sizeof(uint64),
								  capacity * sizeof(uint64));
		set->capacity = capacity;
	}
	set->used += nwords;
	shingle = shingle_at(set, id);
	shingle->hash = hash;
	shingle->length = length;
	memcpy(shingle->bytes, bytes, length);
	return id;
}

/*
 * Add a shingle if it is not in the set.  Returns its id.
 */
ShingleId
shingle_set_put(ShingleSet *set, const char *bytes, size_t length)
{
	uint64		hash = salted_hash_bytes(bytes, length);
	ShingleId  *slot = find_slot(set, hash, bytes, length);
	ShingleId	id = *slot;

	if (id != NO_SHINGLE)
		return id;
	*slot = id = make_shingle(set, hash, bytes, length);
	if (++set->count > (1U << set->slot_bits) / 4 * 3)
		double_slots(set);
	return id;
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
 * Return the id of a shingle, or NO_SHINGLE if it is not in the set.
 */
ShingleId
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
	FOR_EACH_SHINGLE(a, id)
	{
		const SetShingle *shingle = shingle_at(a, id);

		CHECK_FOR_INTERRUPTS();
		n += *find_slot(b, shingle->hash, shingle->bytes, shingle->length) != NO_SHINGLE;
	}
	return n;
}
