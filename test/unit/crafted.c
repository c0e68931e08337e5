/*
 * Tests that crafted hashes and strings fill the tables of a text's shingles as evenly
 * as any others
 *
 *	crafted [SEED]
 *
 * XXH3 is public, and for eight bytes it can be inverted.  So a text can have tokens whose
 * hashes agree in their first bits, or in their last ones.  The work to find an element is
 * the number of buckets or slots that the search reads.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "unit.h"

/* The server's functions that the tables call */
#undef CHECK_FOR_INTERRUPTS
#define CHECK_FOR_INTERRUPTS()		((void) 0)
#undef ereport
#define ereport(...)				abort()
#define MemoryContextAllocHuge(context, size)	palloc(size)
#define repalloc_huge(pointer, size)	repalloc(pointer, size)

#include "digest/distinct.c"
#include "functions/shingle_set.c"

#define N			10000
#define SALTS		50

/* Limit of the work, as a multiple of the work for random hashes */
#define MAX_RATIO	1.05

uint64		process_salt[SALT_NUMBERS];

/*
 * The tests make the salt.
 */
void
salt_init(void)
{
}

/*
 * Make another salt, as salt.c does.
 */
static void
salt_make(void)
{
	for (int i = 0; i < SALT_NUMBERS; i++)
		process_salt[i] = random_word() | 1;
}

/* --- crafted strings -------------------------------------------------------------- */

static inline uint64
rotate_left(uint64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/*
 * Return eight bytes, as a number, whose XXH3 is `hash`.  Runs the steps of XXH3 backwards.
 */
static uint64
preimage(uint64 hash)
{
	const uint64 factor = UINT64CONST(0x9FB21C651E98DF25);
	uint64		inverse = factor;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	hash ^= hash >> 28;
	hash ^= hash >> 56;
	hash *= inverse;
	hash ^= (hash >> 35) + 8;
	hash *= inverse;
	/* 64 of these steps return to the same number */
	for (int i = 0; i < 63; i++)
		hash ^= rotate_left(hash, 49) ^ rotate_left(hash, 24);
	return rotate_left(hash ^ UINT64CONST(0xC73AB174C5ECD5A2), 32);
}

/*
 * Set hashes[] to N different numbers: that end alike, begin alike, follow each other, or
 * are random.
 */
static void
craft_hashes(const char *how, uint64 *hashes)
{
	for (uint64 i = 0; i < N; i++)
		switch (how[0])
		{
			case 'e':
				hashes[i] = (i + 1) << 32 | 0x12345678;
				break;
			case 'b':
				hashes[i] = UINT64CONST(0x12345678) << 32 | (i + 1);
				break;
			case 'f':
				hashes[i] = i + 1;
				break;
			default:
				hashes[i] = random_word();
		}
}

/* --- work ------------------------------------------------------------------------- */

/*
 * Return the number of buckets read to find each element of a set of these hashes once.
 */
static uint64
work_of_hash_set(const uint64 *hashes)
{
	HashSet		set;
	uint64		work = 0;

	hash_set_init(&set, 0);
	for (int i = 0; i < N; i += 100)
	{
		uint64		batch[100];

		memcpy(batch, hashes + i, sizeof(batch));
		hash_set_add(&set, batch, 100);
	}
	for (uint64 at = 0; at < hash_set_size(&set); at++)
		if (set.slots[at] != 0)
			work += 1 + (((at - bucket_of(&set, set.slots[at])) & (hash_set_size(&set) - 1)) /
						 HASH_SET_BUCKET);
	if (set.slots != set.inline_slots)
		pfree(set.slots);
	return work;
}

/*
 * Return the number of slots read to find each element of a set of strings once.  XXH3 of
 * the strings are these hashes.
 */
static uint64
work_of_shingle_set(const uint64 *hashes)
{
	SetBudget	budget = {NULL, SIZE_MAX, 0};
	ShingleSet	set;
	uint64		work = 0;

	salt_init();
	shingle_set_init(&set, &budget);
	for (int i = 0; i < N; i++)
	{
		uint64		bytes = preimage(hashes[i]);

		if (hash_feature((char *) &bytes, 8) != hashes[i] && count_failure())
			printf("the hash of the crafted string is wrong\n");
		shingle_set_add(&set, (char *) &bytes, 8);
	}
	for (uint32 at = 0; at < 1U << set.slot_bits; at++)
		if (set.slots[at] != NO_SHINGLE)
			work += 1 + ((at - (shingle_at(&set, set.slots[at])->hash >> (64 - set.slot_bits))) &
						 ((1U << set.slot_bits) - 1));
	shingle_set_free(&set);
	return work;
}

/*
 * Compare the work for crafted hashes with the work for random ones, summed over salts.
 */
static void
test_work(const char *name, uint64 (*work_of) (const uint64 *hashes))
{
	static const char *const crafted[] = {"ends alike", "beginnings alike", "following numbers"};
	static uint64 hashes[N];

	begin_group(name);
	for (size_t i = 0; i < lengthof(crafted); i++)
	{
		uint64		work = 0;
		uint64		random_work = 0;

		for (int salt = 0; salt < SALTS; salt++)
		{
			salt_make();
			craft_hashes(crafted[i], hashes);
			work += work_of(hashes);
			craft_hashes("random", hashes);
			random_work += work_of(hashes);
		}
		unit_checks++;
		if (work > random_work * MAX_RATIO && count_failure())
			printf("%s: %.2f times the work of random hashes\n", crafted[i],
				   (double) work / random_work);
	}
	end_group("kinds of hashes");
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	test_work("hash set", work_of_hash_set);
	test_work("shingle set", work_of_shingle_set);
	return end_tests();
}
