/*
 * All pairs of fingerprints within a radius
 *
 * A cut (block_cut.c) is carried out as follows.  For every choice of blocks, partition
 * the members by the first block of the choice.  Partition the members that agree on it
 * by the next block, and so on.  Choices that begin with the same blocks share the work.
 * A block is partitioned by one digit, a few bits, at a time, the most significant
 * first.  A range with few members is compared at once, however many bits are left.  So
 * nearly all work is done on ranges that fit into the processor's cache.
 *
 * In skewed data, many members may agree on all blocks of a choice.  These members get a cut of
 * their own, with the bits in which they still differ.  The blocks of the choice are not among
 * these bits.  So each cut has fewer bits than the cut before, and the recursion ends.
 *
 * The recursion uses a stack of frames, so a caller can stop after any range.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bitutils.h"

#include "pairs/block_cut.h"
#include "pairs/near_pairs.h"

/* Comparing up to this many members is cheaper than partitioning them. */
#define FEW_MEMBERS			(2 * PARTITION_COST)

#define DIGIT_VALUES		(1 << DIGIT_BITS)

/*
 * Some bits of a fingerprint, which are read as a number.
 */
typedef struct Digit
{
	int			nbits;
	int			ngroups;
	BitGroup	group[DIGIT_BITS];
} Digit;

/*
 * A frame of the stack.  It has a range of members that agree on `nchosen` blocks, and the
 * state of the work on the range.
 *
 * A frame of choices chooses one more block: each of the blocks from first_block on, in turn, up
 * to the last one after which enough blocks are left for the rest of the choice.  A frame of
 * partitions has partitioned the range by a digit of one block, and goes through the partitions.
 */
typedef struct PairsFrame
{
	BlockCut   *cut;
	bool		owns_cut;		/* true in the first frame of a cut, which frees the cut */
	bool		of_partitions;
	uint32		first;			/* index of the first member of the range */
	uint32		n;				/* number of members of the range */
	int			nchosen;
	int			nskipped;		/* number of skipped blocks when the frame was pushed */
	int			block;			/* of choices: the next block to choose; of partitions: the
								 * block of the digit */
	int			first_block;	/* of choices: the first block to choose */
	int			bit;			/* of partitions: index in cut->bit[] of the first bit after
								 * the digit */
	int			partition;		/* of partitions: the next partition */
	int			npartitions;
	uint32		start[DIGIT_VALUES + 1];	/* of partitions: start of each partition,
											 * relative to `first`, then the end */
} PairsFrame;

/* Initial capacity of the stack and of the list of skipped blocks. */
#define INITIAL_CAPACITY	16

static bool enter_range(NearPairs *pairs, uint32 first, uint32 n);

/*
 * Return the value of a digit of a fingerprint.
 */
static inline uint32
digit_of(const Digit *digit, SimHash fp)
{
	uint64		value = bits_rotate_left(fp, digit->group[0].shift) & digit->group[0].mask;

	for (int i = 1; i < digit->ngroups; i++)
		value |= bits_rotate_left(fp, digit->group[i].shift) & digit->group[i].mask;
	return value;
}

/*
 * Initialize a digit of nbits bits.  bits[] has their positions in a fingerprint, in
 * descending order; 63 is the most significant bit.
 */
static void
digit_init(Digit *digit, const uint8 *bits, int nbits)
{
	Assert(nbits > 0);
	digit->nbits = nbits;
	digit->ngroups = 0;
	for (int i = 0; i < nbits; i++)
	{
		int			target = nbits - 1 - i;
		int			shift = (target - bits[i]) & (SIMHASH_BITS - 1);

		if (i == 0 || shift != digit->group[digit->ngroups - 1].shift)
			digit->group[digit->ngroups++] = (BitGroup) {0, shift};
		digit->group[digit->ngroups - 1].mask |= UINT64CONST(1) << target;
	}
}

/*
 * Sort a range of members by a digit.  Sets start[i], for each i from 0 to the number of values of
 * the digit, to the number of members whose digit is less than i.  Checks for interrupts.
 */
static void
partition(const Members *members, uint32 first, uint32 n, const Digit *digit,
		  uint32 *start)
{
	SimHash    *fp = members->fp + first;
	uint32	   *tag = members->tag + first;
	uint32	   *tags = (uint32 *) members->scratch;
	uint32		nvalues = 1 << digit->nbits;
	uint32		next[DIGIT_VALUES];

	memset(start, 0, (nvalues + 1) * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		start[digit_of(digit, fp[i]) + 1]++;
	}
	for (uint32 value = 0; value < nvalues; value++)
		start[value + 1] += start[value];

	/* sort tags, then fingerprints, so that one scratch array is enough */
	memcpy(next, start, nvalues * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		tags[next[digit_of(digit, fp[i])]++] = tag[i];
	}
	memcpy(tag, tags, n * sizeof(uint32));

	memcpy(next, start, nvalues * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		members->scratch[next[digit_of(digit, fp[i])]++] = fp[i];
	}
	memcpy(fp, members->scratch, n * sizeof(SimHash));
}

/*
 * Return the number of bits to partition n members by, at most `left`.  It is chosen so
 * that each partition has few members.
 */
static int
digit_bits(uint32 n, int left)
{
	return Min(Min(left, DIGIT_BITS), Max(1, pg_leftmost_one_pos32(n) - 1));
}

/*
 * Return an array, which may be NULL, enlarged to at least twice *max elements of `size` bytes.
 * Sets *max to their number.
 */
static void *
enlarge_array(void *array, int *max, Size size)
{
	*max = Max(2 * *max, INITIAL_CAPACITY);
	return array ? repalloc(array, *max * size) : palloc(*max * size);
}

/*
 * Push a frame of choices on the stack.  `block` is the first block to choose.
 */
static PairsFrame *
push_frame(NearPairs *pairs, BlockCut *cut, uint32 first, uint32 n, int nchosen,
		   int block)
{
	PairsFrame  *frame;

	if (pairs->depth == pairs->max_depth)
		pairs->stack = enlarge_array(pairs->stack, &pairs->max_depth, sizeof(PairsFrame));
	frame = &pairs->stack[pairs->depth++];
	frame->cut = cut;
	frame->owns_cut = frame->of_partitions = false;
	frame->first = first;
	frame->n = n;
	frame->nchosen = nchosen;
	frame->nskipped = pairs->nskipped;
	frame->block = frame->first_block = block;
	return frame;
}

/*
 * Pop the top frame, and free the cut that it owns.
 */
static void
pop_frame(NearPairs *pairs)
{
	PairsFrame  *frame = &pairs->stack[--pairs->depth];

	pairs->nskipped = frame->nskipped;
	if (frame->owns_cut)
		pfree(frame->cut);
}

/*
 * Set the chosen block to the block with this mask.  If a cut is continued, adds the mask
 * to that of the cut's first block.
 */
static void
choose_block(NearPairs *pairs, uint64 mask)
{
	pairs->chosen = pairs->cut ? mask | pairs->cut->mask[pairs->block] : mask;
}

/*
 * Add a block to the skipped ones.
 */
static void
skip_block(NearPairs *pairs, uint64 mask)
{
	if (pairs->nskipped == pairs->max_skipped)
		pairs->skipped = enlarge_array(pairs->skipped, &pairs->max_skipped, sizeof(uint64));
	pairs->skipped[pairs->nskipped++] = mask;
}

/*
 * Enter a range of members that agree on `nchosen` blocks, and on the bits of block
 * `block` before index `bit`.  Returns true if the members are to be compared.  Otherwise
 * pushes a frame that divides the range, or pushes nothing if the range is done.
 */
static bool
enter_block(NearPairs *pairs, BlockCut *cut, uint32 first, uint32 n, int nchosen,
			int block, int bit)
{
	int			left = cut->start[block + 1] - bit;
	PairsFrame  *frame;
	Digit		digit;

	if (n <= FEW_MEMBERS)
		return true;
	if (pairs->is_done && pairs->is_done(pairs, first, n))
		return false;
	if (left == 0)
	{
		if (nchosen + 1 == cut->agree)
			return enter_range(pairs, first, n);
		push_frame(pairs, cut, first, n, nchosen + 1, block + 1);
		return false;
	}

	frame = push_frame(pairs, cut, first, n, nchosen, block);
	digit_init(&digit, cut->bit + bit, digit_bits(n, left));
	frame->of_partitions = true;
	frame->bit = bit + digit.nbits;
	frame->partition = 0;
	frame->npartitions = 1 << digit.nbits;
	partition(&pairs->members, first, n, &digit, frame->start);
	return false;
}

/*
 * Enter a range of members.  They agree on all blocks chosen before, and nothing more is
 * known about them.  Returns true if the members are to be compared.  Otherwise, makes a cut
 * for the range.
 */
static bool
enter_range(NearPairs *pairs, uint32 first, uint32 n)
{
	BlockCut   *cut;

	/* every cut partitions members by at least radius + 1 blocks */
	if (n <= (uint32) FEW_MEMBERS * (pairs->radius + 1))
		return true;

	cut = palloc(sizeof(BlockCut));
	block_cut_make(cut, pairs->members.fp + first, n, n, pairs->radius,
				   pairs->comparisons(pairs, first, n), &pairs->random);
	if (cut->agree == 0)
	{
		pfree(cut);
		return true;
	}
	if (pairs->depth == 0)
	{
		pairs->agree = cut->agree;
		pairs->nblocks = cut->nblocks;
	}
	push_frame(pairs, cut, first, n, 0, 0)->owns_cut = true;
	return false;
}

/*
 * Advance a frame of choices, and choose its next block.  Returns false after the last block.
 */
static bool
next_choice(NearPairs *pairs, PairsFrame *frame)
{
	BlockCut   *cut = frame->cut;

	if (frame->block > cut->nblocks - (cut->agree - frame->nchosen))
		return false;
	if (frame->block > frame->first_block)
		skip_block(pairs, cut->mask[frame->block - 1]);
	choose_block(pairs, cut->mask[frame->block++]);
	return true;
}

/*
 * Start to enumerate the near pairs of the first n members.  Allocates memory in the current
 * context.  If `cut` is not NULL, goes through the choices whose first block is block `block` of
 * the cut.  Then all members must agree on the first `nbits` bits of this block.
 */
void
near_pairs_begin(NearPairs *pairs, uint32 n, BlockCut *cut, int block, int nbits)
{
	pairs->stack = NULL;
	pairs->skipped = NULL;
	pairs->depth = pairs->max_depth = pairs->nskipped = pairs->max_skipped = 0;
	pairs->chosen = 0;
	pairs->unentered = n;
	pairs->cut = cut;
	pairs->block = block;
	pairs->nbits = nbits;
	pairs->agree = cut ? cut->agree : 0;
	pairs->nblocks = cut ? cut->nblocks : 0;
	if (cut)
	{
		for (int i = 0; i < block; i++)
			skip_block(pairs, cut->mask[i]);
		choose_block(pairs, 0);
	}
}

/*
 * Enter the range of all members.  Returns true if they are to be compared.
 */
static bool
enter_all(NearPairs *pairs, uint32 *first, uint32 *n)
{
	*first = 0;
	*n = pairs->unentered;
	pairs->unentered = 0;
	if (*n < 2)
		return false;
	if (pairs->cut)
		return enter_block(pairs, pairs->cut, *first, *n, 0, pairs->block,
						   pairs->cut->start[pairs->block] + pairs->nbits);
	return enter_range(pairs, *first, *n);
}

/*
 * Advance to the next range whose members the caller must compare with each other.
 * Returns false if there are no more ranges.  Checks for interrupts.  Call it in the
 * memory context in which near_pairs_begin() was called.
 */
bool
near_pairs_next(NearPairs *pairs, uint32 *first, uint32 *n)
{
	if (pairs->unentered > 0 && enter_all(pairs, first, n))
		return true;
	while (pairs->depth > 0)
	{
		PairsFrame  *frame = &pairs->stack[pairs->depth - 1];
		BlockCut   *cut = frame->cut;

		CHECK_FOR_INTERRUPTS();
		*first = frame->first;
		*n = frame->n;
		if (!frame->of_partitions)
		{
			if (!next_choice(pairs, frame))
				pop_frame(pairs);
			else if (enter_block(pairs, cut, *first, *n, frame->nchosen, frame->block - 1,
								 cut->start[frame->block - 1]))
				return true;
		}
		else if (frame->partition == frame->npartitions)
			pop_frame(pairs);
		else
		{
			uint32	   *start = &frame->start[frame->partition++];

			*first += start[0];
			*n = start[1] - start[0];
			choose_block(pairs, cut->mask[frame->block]);
			if (*n > 1 && enter_block(pairs, cut, *first, *n, frame->nchosen, frame->block,
									  frame->bit))
				return true;
		}
	}
	return false;
}

/*
 * End an enumeration and free its memory.
 */
void
near_pairs_end(NearPairs *pairs)
{
	while (pairs->depth > 0)
		pop_frame(pairs);
	if (pairs->stack)
		pfree(pairs->stack);
	if (pairs->skipped)
		pfree(pairs->skipped);
}
