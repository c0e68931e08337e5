/*-------------------------------------------------------------------------
 *
 * arguments.h
 *		Checks of the arguments of SQL functions
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ARGUMENTS_H
#define SIMHASH_ARGUMENTS_H

#include "fmgr.h"
#include "utils/array.h"

#include "compat.h"
#include "text/shingle.h"

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

extern bool text_is(const text *given, const char *name);
extern int	check_width(int32 width);
extern ShingleUnit get_unit(FunctionCallInfo fcinfo, int i);
extern bool get_shingle_arguments(FunctionCallInfo fcinfo, int n, int *width,
								  ShingleUnit *unit);
extern ArrayType *check_array(ArrayType *array, const char *name);
extern int	array_nitems(ArrayType *array);
extern int64 check_weight(float8 weight);
pg_noreturn extern void report_weights_overflow(void);

#endif							/* SIMHASH_ARGUMENTS_H */
