/*
 * A point where tests make a process wait
 *
 * The pause is compiled with SIMHASH_TEST_BUILD only.  That macro also makes pages small
 * (page.h), so that a few hundred rows make trees of several levels.  With the pause, a
 * test can choose what happens after a process has read a link and before it reads the
 * page.
 *
 * Copyright (c) 2026, the simhash authors
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
