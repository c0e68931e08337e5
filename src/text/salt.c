/*-------------------------------------------------------------------------
 *
 * salt.c
 *		Hashing that nobody outside this process can foresee
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/salt.h"

uint64		process_salt[SALT_NUMBERS];

/*
 * Made when first needed, not when the library is loaded: that may be in the
 * postmaster, whose children would all have the same.
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
