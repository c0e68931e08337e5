/*
 * ASCII, many bytes at a time
 *
 * The loops are plain and of fixed length.  The Makefile enables vectorization, so the
 * compiler makes vector instructions of them.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "text/ascii.h"

#define HIGH_BITS	UINT64CONST(0x8080808080808080)

/*
 * Return the high bits of eight bytes, gathered into the low eight bits.
 */
static inline uint64
gather_high_bits(uint64 bytes)
{
#ifdef WORDS_BIGENDIAN
	bytes = pg_bswap64(bytes);
#endif
	return (((bytes & HIGH_BITS) >> 7) * UINT64CONST(0x0102040810204080)) >> 56;
}

/*
 * Classify the next n bytes of a text, 1 to ASCII_BLOCK.  Bytes of the block beyond n are
 * neither letters nor digits.
 */
void
ascii_classify(const char *bytes, size_t n, AsciiBlock *block)
{
	uint8		input[ASCII_BLOCK];
	uint8		is_alnum[ASCII_BLOCK];

	if (n < ASCII_BLOCK)
		memset(input, 0, ASCII_BLOCK);
	memcpy(input, bytes, n);

	for (int i = 0; i < ASCII_BLOCK; i++)
	{
		uint8		c = input[i];
		uint8		is_upper = (uint8) (c - 'A') < 26 ? 0x20 : 0;
		uint8		is_letter = (uint8) ((c | 0x20) - 'a') < 26 ? 0x80 : 0;
		uint8		is_digit = (uint8) (c - '0') < 10 ? 0x80 : 0;

		block->lower[i] = c + is_upper;
		is_alnum[i] = (c | is_letter | is_digit) & 0x80;
	}

	block->alnum = 0;
	for (int i = 0; i < ASCII_BLOCK; i += 8)
	{
		uint64		eight;

		memcpy(&eight, &is_alnum[i], 8);
		block->alnum |= gather_high_bits(eight) << i;
	}
}

/*
 * Return the length in bytes of the ASCII prefix of n bytes.
 */
size_t
ascii_length(const char *bytes, size_t n)
{
	size_t		i = 0;

	while (i + 8 <= n)
	{
		uint64		eight;

		memcpy(&eight, bytes + i, 8);
		if (eight & HIGH_BITS)
			break;
		i += 8;
	}
	while (i < n && (unsigned char) bytes[i] < 0x80)
		i++;
	return i;
}
