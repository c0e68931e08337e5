/*-------------------------------------------------------------------------
 *
 * prefetch.h
 *		The next probes of a search, their leaves fetched ahead
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PREFETCH_H
#define SIMHASH_PREFETCH_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "index/simhash/probe.h"
#include "index/tree/link.h"

#define PREFETCH_MAX	64

/* A range to read, and where it begins, as far as that is known. */
typedef struct PrefetchProbe
{
	KeyRange	range;
	PageLink	leaf;			/* its block may be InvalidBlockNumber */
	Buffer		recent;			/* where the leaf was seen, not pinned */
} PrefetchProbe;

typedef struct Prefetch
{
	int			most;			/* probes to look ahead */
	int			wanted;			/* 0 before the first probe, then `most` */
	int			first;			/* of a ring */
	int			n;
	PrefetchProbe probe[PREFETCH_MAX + 1];
} Prefetch;

extern void prefetch_init(Prefetch *prefetch, Relation index);
extern void prefetch_reset(Prefetch *prefetch);
/* The next range of a search; false after the last one. */
typedef bool (*NextRange) (void *search, KeyRange *range);

extern bool prefetch_next(Prefetch *prefetch, Relation index, NextRange next_range,
						  void *search, KeyRange *range, Buffer *buffer);

#endif							/* SIMHASH_PREFETCH_H */
