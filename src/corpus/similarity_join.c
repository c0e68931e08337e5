/*-------------------------------------------------------------------------
 *
 * similarity_join.c
 *		All pairs of fingerprints within a radius
 *
 * A plan (join_plan.c) is carried out as follows.  For every choice of blocks, partition
 * the members by the first block of the choice.  Partition the members that agree on it
 * by the next block, and so on.  Choices that begin with the same blocks share the work.
 * A block is partitioned by one digit, a few bits, at a time, the most significant
 * first.  A range with few members is compared at once, however many bits are left.  So
 * nearly all work is done on ranges that fit into the processor's cache.
 *
 * In skewed data many members agree on all blocks of a choice.  They get a plan of their
 * own, made of the bits in which they still differ.  All other bits are known to agree.
 * The bits of a plan become fewer with each plan, so the recursion ends.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#define CHECK_FOR_INTERRUPTS()		((void) 0)
#define check_stack_depth()			((void) 0)
#else
#include "postgres.h"

#include "miscadmin.h"
#endif

#include "port/pg_bitutils.h"

#include "bits.h"
#include "corpus/join_plan.h"
#include "corpus/similarity_join.h"

/* Comparing at most this many members is cheaper than partitioning them. */
#define FEW_MEMBERS			(2 * PARTITION_COST)

#define DIGIT_VALUES		(1 << DIGIT_BITS)

/*
 * Some bits of a fingerprint, as a number.
 */
typedef struct Digit
{
	int			nbits;
	int			nruns;
	BitRun		run[DIGIT_BITS];
} Digit;

static void choose_block(SimilarityJoin *join, const JoinPlan *plan, uint32 first,
						 uint32 n, int chosen, int block);

/*
 * Return the value of a digit of a fingerprint.
 */
static inline uint32
digit_of(const Digit *digit, SimHash fp)
{
	uint64		value = bits_rotate_left(fp, digit->run[0].shift) & digit->run[0].mask;

	for (int i = 1; i < digit->nruns; i++)
		value |= bits_rotate_left(fp, digit->run[i].shift) & digit->run[i].mask;
	return value;
}

/*
 * Initialize a digit from bits in descending order.
 */
static void
digit_init(Digit *digit, const uint8 *bits, int nbits)
{
	digit->nbits = nbits;
	digit->nruns = 0;
	for (int i = 0; i < nbits; i++)
	{
		int			target = nbits - 1 - i;
		int			shift = (target - bits[i]) & (SIMHASH_BITS - 1);

		if (i == 0 || shift != digit->run[digit->nruns - 1].shift)
			digit->run[digit->nruns++] = (BitRun) {0, shift};
		digit->run[digit->nruns - 1].mask |= UINT64CONST(1) << target;
	}
}

/*
 * Sort a range of members by a digit.  For each i up to the number of digits, start[i]
 * becomes the number of members whose digit is less than i.  Checks for interrupts.
 */
static void
partition(const Members *members, uint32 first, uint32 n, const Digit *digit,
		  uint32 *start)
{
	SimHash    *fp = members->fp + first;
	uint32	   *row = members->row + first;
	uint32	   *rows = (uint32 *) members->scratch;
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

	/* move rows, then fingerprints, so that one scratch array is enough */
	memcpy(next, start, nvalues * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		rows[next[digit_of(digit, fp[i])]++] = row[i];
	}
	memcpy(row, rows, n * sizeof(uint32));

	memcpy(next, start, nvalues * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		members->scratch[next[digit_of(digit, fp[i])]++] = fp[i];
	}
	memcpy(fp, members->scratch, n * sizeof(SimHash));
}

/*
 * Return the number of bits to partition n members by, of `left` bits: so many that few
 * members are left in each part.
 */
static int
digit_bits(uint32 n, int left)
{
	return Min(Min(left, DIGIT_BITS), Max(1, pg_leftmost_one_pos32(n) - 1));
}

/*
 * Join the members of a range that agree on all bits of a block before `bit`, and on all
 * blocks chosen before.
 */
static void
join_by_block(SimilarityJoin *join, const JoinPlan *plan, uint32 first, uint32 n,
			  int chosen, int block, int bit)
{
	int			left = plan->start[block + 1] - bit;
	Digit		digit;
	uint32		start[DIGIT_VALUES + 1];

	if (n <= FEW_MEMBERS)
	{
		join->compare(join, first, n);
		return;
	}
	if (join->settled(join, first, n))
		return;
	if (left == 0)
	{
		choose_block(join, plan, first, n, chosen + 1, block + 1);
		return;
	}

	digit_init(&digit, plan->bit + bit, digit_bits(n, left));
	partition(&join->members, first, n, &digit, start);
	for (int value = 0; value < 1 << digit.nbits; value++)
	{
		uint32		count = start[value + 1] - start[value];

		if (count > 1)
			join_by_block(join, plan, first + start[value], count, chosen, block,
						  bit + digit.nbits);
	}
}

/*
 * Join the members of a range that agree on `chosen` blocks, by each choice of the other
 * blocks from `block` on.
 */
static void
choose_block(SimilarityJoin *join, const JoinPlan *plan, uint32 first, uint32 n,
			 int chosen, int block)
{
	int			last = plan->nblocks - (plan->agree - chosen);

	CHECK_FOR_INTERRUPTS();
	if (chosen == plan->agree)
	{
		similarity_join(join, first, n);
		return;
	}
	for (; block <= last; block++)
		join_by_block(join, plan, first, n, chosen, block, plan->start[block]);
}

/*
 * Join the n members from `first` on.  Calls the functions of the join so that compare()
 * processes every pair within the radius.  Recurses, so it checks the depth of the stack.
 */
void
similarity_join(SimilarityJoin *join, uint32 first, uint32 n)
{
	JoinPlan	plan;

	check_stack_depth();
	/* every plan partitions by at least radius + 1 blocks */
	if (n <= (uint32) FEW_MEMBERS * (join->radius + 1))
	{
		join->compare(join, first, n);
		return;
	}
	if (join->reduce)
	{
		uint32		done = join->reduce(join, first, n);

		first += done;
		n -= done;
		if (n < 2)
			return;
	}

	join_plan_measure(&plan, join->members.fp + first, n, &join->random);
	join_plan_choose(&plan, n, join->radius, join->comparisons(join, first, n));
	if (plan.agree == 0)
		join->compare(join, first, n);
	else
		choose_block(join, &plan, first, n, 0, 0);
}
