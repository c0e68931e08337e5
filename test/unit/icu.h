/*
 * Texts, and their normal forms by ICU
 *
 * The reference for the Unicode tables and the normaliser.  It shares no code with
 * them.  They have the data of Unicode 15.0.  With another version of ICU, only code
 * points that both versions assign are compared.
 *
 * Copyright (c) 2026, the simhash authors
 */
#ifndef ICU_H
#define ICU_H

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#define MAX_CODEPOINT	0x10FFFF
#define MAX_TEXT		1024	/* code points */

typedef struct Text
{
	int			n;
	uint32		cp[MAX_TEXT];
} Text;

typedef enum CodepointStatus
{
	STATUS_ASSIGNED,			/* assigned in Unicode 15.0, known to this ICU */
	STATUS_UNASSIGNED,			/* unassigned in Unicode 15.0 */
	STATUS_UNKNOWN				/* unknown to this ICU, which is older */
} CodepointStatus;

extern const UNormalizer2 *icu_nfc;
extern const UNormalizer2 *icu_nfd;
extern const UNormalizer2 *icu_nfkc_casefold;
extern bool icu_is_unicode15;	/* true if ICU has Unicode 15.0 */

extern void icu_open(void);
extern CodepointStatus icu_status(uint32 cp);
extern bool icu_drops(uint32 cp);
extern void icu_normalize(const UNormalizer2 *form, const Text *input, Text *output);
extern void icu_casefold_mapping(uint32 cp, Text *output);
extern void icu_expected(const Text *input, Text *output);

extern void make_text(Text *text, int n,...);
extern bool text_equal(const Text *a, const Text *b);
extern void print_text(const char *label, const Text *text);

#endif							/* ICU_H */
