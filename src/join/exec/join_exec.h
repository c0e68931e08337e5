/*-------------------------------------------------------------------------
 *
 * join_exec.h
 *		Execution of a similarity join
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_EXEC_H
#define SIMHASH_JOIN_EXEC_H

#include "nodes/extensible.h"

extern Node *join_create_state(CustomScan *scan);

#endif							/* SIMHASH_JOIN_EXEC_H */
