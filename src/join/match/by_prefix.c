/*
 * Methods of a join of arrays of hashes within a Jaccard distance: prefix filtering
 *
 * The elements of all arrays have a global order, the rarest first.  The prefix of an array is so
 * many of its first elements that an array which has none of them is beyond the radius.  If two
 * arrays are within the radius, the first element that they share is in the prefixes of both.
 * (Chaudhuri, Ganti, Kaushik, "A primitive operator for similarity joins in data cleaning", 2006;
 * Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", 2007.)  So a row has an entry
 * for each element of its prefix, and rows meet by these keys (prefix_pairs.c).
 *
 * The order is by an estimate of the frequency of the elements in the right input, then by the
 * elements themselves.  It need not be right, but it must be the same for all rows.  So the right
 * rows are read and counted first, and all entries are made after that, once the radius is known.
 *
 * The frequencies are in a table of counters with one hash function, at most a sixteenth of
 * the memory.  A wrong one costs time, and no pair, since both inputs use the same.
 *
 * An array is stored at the end of the row's tuple.  The arrays of a pair are compared
 * after its cheap clauses have been tested.  Two rows may meet by several keys.  They are
 * returned for the first one.  Only the arrays tell, so verify() decides that.  It knows the
 * key by the pair's tag.  Before its array, a left tuple has a byte for each element, the
 * position in the prefix, so that verify() reads no counters.
 *
 * The distance is one division here, in the operator and in the filters.  So the join returns
 * what a nested loop returns, to the last bit.
 *
 * A radius of 1 or more matches all pairs but two empty arrays.  There is no path if the planner
 * knows it.  If it is a parameter, each row has one entry with one key, and all rows meet.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include EXPLAIN_FORMAT_HEADER
#include EXPLAIN_STATE_HEADER
#include "digest/splitmix.h"
#include "join/match/join_methods.h"
#include "join/match/prefix_pairs.h"
#include "type/hash_array.h"

/* Number of pairs whose tuples are prefetched together. */
#define PAIRS_AHEAD			16

/* Number of steps of a merge between tests whether it can end. */
#define STEPS				4

/* Number of elements of an array that are prefetched, and of those in a cache line. */
#define ELEMENTS_AHEAD		24
#define ELEMENTS_PER_LINE	8

/* A left entry and a right entry that meet. */
typedef struct EntryPair
{
	JoinEntry  *left;
	JoinEntry  *right;
} EntryPair;

typedef struct PrefixMatch
{
	JoinMatch	match;			/* must be first */
	PrefixPairs	pairs;
	bool		has_entries;	/* true if the right entries have been made */
	bool		matchable;		/* false if no row is within the radius of another */
	uint64		nelements;		/* number of elements of the right rows */
	uint16	   *count;			/* estimated numbers of right rows with an element, by
								 * hash value; in the context of the right rows */
	uint32		mask;			/* number of counts - 1, a power of 2 - 1 */
	EntryPair	ahead[PAIRS_AHEAD];	/* pairs whose tuples are prefetched */
	int			nahead;
	int			next_ahead;		/* index of the next pair to return */
	uint64		nentries;		/* for EXPLAIN */
} PrefixMatch;

/*
 * What the participants in a parallel join share
 */
typedef struct SharedPrefix
{
	pg_atomic_uint64 nelements; /* number of elements of all right rows */
	dsa_pointer count;			/* counts of all right rows */
	uint32		mask;			/* see PrefixMatch */
} SharedPrefix;

/* Maximum number of counts for each element of a right row. */
#define COUNTS_PER_ELEMENT	2

#ifdef WORDS_BIGENDIAN
#define IS_BIG_ENDIAN		true
#else
#define IS_BIG_ENDIAN		false
#endif

/* Number of elements whose counts are prefetched. */
#define COUNTS_AHEAD		16

static void
prefix_begin(JoinMatch *match)
{
	PrefixMatch *state = (PrefixMatch *) match;

	state->pairs.context = match->context;
	state->has_entries = false;
	state->nelements = 0;
	match->entry_size = join_entry_size(PREFIX_ENTRY_SIZE, match->jointype, match->has_equalities);
	match->joined_size = REFS_JOINED_SIZE;
	match->right_limit = match->memory / PREFIX_TUPLES_DIVISOR;
	match->left_limit = match->memory / PREFIX_LEFT_TUPLES_DIVISOR;
	match->reserved = match->memory / PENDING_DIVISOR * 2;
	match->right_divisor = PREFIX_ENTRIES_DIVISOR;
	match->partitioned_divisor = PREFIX_PARTITIONED_DIVISOR;
}

/* --- the global order -------------------------------------------------------------- */

/*
 * Place of an element in the global order: the estimated number of rows with the element (upper
 * half), and its index in its array.  Arrays are sorted, so the places of the elements of one
 * array are in the global order.
 */
typedef uint64 GlobalPlace;

static inline GlobalPlace
global_place(uint32 count, uint32 index)
{
	return (uint64) count << 32 | index;
}

static inline uint32
global_place_count(GlobalPlace place)
{
	return place >> 32;
}

static inline uint32
global_place_index(GlobalPlace place)
{
	return (uint32) place;
}

/* Places with smaller counts are sorted by these alone, the others by comparisons. */
#define MANY				255

#define ST_SORT				sort_places
#define ST_ELEMENT_TYPE		uint64
#define ST_COMPARE(a, b)	((*(a) > *(b)) - (*(a) < *(b)))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE			static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Copy n places to `sorted`, first the least k, in order.  Places with the same count must
 * already be in order, because this is a counting sort.
 */
static void
sort_first(const GlobalPlace *place, GlobalPlace *sorted, int n, int k)
{
	int			next[MANY + 2] = {0};
	int			start = 0;
	int			last = -1;

	for (int i = 0; i < n; i++)
		next[Min(global_place_count(place[i]), MANY)]++;
	do
	{
		int			nplaces = next[++last];

		next[last] = start;
		start += nplaces;
	} while (start < k);

	/* places with greater counts than the first k follow, in the order of `place` */
	next[last + 1] = start;
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sorted[next[Min(global_place_count(place[i]), Min(last + 1, MANY))]++] = place[i];
	}
	if (last == MANY)
		sort_places(sorted + next[MANY - 1], n - next[MANY - 1]);
}

/*
 * Return the address of the count of an element.
 */
static inline uint16 *
count_of(const PrefixMatch *state, int64 element)
{
	return &state->count[splitmix64_finalize((uint64) element) & state->mask];
}

/*
 * Return the place of an element of an array.
 */
static inline GlobalPlace
place_of(const PrefixMatch *state, const int64 *element, uint32 i)
{
	return global_place(*count_of(state, element[i]), i);
}

/*
 * Return the end of the array in a stored tuple, where the number of its elements is.
 */
static inline const int64 *
array_end(MinimalTuple tuple)
{
	return (const int64 *) ((const char *) tuple + tuple->t_len) - 1;
}

/*
 * Return the array at the end of a stored tuple.  Sets *n to the number of its elements.
 */
static const int64 *
stored_array(MinimalTuple tuple, int *n)
{
	const int64 *end = array_end(tuple);

	*n = (int) *end;
	return end - *n;
}

/*
 * Return the positions in the prefix of the n elements of a left row's stored array.  They are
 * before the array.  Positions from 255, and elements beyond the prefix, have 255.
 */
static inline uint8 *
stored_positions(const int64 *element, int n)
{
	return (uint8 *) element - n;
}

/*
 * Set the positions of a stored array.  `ranked` has the places of its elements, first those of
 * the prefix.  The positions must be PG_UINT8_MAX before.
 */
static void
set_positions(const int64 *element, int n, const GlobalPlace *ranked, int prefix)
{
	for (int i = 0; i < Min(prefix, PG_UINT8_MAX); i++)
		stored_positions(element, n)[global_place_index(ranked[i])] = i;
}

/*
 * Return the stored array of the row of an entry.
 */
static const int64 *
fetch_array(JoinStore *store, const JoinEntry *row, int *n)
{
	return stored_array(join_tuples_fetch(&store->tuples, row->location), n);
}

/*
 * Return the number of counts for nelements elements of right rows.
 */
static Size
number_of_counts(const PrefixMatch *state, uint64 nelements)
{
	Size		memory = state->match.memory * state->match.nparticipants;
	Size		max = Min(memory / COUNTS_DIVISOR, MaxAllocSize) / sizeof(uint16);

	return pg_prevpower2_64(Max(Min(nelements * COUNTS_PER_ELEMENT, max), 512));
}

/* A count of a parallel join stays below its maximum by more than there are participants. */
#define MAX_SHARED_COUNT	60000

/*
 * Count an element.  A count that has reached its maximum stays there.  The participants in a
 * parallel join share counts, two of which are one atomic variable.
 */
static inline void
count_element(PrefixMatch *state, int64 element)
{
	uint16	   *count = count_of(state, element);
	Size		index = count - state->count;
	bool		is_upper = (index & 1) != (IS_BIG_ENDIAN ? 1 : 0);

	if (!state->match.shared)
		*count += *count < PG_UINT16_MAX;
	else if (*(volatile uint16 *) count < MAX_SHARED_COUNT)
		pg_atomic_fetch_add_u32((pg_atomic_uint32 *) state->count + index / 2,
								is_upper ? 1 << 16 : 1);
}

/*
 * Count the elements of the right rows of this process, each of which has an entry.
 */
static void
count_elements(PrefixMatch *state)
{
	JoinEntries *rows = &state->match.right->entries;

	join_entries_rewind(rows);
	while (join_entries_load(rows))
		for (uint32 i = 0; i < rows->n; i++)
		{
			int			n;
			const int64 *element = fetch_array(state->match.right, join_entries_at(rows, i), &n);

			for (int j = 0; j < Min(n, COUNTS_AHEAD); j++)
				pg_prefetch(count_of(state, element[j]));
			for (int j = 0; j < n; j++)
			{
				CHECK_FOR_INTERRUPTS();
				if (j + COUNTS_AHEAD < n)
					pg_prefetch(count_of(state, element[j + COUNTS_AHEAD]));
				count_element(state, element[j]);
			}
		}
}

/* --- entries ------------------------------------------------------------------------ */

/*
 * Return true if all rows are within the radius of each other, except rows without elements.
 */
static inline bool
matches_all(const PrefixMatch *state)
{
	return float8_ge(state->pairs.radius, 1);
}

/*
 * Return the places of the n elements of an array, first those of the prefix, in order.  Sets
 * *prefix to their number.
 */
static GlobalPlace *
rank_array(const PrefixMatch *state, const int64 *element, int n, int *prefix)
{
	Size		size = Max(n, 1) * sizeof(GlobalPlace);
	GlobalPlace *place = palloc_extended(size, MCXT_ALLOC_HUGE);
	GlobalPlace *ranked = palloc_extended(size, MCXT_ALLOC_HUGE);

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		place[i] = place_of(state, element, i);
	}
	*prefix = Min(max_missing(n, state->pairs.radius) + 1, n);
	sort_first(place, ranked, n, *prefix);
	pfree(place);
	return ranked;
}

/*
 * Add an entry.  If the array is full, begins to write entries to their partitions.
 */
static void
keep_entry(PrefixMatch *state, JoinStore *store, const PrefixEntry *entry)
{
	if (store->entries.n == store->entries.capacity)
		join_match_begin_partitions(&state->match, store);
	join_entries_add(&store->entries, &entry->entry);
	state->nentries++;
}

/*
 * Make the entries of a row with n elements.  `row` has its tuple, the hash value of its
 * equality keys and its number.  An element that no other row has needs no entry: no right row, or
 * a single one if the input is joined with itself.  But a row that may match itself meets itself by
 * its rarest element.  If all rows are within the radius, a row has a single entry.  So has a row
 * without others if it is to be returned without a match.
 */
static void
add_prefix_entries(PrefixMatch *state, JoinStore *store, const int64 *element,
				   const GlobalPlace *ranked, int prefix, int n, const JoinEntry *row)
{
	uint64		group = row->hash * UINT64CONST(0x9E3779B97F4A7C15);
	int			min_both = prefix_pairs_min_both(&state->pairs, n, n);
	bool		is_self = join_match_is_self(&state->match);
	uint64		nbefore = state->nentries;
	PrefixEntry	entry = {*row,.size = n};

	for (int i = 0; i < prefix && !matches_all(state); i++)
	{
		uint64		key = (uint64) element[global_place_index(ranked[i])] + group;

		entry.previous = entry.entry.key;
		entry.entry.key = key;
		if (global_place_count(ranked[i]) <= is_self && (i > 0 || !state->match.pairs_itself))
			continue;
		entry.position = i;
		entry.beyond_index_prefix = i > n - min_both;
		keep_entry(state, store, &entry);
	}
	if (matches_all(state) ||
		(is_self && state->nentries == nbefore && join_returns_unmatched(&state->match)))
	{
		entry = (PrefixEntry) {*row,.size = n};
		entry.entry.key = matches_all(state) ? group : group + row->row;
		keep_entry(state, store, &entry);
	}
}

/*
 * Store a row's tuple, and return its location.  The tuple ends with the positions in the prefix
 * if `is_left`, the elements, and their number.  `ranked` has the places of the elements, first
 * those of the prefix.  If it is NULL, they are not known yet.
 */
static TupleLocation
store_tuple(JoinStore *store, TupleTableSlot *slot, const int64 *element, int n,
			bool is_left, const GlobalPlace *ranked, int prefix)
{
	Size		npositions = is_left ? MAXALIGN(n) : 0;
	Size		size = npositions + (n + (Size) 1) * sizeof(int64);
	char	   *value = palloc_extended(size, MCXT_ALLOC_HUGE);
	int64	   *stored = (int64 *) (value + npositions);

	memcpy(stored, element, n * sizeof(int64));
	stored[n] = n;
	memset(value, PG_UINT8_MAX, npositions);
	if (ranked)
		set_positions(stored, n, ranked, prefix);
	return join_append_value(store, slot, value, size);
}

/*
 * Keep a row.  A right row at first has one entry, without a key.  A left row gets its
 * entries at once.  A left row without entries matches nothing.
 */
static bool
prefix_add(JoinMatch *match, JoinStore *store, Datum key, uint32 hash, TupleTableSlot *slot)
{
	PrefixMatch *state = (PrefixMatch *) match;
	PrefixEntry	row = {.entry.hash = hash,.entry.row = store->nrows};
	bool		is_left = store != match->right;
	GlobalPlace *ranked = NULL;
	int			prefix = 0;
	int			n;
	int64	   *element;

	if (is_left && (match->nright == 0 || !state->matchable))
		return false;
	element = hash_array_elements(key, &n);
	if (is_left)
	{
		ranked = rank_array(state, element, n, &prefix);
		/* the last element of the prefix is its most frequent one */
		if (!matches_all(state) && (prefix == 0 || global_place_count(ranked[prefix - 1]) == 0))
			return false;
	}
	row.entry.location = store_tuple(store, slot, element, n, is_left || join_match_is_self(match),
									 ranked, prefix);
	if (is_left)
		add_prefix_entries(state, store, element, ranked, prefix, n, &row.entry);
	else
	{
		state->nelements += n;
		join_entries_add(&store->entries, &row.entry);
	}
	return true;
}

/*
 * Make the entries of the right rows, in place of one for each row.  If they are the left ones,
 * too, sets the positions in the prefix in their tuples.
 */
static void
make_right_entries(PrefixMatch *state)
{
	JoinMatch  *match = &state->match;
	JoinStore  *right = match->right;
	JoinEntries rows = right->entries;
	bool		is_self = join_match_is_self(match);

	join_entries_init(&right->entries, right->context,
					  join_match_capacity(match, match->memory, match->right_divisor),
					  match->entry_size);
	right->entries.writer = rows.writer;
	join_entries_load_all(&rows);
	while (join_entries_load(&rows))
		for (uint32 i = 0; i < rows.n; i++)
		{
			const JoinEntry *row = join_entries_at(&rows, i);
			MinimalTuple tuple = join_tuples_fetch(&right->tuples, row->location);
			int			n;
			const int64 *element = stored_array(tuple, &n);
			int			prefix;
			GlobalPlace *ranked = rank_array(state, element, n, &prefix);

			CHECK_FOR_INTERRUPTS();
			if (is_self)
			{
				set_positions(element, n, ranked, prefix);
				join_tuples_change(&right->tuples, tuple);
			}
			add_prefix_entries(state, right, element, ranked, prefix, n, row);
			pfree(ranked);
		}
	join_tuples_end_changes(&right->tuples);
	join_entries_close(&rows);
	if (right->entries.writer && !match->shared)
		join_match_end_partitions(right);
}

/*
 * Set the radius.  Makes the right entries, unless a rescan has kept them.  A rescan with
 * another radius keeps no rows.
 */
static bool
prefix_set_radius(JoinMatch *match, Datum radius, bool isnull)
{
	PrefixMatch *state = (PrefixMatch *) match;

	if (!state->has_entries)
	{
		prefix_pairs_set_radius(&state->pairs, isnull ? -1 : DatumGetFloat8(radius));
		state->matchable = float8_ge(state->pairs.radius, 0);
		if (state->matchable && !match->shared)
		{
			Size		ncounts = number_of_counts(state, state->nelements);

			match->nentries = match->nright +
				Min(state->pairs.radius * state->nelements, state->nelements);
			state->count = MemoryContextAllocZero(match->right->context,
												  ncounts * sizeof(uint16));
			state->mask = ncounts - 1;
			count_elements(state);
			make_right_entries(state);
		}
		state->has_entries = true;
	}
	return state->matchable;
}

/* --- parallel joins ----------------------------------------------------------------- */

/*
 * Allocate counts for the elements of all right rows.
 */
static void
allocate_shared_counts(PrefixMatch *state)
{
	SharedPrefix *shared = state->match.shared;
	Size		ncounts;

	state->match.nentries = pg_atomic_read_u64(&shared->nelements);
	ncounts = number_of_counts(state, state->match.nentries);
	shared->mask = ncounts - 1;
	shared->count = dsa_allocate_extended(state->match.area, ncounts * sizeof(uint16),
										  DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
}

/*
 * Share the counts.
 */
static void
prefix_share(JoinMatch *match, JoinShareStep step)
{
	PrefixMatch *state = (PrefixMatch *) match;
	SharedPrefix *shared = match->shared;

	switch (step)
	{
		case SHARE_INIT:
			pg_atomic_init_u64(&shared->nelements, 0);
			shared->count = InvalidDsaPointer;
			break;
		case SHARE_RIGHT_ROWS:
			pg_atomic_fetch_add_u64(&shared->nelements, state->nelements);
			break;
		case SHARE_ALLOCATE:
			allocate_shared_counts(state);
			break;
		case SHARE_COUNTS:
			prefix_share(match, SHARE_RESULTS);
			count_elements(state);
			break;
		case SHARE_ENTRIES:
			prefix_share(match, SHARE_RESULTS);
			if (state->matchable)
				make_right_entries(state);
			else if (join_match_is_self(match) && join_returns_unmatched(match))
				join_entries_write(&match->right->entries);
			break;
		case SHARE_RESULTS:
			state->count = dsa_get_address(match->area, shared->count);
			state->mask = shared->mask;
			break;
		case SHARE_FREE:
			if (DsaPointerIsValid(shared->count))
				dsa_free(match->area, shared->count);
			break;
		default:
			break;
	}
}

/* --- pairs ------------------------------------------------------------------------- */

/*
 * Return the number of the partition of an entry.  A PartitionFunction.
 */
static uint32
prefix_partition_of(const void *arg, const JoinEntry *entry, int round)
{
	return splitmix64_finalize(entry->key);
}

static void
prefix_begin_pairs(JoinMatch *match)
{
	PrefixMatch *state = (PrefixMatch *) match;

	prefix_pairs_begin(&state->pairs, match->left_entries, match->right_entries, match->done,
					   match->pairs_itself);
	state->nahead = state->next_ahead = 0;
}

/*
 * Prefetch the number of elements and the first ones of the array of a tuple that is in memory.
 */
static void
prefetch_array(const JoinEntry *entry)
{
	if (!(entry->location & IN_FILE))
	{
		MinimalTuple tuple = (MinimalTuple) (uintptr_t) entry->location;
		const int64 *end = array_end(tuple);
		const int64 *element = end - ((const PrefixEntry *) entry)->size;

		pg_prefetch(end);
		for (int i = 0; i < ELEMENTS_AHEAD; i += ELEMENTS_PER_LINE)
			pg_prefetch(&element[i]);
	}
}

/*
 * Find the next pairs, and prefetch their tuples: first all headers, then the arrays, which the
 * headers locate.  If one match of a left row is enough, finds a single pair, since its match may
 * make the next one needless.
 */
static void
find_pairs_ahead(PrefixMatch *state)
{
	int			max = state->match.done ? 1 : PAIRS_AHEAD;

	state->nahead = state->next_ahead = 0;
	while (state->nahead < max)
	{
		EntryPair  *pair = &state->ahead[state->nahead];

		if (!prefix_pairs_next(&state->pairs, &pair->left, &pair->right))
			break;
		join_tuple_prefetch(pair->left->location);
		join_tuple_prefetch(pair->right->location);
		state->nahead++;
	}
	for (int i = 0; i < state->nahead; i++)
	{
		prefetch_array(state->ahead[i].left);
		prefetch_array(state->ahead[i].right);
	}
}

/*
 * Return true if row a was kept after row b.  Entries in files may have no row numbers, and tuples
 * go to memory before they go to a file.  Then the order of tuples in memory may be wrong.
 */
static inline bool
is_after(const JoinEntry *a, const JoinEntry *b)
{
	if (a->row != b->row)
		return a->row > b->row;
	return (a->location << 63 | a->location >> 1) > (b->location << 63 | b->location >> 1);
}

/*
 * Advance to the next pair.  In a self-join whose pairs may be pending, the left row is the one
 * that was kept first, so that pending pairs of the same rows are equal.  Sets match->tag to 0
 * if the shared key is the rarest element of either row, since then the rows meet here first.
 * Otherwise sets it to the key's position in the left prefix.
 */
static bool
prefix_next_pair(JoinMatch *match, JoinEntry **left, JoinEntry **right)
{
	PrefixMatch *state = (PrefixMatch *) match;

	if (state->next_ahead == state->nahead)
		find_pairs_ahead(state);
	if (state->nahead == 0)
		return false;
	*left = state->ahead[state->next_ahead].left;
	*right = state->ahead[state->next_ahead++].right;
	if (join_match_is_self(match) && match->done == NULL && is_after(*left, *right))
	{
		JoinEntry  *entry = *left;

		*left = *right;
		*right = entry;
	}
	match->tag = ((PrefixEntry *) *right)->position > 0 ? ((PrefixEntry *) *left)->position : 0;
	return true;
}

/*
 * Return true if two sorted arrays share at least min_both elements, but none whose position is
 * less than met_position.  `position` has the positions of the elements of a.  The arrays are merged
 * from both ends, so that two steps are made at the same time: a step needs the result of the step
 * before it.  Whether the merge can end is tested after STEPS steps.
 */
static bool
share_enough(const int64 *a, int na, const int64 *b, int nb, const uint8 *position, int min_both,
			 uint8 met_position)
{
	const int64 *end_a = a + na - 1;	/* the last elements that have not been merged */
	const int64 *end_b = b + nb - 1;
	const uint8 *end_position = position + na - 1;
	int			nmerged = 0;	/* number of elements, those in both arrays once */
	uint8		min_position = PG_UINT8_MAX;	/* of the positions of the elements in both */

	if (na < min_both || nb < min_both)
		return false;
	if (met_position == 0 && min_both <= 0)
		return true;
	while (end_a - a >= 2 * STEPS && end_b - b >= 2 * STEPS)
	{
		int			only_a;			/* of the merged elements, how many are in one array */
		int			only_b;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < STEPS; i++)
		{
			bool		next_a = *a <= *b;
			bool		next_b = *b <= *a;
			bool		before_a = *end_a >= *end_b;
			bool		before_b = *end_b >= *end_a;
			uint8		first = *position | ((next_a & next_b) - 1);
			uint8		last = *end_position | ((before_a & before_b) - 1);

			first = Min(first, last);
			min_position = Min(min_position, first);
			a += next_a;
			position += next_a;
			b += next_b;
			end_a -= before_a;
			end_position -= before_a;
			end_b -= before_b;
		}
		nmerged += 2 * STEPS;
		only_a = nmerged - (nb - (end_b - b + 1));
		only_b = nmerged - (na - (end_a - a + 1));
		if (min_position < met_position || only_a > na - min_both || only_b > nb - min_both)
			return false;
		if (met_position == 0 && nmerged - only_a - only_b >= min_both)
			return true;
	}
	while (a <= end_a && b <= end_b)
	{
		bool		next_a = *a <= *b;
		bool		next_b = *b <= *a;

		CHECK_FOR_INTERRUPTS();
		if (next_a && next_b)
			min_position = Min(min_position, *position);
		a += next_a;
		position += next_a;
		b += next_b;
		nmerged++;
	}
	nmerged += (end_a - a + 1) + (end_b - b + 1);
	return min_position >= met_position && na + nb - nmerged >= min_both;
}

/*
 * Return true if two sorted arrays share an element that is rarer than that with a position in the
 * prefix of a.
 */
static bool
share_rarer(const PrefixMatch *state, const int64 *a, int na, const int64 *b, int nb, int position)
{
	GlobalPlace rarest = PG_UINT64_MAX; /* of the elements in both */
	int			nrarer = 0;		/* number of elements of a before that one */

	for (int i = 0, j = 0; i < na && j < nb;)
	{
		bool		next_a = a[i] <= b[j];
		bool		next_b = b[j] <= a[i];

		CHECK_FOR_INTERRUPTS();
		if (next_a && next_b)
			rarest = Min(rarest, place_of(state, a, i));
		i += next_a;
		j += next_b;
	}
	for (int i = 0; i < na && nrarer < position; i++)
	{
		CHECK_FOR_INTERRUPTS();
		nrarer += place_of(state, a, i) < rarest;
	}
	return nrarer < position;
}

/*
 * Return true if two arrays are within the radius, and have met by the first element that
 * they share.
 */
static bool
prefix_verify(JoinMatch *match, TupleTableSlot *left, TupleTableSlot *right, uint64 tag)
{
	PrefixMatch *state = (PrefixMatch *) match;
	bool		free_tuple;
	int			na;
	int			nb;
	const int64 *a = stored_array(ExecFetchSlotMinimalTuple(left, &free_tuple), &na);
	const int64 *b = stored_array(ExecFetchSlotMinimalTuple(right, &free_tuple), &nb);
	const uint8 *position = stored_positions(a, na);
	int			min_both = prefix_pairs_min_both(&state->pairs, na, nb);
	uint8		met = Min(tag, PG_UINT8_MAX);

	return share_enough(a, na, b, nb, position, min_both, met) &&
		(met < PG_UINT8_MAX || !share_rarer(state, a, na, b, nb, tag));
}

static void
prefix_count(const JoinMatch *match, JoinCounters *counters)
{
	const PrefixMatch *state = (const PrefixMatch *) match;

	counters->nvalues = state->nentries;
	counters->ncompared = state->pairs.ncompared;
	counters->largest_group = counters->nblocks = matches_all(state);
}

/*
 * Show the method and counters.  counters->nblocks is 1 if the radius is at least 1.
 */
static void
prefix_explain(const JoinMatch *match, const JoinCounters *counters, ExplainState *es)
{
	ExplainPropertyText("Method", counters->nblocks > 0 ? "all pairs" : "rare keys", es);
	ExplainPropertyFloat("Keys", NULL, counters->nvalues, 0, es);
	ExplainPropertyFloat("Comparisons", NULL, counters->ncompared, 0, es);
}

const JoinMethods join_by_prefix = {
	.state_size = sizeof(PrefixMatch),
	.stores_values = true,
	.keys_need_radius = true,
	.begin = prefix_begin,
	.add = prefix_add,
	.set_radius = prefix_set_radius,
	.partition_of = prefix_partition_of,
	.share = prefix_share,
	.shared_size = sizeof(SharedPrefix),
	.begin_pairs = prefix_begin_pairs,
	.next_pair = prefix_next_pair,
	.verify = prefix_verify,
	.count = prefix_count,
	.explain = prefix_explain
};
