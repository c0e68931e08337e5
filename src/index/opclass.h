/*
 * Methods of an operator class of the index
 *
 * The support function of an operator class returns its Opclass.  A fingerprint or a ball
 * has one key, and a scan searches for the keys within a ball.  An array or a signature has
 * many keys, and a scan searches for the keys that it extracts from the query.  The terms
 * are GIN's: extractValue, extractQuery.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_OPCLASS_H
#define SIMHASH_OPCLASS_H

#include "access/skey.h"
#include "fmgr.h"
#include "utils/relcache.h"

#include "compat.h"
#include "type/simhash_type.h"
#include "type/strategy.h"

/* declared here, so that includers do not need the planner's headers */
struct PlannerInfo;
struct OpExpr;

/*
 * The keys of a value, or the query keys of a scan key.
 *
 * A tree contains entries.  An entry is a key and a TID.  The operator class extracts the
 * keys of a value, 64 bits each.  Each key has an entry in the tree of every permuted
 * table of the design.  The key of that entry is the key with its bits permuted
 * (design.h).
 *
 * A row without keys is NULL or has an empty value.  Such a row has a placeholder, so
 * that every row is in the index.  A placeholder is an entry in a tree of its own, with
 * the key PLACEHOLDER_NULL or PLACEHOLDER_EMPTY.  GIN has the same two categories:
 * placeholders for null and for zero-key items.
 */
typedef struct KeySet
{
	bool		is_placeholder;	/* true if the only key is that of a placeholder */
	int			n;				/* number of keys */
	const uint64 *key;			/* array of keys: &inline_key, or allocated by
								 * palloc */
	uint64		inline_key;
	int32		params;			/* parameters of the value (has_params), or NO_PARAMS */
	int			min_match;		/* minimum number of query keys that a match
								 * contains (threshold T).  Set for query keys
								 * only. */
	bool		or_empty;		/* true if rows without keys may match, too.  Then
								 * min_match is 1.  Set for query keys only. */
	bool		recheck;		/* true if the operator must be rechecked.  Set
								 * for query keys only. */
} KeySet;

/* Value of params for NULLs, for values without parameters, and for unknown parameters */
#define NO_PARAMS		0

/* Keys of placeholders: of a row that is NULL, and of a row with an empty value */
#define PLACEHOLDER_NULL	UINT64CONST(0)
#define PLACEHOLDER_EMPTY	UINT64CONST(1)

/* Numbers of the two trees of a multi-key index: for keys, and for placeholders */
#define KEYS_TREE			0
#define PLACEHOLDER_TREE	1

/*
 * Methods for values with many keys.  One tree contains the keys, not permuted.  A scan
 * searches for the query keys, and may find a row once for each of them.
 */
typedef struct MultiKeyMethods
{
	/*
	 * Extract the keys of a value that is not NULL, in ascending order.  An empty value
	 * has no keys.
	 */
	void		(*extract_value) (Datum value, KeySet *keys);

	/*
	 * Extract the query keys of a scan key.  Every matching row contains at least
	 * keys->min_match of these keys, or none if keys->or_empty.  min_match is the
	 * threshold T of the T-occurrence problem (postings.c).  The caller has set min_match
	 * to 1, and params, or_empty and recheck to 0.  Returns false if a full
	 * index scan is needed, because every row that is not NULL matches, or may match if
	 * keys->recheck.  Returns true and sets keys->n to 0 if no row with keys matches.
	 */
	bool		(*extract_query) (const ScanKeyData *key, KeySet *keys);

	/*
	 * Return an estimate of the number of query keys, for the planner.  Returns HUGE_VAL
	 * if a full index scan is needed.  Sets *unknown to true if the scan may turn out to
	 * be a full index scan.  `params` is NO_PARAMS if the parameters of the index are
	 * unknown.  If the query is an element of an array, `clause` is NULL and `strategy`
	 * is InvalidStrategy.
	 */
	double		(*estimate_query_keys) (struct PlannerInfo *root, int32 params, int strategy,
										const struct OpExpr *clause, bool *unknown);
} MultiKeyMethods;

/* Methods and properties of an operator class.  Its support function returns them. */
typedef struct Opclass
{
	/*
	 * `type` is the type of the values if it is a built-in type, RECORDOID if it is a row
	 * type, else InvalidOid.
	 * `length` is the typlen of the type in pg_type.  Values of a type with another OID
	 * or another length must not be read as these values.
	 */
	Oid			type;
	int			length;

	/* true if the operator must be rechecked on each row that a scan finds */
	bool		recheck;

	/*
	 * Functions of the operators that an operator class must have, by strategy number.
	 * NULL for a strategy that it must not have.
	 */
	PGFunction	operators[NSTRATEGIES + 1];

	/*
	 * Return the key of a value.  A scan searches for the keys within a ball, and finds each
	 * row once.  The user can choose the design of the index.  NULL for values with many keys.
	 */
	uint64		(*get_key) (Datum value);

	/* NULL for values with one key */
	const MultiKeyMethods *multi_key;

	/*
	 * true if values have parameters, as signatures do.  Comparing two values with different
	 * parameters is an error.  So all values of an index have the same parameters, and an index
	 * scan and a sequential scan never differ.  The parameters are the type modifier of the
	 * indexed column.  The build stores them in the metapage, and they never change
	 * (tree/meta.c).
	 */
	bool		has_params;
} Opclass;

/*
 * Extract the keys of a column's value, which may be NULL.  Sets *keys to at least one
 * key.  For a value without keys, this is the key of its placeholder.
 */
static inline void
opclass_extract_value(const Opclass *opclass, Datum value, bool isnull, KeySet *keys)
{
	keys->n = 0;
	keys->params = NO_PARAMS;
	if (!isnull && opclass->multi_key)
		opclass->multi_key->extract_value(value, keys);
	keys->is_placeholder = isnull || (opclass->multi_key && keys->n == 0);
	if (keys->n == 0)
	{
		keys->inline_key = isnull ? PLACEHOLDER_NULL :
			keys->is_placeholder ? PLACEHOLDER_EMPTY : opclass->get_key(value);
		keys->key = &keys->inline_key;
		keys->n = 1;
	}
}

/*
 * Free the array of keys of a KeySet if it is allocated, but not the KeySet itself.
 */
static inline void
key_set_free(KeySet *keys)
{
	if (keys->key != &keys->inline_key)
		pfree(unconstify(uint64 *, keys->key));
}

/* Number of the only support function, which returns the Opclass */
#define OPCLASS_PROC		1
#define NPROCS				1

/* Define the support function of an operator class. */
#define OPCLASS_FUNCTION(name, opclass) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_POINTER(&(opclass)); \
	} \
	extern Datum name(PG_FUNCTION_ARGS)

/* opclass_lookup.c */
extern const Opclass *opclass_of_family(Oid family, Oid type);
extern const Opclass *opclass_of_index(Relation index);

extern int32 params_of_catalog(Relation index, const Opclass *opclass);
extern int32 params_of_column(Relation index, const Opclass *opclass);
extern bool params_are_valid(int32 params);
pg_noreturn extern void params_report_other(Relation index, int32 params, int32 found);

/*
 * Raise an error if the parameters of a value, `found`, differ from the parameters of the
 * index, `params`.  NULLs have no parameters, so every index may contain NULLs.
 */
static inline void
params_check(Relation index, int32 params, int32 found)
{
	if (found != params && found != NO_PARAMS)
		params_report_other(index, params, found);
}

/* opclasses.c */
extern Datum simhash_opclass(PG_FUNCTION_ARGS);
extern Datum simhash_ball_opclass(PG_FUNCTION_ARGS);
extern Datum simhash_sketch_opclass(PG_FUNCTION_ARGS);
extern Datum simhash_sketch_ball_opclass(PG_FUNCTION_ARGS);
extern Datum simhash_minhash_opclass(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_OPCLASS_H */
