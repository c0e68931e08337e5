/*
 * All pairs of fingerprints within a radius
 *
 * A plan (join_plan.c) is carried out as follows.  For every choice of blocks, partition
 * the members by the first block of the choice.  Partition the members that agree on it
 * by the next block, and so on.  Choices that begin with the same blocks share the work.
 * A block is partitioned by one digit, a few bits, at a time, the most significant
 * first.  A range with few members is compared at once, however many bits are left.  So
 * nearly all work is done on ranges that fit into the processor's cache.
 *
 * In skewed data, many members may agree on all blocks of a choice.  These members get a
 * plan of their own, with the bits in which they still differ.  The blocks of the choice
 * are not among these bits.  So each plan has fewer bits than the plan before, and the
 * recursion ends.
 *
 * The recursion uses a stack of frames, so a caller can stop after any range.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include "port/pg_bitutils.h"

#include "bits.h"
#include "corpus/join_plan.h"
#include "corpus/similarity_join.h"

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
 * A frame of choices chooses one more block: each of the blocks from first_block on, in
 * turn, up to the last one after which enough blocks are left for the rest of the choice.
 * A frame of partitions has partitioned the range by a digit of one block, and goes
 * through the partitions.
 */
typedef struct JoinFrame
{
	JoinPlan   *plan;
	bool		owns_plan;		/* true in the first frame of a plan, which frees the plan */
	bool		of_partitions;
	uint32		first;			/* index of the first member of the range */
	uint32		n;				/* number of members of the range */
	int			nchosen;
	int			nskipped;		/* number of skipped blocks when the frame was pushed */
	int			block;			/* of choices: the next block to choose; of partitions: the
								 * block of the digit */
	int			first_block;	/* of choices: the first block to choose */
	int			bit;			/* of partitions: index in plan->bit[] of the first bit after
								 * the digit */
	int			partition;		/* of partitions: the next partition */
	int			npartitions;
	uint32		start[DIGIT_VALUES + 1];	/* of partitions: start of each partition,
											 * relative to `first`, then the end */
} JoinFrame;

/* Initial capacity of the stack and of the list of skipped blocks. */
#define INITIAL_CAPACITY	16

static bool enter_range(SimilarityJoin *join, uint32 *first, uint32 *n);

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
 * Initialize a digit from the numbers of its bits, in descending order.
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
 * Sort a range of members by a digit.  Sets start[i], for each i from 0 to the number of
 * values of the digit, to the number of members whose digit is less than i.  Checks for
 * interrupts.
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
 * Enlarge an array, which may be NULL, from *max elements of `size` bytes.
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
static JoinFrame *
push_frame(SimilarityJoin *join, JoinPlan *plan, uint32 first, uint32 n, int nchosen,
		   int block)
{
	JoinFrame  *frame;

	if (join->depth == join->max_depth)
		join->stack = enlarge_array(join->stack, &join->max_depth, sizeof(JoinFrame));
	frame = &join->stack[join->depth++];
	frame->plan = plan;
	frame->owns_plan = frame->of_partitions = false;
	frame->first = first;
	frame->n = n;
	frame->nchosen = nchosen;
	frame->nskipped = join->nskipped;
	frame->block = frame->first_block = block;
	return frame;
}

/*
 * Pop the top frame, and free the plan that it owns.
 */
static void
pop_frame(SimilarityJoin *join)
{
	JoinFrame  *frame = &join->stack[--join->depth];

	join->nskipped = frame->nskipped;
	if (frame->owns_plan)
		pfree(frame->plan);
}

/*
 * Set the chosen block to the block with this mask.  If a plan is continued, adds the mask
 * to that of the plan's first block.
 */
static void
choose_block(SimilarityJoin *join, uint64 mask)
{
	join->chosen = join->plan ? mask | join->plan->mask[join->block] : mask;
}

/*
 * Add a block to the skipped ones.
 */
static void
skip_block(SimilarityJoin *join, uint64 mask)
{
	if (join->nskipped == join->max_skipped)
		join->skipped = enlarge_array(join->skipped, &join->max_skipped, sizeof(uint64));
	join->skipped[join->nskipped++] = mask;
}

/*
 * Record the plan for all members, or NULL if there is none.
 */
static void
record_plan(SimilarityJoin *join, const JoinPlan *plan)
{
	join->agree = plan ? plan->agree : 0;
	join->nblocks = plan ? plan->nblocks : 0;
}

/*
 * Enter a range of members that agree on `nchosen` blocks, and on the bits of block
 * `block` before index `bit`.  Returns true if the members are to be compared.  Otherwise
 * pushes a frame that divides the range, or pushes nothing if the range is done.
 */
static bool
enter_block(SimilarityJoin *join, JoinPlan *plan, uint32 *first, uint32 *n, int nchosen,
			int block, int bit)
{
	int			left = plan->start[block + 1] - bit;
	JoinFrame  *frame;
	Digit		digit;

	if (*n <= FEW_MEMBERS)
		return true;
	if (join->is_done && join->is_done(join, *first, *n))
		return false;
	if (left == 0)
	{
		if (nchosen + 1 == plan->agree)
			return enter_range(join, first, n);
		push_frame(join, plan, *first, *n, nchosen + 1, block + 1);
		return false;
	}

	frame = push_frame(join, plan, *first, *n, nchosen, block);
	digit_init(&digit, plan->bit + bit, digit_bits(*n, left));
	frame->of_partitions = true;
	frame->bit = bit + digit.nbits;
	frame->partition = 0;
	frame->npartitions = 1 << digit.nbits;
	partition(&join->members, *first, *n, &digit, frame->start);
	return false;
}

/*
 * Enter a range of members.  They agree on all blocks chosen before, and nothing more is
 * known about them.  Returns true if the members are to be compared.  Then *first and *n
 * may leave out members that need no more comparisons.  Otherwise, makes a plan for the
 * range, unless fewer than two members are left.
 */
static bool
enter_range(SimilarityJoin *join, uint32 *first, uint32 *n)
{
	JoinPlan   *plan;

	/* every plan partitions members by at least radius + 1 blocks */
	if (*n <= (uint32) FEW_MEMBERS * (join->radius + 1))
		return true;
	if (join->reduce)
	{
		uint32		done = join->reduce(join, *first, *n);

		*first += done;
		*n -= done;
		if (*n < 2)
			return false;
	}

	plan = palloc(sizeof(JoinPlan));
	join_plan_make(plan, join->members.fp + *first, *n, *n, join->radius,
				   join->comparisons(join, *first, *n), &join->random);
	if (plan->agree == 0)
	{
		pfree(plan);
		return true;
	}
	if (join->depth == 0)
		record_plan(join, plan);
	push_frame(join, plan, *first, *n, 0, 0)->owns_plan = true;
	return false;
}

/*
 * Advance a frame of choices, and choose its next block.  Returns false after the last
 * block.
 */
static bool
next_choice(SimilarityJoin *join, JoinFrame *frame)
{
	JoinPlan   *plan = frame->plan;

	if (frame->block > plan->nblocks - (plan->agree - frame->nchosen))
		return false;
	if (frame->block > frame->first_block)
		skip_block(join, plan->mask[frame->block - 1]);
	choose_block(join, plan->mask[frame->block++]);
	return true;
}

/*
 * Start a join of the first n members.  Allocates memory in the current context.  If
 * `plan` is not NULL, the join goes through the choices whose first block is block `block`
 * of the plan.  Then all members must agree on the first `nbits` bits of this block.
 */
void
similarity_join_begin(SimilarityJoin *join, uint32 n, JoinPlan *plan, int block, int nbits)
{
	join->stack = NULL;
	join->skipped = NULL;
	join->depth = join->max_depth = join->nskipped = join->max_skipped = 0;
	join->chosen = 0;
	join->unentered = n;
	join->plan = plan;
	join->block = block;
	join->nbits = nbits;
	record_plan(join, plan);
	if (plan)
	{
		for (int i = 0; i < block; i++)
			skip_block(join, plan->mask[i]);
		choose_block(join, 0);
	}
}

/*
 * Enter the range of all members.  Returns true if they are to be compared.
 */
static bool
enter_all(SimilarityJoin *join, uint32 *first, uint32 *n)
{
	*first = 0;
	*n = join->unentered;
	join->unentered = 0;
	if (*n < 2)
		return false;
	if (join->plan)
		return enter_block(join, join->plan, first, n, 0, join->block,
						   join->plan->start[join->block] + join->nbits);
	return enter_range(join, first, n);
}

/*
 * Advance to the next range whose members the caller must compare with each other.
 * Returns false if there are no more ranges.  Checks for interrupts.  Call it in the
 * memory context in which similarity_join_begin() was called.
 */
bool
similarity_join_next(SimilarityJoin *join, uint32 *first, uint32 *n)
{
	if (join->unentered > 0 && enter_all(join, first, n))
		return true;
	while (join->depth > 0)
	{
		JoinFrame  *frame = &join->stack[join->depth - 1];
		JoinPlan   *plan = frame->plan;

		CHECK_FOR_INTERRUPTS();
		*first = frame->first;
		*n = frame->n;
		if (!frame->of_partitions)
		{
			if (!next_choice(join, frame))
				pop_frame(join);
			else if (enter_block(join, plan, first, n, frame->nchosen, frame->block - 1,
								 plan->start[frame->block - 1]))
				return true;
		}
		else if (frame->partition == frame->npartitions)
			pop_frame(join);
		else
		{
			uint32	   *start = &frame->start[frame->partition++];

			*first += start[0];
			*n = start[1] - start[0];
			choose_block(join, plan->mask[frame->block]);
			if (*n > 1 && enter_block(join, plan, first, n, frame->nchosen, frame->block,
									  frame->bit))
				return true;
		}
	}
	return false;
}

/*
 * End a join and free its memory.
 */
void
similarity_join_end(SimilarityJoin *join)
{
	while (join->depth > 0)
		pop_frame(join);
	if (join->stack)
		pfree(join->stack);
	if (join->skipped)
		pfree(join->skipped);
}
