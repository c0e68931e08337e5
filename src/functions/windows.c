/*
 * text_windows(body, size, step, unit): the chunks of a text, with their positions
 *
 * Windows are chunks of a text, to fingerprint or embed one by one.  They overlap if the
 * step is less than the size.  The text is read once.  A window that has started and not
 * ended yet is called open.  Only the start positions of open windows are kept.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "functions/arguments.h"

#define WINDOW_COLUMNS		3

/* Default size of a window, in units. */
#define DEFAULT_SIZE		1

/*
 * Units of windows: those of shingles, then the kinds of segments
 */
#define FIRST_SEGMENT		(UNIT_CHAR + 1)

static const char *const units[] = {
	[UNIT_WORD] = "word",
	[UNIT_CHAR] = "char",
	[FIRST_SEGMENT + SEGMENT_LINE] = "line",
	[FIRST_SEGMENT + SEGMENT_SENTENCE] = "sentence",
	[FIRST_SEGMENT + SEGMENT_PARAGRAPH] = "paragraph"
};

#define SIZE_HINT	"A window has at least 1 unit, and the step is at least 1."

typedef struct Windows
{
	ReturnSetInfo *result;
	const char *text;
	int64		size;			/* size of a window, in units */
	int64		step;
	int64		nunits;			/* number of units read so far */
	TextPosition end;			/* end of the unit read last */
	int64		reached;		/* number of units up to the end of the window returned
								 * last */
	int64		oldest;			/* number of the first unit of the oldest open window, from
								 * 0 */
	int64		first;			/* index of the oldest open window in `starts` */
	int64		last;			/* end of the open windows in `starts` (exclusive) */
	int64		capacity;
	TextPosition *starts;
} Windows;

/*
 * Add the oldest open window to the result, and close it.  It ends with the unit read
 * last.
 */
static void
return_window(Windows *windows)
{
	TextPosition start = windows->starts[windows->first++];
	TextPosition end = windows->end;
	text	   *piece = cstring_to_text_with_len(windows->text + start.byte,
												 end.byte - start.byte);
	bool		nulls[WINDOW_COLUMNS] = {false};
	Datum		values[WINDOW_COLUMNS] = {
		Int32GetDatum(start.character + 1),
		Int32GetDatum(end.character - start.character),
		PointerGetDatum(piece)
	};

	tuplestore_putvalues(windows->result->setResult, windows->result->setDesc, values, nulls);
	pfree(piece);
	windows->oldest += windows->step;
	windows->reached = windows->nunits;
}

/*
 * Add a window, given by its start, to the open windows.
 */
static void
open_window(Windows *windows, TextPosition start)
{
	if (windows->last == windows->capacity && windows->first > windows->capacity / 2)
	{
		memmove(windows->starts, windows->starts + windows->first,
				(windows->last - windows->first) * sizeof(TextPosition));
		windows->last -= windows->first;
		windows->first = 0;
	}
	if (windows->last == windows->capacity)
	{
		windows->capacity *= 2;
		windows->starts = repalloc_huge(windows->starts, windows->capacity * sizeof(TextPosition));
	}
	windows->starts[windows->last++] = start;
}

/*
 * Add the next unit.  If a window ends with it, adds the window to the result.  A
 * SegmentConsumer.
 */
static void
take_segment(void *arg, TextPosition start, TextPosition end)
{
	Windows    *windows = arg;

	if (windows->nunits % windows->step == 0)
		open_window(windows, start);
	windows->nunits++;
	windows->end = end;
	if (windows->first < windows->last && windows->oldest + windows->size == windows->nunits)
		return_window(windows);
}

/*
 * Add the next word or character.  A LocatedConsumer.
 */
static void
put_token(void *arg, const char *token, size_t length, Passage passage)
{
	take_segment(arg, passage.start, passage.end);
}

/*
 * text_windows(body text, size int, step int, unit text)
 */
PG_FUNCTION_INFO_V1(simhash_text_windows);
Datum
simhash_text_windows(PG_FUNCTION_ARGS)
{
	Windows		windows;
	text	   *body;
	int32		size;
	int32		step;
	int			unit = SHINGLE_DEFAULT_UNIT;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	size = PG_ARGISNULL(1) ? DEFAULT_SIZE : PG_GETARG_INT32(1);
	check_range(size, 1, PG_INT32_MAX, "size", SIZE_HINT);
	step = PG_ARGISNULL(2) ? size : PG_GETARG_INT32(2);
	check_range(step, 1, PG_INT32_MAX, "step", SIZE_HINT);
	if (!PG_ARGISNULL(3))
		unit = get_name(PG_GETARG_TEXT_PP(3), units, lengthof(units), "unit",
						"Available units are \"word\", \"char\", \"line\", \"sentence\" and \"paragraph\".");
	body = PG_GETARG_TEXT_PP(0);
	windows = (Windows) {
		.result = (ReturnSetInfo *) fcinfo->resultinfo,
		.text = VARDATA_ANY(body),
		.size = size,
		.step = step,
		.capacity = 64,
		.starts = palloc(64 * sizeof(TextPosition))
	};
	if (unit < FIRST_SEGMENT)
		locate_shingles(windows.text, VARSIZE_ANY_EXHDR(body), 1, (ShingleUnit) unit, put_token,
						&windows);
	else
		segment_text(windows.text, VARSIZE_ANY_EXHDR(body), (SegmentKind) (unit - FIRST_SEGMENT),
					 take_segment, &windows);

	/* the first window that reaches the end of the text; later ones are part of it */
	if (windows.first < windows.last && windows.reached < windows.nunits)
		return_window(&windows);
	pfree(windows.starts);
	return (Datum) 0;
}
