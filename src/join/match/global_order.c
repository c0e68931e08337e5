/*
 * Global order of the elements of all arrays: the rarest first, then by the elements themselves
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/match/global_order.h"

static inline int
compare_elements(const RankedElement *a, const RankedElement *b)
{
	return global_order_compare(a->count, a->element, b->count, b->element);
}

#define ST_SORT				rank_elements
#define ST_ELEMENT_TYPE		RankedElement
#define ST_COMPARE(a, b)	compare_elements(a, b)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Move the k rarest of n elements to the front, in any order.  (Hoare's quickselect.)
 */
static void
select_rarest(RankedElement *ranked, int n, int k)
{
	int			low = 0;
	int			high = n - 1;

	while (low < high)
	{
		RankedElement middle = ranked[low + (high - low) / 2];
		int			i = low;
		int			j = high;

		CHECK_FOR_INTERRUPTS();
		while (i <= j)
		{
			while (compare_elements(&ranked[i], &middle) < 0)
				i++;
			while (compare_elements(&ranked[j], &middle) > 0)
				j--;
			if (i <= j)
			{
				RankedElement moved = ranked[i];

				ranked[i++] = ranked[j];
				ranked[j--] = moved;
			}
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			return;
	}
}

/*
 * Move the k rarest of n elements to the front, in order.
 */
void
global_order_sort_first(RankedElement *ranked, int n, int k)
{
	select_rarest(ranked, n, k);
	rank_elements(ranked, k);
}
