/*
 * Blocks to cut fingerprints into, so that near ones agree on some of them
 *
 * Cut 64 bits into k + p blocks.  Two fingerprints that differ in at most k bits agree on at least
 * p of the blocks (Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling", 2007,
 * section 3).  So all pairs are found if, for every choice of p blocks, one compares the
 * fingerprints that agree on these blocks.  A larger p makes fewer useless comparisons but more
 * choices.  With k = 8 and p = 3 there are 165 choices of 17 bits each.
 *
 * Bits are not equally useful.  A bit that is the same in nearly all fingerprints distinguishes
 * few of them.  So blocks have about equal weights rather than equal numbers of bits.  The weight
 * of a bit is minus the logarithm to base 2 of the probability that the bit is the same in two
 * fingerprints, estimated from a sample.  Bits may be correlated.  So the comparisons of a cut are
 * also counted for the pairs of the sample, and the larger of the two estimates is used.
 *
 * Neighbouring bits may agree, as those of the hashes of images do.  Then a block of
 * neighbouring bits distinguishes less than its number of bits suggests.  So bits may also
 * be dealt to the blocks in turn.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "portable.h"

#include <math.h>

#include "digest/splitmix.h"
#include "pairs/block_cut.h"

/*
 * The sample has one of every CUT_SAMPLE_OF fingerprints, at least 16 if there are so
 * many, and at most CUT_SAMPLE.
 */
#define CUT_SAMPLE				256
#define CUT_SAMPLE_OF			32

/*
 * Bits are dealt if that costs less than this fraction of the cost of contiguous blocks.
 * The sample makes the costs uncertain, and a digit of dealt bits takes longer to compute.
 */
#define DEALT_FRACTION			0.7

/* The bits to cut into blocks. */
typedef struct CutBits
{
	int			n;
	uint8		bit[SIMHASH_BITS];	/* numbers of the bits, in descending order; 63 is the
									 * most significant bit */
	double		weight[SIMHASH_BITS];	/* weight of each bit in bit[]; 1 if half of the
										 * fingerprints have the bit set */
	double		total;			/* sum of the weights */
} CutBits;

/*
 * Return the number of choices of k out of n blocks, 0 <= k <= n.
 */
static double
choices_of(int n, int k)
{
	return bits_count_patterns(n, k, k, HUGE_VAL);
}

/*
 * Collect the bits in `varying`, in which the fingerprints are not all equal, and estimate their
 * weights from a sample.  Each of these bits gets a weight above 0, even if it is the same in the
 * whole sample.  So there is a cut as long as any two fingerprints differ.
 */
static void
measure_bits(CutBits *bits, uint64 varying, const SimHash *sample, int nsample)
{
	bits->n = 0;
	bits->total = 0;
	for (int bit = SIMHASH_BITS - 1; bit >= 0; bit--)
	{
		int			ones = 0;
		double		f;

		if (!(varying >> bit & 1))
			continue;
		for (int i = 0; i < nsample; i++)
			ones += sample[i] >> bit & 1;
		bits->bit[bits->n] = bit;
		f = (ones + 0.5) / (nsample + 1);
		bits->weight[bits->n] = -log2(f * f + (1 - f) * (1 - f));
		bits->total += bits->weight[bits->n++];
	}
}

/*
 * Return the lightest block.
 */
static int
lightest_block(const double *weight, int nblocks)
{
	int			lightest = 0;

	for (int block = 1; block < nblocks; block++)
		if (weight[block] < weight[lightest])
			lightest = block;
	return lightest;
}

/*
 * Cut bits into blocks of about equal weight.  Each block has at least one bit, and has its
 * bits in descending order.  Blocks are contiguous, or each bit is dealt to the block that
 * is the lightest so far.
 */
static void
cut_blocks(BlockCut *cut, const CutBits *bits, int nblocks, bool dealt)
{
	double		weight[SIMHASH_BITS] = {0};
	double		sum = 0;
	int			block = 0;
	int			n = 0;

	cut->nblocks = nblocks;
	memset(cut->mask, 0, sizeof(cut->mask));
	for (int i = 0; i < bits->n; i++)
	{
		if (dealt)
			block = lightest_block(weight, nblocks);
		else if (i > 0 && block < nblocks - 1 &&
				 (sum >= bits->total * (block + 1) / nblocks ||
				  bits->n - i == nblocks - 1 - block))
			block++;
		sum += bits->weight[i];
		weight[block] += bits->weight[i];
		cut->mask[block] |= UINT64CONST(1) << bits->bit[i];
	}

	for (block = 0; block < nblocks; block++)
	{
		cut->start[block] = n;
		for (int i = 0; i < bits->n; i++)
			if (cut->mask[block] >> bits->bit[i] & 1)
				cut->bit[n++] = bits->bit[i];
	}
	cut->start[nblocks] = n;
}

/*
 * Return the cost of partitioning n members by every choice of `agree` blocks, if nbits bits are
 * cut into radius + `agree` blocks.  Call it with `agree` = 1, 2 and so on, and with *partitions =
 * 0 at first.  It adds the number of choices to *partitions, which is the number of times that all
 * members are partitioned by a block.  It is a sum, because choices share their first blocks.
 */
static double
partition_cost(double n, int nbits, int radius, int agree, double *partitions)
{
	int			nblocks = radius + agree;
	double		digits = ceil(Min((double) nbits / nblocks, log2(n)) / DIGIT_BITS);

	*partitions += choices_of(nblocks, agree);
	return PARTITION_COST * *partitions * digits * n;
}

/*
 * Estimate how often a pair of unrelated fingerprints is compared.  `total` is the
 * weight of all bits.
 */
static double
comparisons_of_unrelated(double total, int radius, int agree)
{
	int			nblocks = radius + agree;

	return choices_of(nblocks, agree) * exp2(-total * agree / nblocks);
}

/*
 * Estimate how often a pair of fingerprints is compared, on average over all pairs.  A pair is
 * compared once for each choice among the blocks on which the pair agrees.  The average over the
 * pairs of the sample takes correlated bits and near pairs into account.  Equal fingerprints of
 * the sample are skipped, since they may be one fingerprint drawn twice.
 */
static double
comparisons_of_pair(const BlockCut *cut, const SimHash *sample, int nsample, int agree)
{
	double		sum = 0;

	for (int i = 0; i < nsample; i++)
		for (int j = 0; j < i; j++)
		{
			uint64		difference = sample[i] ^ sample[j];
			int			agreeing = 0;

			if (difference == 0)
				continue;
			for (int block = 0; block < cut->nblocks; block++)
				agreeing += !(difference & cut->mask[block]);
			if (agreeing >= agree)
				sum += choices_of(agreeing, agree);
		}
	return sum / Max(nsample * (nsample - 1) / 2, 1);
}

/*
 * Find the best number of blocks to agree on, with contiguous or with dealt bits.  Returns
 * 0 if no number costs less than *min_cost, which is lowered to the cost of the best.  Makes no
 * cut if there is no sample, of unrelated fingerprints.
 */
static int
best_agree(BlockCut *cut, const CutBits *bits, bool dealt, const SimHash *sample, int nsample,
		   double n, int radius, double comparisons, double *min_cost)
{
	double		partitions = 0;
	int			best = 0;

	for (int agree = 1; radius + agree <= bits->n; agree++)
	{
		double		cost = partition_cost(n, bits->n, radius, agree, &partitions);
		double		unrelated = comparisons_of_unrelated(bits->total, radius, agree);

		if (cost >= *min_cost)
			break;
		/* the sample can only raise the estimate */
		if (cost + comparisons * unrelated >= *min_cost)
			continue;
		if (nsample > 0)
		{
			cut_blocks(cut, bits, radius + agree, dealt);
			unrelated = Max(unrelated, comparisons_of_pair(cut, sample, nsample, agree));
		}
		cost += comparisons * unrelated;
		if (cost < *min_cost)
		{
			*min_cost = cost;
			best = agree;
		}
	}
	return best;
}

/*
 * Find the cut by which the near pairs of n fingerprints cost least.  fp[0..nfp-1] are some
 * or all of them, 0 < nfp <= n.  `comparisons` is the number of comparisons if all pairs are
 * compared.  The sample is drawn at random, because fingerprints at regular intervals may be alike.
 */
void
block_cut_make(BlockCut *cut, const SimHash *fp, uint32 nfp, double n, int radius,
			   double comparisons, uint64 *random)
{
	int			nsample = Max(Min(nfp / CUT_SAMPLE_OF, CUT_SAMPLE), Min(nfp, 16));
	SimHash		sample[CUT_SAMPLE];
	CutBits		bits;
	uint64		varying = 0;
	double		min_cost = comparisons;
	int			contiguous;
	int			dealt;

	for (int i = 0; i < nsample; i++)
		sample[i] = fp[draw_below(random, nfp)];
	for (uint32 i = 1; i < nfp; i++)
		varying |= fp[i] ^ fp[0];
	measure_bits(&bits, varying, sample, nsample);
	contiguous = best_agree(cut, &bits, false, sample, nsample, n, radius, comparisons,
							&min_cost);
	min_cost *= DEALT_FRACTION;
	dealt = best_agree(cut, &bits, true, sample, nsample, n, radius, comparisons, &min_cost);
	cut->agree = dealt > 0 ? dealt : contiguous;
	if (cut->agree > 0)
		cut_blocks(cut, &bits, radius + cut->agree, dealt > 0);
}

/*
 * Estimate the cost, in comparisons, of finding the near pairs of n unrelated fingerprints
 * that are not known yet.  `comparisons` is the number of comparisons if all pairs are compared.
 */
double
block_cut_cost(double n, int radius, double comparisons)
{
	CutBits		bits = {.n = SIMHASH_BITS,.total = SIMHASH_BITS};
	double		min_cost = comparisons;

	if (n < 2 || radius < 0)
		return 0;
	(void) best_agree(NULL, &bits, false, NULL, 0, n, radius, comparisons, &min_cost);
	return min_cost;
}
