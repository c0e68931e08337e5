/*
 * Lines, sentences and paragraphs of a text
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef SIMHASH_SEGMENT_H
#define SIMHASH_SEGMENT_H

#include "text/cursor.h"

typedef enum SegmentKind
{
	SEGMENT_LINE,
	SEGMENT_SENTENCE,
	SEGMENT_PARAGRAPH
} SegmentKind;

/* Called with each segment, in order. */
typedef void (*SegmentConsumer) (void *arg, TextPosition start, TextPosition end);

extern void segment_text(const char *text, size_t length, SegmentKind kind,
						 SegmentConsumer consume, void *arg);

#endif							/* SIMHASH_SEGMENT_H */
