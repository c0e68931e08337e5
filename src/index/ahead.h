/*-------------------------------------------------------------------------
 *
 * ahead.h
 *		The next probes of a search, their leaves fetched ahead
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_AHEAD_H
#define SIMHASH_AHEAD_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "index/page.h"
#include "index/probe.h"

#define AHEAD_MAX	64

/* A range to read, and where it begins, as far as that is known. */
typedef struct AheadProbe
{
	KeyRange	range;
	PageLink	leaf;			/* its block may be InvalidBlockNumber */
	Buffer		recent;			/* where that was seen, not pinned */
} AheadProbe;

typedef struct Ahead
{
	int			most;			/* probes to look ahead */
	int			wanted;			/* the same, at the moment */
	int			first;			/* of a ring */
	int			n;
	AheadProbe	probe[AHEAD_MAX + 1];
} Ahead;

extern void ahead_init(Ahead *ahead, Relation index);
extern void ahead_reset(Ahead *ahead);
extern bool ahead_next(Ahead *ahead, Relation index, Probing *probing,
					   KeyRange *range, Buffer *buffer);

#endif							/* SIMHASH_AHEAD_H */
