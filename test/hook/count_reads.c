/*
 * Counts the calls of ReadBuffer by the extension, for test/t/032_buffer_hints.pl
 *
 * That test links the extension once more with this file and --wrap=ReadBuffer.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/bufmgr.h"

extern Buffer __wrap_ReadBuffer(Relation relation, BlockNumber block);
extern Buffer __real_ReadBuffer(Relation relation, BlockNumber block);

static int64 calls = 0;

Buffer
__wrap_ReadBuffer(Relation relation, BlockNumber block)
{
	calls++;
	return __real_ReadBuffer(relation, block);
}

/*
 * Return the number of calls by this process.
 */
PG_FUNCTION_INFO_V1(read_buffer_calls);
Datum
read_buffer_calls(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(calls);
}
