/*-------------------------------------------------------------------------
 *
 * extend.c
 *		Extending an index
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/lmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/tree/extend.h"

/* Pages by which the index is extended at a time, as far as buffers can be pinned. */
#define EXTEND_TOGETHER	64

/*
 * Extend the index by a page; returns it pinned and exclusively locked, all
 * zeros.
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
 * Extend the index by n pages in a row, all zeros; returns the first.
 *
 * The extension lock is needed even if nobody else can see the index yet: it may be
 * built by several processes, which do not share this lock.  It is held until all n
 * pages are there, because PostgreSQL may give fewer at a time than are asked for.
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
