/*
 * Groups of checks and random numbers, for the stand-alone tests
 *
 * Each program includes this once, after postgres_fe.h.  A group passes if
 * it made at least one check and none failed.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef UNIT_H
#define UNIT_H

#include <time.h>
#include <unistd.h>

#include "cpu.h"

#define UNIT_MAX_REPORTS	20	/* failures printed in one group */

static const char *unit_group;
static long unit_checks;
static long unit_failures;
static int	unit_passed;
static int	unit_failed;
static uint64 unit_random_state;

static inline void
begin_group(const char *name)
{
	unit_group = name;
	unit_checks = unit_failures = 0;
}

/*
 * Begin a group of tests for one of several implementations.  Prints a note and returns
 * false if the processor does not support it.
 */
static inline bool
begin_method_group(const char *what, const CpuMethod *method)
{
	static char name[64];

	if (!method->available())
	{
		printf("skipped: %s: this processor has no %s\n", what, method->name);
		return false;
	}
	snprintf(name, sizeof(name), "%s, %s", what, method->name);
	begin_group(name);
	return true;
}

/* End a group.  `unit` is the noun for its checks. */
static inline void
end_group(const char *unit)
{
	bool		ok = unit_failures == 0 && unit_checks > 0;

	if (unit_failures > UNIT_MAX_REPORTS)
		printf("FAIL %s: %ld failures in all\n", unit_group, unit_failures);
	printf("%s %s: %ld %s\n", ok ? "ok" : "not ok", unit_group, unit_checks, unit);
	fflush(stdout);
	if (ok)
		unit_passed++;
	else
		unit_failed++;
}

/*
 * Count a failure.  Returns true if the caller must describe it, and prints the start of
 * that line.
 */
static inline bool
count_failure(void)
{
	if (++unit_failures > UNIT_MAX_REPORTS)
		return false;
	printf("FAIL %s: ", unit_group);
	return true;
}

/* Return the exit status of the program. */
static inline int
end_tests(void)
{
	printf("%d passed, %d failed\n", unit_passed, unit_failed);
	return unit_failed > 0 ? 1 : 0;
}

/* Set the seed from the first argument, if there is one, and print it. */
static inline void
seed_random(int argc, char **argv)
{
	if (argc > 1)
		unit_random_state = strtoull(argv[1], NULL, 10);
	else
		unit_random_state = ((uint64) time(NULL) << 20) ^ (uint64) getpid();
	printf("seed %llu\n", (unsigned long long) unit_random_state);
}

/* Return the next random number, by splitmix64. */
static inline uint64
random_word(void)
{
	uint64		z = (unit_random_state += UINT64CONST(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static inline uint32
random_below(uint32 limit)
{
	return (uint32) (random_word() >> 32) % limit;
}

#endif							/* UNIT_H */
