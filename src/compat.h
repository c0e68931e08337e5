/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between the supported releases of PostgreSQL
 *
 * The only place that tests PG_VERSION_NUM.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/* The accessors of variable-length data moved here in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Input functions report bad input softly from 16 on. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define ereturn(context, result, ...)	ereport(ERROR, __VA_ARGS__)
#endif

/* The datum of a sort need not be copied from 16 on, and must be freed before. */
#if PG_VERSION_NUM >= 160000
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, false, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		((void) (datum))
#else
#define tuplesort_getdatum_nocopy(state, datum) \
	tuplesort_getdatum((state), true, (datum), &(bool) {false}, NULL)
#define tuplesort_free_datum(datum)		pfree(DatumGetPointer(datum))
#endif

/* Replaces pg_attribute_noreturn() from 18 on; stands before the declaration. */
#ifndef pg_noreturn
#define pg_noreturn						__attribute__((noreturn))
#endif

#endif							/* SIMHASH_COMPAT_H */
