/*
 * The C function that an SQL function calls
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_FUNCTION_ADDRESS_H
#define SIMHASH_FUNCTION_ADDRESS_H

#include "access/htup.h"
#include "fmgr.h"

extern char *function_symbol(HeapTuple tuple);
extern PGFunction function_address(Oid function);

#endif							/* SIMHASH_FUNCTION_ADDRESS_H */
