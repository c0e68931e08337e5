/*
 * Entries of an input of a join: keys and the locations of their tuples
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "join/store/entries.h"

/* Minimum capacity, and the initial size of the array. */
#define MIN_CAPACITY		((Size) 1024)

/*
 * Size in bytes from which the array grows by a quarter, so that it hardly exceeds the
 * memory of a chunk.  A smaller array is doubled.
 */
#define MANY_BYTES			(1024 * 1024)

/* The block for entries that leave the array takes at most the memory of the array divided by this. */
#define SPILL_DIVISOR		16

/* --- in blocks ------------------------------------------------------------------ */

/*
 * Entries that do not fit into memory are in lists of blocks, which are kept as tuples are: in the
 * file, or in the shared memory of a parallel join.  A partition is a list.
 */

/*
 * Allocate the blocks of a writer, whose other members are set, in at most `memory` bytes.  A
 * block has space for an entry in any case.
 */
void
entry_writer_init(EntryWriter *writer, MemoryContext context, Size memory)
{
	Size		size = Min(memory / writer->n, BLCKSZ);

	size = size > sizeof(EntryBlock) ? (size - sizeof(EntryBlock)) / writer->entry_size.in_file : 1;
	writer->block_size = sizeof(EntryBlock) + Max(size, 1) * writer->entry_size.in_file;
	writer->block = MemoryContextAllocExtended(context, writer->n * writer->block_size,
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < writer->n; i++)
		((EntryBlock *) (writer->block + i * writer->block_size))->size = sizeof(EntryBlock);
}

/*
 * Write the entries in a partition's block.
 */
static void
flush_block(EntryWriter *writer, EntryBlock *block, EntryList *partition)
{
	block->previous = partition->last;
	partition->last = writer->blocks->shared_arenas ?
		join_tuples_put(writer->blocks, (MinimalTuple) block) :
		join_tuples_write(writer->blocks, join_tuple_location((MinimalTuple) block));
	partition->n += block->n;
	block->size = sizeof(EntryBlock);
	block->n = 0;
}

/*
 * Return how many bytes files have of the part of an entry that all methods have.
 */
static inline Size
common_size(EntrySize size)
{
	return size.in_file - (size.in_memory - sizeof(JoinEntry));
}

/*
 * Add an entry to its partition.
 */
void
entry_writer_add(EntryWriter *writer, const JoinEntry *entry)
{
	uint32		p = writer->n == 1 ? 0 :
		writer->number_of(writer->arg, entry, writer->round) & (writer->n - 1);
	EntryBlock *block = (EntryBlock *) (writer->block + p * writer->block_size);
	Size		common = common_size(writer->entry_size);

	memcpy((char *) block + block->size, entry, common);
	memcpy((char *) block + block->size + common, entry + 1, writer->entry_size.in_file - common);
	block->size += writer->entry_size.in_file;
	block->n++;
	if (block->size == writer->block_size)
		flush_block(writer, block, &writer->partition[p]);
}

/*
 * Write the last blocks of all partitions, and advance to the next round.
 */
void
entry_writer_end(EntryWriter *writer)
{
	for (uint32 p = 0; p < writer->n; p++)
	{
		EntryBlock *block = (EntryBlock *) (writer->block + p * writer->block_size);

		CHECK_FOR_INTERRUPTS();
		if (block->n > 0)
			flush_block(writer, block, &writer->partition[p]);
	}
	writer->partition += writer->n;
	writer->round++;
}

/*
 * Return an array of readers of n lists.
 */
EntryReader *
entry_readers_make(MemoryContext context, JoinTuples *blocks, EntrySize entry_size,
				   const EntryList *list, uint32 n)
{
	EntryReader *reader = MemoryContextAllocHuge(context, n * sizeof(EntryReader));

	for (uint32 i = 0; i < n; i++)
		reader[i] = (EntryReader) {.blocks = blocks,.entry_size = entry_size,.list = list[i]};
	return reader;
}

/*
 * Read at most max of the next entries of a list.  Returns their number, 0 at the end.  In a parallel
 * join, the numbers of their rows become those among all rows, and the locations of tuples in shared
 * memory become addresses.
 */
uint32
entry_reader_read(EntryReader *reader, JoinEntry *entry, uint32 max)
{
	Size		size = reader->entry_size.in_file;
	Size		common = common_size(reader->entry_size);
	uint32		n = 0;

	if (reader->nread == 0)
	{
		reader->block = reader->list.last;
		reader->nread_of_block = 0;
	}
	while (n < max && reader->nread < reader->list.n)
	{
		const EntryBlock *block = (const EntryBlock *) join_tuples_fetch(reader->blocks, reader->block);
		uint32		ntogether = Min(max - n, block->n - reader->nread_of_block);
		const char *source = (const char *) (block + 1) + reader->nread_of_block * size;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < ntogether; i++, source += size)
		{
			entry->hash = entry->row = 0;
			memcpy(entry, source, common);
			memcpy(entry + 1, source + common, size - common);
			entry->row += reader->first_row;
			if (reader->tuples && !(entry->location & IN_FILE))
				entry->location = join_tuple_location(join_tuples_fetch(reader->tuples,
																		entry->location));
			entry = (JoinEntry *) ((char *) entry + reader->entry_size.in_memory);
		}
		n += ntogether;
		reader->nread += ntogether;
		reader->nread_of_block += ntogether;
		if (reader->nread_of_block == block->n)
		{
			reader->block = block->previous;
			reader->nread_of_block = 0;
		}
	}
	return n;
}

/* --- in memory ------------------------------------------------------------------- */

/*
 * Return the capacity to use if the memory has space for n entries.
 */
static uint32
clamp_capacity(Size n)
{
	return Min(Max(n, MIN_CAPACITY), PG_INT32_MAX / 2);
}

/*
 * Initialize an empty set of entries.  At most `capacity` entries are in memory, but
 * MIN_CAPACITY if that is more.  To free the memory, the caller resets or deletes the context.
 */
void
join_entries_init(JoinEntries *entries, MemoryContext context, Size capacity, EntrySize entry_size)
{
	memset(entries, 0, sizeof(JoinEntries));
	entries->context = context;
	entries->entry_size = entry_size;
	entries->capacity = clamp_capacity(capacity);
}

/*
 * Make sure that the array has space for n entries.  n must not exceed the capacity.
 */
static void
reserve_entries(JoinEntries *entries, uint32 n)
{
	Size		more = entries->allocated * entries->entry_size.in_memory > MANY_BYTES ?
		entries->allocated / 4 : entries->allocated;
	Size		allocated = Min(Max(entries->allocated + more, MIN_CAPACITY), entries->capacity);

	if (n <= entries->allocated)
		return;
	allocated = Max(allocated, n);
	entries->entry = entries->entry ?
		repalloc_huge(entries->entry, allocated * entries->entry_size.in_memory) :
		MemoryContextAllocHuge(entries->context, allocated * entries->entry_size.in_memory);
	entries->allocated = allocated;
}

/*
 * Move the loaded entries to the file.  From now on, chunks are loaded from the file.
 */
void
join_entries_spill(JoinEntries *entries)
{
	EntryWriter writer;

	if (entries->all == NULL)
	{
		entries->spilled = MemoryContextAlloc(entries->context, sizeof(JoinTuples));
		join_tuples_init(entries->spilled,
						 AllocSetContextCreate(entries->context, "similarity join entries",
											   ALLOCSET_SMALL_SIZES), 0);
		entries->all = entry_readers_make(entries->context, entries->spilled, entries->entry_size,
										  &(EntryList) {NO_TUPLE}, 1);
		entries->nall = 1;
	}
	writer = (EntryWriter) {
		entries->spilled,.n = 1,.entry_size = entries->entry_size,.partition = &entries->all->list
	};
	entry_writer_init(&writer, entries->spilled->context,
					  entries->capacity * entries->entry_size.in_memory / SPILL_DIVISOR);
	for (uint32 i = 0; i < entries->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		entry_writer_add(&writer, join_entries_at(entries, i));
	}
	entry_writer_end(&writer);
	pfree(writer.block);
	entries->nwritten = entries->all->list.n;
	entries->n = 0;
	join_entries_load_all(entries);
}

/*
 * Add an entry.  If the array is at its capacity, moves its entries to the file first.
 */
void
join_entries_add(JoinEntries *entries, const JoinEntry *entry)
{
	if (entries->writer)
	{
		entry_writer_add(entries->writer, entry);
		return;
	}
	if (entries->n == entries->capacity)
		join_entries_spill(entries);
	reserve_entries(entries, entries->n + 1);
	memcpy(join_entries_at(entries, entries->n++), entry, entries->entry_size.in_memory);
	entries->sorted = false;
}

/*
 * Free the array, discard the entries in it, and set the capacity.
 */
void
join_entries_limit(JoinEntries *entries, Size capacity)
{
	if (entries->entry)
		pfree(entries->entry);
	entries->entry = NULL;
	entries->n = entries->allocated = 0;
	entries->capacity = clamp_capacity(capacity);
}

/*
 * Prepare to load all entries, those that have been written chunk by chunk.
 */
void
join_entries_load_all(JoinEntries *entries)
{
	entries->source = entries->all;
	entries->nsources = entries->nall;
	join_entries_rewind(entries);
}

/*
 * Continue loading at the first chunk.
 */
void
join_entries_rewind(JoinEntries *entries)
{
	entries->loaded = false;
	for (int i = 0; i < entries->nsources; i++)
		entries->source[i].nread = 0;
}

/*
 * Load the next chunk of the sources: as many entries as the capacity allows.  Returns false if
 * there are no more.
 */
bool
join_entries_load(JoinEntries *entries)
{
	if (entries->source)
	{
		uint64		n = 0;

		for (int i = 0; i < entries->nsources; i++)
			n += entries->source[i].list.n;
		reserve_entries(entries, Min(entries->capacity, n));
		entries->n = 0;
		for (int i = 0; i < entries->nsources; i++)
			entries->n += entry_reader_read(&entries->source[i], join_entries_at(entries, entries->n),
											entries->allocated - entries->n);
		entries->is_part = entries->n < n;
		entries->sorted = false;
	}
	else if (entries->loaded)
		return false;
	entries->loaded = true;
	return entries->n > 0;
}

/*
 * Write all entries to their partitions.
 */
void
join_entries_write(JoinEntries *entries)
{
	join_entries_rewind(entries);
	while (join_entries_load(entries))
		for (uint32 i = 0; i < entries->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			entry_writer_add(entries->writer, join_entries_at(entries, i));
		}
}

/*
 * Delete the file, if there is one, and free the array.
 */
void
join_entries_close(JoinEntries *entries)
{
	if (entries->spilled)
	{
		join_tuples_close(entries->spilled);
		MemoryContextDelete(entries->spilled->context);
	}
	if (entries->entry)
		pfree(entries->entry);
	memset(entries, 0, sizeof(JoinEntries));
}
