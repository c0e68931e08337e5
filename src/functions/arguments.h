/*-------------------------------------------------------------------------
 *
 * arguments.h
 *		Arguments of the SQL functions, checked
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

extern int	check_width(int32 width);
extern ShingleUnit check_unit(text *unit);
extern bool get_shingle_arguments(FunctionCallInfo fcinfo, int ntexts,
								  int *width, ShingleUnit *unit);
extern ArrayType *check_array(ArrayType *array, const char *name);
extern int	array_nitems(ArrayType *array);
extern int64 check_weight(float8 weight);
pg_noreturn extern void report_weights_overflow(void);

#endif							/* SIMHASH_ARGUMENTS_H */
