/*
 * Checks of the arguments of SQL functions
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ARGUMENTS_H
#define SIMHASH_ARGUMENTS_H

#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "text/locate.h"

/*
 * Return a default width, in units: that of the shingles of sketches, and that of the
 * shortest passage that common_passages() returns.  Eight words are longer than an idiom.
 * 48 characters of English text are about eight words.
 */
static inline int
sketch_default_width(ShingleUnit unit)
{
	return unit == UNIT_WORD ? 8 : 48;
}

/* How to cut a document into shingles. */
typedef struct Cut
{
	bool		is_array;		/* true for an array of tokens, false for a text */
	int			width;			/* of a shingle, in units */
	ShingleUnit unit;			/* UNIT_WORD for an array of tokens */
} Cut;

extern int	get_name(const text *given, const char *const *names, int n, const char *what,
					 const char *hint);
extern int	check_range(int32 number, int32 min, int32 max, const char *name, const char *hint);
extern ShingleUnit get_unit(FunctionCallInfo fcinfo, int i);
extern Cut get_cut(FunctionCallInfo fcinfo, int i, int (*default_width) (ShingleUnit unit));
extern void cut_document(Datum document, const Cut *cut, ShingleConsumer consume, void *arg);
extern void locate_document(Datum document, const Cut *cut, LocatedConsumer consume,
							void *arg);
extern ArrayType *check_array(ArrayType *array, const char *name);
extern int	array_nitems(ArrayType *array);
extern int64 check_weight(float8 weight);
pg_noreturn extern void report_weights_overflow(void);

/* fingerprint.c */
extern uint64 hash_text(text *feature);

#endif							/* SIMHASH_ARGUMENTS_H */
