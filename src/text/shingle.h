/*
 * Shingles: every run of `width` consecutive units of a text
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SHINGLE_H
#define SIMHASH_SHINGLE_H

/* The units of a shingle. */
typedef enum ShingleUnit
{
	UNIT_WORD,					/* tokens, joined by one space */
	UNIT_CHAR					/* code points */
} ShingleUnit;

#define SHINGLE_MAX_WIDTH		256

#define SHINGLE_DEFAULT_UNIT	UNIT_WORD

/*
 * Return the default width, in units, of the shingles of fingerprints.  docs/evaluation.md
 * compares widths.
 */
static inline int
shingle_default_width(ShingleUnit unit)
{
	return unit == UNIT_WORD ? 2 : 8;
}

/*
 * Called with each shingle, in order.  The bytes are valid only during the call.
 */
typedef void (*ShingleConsumer) (void *arg, const char *shingle, size_t length);

/*
 * A window of the last `width` units.  The bytes of the units are adjacent, so that each
 * shingle is a slice of the buffer.  Offsets count bytes from the beginning of the first
 * unit.  `base` is the offset of buffer[0].
 */
typedef struct Shingler
{
	int			width;
	ShingleUnit unit;
	ShingleConsumer consume;
	void	   *arg;
	uint64		nunits;			/* number of units that have ended */
	size_t		base;
	size_t		used;			/* number of bytes in the buffer */
	size_t		size;			/* capacity of the buffer, in bytes */
	char	   *buffer;			/* inline_buffer, or allocated */
	size_t		start[SHINGLE_MAX_WIDTH];	/* ring with the offset of each of the last
											 * units */
	char		inline_buffer[2048];
} Shingler;

extern void shingler_init(Shingler *shingler, int width, ShingleUnit unit,
						  ShingleConsumer consume, void *arg);
extern bool shingler_finish(Shingler *shingler);
extern void shingler_enlarge(Shingler *shingler, size_t n);

/*
 * Return the address of the offset of a unit, given by its number.
 */
static inline size_t *
shingler_start(Shingler *shingler, uint64 unit_number)
{
	return &shingler->start[unit_number % SHINGLE_MAX_WIDTH];
}

/*
 * Append n bytes to the current unit.
 */
static inline void
shingler_append(Shingler *shingler, const char *bytes, size_t n)
{
	if (unlikely(shingler->size - shingler->used < n))
		shingler_enlarge(shingler, n);
	memcpy(shingler->buffer + shingler->used, bytes, n);
	shingler->used += n;
}

/*
 * Begin a unit.  If it is a token, and not the first one, adds a space before it.
 */
static inline void
shingler_begin_unit(Shingler *shingler)
{
	bool		joined = shingler->unit == UNIT_WORD && shingler->nunits > 0;

	/* store the offset before the space is appended, which may move the window */
	*shingler_start(shingler, shingler->nunits) =
		shingler->base + shingler->used + joined;
	if (joined)
		shingler_append(shingler, " ", 1);
}

/*
 * End the current unit, and call the consumer if a shingle is complete.
 */
static inline void
shingler_end_unit(Shingler *shingler)
{
	uint64		n = ++shingler->nunits;

	if (n >= (uint64) shingler->width)
	{
		size_t		from = *shingler_start(shingler, n - shingler->width) - shingler->base;

		shingler->consume(shingler->arg, shingler->buffer + from,
						  shingler->used - from);
	}
}

#endif							/* SIMHASH_SHINGLE_H */
