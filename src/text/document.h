/*
 * From a text in the server's encoding to its shingles
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_DOCUMENT_H
#define SIMHASH_DOCUMENT_H

#include "utils/array.h"

#include "text/shingle.h"

extern void document_shingles(const char *text, size_t length, int width,
							  ShingleUnit unit, ShingleConsumer consume,
							  void *arg);
extern void token_shingles(ArrayType *tokens, int width,
						   ShingleConsumer consume, void *arg);

#endif							/* SIMHASH_DOCUMENT_H */
