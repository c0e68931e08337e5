/*
 * The planner's hooks for each relation of a query
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_TABLE_HOOK_H
#define SIMHASH_TABLE_HOOK_H

extern void table_hook_init(void);

#endif							/* SIMHASH_TABLE_HOOK_H */
