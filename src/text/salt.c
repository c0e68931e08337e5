/*
 * Hashing that is unpredictable outside this process
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "text/salt.h"

uint64		process_salt[SALT_NUMBERS];

/*
 * Make the salt.  Called when the salt is first needed, not when the library is loaded.
 * If the postmaster loaded the library, all its children would have the same salt.  Raises
 * an error if the server cannot generate random numbers.
 */
void
salt_make(void)
{
	uint64		numbers[SALT_NUMBERS];

	if (!pg_strong_random(numbers, sizeof(numbers)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	for (int i = 0; i < SALT_NUMBERS; i++)
		process_salt[i] = numbers[i] | 1;
}
