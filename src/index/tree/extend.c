/*
 * Extending an index
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/tree/extend.h"

/*
 * Maximum number of pages added at a time.  PostgreSQL pins a buffer for each page, and
 * adds fewer pages if it cannot pin that many.
 */
#define EXTEND_TOGETHER	64

/*
 * Extend the index by one page.  Returns the page, which is all zeros, pinned and
 * exclusively locked.  Takes the extension lock meanwhile, unless no other session can
 * access the index (RELATION_IS_LOCAL).
 */
Buffer
page_new_buffer(Relation index)
{
	bool		need_lock = !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (need_lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (need_lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
}

/*
 * Extend the index by n contiguous pages, all zeros.  Returns the first block.
 *
 * The extension lock is needed even if the index is invisible to other transactions,
 * because several parallel workers may build the index.  The lock conflicts between the
 * members of a lock group, too.  It is held until all n pages exist, because PostgreSQL
 * may add fewer pages at a time than requested.
 */
BlockNumber
page_extend(Relation index, BlockNumber n)
{
	BlockNumber first = InvalidBlockNumber;
	Buffer		buffers[EXTEND_TOGETHER];

	LockRelationForExtension(index, ExclusiveLock);
	while (n > 0)
	{
		uint32		extended;
		BlockNumber block = extend_relation(index, Min(n, EXTEND_TOGETHER), buffers,
											&extended);

		if (first == InvalidBlockNumber)
			first = block;
		for (uint32 i = 0; i < extended; i++)
			ReleaseBuffer(buffers[i]);
		n -= extended;
	}
	UnlockRelationForExtension(index, ExclusiveLock);
	return first;
}
