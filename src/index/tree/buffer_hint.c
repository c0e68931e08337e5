/*
 * Buffers that contained the blocks of indexes when they were last read
 *
 * ReadBuffer looks up a block in the hash table of all buffers.  A descent reads a page
 * of each level, so these look-ups, with their cache misses, take much of its time.  But a
 * block mostly stays in one buffer.  So each backend keeps the buffer in which it last
 * found a block.  ReadRecentBuffer pins this buffer, and checks that it still contains the
 * block.  So nothing needs to be invalidated.  Without hints, a search within 3 bits takes
 * 1.5 times as long, one for a signature 1.8 times, and an insertion 1.3 times.
 *
 * There is one array of hints for all indexes.  A hash of the file, plus the block, is the
 * position of a block's hint.  If several blocks have the same position, the hint is that
 * of the block read last.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/tree/tree.h"

/* Number of hints.  They take 1 MB of a backend, of which it uses the pages it touches. */
#define NHINTS			(1 << 17)

/* A hint: where a block was, and what it contained, when this backend last read it. */
typedef struct BufferHint
{
	Buffer		buffer;			/* buffer that contained the block, or InvalidBuffer */
	int			nentries;		/* number of entries of a leaf, or 0 if unknown */
} BufferHint;

static BufferHint hints[NHINTS];

/*
 * Return the hint for a block of an index, which must not be temporary.  Another block
 * may have the same hint.
 */
static BufferHint *
hint_of(Relation index, BlockNumber block)
{
	Assert(!RelationUsesLocalBuffers(index));
	return &hints[(murmurhash32(index->rd_locator.relNumber) + block) % NHINTS];
}

/*
 * Return true if the buffer of a hint contains a block.  Reads the tag of the buffer
 * without a lock.  So the buffer may contain another block by the time of the return.
 */
static bool
hint_has_block(const BufferHint *hint, Relation index, BlockNumber block)
{
	BufferTag	tag;

	if (!BufferIsValid(hint->buffer))
		return false;
	InitBufferTag(&tag, &index->rd_locator, MAIN_FORKNUM, block);
	return BufferTagsEqual(&GetBufferDescriptor(hint->buffer - 1)->tag, &tag);
}

/*
 * Read a block of an index into a buffer, and pin it, as ReadBuffer does.  Counts a block
 * that the hint's buffer still contains as a hit of the index, as ReadBuffer does.
 *
 * Up to 18, ReadRecentBuffer does not raise the usage count of the buffer.  Then even the
 * root would soon be evicted.  So ReadBuffer reads the block unless the usage count of the
 * buffer is at its maximum already.
 */
Buffer
hint_read_buffer(Relation index, BlockNumber block)
{
	BufferHint *hint;

	if (RelationUsesLocalBuffers(index))
		return ReadBuffer(index, block);
	hint = hint_of(index, block);
	if (!hint_has_block(hint, index, block))
		*hint = (BufferHint) {ReadBuffer(index, block), 0};
	else if (read_recent_keeps_usage(hint->buffer) &&
			 ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, block, hint->buffer))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
	}
	else
		hint->buffer = ReadBuffer(index, block);
	return hint->buffer;
}

/*
 * Have the operating system read a block of an index, unless the block is in a buffer.
 * Returns that buffer, which is not pinned and may contain another block soon.  Else
 * returns InvalidBuffer.  Sets *nentries to the number of entries of the leaf, as last
 * read, or to 0 if that is unknown.
 */
Buffer
hint_prefetch_buffer(Relation index, BlockNumber block, int *nentries)
{
	BufferHint *hint;

	*nentries = 0;
	if (RelationUsesLocalBuffers(index))
		return PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer;
	hint = hint_of(index, block);
	if (!hint_has_block(hint, index, block))
		*hint = (BufferHint) {PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer, 0};
	*nentries = hint->nentries;
	return hint->buffer;
}

/*
 * Record the number of entries of a leaf that has just been read.
 */
void
hint_set_nentries(Relation index, BlockNumber block, int nentries)
{
	if (!RelationUsesLocalBuffers(index))
		hint_of(index, block)->nentries = nentries;
}
