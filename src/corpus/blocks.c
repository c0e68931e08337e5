/*-------------------------------------------------------------------------
 *
 * blocks.c
 *		simhash_blocks(fp, blocks): near pairs by an equality join
 *
 * Two fingerprints that differ in fewer bits than they have blocks agree on at least one
 * block.  Therefore, a self-join of a table of (row, block) on equal blocks finds all near
 * pairs.  Use such a join where no index can serve, for example between parts of a table
 * on several machines.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"

#include "compat.h"
#include "type/simhash_type.h"

/*
 * Check a number of blocks and return it.  Raises an error unless it is 1 to
 * SIMHASH_BITS.
 */
static int
check_count(int32 blocks)
{
	if (blocks < 1 || blocks > SIMHASH_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of blocks %d is out of range", blocks),
				 errhint("A number of blocks is 1 to %d; for pairs within k bits it is k + 1.",
						 SIMHASH_BITS)));
	return blocks;
}

/*
 * Return block i of a fingerprint as bits * blocks + i.  The number identifies both the
 * block and its bits.  Block 0 is the least significant of `blocks` blocks.  If `blocks`
 * does not divide 64, the most significant blocks have one bit more than the others, as in
 * an index (design.c).
 */
static int64
numbered_block(SimHash fp, int blocks, int i)
{
	int			narrow = SIMHASH_BITS / blocks;
	int			first_wide = blocks - SIMHASH_BITS % blocks;
	int			width = narrow + (i >= first_wide);
	int			shift = narrow * i + Max(i - first_wide, 0);
	uint64		bits = fp >> shift & (~UINT64CONST(0) >> (SIMHASH_BITS - width));

	return (int64) (bits * blocks + i);
}

/*
 * simhash_blocks(fp simhash, blocks integer)
 *
 * Returns a row for each block, the least significant block first.  The row is a number
 * that identifies the block and its bits.  See numbered_block().
 */
PG_FUNCTION_INFO_V1(simhash_blocks);
Datum
simhash_blocks(PG_FUNCTION_ARGS)
{
	SimHash		fp = PG_GETARG_SIMHASH(0);
	int			blocks = check_count(PG_GETARG_INT32(1));
	FuncCallContext *call;
	int64		block;

	if (SRF_IS_FIRSTCALL())
		SRF_FIRSTCALL_INIT();
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr == (uint64) blocks)
		SRF_RETURN_DONE(call);
	block = numbered_block(fp, blocks, call->call_cntr);
	SRF_RETURN_NEXT(call, Int64GetDatum(block));
}
