/*
 * Entries of an input of a join: keys and the locations of their tuples
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ENTRIES_H
#define SIMHASH_ENTRIES_H

#include "join/join_sizes.h"
#include "join/store/tuples.h"

/*
 * An entry of a row.  What a method adds to this struct follows it.  All entries of an execution
 * have the same size.  A method that wants more keys for some rows adds several entries for a row.
 */
typedef struct JoinEntry
{
	uint64		key;			/* of the method: a fingerprint, parameters of a signature,
								 * or an element of a prefix */
	TupleLocation location;

	/* These are not in files if the join has no use for them.  Then they are 0. */
	uint32		hash;			/* hash value of the equality keys */
	uint32		row;			/* number of the row in its input or chunk, from 0 */
} JoinEntry;

StaticAssertDecl(sizeof(JoinEntry) == ENTRY_SIZE, "size of a JoinEntry");
StaticAssertDecl(offsetof(JoinEntry, hash) == ENTRY_SIZE_BRIEF, "brief size of a JoinEntry");

/* A list of blocks of entries, the last one first.  Participants in a parallel join share some. */
typedef struct EntryList
{
	TupleLocation last;			/* the last block, or NO_TUPLE */
	uint64		n;				/* number of entries */
} EntryList;

/* Reads a list of entries. */
typedef struct EntryReader
{
	JoinTuples *blocks;
	EntrySize	entry_size;
	EntryList	list;
	uint64		nread;			/* number of entries that have been read */
	TupleLocation block;		/* the block to read next */
	uint32		nread_of_block; /* number of its entries that have been read */
	JoinTuples *tuples;			/* tuples of the entries of a parallel join, else NULL */
	uint32		first_row;		/* number of the first row of the participant */
} EntryReader;

/*
 * A block of entries, which follow it.  It is kept as a tuple is.
 */
typedef struct EntryBlock
{
	uint32		size;			/* with the entries, in bytes */
	uint32		n;				/* number of entries */
	TupleLocation previous;		/* block before it in the list, or NO_TUPLE */
} EntryBlock;

/*
 * Returns a number of an entry.  Its low bits are the number of the entry's partition in a round.
 */
typedef uint32 (*PartitionFunction) (const void *arg, const JoinEntry *entry, int round);

/* Writes the partitions of a round. */
typedef struct EntryWriter
{
	JoinTuples *blocks;
	PartitionFunction number_of;	/* not called if there is one partition */
	const void *arg;			/* argument of number_of() */
	uint32		n;				/* number of partitions, a power of 2 */
	int			round;
	EntrySize	entry_size;
	Size		block_size;		/* size of a full block, in bytes */
	char	   *block;			/* n blocks that are being filled */
	EntryList  *partition;		/* partitions of this round; those of the next one follow */
} EntryWriter;

/*
 * Loaded entries: all entries of an input, or a chunk of those that have been written.
 */
typedef struct JoinEntries
{
	MemoryContext context;		/* context of the array */
	EntrySize	entry_size;
	JoinEntry  *entry;
	uint32		n;
	uint32		allocated;		/* size of the array, in entries */
	uint32		capacity;		/* maximum number of loaded entries */
	EntryReader *all;			/* readers of all entries, if there are more than fit into the
								 * array: of one list, or of each partition; otherwise NULL */
	int			nall;			/* number of these readers */
	uint64		nwritten;		/* number of their entries */
	JoinTuples *spilled;		/* blocks that join_entries_spill() has written, or NULL */
	EntryReader *source;		/* readers that chunks are loaded from; NULL if all entries are
								 * loaded */
	int			nsources;		/* number of these */
	bool		is_part;		/* true if the sources have more entries than are loaded */
	bool		sorted;			/* true if the loaded entries have been sorted */
	bool		loaded;			/* true if the only chunk has been loaded; used if `source`
								 * is NULL */
	EntryWriter *writer;		/* takes entries in place of the array; may be NULL */
} JoinEntries;

/*
 * Return loaded entry i.
 */
static inline JoinEntry *
join_entries_at(const JoinEntries *entries, uint32 i)
{
	return (JoinEntry *) ((char *) entries->entry + i * entries->entry_size.in_memory);
}

/* References to loaded entries of one input, sorted by 32 bits. */
typedef struct EntryRefs
{
	const JoinEntries *entries;
	uint64	   *ref;			/* a key (upper 32 bits) and index in `entries` of each entry that
								 * has a key; n elements, sorted */
	uint32		n;
	uint32		first;			/* index in ref[] of the first entry with the current key */
	uint32		end;			/* end of the entries with the current key (exclusive) */
} EntryRefs;

/*
 * Return the entry that is at a position of the sorted order.
 */
static inline JoinEntry *
entry_refs_at(const EntryRefs *refs, uint32 position)
{
	return join_entries_at(refs->entries, (uint32) refs->ref[position]);
}

/*
 * Return true if a row has its bit set in a bitmap of rows, which may be NULL.
 */
static inline bool
join_row_is_done(const uint32 *done, uint32 row)
{
	return done && done[row / 32] >> row % 32 & 1;
}

/*
 * Return true if a pair of a list that is joined with itself is left out.  `left` and `right` are
 * positions in the list.  Left out are an entry and itself, unless `itself` is true, and a pair
 * that has been returned in the other order.  It has not if `right` was skipped as a left entry,
 * because its row is done.
 */
static inline bool
join_pair_is_repeated(const uint32 *done, bool itself, uint32 left, uint32 right,
					  uint32 right_row)
{
	return left == right ? !itself : right < left && !join_row_is_done(done, right_row);
}

extern EntryReader *entry_readers_make(MemoryContext context, JoinTuples *blocks, EntrySize entry_size,
									   const EntryList *list, uint32 n);
extern uint32 entry_reader_read(EntryReader *reader, JoinEntry *entry, uint32 max);

extern void join_entries_init(JoinEntries *entries, MemoryContext context, Size capacity,
							  EntrySize entry_size);
extern void join_entries_add(JoinEntries *entries, const JoinEntry *entry);
extern void join_entries_spill(JoinEntries *entries);
extern void join_entries_load_all(JoinEntries *entries);
extern void join_entries_rewind(JoinEntries *entries);
extern void join_entries_limit(JoinEntries *entries, Size capacity);
extern bool join_entries_load(JoinEntries *entries);
extern void join_entries_write(JoinEntries *entries);
extern void join_entries_close(JoinEntries *entries);

extern void entry_writer_init(EntryWriter *writer, MemoryContext context, Size memory);
extern void entry_writer_add(EntryWriter *writer, const JoinEntry *entry);
extern void entry_writer_end(EntryWriter *writer);

/* entry_sort.c */
extern void join_sort(JoinEntry *entry, size_t n);
extern uint64 *entry_refs_begin(EntryRefs *left, const JoinEntries *left_entries,
								EntryRefs *right, const JoinEntries *right_entries,
								MemoryContext context);
extern void entries_sort_by_key(JoinEntries *entries, MemoryContext context);
extern void entry_refs_sort(EntryRefs *refs, uint64 **scratch);
extern bool entry_refs_next_key(EntryRefs *left, EntryRefs *right, int shift);

#endif							/* SIMHASH_ENTRIES_H */
