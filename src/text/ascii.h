/*-------------------------------------------------------------------------
 *
 * ascii.h
 *		ASCII, many bytes at a time
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ASCII_H
#define SIMHASH_ASCII_H

#define ASCII_BLOCK		64

/*
 * What ASCII_BLOCK bytes become in tokens: letters in lower case, the others
 * as they are; and, bit i for byte i, which of them are letters or digits.
 * Bytes above 127, in a text of unknown encoding, are letters.
 */
typedef struct AsciiBlock
{
	uint64		alnum;
	char		lower[ASCII_BLOCK];
} AsciiBlock;

extern void ascii_classify(const char *bytes, size_t n, AsciiBlock *block);
extern size_t ascii_length(const char *bytes, size_t n);

#endif							/* SIMHASH_ASCII_H */
