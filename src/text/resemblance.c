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
 * The shingles themselves are compared, not only their hashes, so that the
 * answer is exact for any input.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "text/arguments.h"
#include "text/document.h"
#include "text/hash.h"

typedef struct Shingle
{
	uint64		hash;
	const char *bytes;
	size_t		length;
} Shingle;

/* A distinct shingle, and which of the documents contain it. */
typedef struct ShingleEntry
{
	Shingle		shingle;
	bool		in_a;
	bool		in_b;
	char		status;			/* simplehash's */
} ShingleEntry;

static inline bool
shingle_equal(const Shingle *a, const Shingle *b)
{
	return a->hash == b->hash && a->length == b->length &&
		memcmp(a->bytes, b->bytes, a->length) == 0;
}

#define SH_PREFIX			shingle_set
#define SH_ELEMENT_TYPE		ShingleEntry
#define SH_KEY_TYPE			Shingle
#define SH_KEY				shingle
#define SH_HASH_KEY(tb, key)	((uint32) (key).hash)
#define SH_EQUAL(tb, a, b)	shingle_equal(&(a), &(b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * The shingles of both documents, and how many are distinct.
 */
typedef struct Comparison
{
	MemoryContext context;		/* holds the set and the shingles' bytes */
	shingle_set_hash *set;
	uint64		n_a;
	uint64		n_b;
	uint64		n_both;
	uint64		nseen;			/* with duplicates, for interrupts */
} Comparison;

#define INTERRUPT_INTERVAL	1024

/*
 * Keep a copy of the bytes, which were only lent.  Long documents in wide
 * shingles would take `width` times their size, so there is a limit.
 */
static const char *
keep_bytes(Comparison *comparison, const char *bytes, size_t length)
{
	char	   *copy = MemoryContextAllocHuge(comparison->context, Max(length, 1));

	if (MemoryContextMemAllocated(comparison->context, true) > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents are too large to compare"),
				 errdetail("Their distinct shingles take more than %zu bytes.",
						   (size_t) MaxAllocSize),
				 errhint("Compare passages of them, or use a smaller shingle width.")));
	return memcpy(copy, bytes, length);
}

static ShingleEntry *
insert_shingle(Comparison *comparison, const char *bytes, size_t length)
{
	Shingle		shingle = {hash_feature(bytes, length), bytes, length};
	bool		found;
	ShingleEntry *entry = shingle_set_insert(comparison->set, shingle, &found);

	if (++comparison->nseen % INTERRUPT_INTERVAL == 0)
		CHECK_FOR_INTERRUPTS();
	if (!found)
	{
		entry->shingle.bytes = keep_bytes(comparison, bytes, length);
		entry->in_a = entry->in_b = false;
	}
	return entry;
}

static void
add_shingle_of_a(void *arg, const char *bytes, size_t length)
{
	Comparison *comparison = arg;
	ShingleEntry *entry = insert_shingle(comparison, bytes, length);

	comparison->n_a += !entry->in_a;
	entry->in_a = true;
}

static void
add_shingle_of_b(void *arg, const char *bytes, size_t length)
{
	Comparison *comparison = arg;
	ShingleEntry *entry = insert_shingle(comparison, bytes, length);

	comparison->n_b += !entry->in_b;
	comparison->n_both += (entry->in_a && !entry->in_b);
	entry->in_b = true;
}

static void
comparison_begin(Comparison *comparison)
{
	memset(comparison, 0, sizeof(Comparison));
	comparison->context = AllocSetContextCreate(CurrentMemoryContext,
												"shingles of two documents",
												ALLOCSET_DEFAULT_SIZES);
	comparison->set = shingle_set_create(comparison->context, 256, NULL);
}

/*
 * Compare fn(a text, b text, width int, unit text).  Returns false if an
 * argument is NULL, so that the result is.
 */
static bool
compare_texts(FunctionCallInfo fcinfo, Comparison *comparison)
{
	text	   *a;
	text	   *b;
	int			width;
	ShingleUnit unit;

	if (!get_shingle_arguments(fcinfo, 2, &width, &unit))
		return false;
	a = PG_GETARG_TEXT_PP(0);
	b = PG_GETARG_TEXT_PP(1);
	comparison_begin(comparison);
	document_shingles(VARDATA_ANY(a), VARSIZE_ANY_EXHDR(a), width, unit,
					  add_shingle_of_a, comparison);
	document_shingles(VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b), width, unit,
					  add_shingle_of_b, comparison);
	MemoryContextDelete(comparison->context);
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return true;
}

/*
 * Compare fn(a text[], b text[], width int).
 */
static void
compare_tokens(FunctionCallInfo fcinfo, Comparison *comparison)
{
	ArrayType  *a = check_array(PG_GETARG_ARRAYTYPE_P(0), "tokens");
	ArrayType  *b = check_array(PG_GETARG_ARRAYTYPE_P(1), "tokens");
	int			width = check_width(PG_GETARG_INT32(2));

	comparison_begin(comparison);
	token_shingles(a, width, add_shingle_of_a, comparison);
	token_shingles(b, width, add_shingle_of_b, comparison);
	MemoryContextDelete(comparison->context);
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
}

/*
 * Both are NULL where they would be 0/0: two blank documents, or a blank A.
 */
static Datum
resemblance(FunctionCallInfo fcinfo, const Comparison *comparison)
{
	uint64		n_union = comparison->n_a + comparison->n_b - comparison->n_both;

	if (n_union == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) comparison->n_both / n_union);
}

static Datum
containment(FunctionCallInfo fcinfo, const Comparison *comparison)
{
	if (comparison->n_a == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) comparison->n_both / comparison->n_a);
}

PG_FUNCTION_INFO_V1(simhash_resemblance_text);
Datum
simhash_resemblance_text(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	if (!compare_texts(fcinfo, &comparison))
		PG_RETURN_NULL();
	return resemblance(fcinfo, &comparison);
}

PG_FUNCTION_INFO_V1(simhash_resemblance_tokens);
Datum
simhash_resemblance_tokens(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	compare_tokens(fcinfo, &comparison);
	return resemblance(fcinfo, &comparison);
}

PG_FUNCTION_INFO_V1(simhash_containment_text);
Datum
simhash_containment_text(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	if (!compare_texts(fcinfo, &comparison))
		PG_RETURN_NULL();
	return containment(fcinfo, &comparison);
}

PG_FUNCTION_INFO_V1(simhash_containment_tokens);
Datum
simhash_containment_tokens(PG_FUNCTION_ARGS)
{
	Comparison	comparison;

	compare_tokens(fcinfo, &comparison);
	return containment(fcinfo, &comparison);
}
