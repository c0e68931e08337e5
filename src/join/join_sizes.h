/*
 * Sizes of a similarity join's entries, and the parts of its memory
 *
 * The planner estimates by them how many entries fit.  Static assertions in match/ and store/
 * compare the sizes with the structs.
 *
 * An entry of a fingerprint takes 76 bytes: 24 as an entry, 52 as a value of its own.  So
 * 8 MB (the default) hold 31,500 right rows.  While all right tuples are in memory, no
 * pairs are pending and there are no partitions.  So the tuples may use the parts of both,
 * together 5/12.  If they exceed that, they go to a temporary file, also if the entries
 * fit, and those in memory take at most 1/8 from then on.  Once the inputs are
 * partitioned, no right tuples stay in memory, and no buffers while a chunk is joined.  So
 * the entries of each chunk then get 1/2.5.
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
	JOIN_BY_PREFIX			/* finds pairs of arrays within a Jaccard distance */
} JoinMethod;

/*
 * Divisors of the memory: a use gets the memory divided by its divisor.  The parts that are in
 * use at a time do not exceed the memory.
 *
 * Of each method: pending pairs, the tuples of pending pairs, and buffers of the partitions.
 * A chunk of the left input may always use the memory divided by MIN_CHUNK_DIVISOR, even if
 * the right input leaves less.  BITMAP_DIVISOR gives the maximum for the bitmap of matched
 * left rows.  If the inputs are partitioned, the entries get the rest.
 */
#define PENDING_DIVISOR				12
#define BUFFERS_DIVISOR				8
#define MIN_CHUNK_DIVISOR			4
#define BITMAP_DIVISOR				4

/*
 * Of fingerprints: the entries of each input while a chunk is joined, the tuples of the right
 * input, all of these until the first ones go to a file, and the entries of each input once the
 * inputs are partitioned.
 */
#define DISTANCE_ENTRIES_DIVISOR	3.5
#define DISTANCE_TUPLES_DIVISOR		8
#define DISTANCE_ALL_TUPLES_DIVISOR	2.4
#define DISTANCE_PARTITIONED_DIVISOR	2.5

/*
 * Of signatures: the entries of the right input, or of each input if they are partitioned,
 * and, of each input, the tuples and the signatures.
 */
#define BAND_ENTRIES_DIVISOR		2.2
#define BAND_PARTITIONED_DIVISOR	5
#define BAND_TUPLES_DIVISOR			32

/*
 * Of arrays: the entries of the right input, or of each input if they are partitioned, the
 * right tuples, which have the arrays, the tuples of a left chunk, and the counts of elements.
 */
#define PREFIX_ENTRIES_DIVISOR		3.2
#define PREFIX_PARTITIONED_DIVISOR	4.5
#define PREFIX_TUPLES_DIVISOR		5
#define PREFIX_LEFT_TUPLES_DIVISOR	12
#define COUNTS_DIVISOR				16

/* Size of the part of an entry that all methods have, in bytes, and of what files always have of it. */
#define ENTRY_SIZE			24
#define ENTRY_SIZE_BRIEF	16

/*
 * Memory for an entry while it is joined, besides its place in the array of entries: as a
 * value of its own, or in the sorted order.
 */
#define DISTANCE_JOINED_SIZE	52
#define REFS_JOINED_SIZE		16

/* Size in memory of an entry of an element of a prefix. */
#define PREFIX_ENTRY_SIZE			40

/* Size of an entry, in bytes. */
typedef struct EntrySize
{
	Size		in_memory;
	Size		in_file;
} EntrySize;

/*
 * Return the size of an entry that has `size` bytes in memory.  Only equalities need the hash
 * value, and only the joins that are not inner ones need the number of the row.  Files have
 * both or neither.
 */
static inline EntrySize
join_entry_size(Size size, JoinType jointype, bool has_equalities)
{
	bool		is_brief = jointype == JOIN_INNER && !has_equalities;

	return (EntrySize) {size, size - (is_brief ? ENTRY_SIZE - ENTRY_SIZE_BRIEF : 0)};
}

/*
 * Return the size in memory of an entry with the keys of nbands bands.
 */
static inline Size
join_band_entry_size(int nbands)
{
	return MAXALIGN(ENTRY_SIZE + nbands * sizeof(uint32));
}

#endif							/* SIMHASH_JOIN_SIZES_H */
