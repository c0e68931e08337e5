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
 * A block of ASCII_BLOCK bytes, as tokens need them.  `lower` has letters in lower case
 * and other bytes unchanged.  Bit i of `alnum` is set if byte i is a letter or a digit.
 * In a text of unknown encoding, bytes above 127 are letters.
 */
typedef struct AsciiBlock
{
	uint64		alnum;
	char		lower[ASCII_BLOCK];
} AsciiBlock;

extern void ascii_classify(const char *bytes, size_t n, AsciiBlock *block);
extern size_t ascii_length(const char *bytes, size_t n);

#endif							/* SIMHASH_ASCII_H */
