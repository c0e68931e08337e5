/*-------------------------------------------------------------------------
 *
 * nulling.h
 *		Nulling outer joins of the columns of a join node
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_NULLING_H
#define SIMHASH_NULLING_H

#include "nodes/plannodes.h"

extern void nulling_normalize(CustomScan *scan, List *output);

#endif							/* SIMHASH_NULLING_H */
