/*
 * Tests that hash.c detects an xxHash with other hashes
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "text/hash.h"

#include "unit.h"

/*
 * The hash of an xxHash that differs for inputs of one range of lengths.  hash.c uses
 * this macro instead of the function.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

static size_t other_from;
static size_t other_to;

static uint64
other_XXH3(const void *bytes, size_t length)
{
	uint64		hash = XXH3_64bits(bytes, length);

	return length >= other_from && length <= other_to ? hash ^ 1 : hash;
}

#undef XXH3_64bits
#define XXH3_64bits		other_XXH3
#define hash_feature	other_hash_feature
#define hash_is_frozen	other_hash_is_frozen
#define hash_number		other_hash_number
#define hash_seeded		other_hash_seeded
extern uint64 other_hash_feature(const char *bytes, size_t length);
extern bool other_hash_is_frozen(void);
extern uint64 other_hash_number(uint64 number);
extern uint64 other_hash_seeded(const char *bytes, size_t length, uint64 seed);
#include "text/hash.c"
#undef hash_is_frozen
#undef hash_number
#undef hash_seeded

/*
 * The ranges of lengths for which XXH3 has different code; the last range has no upper
 * limit.
 */
static const size_t ranges[][2] = {
	{1, 3}, {4, 8}, {9, 16}, {17, 128}, {129, 240}, {241, 100000}
};

int
main(void)
{
	begin_group("own hash");
	unit_checks++;
	if (!hash_is_frozen() && count_failure())
		printf("the right hash is refused\n");
	end_group("header");

	begin_group("other hashes");
	for (size_t i = 0; i < lengthof(ranges); i++)
	{
		other_from = ranges[i][0];
		other_to = ranges[i][1];
		unit_checks++;
		if (other_hash_is_frozen() && count_failure())
			printf("a difference at lengths from %zu to %zu is not detected\n", other_from, other_to);
	}
	end_group("length ranges");

	return end_tests();
}
