/*-------------------------------------------------------------------------
 *
 * join_plan.c
 *		Plan of a similarity join: the blocks to cut fingerprints into
 *
 * Cut 64 bits into k + p blocks.  Two fingerprints that differ in at most k bits agree on
 * at least p of the blocks (Manku, Jain and Das Sarma, "Detecting near-duplicates for web
 * crawling", 2007, section 3).  So a join finds all pairs if, for every choice of p
 * blocks, it compares the fingerprints that agree on these blocks.  A larger p makes fewer
 * useless comparisons but more choices.  With k = 8 and p = 3 there are 165 choices of 17
 * bits each.
 *
 * Bits are not equally useful.  A bit that is the same in nearly all fingerprints
 * distinguishes few of them.  So blocks have about equal weights rather than equal numbers
 * of bits.  The weight of a bit is minus the logarithm to base 2 of the probability that
 * the bit is the same in two fingerprints, estimated from a sample.  Bits may be
 * correlated.  So the comparisons of a plan are also counted for the pairs of the sample,
 * and the larger of the two estimates is used.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

#include <math.h>

#include "corpus/join_plan.h"
#include "digest/splitmix.h"

/*
 * The sample has one of every PLAN_SAMPLE_OF fingerprints, at least 16 if there are so
 * many, and at most PLAN_SAMPLE.
 */
#define PLAN_SAMPLE				256
#define PLAN_SAMPLE_OF			32

/*
 * Return the number of choices of k out of n blocks, 0 <= k <= n.
 */
static double
choices_of(int n, int k)
{
	double		choices = 1;

	for (int i = 0; i < k; i++)
		choices = choices * (n - i) / (i + 1);
	return choices;
}

/*
 * Return a mask of the bits that are not the same in all of n fingerprints, n > 0.
 */
static uint64
varying_bits(const SimHash *fp, uint32 n)
{
	uint64		varying = 0;

	for (uint32 i = 1; i < n; i++)
		varying |= fp[i] ^ fp[0];
	return varying;
}

/*
 * Return the weight of a bit that is 1 in the fraction f of the fingerprints.  It is
 * minus the logarithm to base 2 of the probability that the bit is the same in two
 * fingerprints.
 */
static double
bit_weight(double f)
{
	return -log2(f * f + (1 - f) * (1 - f));
}

/*
 * Set the bits of a plan to those in `varying`, and estimate their weights from a sample.
 * Each of these bits gets a weight above 0, even if it is the same in the whole sample.
 * So there is a plan as long as any two fingerprints differ.
 */
static void
measure_bits(JoinPlan *plan, uint64 varying, const SimHash *sample, int nsample)
{
	plan->nbits = 0;
	for (int bit = SIMHASH_BITS - 1; bit >= 0; bit--)
	{
		int			ones = 0;

		if (!(varying >> bit & 1))
			continue;
		for (int i = 0; i < nsample; i++)
			ones += sample[i] >> bit & 1;
		plan->bit[plan->nbits] = bit;
		plan->weight[plan->nbits++] = bit_weight((ones + 0.5) / (nsample + 1));
	}
}

/*
 * Cut the bits of a plan into blocks of about equal weight.  Each block has at least one
 * bit.
 */
static void
cut_blocks(JoinPlan *plan, int nblocks)
{
	double		total = 0;
	double		sum = 0;
	int			block = 1;

	for (int i = 0; i < plan->nbits; i++)
		total += plan->weight[i];
	plan->nblocks = nblocks;
	plan->start[0] = 0;
	for (int i = 1; i < plan->nbits && block < nblocks; i++)
	{
		sum += plan->weight[i - 1];
		if (sum >= total * block / nblocks || plan->nbits - i == nblocks - block)
			plan->start[block++] = i;
	}
	plan->start[nblocks] = plan->nbits;

	for (block = 0; block < nblocks; block++)
	{
		plan->mask[block] = 0;
		for (int i = plan->start[block]; i < plan->start[block + 1]; i++)
			plan->mask[block] |= UINT64CONST(1) << plan->bit[i];
	}
}

/*
 * Return the cost of partitioning n members by every choice of `agree` blocks, if nbits
 * bits are cut into radius + `agree` blocks.  Call it with `agree` = 1, 2 and so on, and
 * with *partitions = 0 at first.  It adds the number of choices to *partitions, which is
 * the number of times that all members are partitioned by a block.  It is a sum, because
 * choices share their first blocks.
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
 * Estimate how often the join compares a pair of unrelated fingerprints.  `total` is the
 * weight of all bits.
 */
static double
comparisons_of_unrelated(double total, int radius, int agree)
{
	int			nblocks = radius + agree;

	return choices_of(nblocks, agree) * exp2(-total * agree / nblocks);
}

/*
 * Estimate how often the join compares a pair of fingerprints, on average over all pairs.
 * It compares a pair once for each choice among the blocks on which the pair agrees.  The
 * average over the pairs of the sample takes correlated bits and near pairs into account.
 * Equal fingerprints of the sample are skipped, since they may be one fingerprint drawn
 * twice.
 */
static double
comparisons_of_pair(const JoinPlan *plan, const SimHash *sample, int nsample, int agree)
{
	double		sum = 0;

	for (int i = 0; i < nsample; i++)
		for (int j = 0; j < i; j++)
		{
			uint64		difference = sample[i] ^ sample[j];
			int			agreeing = 0;

			if (difference == 0)
				continue;
			for (int block = 0; block < plan->nblocks; block++)
				agreeing += !(difference & plan->mask[block]);
			if (agreeing >= agree)
				sum += choices_of(agreeing, agree);
		}
	return sum / Max(nsample * (nsample - 1) / 2, 1);
}

/*
 * Plan a join of n fingerprints.  fp[0..nfp-1] are some or all of them, 0 < nfp <= n.
 * `comparisons` is the number of comparisons if all pairs are compared.  The sample is
 * drawn at random, because fingerprints at regular intervals may be alike.
 */
void
join_plan_make(JoinPlan *plan, const SimHash *fp, uint32 nfp, double n, int radius,
			   double comparisons, uint64 *random)
{
	int			nsample = Max(Min(nfp / PLAN_SAMPLE_OF, PLAN_SAMPLE), Min(nfp, 16));
	SimHash		sample[PLAN_SAMPLE];
	double		min_cost = comparisons;
	double		partitions = 0;
	double		total = 0;
	int			best = 0;

	for (int i = 0; i < nsample; i++)
		sample[i] = fp[draw_below(random, nfp)];
	measure_bits(plan, varying_bits(fp, nfp), sample, nsample);
	for (int i = 0; i < plan->nbits; i++)
		total += plan->weight[i];
	for (int agree = 1; radius + agree <= plan->nbits; agree++)
	{
		double		cost = partition_cost(n, plan->nbits, radius, agree, &partitions);

		if (cost >= min_cost)
			break;
		cut_blocks(plan, radius + agree);
		cost += comparisons * Max(comparisons_of_unrelated(total, radius, agree),
								  comparisons_of_pair(plan, sample, nsample, agree));
		if (cost < min_cost)
		{
			min_cost = cost;
			best = agree;
		}
	}
	plan->agree = best;
	if (best > 0)
		cut_blocks(plan, radius + best);
}

/*
 * Estimate the cost, in comparisons, of a join of n unrelated fingerprints that are not
 * known yet.  `comparisons` is the number of comparisons if all pairs are compared.
 */
double
join_plan_cost(double n, int radius, double comparisons)
{
	double		min_cost = comparisons;
	double		partitions = 0;

	if (n < 2 || radius < 0)
		return 0;
	for (int agree = 1; radius + agree <= SIMHASH_BITS; agree++)
	{
		double		cost = partition_cost(n, SIMHASH_BITS, radius, agree, &partitions);

		if (cost >= min_cost)
			break;
		cost += comparisons * comparisons_of_unrelated(SIMHASH_BITS, radius, agree);
		min_cost = Min(min_cost, cost);
	}
	return min_cost;
}
