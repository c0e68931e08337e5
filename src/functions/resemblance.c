/*
 * Exact resemblance and containment of two documents
 *
 * As defined by Broder, "On the resemblance and containment of documents", 1997, but
 * computed from all distinct shingles, S(A) and S(B):
 *
 *		resemblance r(A, B) = |S(A) & S(B)| / |S(A) | S(B)|
 *		containment c(A, B) = |S(A) & S(B)| / |S(A)|
 *
 * Queries compare the same document many times: a parameter with each candidate, an outer
 * row with the rows near it, and near-duplicates with each other.  So sets are kept from
 * one call to the next.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "functions/arguments.h"
#include "functions/shingle_set.h"
#include "text/salt.h"
#include "type/hash_array.h"
#include "type/minhash_type.h"

/*
 * A document and the set of its shingles.
 */
typedef struct CachedSet
{
	bool		is_made;		/* true if `set` has been initialized */
	struct varlena *document;	/* copy of the document as stored, or NULL if the set must
								 * not be recognized */
	Cut			cut;
	bool		is_repeated;	/* true if the document was an argument of an earlier call,
								 * too */
	ShingleSet	set;
} CachedSet;

/*
 * State kept from call to call for one call site of a query.
 *
 * A slot keeps the set of a document, found by the hash of the document's datum, until the
 * set of another document replaces it.  The set of a document seen for the first time is
 * not kept, since most documents do not recur.  All sets that are not kept use the same
 * memory, which stays in the processor's cache.
 *
 * A document is recognized by its datum as stored, compressed or not.  A document stored
 * out of line is not even read.  Comparing the TOAST pointer is enough, as long as no
 * other value can have the same pointer.  That holds within one statement of the client,
 * since values that the statement's snapshot sees are not removed before the statement
 * ends.
 *
 * But a call site may outlive the statement.  Expressions of PL/pgSQL are also used in the
 * next statement of the same transaction.  Procedures, and the checks of domains of their
 * variables, are also used in the next transaction.  So the state is discarded if the
 * statement or the transaction is another one.
 *
 * A similarity join returns the pairs of a family close together, so 256 sets are enough.
 * For the 0.9 million pairs of 100,000 documents, a comparison took 1.4 times as long with
 * one set for each argument, and 0.93 times as long with 4,096 sets.
 */
#define CACHED_SETS		256

typedef struct SetCache
{
	bool		in_use;			/* true during a call, and after a call that raised an
								 * error */
	LocalTransactionId transaction;	/* transaction of the last call */
	TimestampTz statement;		/* start of the statement of the last call */
	SetBudget	budget;			/* budget for documents and shingles; its context is the
								 * context of the whole state */
	uint64		seen[CACHED_SETS];	/* by slot: hash of the document last seen */
	CachedSet	kept[CACHED_SETS + 2];	/* kept sets by slot; then the sets of arguments 0
										 * and 1 of the current call if they are not kept */
	CachedSet  *last[2];		/* sets of the last call, by argument */
} SetCache;

/*
 * Return the state of this call site.  Makes a new one if there is none, if it is from
 * another statement or transaction, or if a call raised an error.  Sets the budget so that
 * this comparison may take 1 GB besides the kept sets.
 */
static SetCache *
begin_comparison(FmgrInfo *function)
{
	SetCache   *cache = function->fn_extra;

	if (cache == NULL || cache->in_use || cache->transaction != my_local_transaction() ||
		cache->statement != GetCurrentStatementStartTimestamp())
	{
		MemoryContext context;

		function->fn_extra = NULL;
		if (cache)
			MemoryContextDelete(cache->budget.context);
		salt_init();
		context = AllocSetContextCreate(function->fn_mcxt, "sets of shingles",
										ALLOCSET_DEFAULT_SIZES);
		cache = MemoryContextAllocZero(context, sizeof(SetCache));
		cache->budget.context = context;
		cache->transaction = my_local_transaction();
		cache->statement = GetCurrentStatementStartTimestamp();
		function->fn_extra = cache;
	}
	cache->in_use = true;
	cache->budget.limit = cache->budget.allocated + MaxAllocSize;
	return cache;
}

/*
 * Free the copy of a document, so that its set is not recognized any more.
 */
static void
forget_document(SetCache *cache, CachedSet *kept)
{
	if (kept->document == NULL)
		return;
	cache->budget.allocated -= VARSIZE_ANY(kept->document);
	pfree(kept->document);
	kept->document = NULL;
}

/*
 * Free a set and the copy of its document.
 */
static void
forget_set(SetCache *cache, CachedSet *kept)
{
	if (!kept->is_made)
		return;
	forget_document(cache, kept);
	shingle_set_free(&kept->set);
	kept->is_made = false;
}

/*
 * End a call.  If the kept sets take more memory than a hash table may (hash_mem), frees
 * all sets but the two of this call.  If that is not enough, frees these two, one after
 * the other.  The first one is that of a document that was in no earlier call, if there is
 * one.
 */
static void
end_comparison(SetCache *cache, CachedSet *a, CachedSet *b)
{
	size_t		limit = get_hash_memory_limit();

	if (cache->budget.allocated > limit)
	{
		for (int i = 0; i < lengthof(cache->kept); i++)
			if (&cache->kept[i] != a && &cache->kept[i] != b)
				forget_set(cache, &cache->kept[i]);
		if (cache->budget.allocated > limit)
			forget_set(cache, a->is_repeated ? b : a);
		if (cache->budget.allocated > limit)
			forget_set(cache, a->is_repeated ? a : b);
	}
	cache->last[0] = a;
	cache->last[1] = b;
	cache->in_use = false;
}

/*
 * Return an argument as stored.  If it is a pointer to a value in memory, returns the
 * detoasted value, since the value in memory may change.
 */
static struct varlena *
stored_argument(FunctionCallInfo fcinfo, int i)
{
	struct varlena *argument = (struct varlena *) PG_GETARG_POINTER(i);

	if (VARATT_IS_EXTERNAL(argument) && !VARATT_IS_EXTERNAL_ONDISK(argument))
		return pg_detoast_datum(argument);
	return argument;
}

/*
 * Return true if a set was made from this document, cut in this way.
 */
static bool
is_set_of(const CachedSet *kept, const struct varlena *document, const Cut *cut)
{
	size_t		size = VARSIZE_ANY(document);

	return kept->document != NULL && kept->cut.width == cut->width &&
		kept->cut.unit == cut->unit && VARSIZE_ANY(kept->document) == size &&
		memcmp(kept->document, document, size) == 0;
}

/*
 * Replace a set by the set of a document.  Does not copy the document if that would take
 * more than hash_mem, so that the set is not recognized later.
 */
static void
make_set(SetCache *cache, CachedSet *kept, struct varlena *document, const Cut *cut)
{
	size_t		size = VARSIZE_ANY(document);

	forget_document(cache, kept);
	if (kept->is_made)
		shingle_set_clear(&kept->set);
	else
		shingle_set_init(&kept->set, &cache->budget);
	kept->is_made = true;
	cut_document(PointerGetDatum(document), cut, shingle_set_add, &kept->set);
	kept->cut = *cut;
	if (size <= get_hash_memory_limit())
	{
		kept->document = memcpy(MemoryContextAllocHuge(cache->budget.context, size),
								document, size);
		cache->budget.allocated += size;
	}
}

/*
 * Return the set of argument i.  `other` is the set of the other argument, or NULL if it
 * has not been made yet.
 */
static CachedSet *
set_of_argument(SetCache *cache, FunctionCallInfo fcinfo, int i, const Cut *cut,
				CachedSet *other)
{
	struct varlena *document = stored_argument(fcinfo, i);
	CachedSet  *kept = cache->last[i];

	/* try the set of the previous call first, then that of the other argument */
	if (kept == NULL || !is_set_of(kept, document, cut))
		kept = other;
	if (kept == NULL || !is_set_of(kept, document, cut))
	{
		uint64		hash = salted_hash_bytes((char *) document,
											 VARSIZE_ANY(document));
		int			slot = hash % CACHED_SETS;

		kept = &cache->kept[slot];
		if (!is_set_of(kept, document, cut))
		{
			bool		is_repeated = cache->seen[slot] == hash;

			if (!is_repeated || kept == other)
				kept = &cache->kept[CACHED_SETS + i];
			cache->seen[slot] = hash;
			make_set(cache, kept, document, cut);
			kept->is_repeated = is_repeated;
			return kept;
		}
	}
	kept->is_repeated = true;
	return kept;
}

/*
 * Compare the first two arguments of fn(a text, b text, width int, unit text) or of fn(a
 * text[], b text[], width int).  Returns false if one of them is NULL.  Then the result of
 * the function is NULL.
 */
static bool
compare_documents(FunctionCallInfo fcinfo, Overlap *overlap)
{
	Cut			cut;
	SetCache   *cache;
	CachedSet  *a;
	CachedSet  *b;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return false;
	cut = get_cut(fcinfo, 2, minhash_default_width);
	cache = begin_comparison(fcinfo->flinfo);
	a = set_of_argument(cache, fcinfo, 0, &cut, NULL);
	b = set_of_argument(cache, fcinfo, 1, &cut, a);
	*overlap = (Overlap) {a->set.count, b->set.count, a->set.count};
	if (a != b)
		overlap->both = shingle_set_intersection(&a->set, &b->set);
	end_comparison(cache, a, b);
	return true;
}

/*
 * resemblance(a, b, ...)
 *
 * Returns NULL instead of 0/0, if both documents are blank.
 */
PG_FUNCTION_INFO_V1(simhash_resemblance);
Datum
simhash_resemblance(PG_FUNCTION_ARGS)
{
	Overlap		overlap;

	if (!compare_documents(fcinfo, &overlap) || overlap_union(&overlap) == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) overlap.both / overlap_union(&overlap));
}

/*
 * containment(a, b, ...)
 */
PG_FUNCTION_INFO_V1(simhash_containment);
Datum
simhash_containment(PG_FUNCTION_ARGS)
{
	Overlap		overlap;

	if (!compare_documents(fcinfo, &overlap) || overlap.a == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) overlap.both / overlap.a);
}
