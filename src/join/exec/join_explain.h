/*-------------------------------------------------------------------------
 *
 * join_explain.h
 *		EXPLAIN of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_EXPLAIN_H
#define SIMHASH_JOIN_EXPLAIN_H

#include "nodes/execnodes.h"

struct ExplainState;

extern void join_explain(CustomScanState *css, List *ancestors,
						 struct ExplainState *es);

#endif							/* SIMHASH_JOIN_EXPLAIN_H */
