/*-------------------------------------------------------------------------
 *
 * join_hook.h
 *		The planner's hook for joins
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_HOOK_H
#define SIMHASH_JOIN_HOOK_H

extern void join_hook_init(void);

#endif							/* SIMHASH_JOIN_HOOK_H */
