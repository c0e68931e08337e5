/*
 * Version of the library
 *
 * test/layout.pl compares the other files that name the version.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_VERSION_H
#define SIMHASH_VERSION_H

#define SIMHASH_VERSION		"1.0.0"

#endif							/* SIMHASH_VERSION_H */
