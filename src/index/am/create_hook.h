/*-------------------------------------------------------------------------
 *
 * create_hook.h
 *		Check of the parameters of an index before it is created
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CREATE_HOOK_H
#define SIMHASH_CREATE_HOOK_H

extern void create_hook_init(void);

#endif							/* SIMHASH_CREATE_HOOK_H */
