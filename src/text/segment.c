/*
 * Lines, sentences and paragraphs of a text
 *
 * The rules need no dictionary and no locale and are the same everywhere.  They are in
 * docs/passages.md.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/encoding.h"
#include "text/locate.h"

/* Number of characters between checks for interrupts. */
#define INTERRUPT_INTERVAL	4096

/* The class of a character for sentences. */
typedef enum CharacterKind
{
	CHARACTER_OTHER,
	CHARACTER_LOWER,			/* a lower-case letter: a full stop before it ends
								 * nothing */
	CHARACTER_WHITE,
	CHARACTER_BREAK,			/* the end of a line; also white space */
	CHARACTER_STOP,				/* ends a sentence if white space follows, and no
								 * lower-case letter after that */
	CHARACTER_END,				/* ends a sentence if white space follows */
	CHARACTER_WIDE_END,			/* ends a sentence, whatever follows */
	CHARACTER_CLOSER			/* may follow the end of a sentence */
} CharacterKind;

typedef struct Segmenter
{
	const char *text;
	size_t		length;
	SegmentConsumer consume;
	void	   *arg;
} Segmenter;

static CharacterKind
ascii_kind(unsigned char c)
{
	switch (c)
	{
		case '\n':
		case '\r':
		case '\f':
			return CHARACTER_BREAK;
		case ' ':
		case '\t':
		case '\v':
			return CHARACTER_WHITE;
		case '.':
			return CHARACTER_STOP;
		case '!':
		case '?':
			return CHARACTER_END;
		case '"':
		case '\'':
		case ')':
		case ']':
		case '}':
			return CHARACTER_CLOSER;
		default:
			return c >= 'a' && c <= 'z' ? CHARACTER_LOWER : CHARACTER_OTHER;
	}
}

static CharacterKind
codepoint_kind(uint32 codepoint)
{
	if (codepoint >= 0x2000 && codepoint <= 0x200A)
		return CHARACTER_WHITE;
	switch (codepoint)
	{
		case 0x0085:			/* next line */
		case 0x2028:			/* line separator */
		case 0x2029:			/* paragraph separator */
			return CHARACTER_BREAK;
		case 0x00A0:
		case 0x1680:
		case 0x202F:
		case 0x205F:
		case 0x3000:
			return CHARACTER_WHITE;
		case 0x0589:			/* Armenian full stop */
		case 0x061F:			/* Arabic question mark */
		case 0x06D4:			/* Arabic full stop */
		case 0x0964:			/* danda */
		case 0x0965:			/* double danda */
		case 0x104A:			/* Myanmar sections */
		case 0x104B:
		case 0x1362:			/* Ethiopic full stop */
		case 0x1367:			/* Ethiopic question mark */
		case 0x17D4:			/* Khmer khan */
		case 0x17D5:
		case 0x2026:			/* ellipsis */
		case 0x203C:			/* double punctuation marks */
		case 0x2047:
		case 0x2048:
		case 0x2049:
			return CHARACTER_END;
		case 0x3002:			/* ideographic full stop */
		case 0xFF01:			/* full-width punctuation */
		case 0xFF0E:
		case 0xFF1F:
		case 0xFF61:			/* half-width ideographic full stop */
			return CHARACTER_WIDE_END;
		case 0x00BB:			/* quotation marks and brackets */
		case 0x2019:
		case 0x201D:
		case 0x203A:
		case 0x3009:
		case 0x300B:
		case 0x300D:
		case 0x300F:
		case 0x3011:
		case 0x3015:
		case 0xFF09:
		case 0xFF3D:
		case 0xFF63:
			return CHARACTER_CLOSER;
		default:
			return CHARACTER_OTHER;
	}
}

static CharacterKind
kind_at(const Segmenter *segmenter, TextPosition position)
{
	char	   *character = unconstify(char *, segmenter->text) + position.byte;
	size_t		length;
	char	   *utf8;
	const unsigned char *next;
	uint32		codepoint;

	if (!IS_HIGHBIT_SET(*character))
		return ascii_kind(*character);
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return CHARACTER_OTHER;
	length = character_length(segmenter->text + position.byte,
							  segmenter->length - position.byte);
	utf8 = server_to_utf8(character, &length);
	next = (unsigned char *) utf8;
	codepoint = decode_utf8(&next, next + length);
	if (utf8 != character)
		pfree(utf8);
	return codepoint_kind(codepoint);
}

/*
 * Advance by one character.  Checks for interrupts after every INTERRUPT_INTERVAL
 * characters.
 */
static inline void
step(const Segmenter *segmenter, TextPosition *position)
{
	if (position->character % INTERRUPT_INTERVAL == 0)
		CHECK_FOR_INTERRUPTS();
	next_character(segmenter->text, segmenter->length, position);
}

/*
 * Read a line from *position on.  Sets *end to the end of the line, and *position to the
 * start of the next line.  Returns true if the line is not blank.  Checks for interrupts.
 */
static bool
read_line(const Segmenter *segmenter, TextPosition *position, TextPosition *end)
{
	bool		is_blank = true;

	for (; position->byte < segmenter->length; step(segmenter, position))
	{
		CharacterKind kind = kind_at(segmenter, *position);

		if (kind == CHARACTER_BREAK)
			break;
		is_blank &= kind == CHARACTER_WHITE;
	}
	*end = *position;
	if (position->byte < segmenter->length)
	{
		char		first = segmenter->text[position->byte];

		step(segmenter, position);
		if (first == '\r' && position->byte < segmenter->length &&
			segmenter->text[position->byte] == '\n')
			step(segmenter, position);
	}
	return !is_blank;
}

static inline bool
is_ending(CharacterKind kind)
{
	return kind == CHARACTER_STOP || kind == CHARACTER_END || kind == CHARACTER_WIDE_END;
}

/*
 * Return true if a sentence ends before a character that is not white space.  `kind` is
 * the class of this character, and `ending` that of the last character that may end the
 * sentence.  after_white is true if white space is between them.
 */
static bool
has_ended(CharacterKind ending, bool after_white, CharacterKind kind)
{
	if (ending == CHARACTER_WIDE_END)
		return after_white || !(is_ending(kind) || kind == CHARACTER_CLOSER);
	return is_ending(ending) && after_white &&
		!(ending == CHARACTER_STOP && kind == CHARACTER_LOWER);
}

/*
 * Call the consumer with each sentence of a paragraph.
 */
static void
cut_sentences(const Segmenter *segmenter, TextPosition position, TextPosition paragraph_end)
{
	TextPosition start = position;
	TextPosition end = position;	/* end of the last character that is not white space */
	CharacterKind ending = CHARACTER_OTHER;
	bool		is_open = false;
	bool		after_white = false;

	for (; position.byte < paragraph_end.byte; step(segmenter, &position))
	{
		CharacterKind kind = kind_at(segmenter, position);

		if (kind == CHARACTER_WHITE || kind == CHARACTER_BREAK)
		{
			after_white = true;
			continue;
		}
		if (is_open && has_ended(ending, after_white, kind))
		{
			segmenter->consume(segmenter->arg, start, end);
			is_open = false;
		}
		if (!is_open)
			start = position;
		is_open = true;
		if (is_ending(kind))
			ending = kind;
		else if (kind != CHARACTER_CLOSER || after_white)
			ending = CHARACTER_OTHER;
		after_white = false;
		end = position;
		next_character(segmenter->text, segmenter->length, &end);
	}
	if (is_open)
		segmenter->consume(segmenter->arg, start, end);
}

/*
 * Call the consumer with a paragraph or line, or with each sentence of a paragraph.
 */
static void
end_paragraph(const Segmenter *segmenter, SegmentKind kind, TextPosition start, TextPosition end)
{
	if (kind == SEGMENT_SENTENCE)
		cut_sentences(segmenter, start, end);
	else
		segmenter->consume(segmenter->arg, start, end);
}

/*
 * Call the consumer with each line, sentence or paragraph of a text, in order.  Skips
 * blank ones.  `text` has `length` bytes in the server's encoding.  Checks for interrupts.
 */
void
segment_text(const char *text, size_t length, SegmentKind kind, SegmentConsumer consume,
			 void *arg)
{
	Segmenter	segmenter = {text, length, consume, arg};
	TextPosition position = TEXT_BEGIN;
	TextPosition start = TEXT_BEGIN;
	TextPosition end = TEXT_BEGIN;
	bool		is_open = false;

	while (position.byte < length)
	{
		TextPosition line_start = position;
		TextPosition line_end;
		bool		has_text = read_line(&segmenter, &position, &line_end);

		if (is_open && (!has_text || kind == SEGMENT_LINE))
		{
			end_paragraph(&segmenter, kind, start, end);
			is_open = false;
		}
		if (has_text)
		{
			if (!is_open)
				start = line_start;
			is_open = true;
			end = line_end;
		}
	}
	if (is_open)
		end_paragraph(&segmenter, kind, start, end);
}
