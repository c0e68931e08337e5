/*-------------------------------------------------------------------------
 *
 * resemblance.c
 *		Exact resemblance and containment of two documents
 *
 * Broder, "On the resemblance and containment of documents", 1997, of the
 * whole sets of distinct shingles S(A) and S(B):
 *
 *		resemblance r(A, B) = |S(A) & S(B)| / |S(A) | S(B)|
 *		containment c(A, B) = |S(A) & S(B)| / |S(A)|
 *
 * Queries compare the same documents again and again: a parameter with each
 * candidate, an outer row with what is near it, and near-duplicates, each with
 * the others.  So sets are kept from one call to the next.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "text/arguments.h"
#include "text/document.h"
#include "text/salt.h"
#include "text/shingle_set.h"

/*
 * How many distinct shingles there are.
 */
typedef struct Comparison
{
	uint64		n_a;
	uint64		n_b;
	uint64		n_both;
} Comparison;

/*
 * A document and its set.
 */
typedef struct KeptSet
{
	bool		is_made;		/* has set been initialised? */
	struct varlena *document;	/* as stored; NULL if that is not known */
	int			width;
	ShingleUnit unit;
	ShingleSet	set;
} KeptSet;

/*
 * What stays from call to call, in one place of a query.
 *
 * There is one place where the set of a document may be kept, by the hash of
 * its datum, until another comes there.  A document that has not been seen
 * before is not kept, since most never come again: memory that is used for
 * every one of those is in the processor's cache.
 *
 * A document is recognised by its datum as it is stored, compressed or not.
 * One that is stored out of line is not even read: the pointer to it will do,
 * as long as no other value can have come in its place.  That is within a
 * transaction: what a statement's snapshot has seen is not removed before the
 * statement ends, and only procedures go on after that, in another
 * transaction.
 */
#define KEPT_SETS		256

typedef struct Keeper
{
	MemoryContext context;		/* of all this */
	bool		in_use;			/* or left behind by an error */
	TimestampTz transaction;	/* when it started */
	size_t		allocated;		/* for documents and shingles */
	uint64		seen[KEPT_SETS];	/* hashes of documents, by place */
	KeptSet		kept[KEPT_SETS + 2];	/* the last two are for a and b of the
										 * call, where they are not kept */
} Keeper;

/*
 * What has been kept in this place of the query.
 */
static Keeper *
begin_comparison(FmgrInfo *function)
{
	Keeper	   *keeper = function->fn_extra;
	MemoryContext context;

	if (keeper != NULL)
	{
		if (!keeper->in_use &&
			keeper->transaction == GetCurrentTransactionStartTimestamp())
		{
			keeper->in_use = true;
			return keeper;
		}
		function->fn_extra = NULL;
		MemoryContextDelete(keeper->context);
	}
	salt_init();
	context = AllocSetContextCreate(function->fn_mcxt, "sets of shingles",
									ALLOCSET_DEFAULT_SIZES);
	keeper = MemoryContextAllocZero(context, sizeof(Keeper));
	keeper->context = context;
	keeper->transaction = GetCurrentTransactionStartTimestamp();
	keeper->in_use = true;
	function->fn_extra = keeper;
	return keeper;
}

static void
forget_document(Keeper *keeper, KeptSet *kept)
{
	if (kept->document == NULL)
		return;
	keeper->allocated -= VARSIZE_ANY(kept->document);
	pfree(kept->document);
	kept->document = NULL;
}

static void
forget_set(Keeper *keeper, KeptSet *kept)
{
	if (!kept->is_made)
		return;
	forget_document(keeper, kept);
	shingle_set_free(&kept->set);
	kept->is_made = false;
}

/*
 * Between calls no more memory is held than a hash table may take.  The sets
 * of this call are the last to go, and the second of them before the first.
 */
static void
end_comparison(Keeper *keeper, KeptSet *first, KeptSet *second)
{
	size_t		limit = get_hash_memory_limit();

	if (keeper->allocated > limit)
	{
		for (int i = 0; i < lengthof(keeper->kept); i++)
			if (&keeper->kept[i] != first && &keeper->kept[i] != second)
				forget_set(keeper, &keeper->kept[i]);
		if (keeper->allocated > limit)
			forget_set(keeper, second);
		if (keeper->allocated > limit)
			forget_set(keeper, first);
	}
	keeper->in_use = false;
}

static void
add_shingle(void *arg, const char *bytes, size_t length)
{
	shingle_set_add(arg, bytes, length);
}

/*
 * Add the shingles of a document, a text or an array of tokens, to a set.
 */
static void
add_shingles(ShingleSet *set, struct varlena *document, bool is_array,
			 int width, ShingleUnit unit)
{
	struct varlena *value;

	if (is_array)
	{
		value = pg_detoast_datum(document);
		token_shingles(check_array((ArrayType *) value, "tokens"), width,
					   add_shingle, set);
	}
	else
	{
		value = pg_detoast_datum_packed(document);
		document_shingles(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), width,
						  unit, add_shingle, set);
	}
	if (value != document)
		pfree(value);
}

/*
 * An argument as it is stored.  A pointer into memory says nothing, since what
 * it leads to may change.
 */
static struct varlena *
stored_argument(FunctionCallInfo fcinfo, int i)
{
	struct varlena *argument = (struct varlena *) PG_GETARG_POINTER(i);

	if (VARATT_IS_EXTERNAL(argument) && !VARATT_IS_EXTERNAL_ONDISK(argument))
		return pg_detoast_datum(argument);
	return argument;
}

static bool
same_datum(const struct varlena *a, const struct varlena *b)
{
	return VARSIZE_ANY(a) == VARSIZE_ANY(b) && memcmp(a, b, VARSIZE_ANY(a)) == 0;
}

/*
 * Make the set of a document, in the place of another.
 */
static void
make_set(Keeper *keeper, KeptSet *kept, struct varlena *document,
		 bool is_array, int width, ShingleUnit unit)
{
	forget_document(keeper, kept);
	if (kept->is_made)
		shingle_set_clear(&kept->set);
	else
		shingle_set_init(&kept->set, keeper->context, &keeper->allocated);
	kept->is_made = true;
	add_shingles(&kept->set, document, is_array, width, unit);
	kept->width = width;
	kept->unit = unit;
}

/*
 * Note whose set it is, unless that takes too much memory.
 */
static void
remember_document(Keeper *keeper, KeptSet *kept, struct varlena *document)
{
	size_t		size = VARSIZE_ANY(document);

	if (size > get_hash_memory_limit())
		return;
	kept->document = MemoryContextAllocHuge(keeper->context, size);
	memcpy(kept->document, document, size);
	keeper->allocated += size;
}

/*
 * The set of an argument; `taken` is the place of the other one's.  *is_new
 * tells whether it had to be made.
 */
static KeptSet *
set_of_argument(Keeper *keeper, FunctionCallInfo fcinfo, int i, bool is_array,
				int width, ShingleUnit unit, const KeptSet *taken, bool *is_new)
{
	struct varlena *document = stored_argument(fcinfo, i);
	uint64		hash = salted_hash_bytes((char *) document, VARSIZE_ANY(document));
	KeptSet    *kept = &keeper->kept[hash % KEPT_SETS];
	uint64	   *seen = &keeper->seen[hash % KEPT_SETS];

	*is_new = kept->document == NULL || kept->width != width ||
		kept->unit != unit || !same_datum(kept->document, document);
	if (!*is_new)
		return kept;
	if (*seen == hash && kept != taken)
	{
		make_set(keeper, kept, document, is_array, width, unit);
		remember_document(keeper, kept, document);
		return kept;
	}
	*seen = hash;
	kept = &keeper->kept[KEPT_SETS + i];
	make_set(keeper, kept, document, is_array, width, unit);
	return kept;
}

/*
 * Compare the first two arguments.
 */
static Comparison
compare(FunctionCallInfo fcinfo, bool are_arrays, int width, ShingleUnit unit)
{
	Keeper	   *keeper = begin_comparison(fcinfo->flinfo);
	bool		a_is_new;
	bool		b_is_new;
	KeptSet    *a = set_of_argument(keeper, fcinfo, 0, are_arrays, width, unit,
									NULL, &a_is_new);
	KeptSet    *b = set_of_argument(keeper, fcinfo, 1, are_arrays, width, unit,
									a, &b_is_new);
	Comparison	comparison = {a->set.count, b->set.count, a->set.count};

	if (a != b)
		comparison.n_both = shingle_set_shared(&a->set, &b->set);
	if (a_is_new && !b_is_new)
		end_comparison(keeper, b, a);
	else
		end_comparison(keeper, a, b);
	return comparison;
}

/*
 * Compare fn(a text, b text, width int, unit text).  Returns false if an
 * argument is NULL, so that the result is.
 */
static bool
compare_texts(FunctionCallInfo fcinfo, Comparison *comparison)
{
	int			width;
	ShingleUnit unit;

	if (!get_shingle_arguments(fcinfo, 2, &width, &unit))
		return false;
	*comparison = compare(fcinfo, false, width, unit);
	return true;
}

/*
 * Compare fn(a text[], b text[], width int).
 */
static Comparison
compare_tokens(FunctionCallInfo fcinfo)
{
	return compare(fcinfo, true, check_width(PG_GETARG_INT32(2)), UNIT_WORD);
}

/*
 * Both are NULL where they would be 0/0: two blank documents, or a blank A.
 */
static Datum
resemblance(FunctionCallInfo fcinfo, Comparison comparison)
{
	uint64		n_union = comparison.n_a + comparison.n_b - comparison.n_both;

	if (n_union == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) comparison.n_both / n_union);
}

static Datum
containment(FunctionCallInfo fcinfo, Comparison comparison)
{
	if (comparison.n_a == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) comparison.n_both / comparison.n_a);
}

PG_FUNCTION_INFO_V1(simhash_resemblance_text);
Datum
simhash_resemblance_text(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	if (!compare_texts(fcinfo, &comparison))
		PG_RETURN_NULL();
	return resemblance(fcinfo, comparison);
}

PG_FUNCTION_INFO_V1(simhash_resemblance_tokens);
Datum
simhash_resemblance_tokens(PG_FUNCTION_ARGS)
{
	return resemblance(fcinfo, compare_tokens(fcinfo));
}

PG_FUNCTION_INFO_V1(simhash_containment_text);
Datum
simhash_containment_text(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	if (!compare_texts(fcinfo, &comparison))
		PG_RETURN_NULL();
	return containment(fcinfo, comparison);
}

PG_FUNCTION_INFO_V1(simhash_containment_tokens);
Datum
simhash_containment_tokens(PG_FUNCTION_ARGS)
{
	return containment(fcinfo, compare_tokens(fcinfo));
}
