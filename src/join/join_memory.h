/*-------------------------------------------------------------------------
 *
 * join_memory.h
 *		Parts of the memory of a similarity join
 *
 * The executor divides its memory by these numbers, and the planner estimates by them how
 * many entries fit.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_JOIN_MEMORY_H
#define SIMHASH_JOIN_MEMORY_H

#include "join/plan/join_clause.h"
#include "join/match/distance_pairs.h"

/*
 * Parts of the memory, as divisors.  One part is for tuples of the right input, one for
 * the entries of each input while a chunk is joined, one for pairs of the batch, one for
 * tuples of the batch, and one for buffers of the partitions.  Together the parts
 * do not exceed the memory.  Until the first right tuples go to a file, all right tuples
 * may use the parts of the batch and the buffers, too.
 */
#define TUPLES_PART			8
#define ALL_TUPLES_PART		2.4
#define ENTRIES_PART		3.5
#define BATCH_PART			12
#define FILES_PART			8

/*
 * For signatures, one part is for the entries of the right input, or of each input if they
 * are partitioned.  Four smaller parts are for the tuples and the signatures of both
 * inputs.
 */
#define BAND_ENTRIES_PART	2.2
#define BAND_PARTITION_PART	5
#define SIGNATURES_PART		32

/*
 * Part of the memory for the entries of each input once the inputs are partitioned.  Then
 * no tuples are in memory besides the batch's, and no buffers while a chunk is joined.
 */
#define PARTITIONED_PART	2.5

/*
 * A chunk of the left input may always use the memory divided by this, even if the right
 * input leaves less.
 */
#define MIN_CHUNK_PART		4

/* Minimum size of the buffer of a partition, in bytes. */
#define MIN_BUFFER			2048

/* Number of partitions that is allowed even if their buffers exceed FILES_PART. */
#define MIN_PARTITIONS		8

/*
 * Return the size in files of an entry, with the keys of nbands bands, 0 if fingerprints
 * are joined.  Only equalities need the hash value, and only the joins that are not inner
 * ones need the number of the row.
 */
static inline Size
join_memory_entry_size(JoinType jointype, bool has_equalities, int nbands)
{
	if (nbands == 0 && jointype == JOIN_INNER && !has_equalities)
		return ENTRY_SIZE_BRIEF;
	return ENTRY_SIZE_FULL + nbands * sizeof(uint32);
}

/*
 * Return the bytes of memory for an entry while it is joined, besides its place in the
 * array of entries: as a value (JoinPairs), or in the sorted order (JoinBands).
 */
static inline Size
join_memory_per_value(JoinMethod method)
{
	return method == JOIN_BY_BANDS ? 2 * sizeof(uint64) :
		sizeof(JoinValue) + 2 * sizeof(SimHash) + sizeof(uint32);
}

/*
 * Return the bytes of memory for an entry while it is joined, if it has entry_size bytes
 * in files.
 */
static inline Size
join_memory_per_entry(JoinMethod method, Size entry_size)
{
	return join_entry_stride(entry_size) + join_memory_per_value(method);
}

/*
 * Return the number of right entries that may be in memory.
 */
static inline Size
join_memory_right_capacity(Size memory, JoinMethod method, bool partitioned, Size entry_size)
{
	double		part = ENTRIES_PART;

	if (method == JOIN_BY_BANDS)
		part = partitioned ? BAND_PARTITION_PART : BAND_ENTRIES_PART;
	return memory / part / join_memory_per_entry(method, entry_size);
}

#endif							/* SIMHASH_JOIN_MEMORY_H */
