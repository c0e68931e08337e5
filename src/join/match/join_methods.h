/*
 * Methods of a similarity join: how rows are keyed, and how they meet
 *
 * A row has any number of entries, of one size in an execution, which begin() or the first
 * add() sets.  If entries need the radius and all right rows (keys_need_radius), add() only
 * keeps right rows, and set_radius() makes their entries.  Values are stored apart
 * (join_store_value()) or at the end of the tuple (join_append_value()).  A pair of rows
 * must be returned once, over all chunks and partitions.  The two entries must decide that,
 * without a set of pairs.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_JOIN_METHODS_H
#define SIMHASH_JOIN_METHODS_H

#include "utils/dsa.h"

#include "join/store/store.h"

struct ExplainState;

typedef struct JoinMatch JoinMatch;

/*
 * Counters of a join for EXPLAIN ANALYZE, of one process or of several
 */
typedef struct JoinCounters
{
	double		ncandidates;	/* number of pairs of rows that the method found */
	double		nremoved;		/* number of candidates that a cheap clause rejected */
	double		npairs;			/* number of the other candidates whose values match */
	double		nvalues;		/* number of distinct fingerprints, or of entries of elements */
	double		ncompared;		/* number of comparisons of two entries or fingerprints */
	int			npasses;		/* number of pairs of chunks that were joined */
	int			nbatches;		/* maximum number of parts of the right input; one of them
								 * is in memory at a time */
	Size		memory;			/* peak of the memory in use, in bytes */
	uint64		disk;			/* peak of the total size of the temporary files, in bytes */

	/* How the method joined the largest group; each method has a meaning for these */
	uint32		largest_group;
	int			agree;
	int			nblocks;
} JoinCounters;

/*
 * Steps of a parallel join in which a method shares data.  All participants that are there take
 * a step before the next one begins.  Those that come later miss steps.
 */
typedef enum JoinShareStep
{
	SHARE_INIT,					/* one process, before all others: initialize match->shared */
	SHARE_BEGIN,				/* each, after begin() */
	SHARE_RIGHT_ROWS,			/* each, after it has read its right rows */
	SHARE_ALLOCATE,				/* one */
	SHARE_COUNTS,				/* each */
	SHARE_ENTRIES,				/* each, after it has read its left rows, and the radius is
								 * known; completes its entries */
	SHARE_PARTITIONS,			/* one, after choose_rounds() */
	SHARE_RESULTS,				/* each, before and after SHARE_PARTITIONS, and also those that have
								 * missed steps: get what the others have shared */
	SHARE_FREE					/* one process, before SHARE_INIT if it is not the first one */
} JoinShareStep;

/*
 * A set of methods.  Functions that may be NULL are marked.
 */
typedef struct JoinMethods
{
	Size		state_size;		/* size of the private state, which begins with a JoinMatch */
	bool		stores_values;	/* true if values are stored apart from the tuples, or at
								 * their end.  Then all tuples are kept. */
	bool		keys_need_radius;	/* true if set_radius() is called before the first left row
									 * is kept.  Then a rescan with another radius reads both
									 * inputs again. */

	/*
	 * Prepares to read the right input, which may be the second one of this state.  Sets
	 * the limits and sizes in the JoinMatch.  Before the first call, the rest of the private
	 * state is zeroed.
	 */
	void		(*begin) (JoinMatch *match);

	/*
	 * Keeps a row: makes its entries from its key and the hash value of its equality keys.
	 * `slot` has the row as the input returned it.  The number of the row is store->nrows.
	 * Returns false if the row can match nothing.  Allocates in the current memory context,
	 * which is reset after the row.
	 */
	bool		(*add) (JoinMatch *match, JoinStore *store, Datum key, uint32 hash,
						TupleTableSlot *slot);

	/*
	 * Moves the tuples in memory to the file, before their entries go there.  NULL if tuples
	 * and entries go to their files independently.
	 */
	void		(*spill_tuples) (JoinMatch *match, JoinStore *store);

	/*
	 * Sets the radius, after the last right row.  Returns false if no row can match.  NULL if
	 * there is no radius.
	 */
	bool		(*set_radius) (JoinMatch *match, Datum radius, bool isnull);

	/*
	 * Returns the number of rounds in which the entries are partitioned, all of which are in
	 * files.  nentries is the number of entries of the larger input.  May change *n, the
	 * number of partitions, to another power of 2.  NULL if there is one round.
	 */
	int			(*choose_rounds) (JoinMatch *match, double nentries, uint32 *n);

	PartitionFunction partition_of; /* its argument is the JoinMatch */

	/* Shares data with other participants in a parallel join, by match->shared. */
	void		(*share) (JoinMatch *match, JoinShareStep step);
	Size		shared_size;	/* size of what match->shared points to */

	/*
	 * Starts to pair match->left_entries with match->right_entries.  If the inputs are
	 * partitioned, they are those of a partition of match->round.  If entries are joined with
	 * themselves, two of them need be paired in one order only (join_pair_is_repeated()), and
	 * each with itself if match->pairs_itself is true.
	 */
	void		(*begin_pairs) (JoinMatch *match);

	/*
	 * Advances to the next pair of entries.  Skips left rows in match->done.  All calls
	 * together return a pair of rows once, unless verify() rejects the repetitions.  Returns
	 * false at the end.
	 */
	bool		(*next_pair) (JoinMatch *match, JoinEntry **left, JoinEntry **right);

	/*
	 * Compares the values of a pair: tests whether the stored tuples match.  Called after the
	 * cheap clauses and before all others, with the tag that next_pair() has set.  Must
	 * return true at most once for a pair of rows.  NULL if each pair matches.
	 */
	bool		(*verify) (JoinMatch *match, TupleTableSlot *left, TupleTableSlot *right,
						   uint64 tag);

	/* Sets the method's part of the counters, over all loops of this process. */
	void		(*count) (const JoinMatch *match, JoinCounters *counters);

	/* Shows the method, and its counters, in EXPLAIN ANALYZE. */
	void		(*explain) (const JoinMatch *match, const JoinCounters *counters,
							struct ExplainState *es);
} JoinMethods;

/*
 * The part of a method's state that all methods have.
 */
struct JoinMatch
{
	/* Set by the executor */
	const JoinMethods *methods;
	JoinType	jointype;
	bool		pairs_itself;	/* true if a row of a self-join may match itself */
	bool		has_equalities;
	bool		is_swapped;		/* true if the right key is the first argument of the clause */
	Size		memory;			/* limit for the join, in bytes */
	JoinStore  *left;			/* the same as `right` if one input is joined with itself */
	JoinStore  *right;
	JoinEntries *left_entries;	/* loaded entries to pair, of each side */
	JoinEntries *right_entries; /* the same as left_entries if they are joined with themselves */
	JoinEntries chunk;			/* left entries, if one input in files is joined with itself */
	MemoryContext context;		/* context of the pairs; reset by begin_pairs() */
	uint64		nleft;			/* numbers of rows that all participants have kept; nright is */
	uint64		nright;			/* set before the first left row is read, nleft after the last */
	uint64		nentries;		/* maximum number of right entries, if keys need the radius; in a
								 * parallel join, SHARE_ALLOCATE sets it in one participant */
	void	   *shared;			/* data that the methods share; NULL if the join is not parallel */
	dsa_area   *area;			/* shared memory of a parallel join */
	int			nparticipants;
	bool		knows_radius;	/* true if set_radius() has been called */
	const uint32 *done;			/* bitmap of left rows that need no more matches; NULL if all
								 * left rows need all of their matches */
	bool		partitioned;
	uint32		npartitions;	/* in each round, a power of 2 */
	int			nrounds;		/* at least 1 */
	int			round;			/* number of the current one */
	uint64		tag;			/* of the pair that next_pair() has found */

	/* Set by begin(), in bytes; entry_size also later, before the first row is kept */
	EntrySize	entry_size;
	Size		joined_size;	/* more memory for an entry while it is joined */
	Size		right_limit;	/* limit of join_store_reset(), or 0 for none */
	Size		left_limit;
	Size		reserved;		/* memory that no left chunk may use */
	double		right_divisor;	/* the memory divided by this is for the right entries */
	double		partitioned_divisor;	/* the memory divided by this is for the entries of
										 * each input if they are partitioned */
};

/*
 * Return the number of entries that fit into `memory` bytes divided by `divisor`.
 */
static inline Size
join_match_capacity(const JoinMatch *match, Size memory, double divisor)
{
	return memory / divisor / (match->entry_size.in_memory + match->joined_size);
}

/*
 * Return true if the join has one input, which is both the left and the right one.
 */
static inline bool
join_match_is_self(const JoinMatch *match)
{
	return match->left == match->right;
}

/*
 * Return true if the join returns left rows without a match.
 */
static inline bool
join_returns_unmatched(const JoinMatch *match)
{
	return match->jointype == JOIN_LEFT || match->jointype == JOIN_ANTI;
}

/*
 * Return true if one match of a left row is enough.
 */
static inline bool
join_needs_one_match(JoinType jointype)
{
	return jointype == JOIN_SEMI || jointype == JOIN_ANTI;
}

extern void join_counters_add(JoinCounters *sum, const JoinCounters *counters, bool is_loop);
extern void join_match_spill(JoinMatch *match, JoinStore *store);
extern void join_match_limit(JoinMatch *match, Size memory);
extern void join_match_begin_writing(JoinMatch *match, JoinStore *store, uint32 n, EntryList *list);
extern void join_match_end_writing(JoinStore *store);
extern void join_match_begin_partitions(JoinMatch *match, JoinStore *store);
extern void join_match_end_partitions(JoinStore *store);
extern uint32 join_partitions_max(Size memory);
extern int	join_match_choose(JoinMatch *match, double nentries, uint32 *n);
extern void join_match_partition(JoinMatch *match, Size memory);
extern void join_match_distribute(JoinMatch *match);

extern const JoinMethods join_by_distance;
extern const JoinMethods join_by_bands;
extern const JoinMethods join_by_prefix;

#endif							/* SIMHASH_JOIN_METHODS_H */
