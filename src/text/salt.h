/*-------------------------------------------------------------------------
 *
 * salt.h
 *		Hashing that nobody outside this process can foresee
 *
 * For hash tables of what users send: with a hash that is known, texts can be
 * made whose shingles all fall into one slot.  Nothing that is stored or shown
 * may depend on these hashes; fingerprints are made by hash.h.
 *
 * Copyright (c) 2026, the simhash authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SALT_H
#define SIMHASH_SALT_H

#define SALT_WORDS		3

/* Random, odd, of this process; zero until salt_init has been called. */
extern uint64 process_salt[SALT_WORDS];

extern void salt_make(void);

/* To be called before anything is hashed by what follows. */
static inline void
salt_init(void)
{
	if (unlikely(process_salt[0] == 0))
		salt_make();
}

/*
 * Both halves of the product of two numbers, one over the other.
 */
static inline uint64
fold_product(uint64 a, uint64 b)
{
#ifdef HAVE_INT128
	uint128		product = (uint128) a * b;

	return (uint64) (product >> 64) ^ (uint64) product;
#else
	uint64		low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
	uint64		middle = (a >> 32) * (b & 0xFFFFFFFF) + (low >> 32);
	uint64		middle2 = (a & 0xFFFFFFFF) * (b >> 32) + (middle & 0xFFFFFFFF);
	uint64		high = (a >> 32) * (b >> 32) + (middle >> 32) + (middle2 >> 32);

	return high ^ ((middle2 << 32) | (low & 0xFFFFFFFF));
#endif
}

/*
 * The hash of a hash.
 */
static inline uint64
salted_hash64(uint64 hash)
{
	return fold_product(hash ^ process_salt[0], process_salt[1]) * process_salt[2];
}

static inline uint64
load32(const char *bytes)
{
	uint32		word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline uint64
load64(const char *bytes)
{
	uint64		word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/*
 * The hash of a string: 16 bytes a multiplication, as wyhash does it.  Most
 * shingles have 8 to 32 bytes, and there a branch that depends on the length
 * would cost more than the rest: they are read as four words at even
 * distances, which overlap.
 */
static inline uint64
salted_hash_bytes(const char *bytes, size_t length)
{
	const char *end = bytes + length;
	uint64		state = process_salt[2] ^ length;
	uint64		first = 0;
	uint64		last = 0;

	if (likely(length >= 8))
	{
		size_t		third;

		for (; end - bytes > 32; bytes += 16)
			state = fold_product(load64(bytes) ^ process_salt[0],
								 load64(bytes + 8) ^ state);
		third = (end - bytes - 8 + 2) / 3;	/* rounded up: 8 at most */
		state = fold_product(load64(bytes + third) ^ process_salt[0],
							 load64(end - 8 - third) ^ state);
		first = load64(bytes);
		last = load64(end - 8);
	}
	else if (length >= 4)
	{
		first = load32(bytes);
		last = load32(end - 4);
	}
	else if (length > 0)
	{
		first = (unsigned char) bytes[0];
		last = (unsigned char) bytes[length / 2] << 8 | (unsigned char) end[-1];
	}
	return salted_hash64(fold_product(first ^ process_salt[1], last ^ state));
}

#endif							/* SIMHASH_SALT_H */
