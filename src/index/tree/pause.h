/*-------------------------------------------------------------------------
 *
 * pause.h
 *		A place where tests make a process wait
 *
 * Compiled with SIMHASH_TEST_BUILD only, which also makes pages small (page.h):
 * so that a few hundred rows make trees of several levels, and what happens between
 * the reading of a link and the reading of its page can be chosen.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAUSE_H
#define SIMHASH_PAUSE_H

#ifdef SIMHASH_TEST_BUILD
extern void pause_init(void);
extern void pause_before_link(int level);
#else
#define pause_init()				((void) 0)
#define pause_before_link(level)	((void) 0)
#endif

#endif							/* SIMHASH_PAUSE_H */
