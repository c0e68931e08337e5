/*
 * Sizes of a similarity join's entries, and the parts of its memory
 *
 * The executor divides its memory by these numbers.  The planner estimates by them how
 * many entries fit.  Static assertions in match/ and store/ compare the sizes with the
 * structs.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_SIZES_H
#define SIMHASH_JOIN_SIZES_H

#include "nodes/nodes.h"

/* Name of the plan node. */
#define JOIN_NODE_NAME		"SimHash Join"

/* Method of finding pairs. */
typedef enum JoinMethod
{
	JOIN_BY_DISTANCE,			/* finds pairs of fingerprints within a radius */
	JOIN_BY_BANDS,				/* finds pairs of signatures that share a band */
	JOIN_BY_RARE_KEYS			/* finds pairs of arrays within a Jaccard distance */
} JoinMethod;

/*
 * Parts of the memory, as divisors.  One part is for tuples of the right input, one for
 * the entries of each input while a chunk is joined, one for pending pairs, one for
 * tuples of pending pairs, and one for buffers of the partitions.  Together the parts
 * do not exceed the memory.  Until the first right tuples go to a file, all right tuples
 * may use the parts of the pending pairs and the buffers, too.
 */
#define TUPLES_PART			8
#define ALL_TUPLES_PART		2.4
#define ENTRIES_PART		3.5
#define PENDING_PART		12
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
 * For arrays, one part is for the entries of the right input, or of each input if they are
 * partitioned, one for the right tuples, which have the arrays, one for the tuples of a left
 * chunk, and one for the counts of elements.
 */
#define RARE_ENTRIES_PART	3.2
#define RARE_TUPLES_PART	5
#define RARE_LEFT_TUPLES_PART	12
#define RARE_PARTITION_PART	4.5
#define COUNTS_PART			16

/*
 * Part of the memory for the entries of each input once the inputs are partitioned.  Then
 * no tuples are in memory besides those of pending pairs, and no buffers while a chunk is
 * joined.
 */
#define PARTITIONED_PART	2.5

/*
 * A chunk of the left input may always use the memory divided by this, even if the right
 * input leaves less.
 */
#define MIN_CHUNK_PART		4

/*
 * Maximum part of the memory for the bitmap of matched left rows.  If the inputs are
 * partitioned, the entries get the rest.
 */
#define BITMAP_PART			4

/* Size of the part of an entry that all methods have, in bytes. */
#define ENTRY_SIZE			24

/* Size in a file of an entry without the hash value and the number of the row. */
#define ENTRY_SIZE_BRIEF	16

/*
 * Memory for an entry while it is joined, besides its place in the array of entries: as a
 * value of its own, or in the sorted order.
 */
#define DISTANCE_JOINED_SIZE	52
#define BAND_JOINED_SIZE		16
#define RARE_JOINED_SIZE		16

/* Size of an entry of a rare key. */
#define RARE_ENTRY_SIZE			40

/*
 * Return the size in files of an entry with a fingerprint.  Only equalities need the hash
 * value, and only the joins that are not inner ones need the number of the row.
 */
static inline Size
join_distance_entry_size(JoinType jointype, bool has_equalities)
{
	return jointype == JOIN_INNER && !has_equalities ? ENTRY_SIZE_BRIEF : ENTRY_SIZE;
}

/*
 * Return the size of an entry with the keys of nbands bands.
 */
static inline Size
join_band_entry_size(int nbands)
{
	return MAXALIGN(ENTRY_SIZE + nbands * sizeof(uint32));
}

/*
 * Return the memory for an entry while it is joined, if it has entry_size bytes in files.
 */
static inline Size
join_entry_memory(Size entry_size, Size joined_size)
{
	return Max(entry_size, ENTRY_SIZE) + joined_size;
}

#endif							/* SIMHASH_JOIN_SIZES_H */
