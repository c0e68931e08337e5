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

/* --- in blocks ------------------------------------------------------------------ */

/*
 * Each participant in a parallel join writes its entries straight to their partitions.  A partition
 * is a list of blocks, which are in shared memory or in the participant's file, as tuples are.
 */

/*
 * Allocate the blocks of a writer, whose other members are set, in at most `memory` bytes.  A
 * block has space for an entry in any case.
 */
void
entry_writer_init(EntryWriter *writer, MemoryContext context, Size memory)
{
	Size		size = Min(memory / writer->n, BLCKSZ);

	size = size > sizeof(EntryBlock) ? (size - sizeof(EntryBlock)) / writer->entry_size : 1;
	writer->block_size = sizeof(EntryBlock) + Max(size, 1) * writer->entry_size;
	writer->block = MemoryContextAllocExtended(context, writer->n * writer->block_size,
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < writer->n; i++)
		((EntryBlock *) (writer->block + i * writer->block_size))->size = sizeof(EntryBlock);
}

/*
 * Write the entries in a partition's block.
 */
static void
flush_block(EntryWriter *writer, EntryBlock *block, PartitionBlocks *partition)
{
	block->previous = partition->last;
	partition->last = join_tuples_put(writer->blocks, (MinimalTuple) block);
	partition->n += block->n;
	block->size = sizeof(EntryBlock);
	block->n = 0;
}

/*
 * Add an entry to its partition.
 */
void
entry_writer_add(EntryWriter *writer, const JoinEntry *entry)
{
	uint32		p = writer->number_of(writer->arg, entry, writer->round) & (writer->n - 1);
	EntryBlock *block = (EntryBlock *) (writer->block + p * writer->block_size);

	memcpy((char *) block + block->size, entry, writer->entry_size);
	block->size += writer->entry_size;
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
 * Read at most max of the next entries of a partition.  Returns their number, 0 at the end.  The
 * numbers of their rows become those among all rows, and the locations of tuples in shared memory
 * become addresses.
 */
static uint32
entry_blocks_read(JoinEntryFile *file, JoinEntry *entries, uint32 max)
{
	Size		stride = join_entry_stride(file->entry_size);
	uint32		n = 0;

	if (file->nread == 0)
	{
		file->block = file->last;
		file->nread_of_block = 0;
	}
	while (n < max && file->nread < file->n)
	{
		const EntryBlock *block = (const EntryBlock *) join_tuples_fetch(file->blocks, file->block);
		uint32		ntogether = Min(max - n, block->n - file->nread_of_block);
		const char *source = (const char *) (block + 1) + file->nread_of_block * file->entry_size;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < ntogether; i++, source += file->entry_size)
		{
			JoinEntry  *entry = join_entry_at(entries, stride, n++);

			entry->hash = entry->row = 0;
			memcpy(entry, source, file->entry_size);
			entry->row += file->first_row;
			if (!(entry->location & IN_FILE))
				entry->location = join_tuple_location(join_tuples_fetch(file->tuples,
																		entry->location));
		}
		file->nread += ntogether;
		file->nread_of_block += ntogether;
		if (file->nread_of_block == block->n)
		{
			file->block = block->previous;
			file->nread_of_block = 0;
		}
	}
	return n;
}

/* --- in a file ------------------------------------------------------------------ */

/*
 * Read at most max of the next entries of a file, wherever others have read it.  Returns their
 * number, 0 at the end.
 */
uint32
join_entry_file_read(JoinEntryFile *file, JoinEntry *entries, uint32 max)
{
	uint32		n = Min(max, file->n - file->nread);
	char	   *source = (char *) entries + n * (join_entry_stride(file->entry_size) - file->entry_size);

	if (n == 0)
		return 0;
	if (file->blocks)
		return entry_blocks_read(file, entries, max);
	join_seek_file(file->file, (file->first + file->nread) * file->entry_size);
	read_temp_file(file->file, source, n * file->entry_size);
	file->nread += n;

	/* the entries before entry i do not reach beyond the start of its source */
	if (file->entry_size < sizeof(JoinEntry))
	{
		for (uint32 i = 0; i < n; i++, source += file->entry_size)
		{
			JoinEntry	entry = {0};

			memcpy(&entry, source, ENTRY_SIZE_BRIEF);
			entries[i] = entry;
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
 * MIN_CAPACITY if that is more.  In the file, an entry has entry_size bytes:
 * ENTRY_SIZE_BRIEF, ENTRY_SIZE, or more if a method's own data follow.  To free the memory,
 * the caller resets or deletes the context.
 */
void
join_entries_init(JoinEntries *entries, MemoryContext context, Size capacity, Size entry_size)
{
	memset(entries, 0, sizeof(JoinEntries));
	entries->context = context;
	entries->file.entry_size = entry_size;
	entries->stride = join_entry_stride(entry_size);
	entries->capacity = clamp_capacity(capacity);
}

/*
 * Make sure that the array has space for n entries.  n must not exceed the capacity.
 */
static void
reserve_entries(JoinEntries *entries, uint32 n)
{
	Size		more = entries->allocated * entries->stride > MANY_BYTES ?
		entries->allocated / 4 : entries->allocated;
	Size		allocated = Min(Max(entries->allocated + more, MIN_CAPACITY), entries->capacity);

	if (n <= entries->allocated)
		return;
	allocated = Max(allocated, n);
	entries->entry = entries->entry ?
		repalloc_huge(entries->entry, allocated * entries->stride) :
		MemoryContextAllocHuge(entries->context, allocated * entries->stride);
	entries->allocated = allocated;
}

/*
 * Move the loaded entries to the file.  From now on, chunks are loaded from the file.
 */
void
join_entries_spill(JoinEntries *entries)
{
	JoinEntryFile *file = &entries->file;

	if (file->file == NULL)
		file->file = join_create_file(entries->context);
	for (uint32 i = 0; i < entries->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(file->file, join_entries_at(entries, i), file->entry_size);
	}
	file->n += entries->n;
	entries->source = file;
	entries->n = 0;
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
	memcpy(join_entries_at(entries, entries->n++), entry, entries->stride);
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
 * Continue loading at the first chunk.
 */
void
join_entries_rewind(JoinEntries *entries)
{
	entries->loaded = false;
	for (int i = 0; entries->source && i <= entries->nmore; i++)
		entries->source[i].nread = 0;
}

/*
 * Load the next chunk of entries->source, in the order of the file: as many entries as the
 * capacity allows.  Returns false if there are no more.
 */
bool
join_entries_load(JoinEntries *entries)
{
	if (entries->source)
	{
		JoinEntryFile *source = entries->source;
		uint64		n = 0;

		for (int i = 0; i <= entries->nmore; i++)
			n += source[i].n;
		reserve_entries(entries, Min(entries->capacity, n));
		entries->n = 0;
		for (int i = 0; i <= entries->nmore; i++)
			entries->n += join_entry_file_read(&source[i], join_entries_at(entries, entries->n),
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
	if (entries->file.file)
		BufFileClose(entries->file.file);
	memset(&entries->file, 0, sizeof(JoinEntryFile));
	if (entries->entry)
		pfree(entries->entry);
	entries->entry = NULL;
}
