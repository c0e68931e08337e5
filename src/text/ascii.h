/*
 * ASCII, many bytes at a time
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_ASCII_H
#define SIMHASH_ASCII_H

#define ASCII_BLOCK		64

/*
 * A block of ASCII_BLOCK bytes, prepared for the tokenizer.  `lower` has the bytes, with
 * letters in lower case.  Bit i of `alnum` is set if byte i is a letter or a digit.  In a
 * text of unknown encoding, bytes above 127 count as letters.
 */
typedef struct AsciiBlock
{
	uint64		alnum;
	char		lower[ASCII_BLOCK];
} AsciiBlock;

extern void ascii_classify(const char *bytes, size_t n, AsciiBlock *block);
extern size_t ascii_length(const char *bytes, size_t n);

#endif							/* SIMHASH_ASCII_H */
