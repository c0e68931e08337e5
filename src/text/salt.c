/*
 * Hashing that is unpredictable outside this process
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "text/salt.h"

uint64		process_salt[SALT_NUMBERS];

/*
 * Make the salt if there is none.  Call this before any function of salt.h, when the salt is
 * first needed, not when the library is loaded.
 * If the postmaster loaded the library, all its children would have the same salt.  Raises
 * an error if the server cannot generate random numbers.
 */
void
salt_init(void)
{
	uint64		numbers[SALT_NUMBERS];

	if (process_salt[0] != 0)
		return;
	if (!pg_strong_random(numbers, sizeof(numbers)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	for (int i = 0; i < SALT_NUMBERS; i++)
		process_salt[i] = numbers[i] | 1;
}
