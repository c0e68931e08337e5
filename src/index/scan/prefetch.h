/*
 * Prefetch the leaves of a search's next probes
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_PREFETCH_H
#define SIMHASH_PREFETCH_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "index/simhash/probe.h"
#include "index/tree/link.h"

/* Maximum number of probes to prefetch. */
#define PREFETCH_MAX	64

/* A probe: a range to read, and a link to the first leaf of the range. */
typedef struct PrefetchProbe
{
	KeyRange	range;
	PageLink	leaf;			/* downlink of the first leaf.  leaf.block is
								 * InvalidBlockNumber if the downlink is
								 * unknown. */
} PrefetchProbe;

/* A ring of probes: the next probe, and the probes after it, which are prefetched. */
typedef struct Prefetch
{
	int			maximum;		/* number of probes to prefetch in this scan */
	int			target;			/* number of probes to prefetch now: 0 before the
								 * first probe of a search, then `maximum` */
	int			first;			/* index of the next probe in the array */
	int			n;				/* number of probes in the ring */
	PrefetchProbe probe[PREFETCH_MAX + 1];
} Prefetch;

/* Set *range to the next range of a search.  Returns false after the last range. */
typedef bool (*NextRange) (void *search, KeyRange *range);

extern void prefetch_init(Prefetch *prefetch, Relation index);
extern void prefetch_reset(Prefetch *prefetch);
extern bool prefetch_next(Prefetch *prefetch, Relation index, NextRange next_range,
						  void *search, KeyRange *range, Buffer *buffer);

#endif							/* SIMHASH_PREFETCH_H */
