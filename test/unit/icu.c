/*
 * Texts, and their normal forms by ICU
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "icu.h"
#include "text/normalize.h"

/*
 * Replaces unassigned code points in texts for ICU, because a later version may have
 * assigned them.  No version ever assigns this one.
 */
#define NONCHARACTER	0xFDD0

const UNormalizer2 *icu_nfc;
const UNormalizer2 *icu_nfd;
const UNormalizer2 *icu_nfkc_casefold;
bool		icu_is_unicode15;

static bool dropped[MAX_CODEPOINT + 1]; /* code points that NFKC_Casefold drops */
static uint8 codepoint_status[MAX_CODEPOINT + 1];

static void
icu_check(UErrorCode status, const char *what)
{
	if (U_FAILURE(status))
	{
		fprintf(stderr, "ICU: %s: %s\n", what, u_errorName(status));
		exit(1);
	}
}

static CodepointStatus
find_status(uint32 cp, bool icu_is_older)
{
	UVersionInfo age;

	u_charAge(cp, age);
	if (age[0] > 0 && (age[0] < 15 || (age[0] == 15 && age[1] == 0)))
		return STATUS_ASSIGNED;
	return icu_is_older ? STATUS_UNKNOWN : STATUS_UNASSIGNED;
}

void
icu_open(void)
{
	UErrorCode	status = U_ZERO_ERROR;
	UVersionInfo version;
	bool		is_older;

	icu_nfc = unorm2_getNFCInstance(&status);
	icu_nfd = unorm2_getNFDInstance(&status);
	icu_nfkc_casefold = unorm2_getNFKCCasefoldInstance(&status);
	icu_check(status, "could not open the normal forms");

	u_getUnicodeVersion(version);
	icu_is_unicode15 = version[0] == 15 && version[1] == 0;
	is_older = version[0] < 15;
	printf("ICU has Unicode %d.%d\n", version[0], version[1]);

	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		Text		mapping;

		codepoint_status[cp] = find_status(cp, is_older);
		if (!U_IS_SURROGATE(cp))
		{
			icu_casefold_mapping(cp, &mapping);
			dropped[cp] = mapping.n == 0;
		}
	}
}

CodepointStatus
icu_status(uint32 cp)
{
	return codepoint_status[cp];
}

bool
icu_drops(uint32 cp)
{
	return dropped[cp];
}

/* Compute a normal form; the text must not contain surrogates. */
void
icu_normalize(const UNormalizer2 *form, const Text *input, Text *output)
{
	UChar		from[2 * MAX_TEXT];
	UChar		to[2 * MAX_TEXT];
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		length = 0;

	for (int i = 0; i < input->n; i++)
		U16_APPEND_UNSAFE(from, length, input->cp[i]);
	length = unorm2_normalize(form, from, length, to, MAX_TEXT, &status);
	icu_check(status, "could not normalise a text");
	output->n = 0;
	for (int32_t i = 0; i < length; output->n++)
		U16_NEXT_UNSAFE(to, i, output->cp[output->n]);
}

/* Append the property NFKC_Casefold of one code point. */
void
icu_casefold_mapping(uint32 cp, Text *output)
{
	Text		single;

	make_text(&single, 1, cp);
	icu_normalize(icu_nfkc_casefold, &single, output);
}

/*
 * Drop the code points beyond the limit in each run of U+0345.
 */
static void
limit_iotas(Text *text)
{
	int			n = 0;
	int			run = 0;

	for (int i = 0; i < text->n; i++)
	{
		run = text->cp[i] == 0x0345 ? run + 1 : 0;
		if (run <= NORMALIZE_MAX_MARKS)
			text->cp[n++] = text->cp[i];
	}
	text->n = n;
}

/*
 * Drop the code points beyond the limit in each run of non-starters.
 */
static void
limit_marks(Text *text)
{
	int			n = 0;
	int			run = 0;

	for (int i = 0; i < text->n; i++)
	{
		run = u_getCombiningClass(text->cp[i]) != 0 ? run + 1 : 0;
		if (run <= NORMALIZE_MAX_MARKS)
			text->cp[n++] = text->cp[i];
	}
	text->n = n;
}

/*
 * Compute the normaliser's expected result for a text: toNFKC_Casefold(NFD(X)), where X
 * lacks the code points that NFKC_Casefold drops, and long runs of marks are truncated.
 */
void
icu_expected(const Text *input, Text *output)
{
	Text		kept;
	Text		decomposed;
	Text		folded;
	uint32		unassigned[MAX_TEXT];
	int			nunassigned = 0;

	kept.n = 0;
	for (int i = 0; i < input->n; i++)
	{
		uint32		cp = input->cp[i];

		if (dropped[cp])
			continue;
		if (codepoint_status[cp] == STATUS_UNASSIGNED || cp == NONCHARACTER)
		{
			unassigned[nunassigned++] = cp;
			cp = NONCHARACTER;
		}
		kept.cp[kept.n++] = cp;
	}
	icu_normalize(icu_nfd, &kept, &decomposed);
	limit_iotas(&decomposed);
	icu_normalize(icu_nfkc_casefold, &decomposed, &folded);
	icu_normalize(icu_nfd, &folded, &decomposed);
	limit_marks(&decomposed);
	icu_normalize(icu_nfc, &decomposed, output);

	/* Unassigned code points keep their positions. */
	for (int i = 0, next = 0; i < output->n && next < nunassigned; i++)
	{
		if (output->cp[i] == NONCHARACTER)
			output->cp[i] = unassigned[next++];
	}
}

/*
 * Texts
 */

/* Set a text to n code points, given as uint32. */
void
make_text(Text *text, int n,...)
{
	va_list		args;

	text->n = n;
	va_start(args, n);
	for (int i = 0; i < n; i++)
		text->cp[i] = va_arg(args, uint32);
	va_end(args);
}

bool
text_equal(const Text *a, const Text *b)
{
	return a->n == b->n && memcmp(a->cp, b->cp, a->n * sizeof(uint32)) == 0;
}

void
print_text(const char *label, const Text *text)
{
	printf("%s", label);
	for (int i = 0; i < text->n; i++)
		printf(" %04X", text->cp[i]);
}
