/*
 * Test of the Unicode tables against ICU
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "icu.h"
#include "text/normalize.h"
#include "text/unicode/tables.h"
#include "unit.h"

#define FIRST_RECORD	8
#define IS_HANGUL_SYLLABLE(cp)	((cp) >= 0xAC00 && (cp) <= 0xD7A3)

StaticAssertDecl(UNICODE_MAX_MAPPING <= NORMALIZE_MAX_MAPPING,
				 "the normaliser's buffers are too small for the tables");

static uint16
table_value(uint32 cp)
{
	return unicode_value[unicode_page[cp >> 7] * 128 + (cp & 127)];
}

static const UnicodeRecord *
table_record(uint32 cp)
{
	uint16		value = table_value(cp);

	return value < FIRST_RECORD ? NULL : &unicode_record[value - FIRST_RECORD];
}

static void
mapping_text(int offset, int length, Text *text)
{
	text->n = length;
	memcpy(text->cp, unicode_mapping + offset, length * sizeof(uint32));
}

static void
fail_at(uint32 cp, const char *what)
{
	if (count_failure())
		printf("U+%04X: %s\n", cp, what);
}

static void
expect_mapping(uint32 cp, const Text *got, const Text *expected)
{
	if (!text_equal(got, expected) && count_failure())
	{
		printf("U+%04X:", cp);
		print_text(" has", got);
		print_text(", expected", expected);
		printf("\n");
	}
}

/*
 * Compute the expected mapping of a record: each character of the canonical decomposition
 * folded and decomposed again, without changes to U+0345.
 */
static void
expected_mapping(uint32 cp, Text *mapping)
{
	Text		self;
	Text		decomposed;

	make_text(&self, 1, cp);
	icu_normalize(icu_nfd, &self, &decomposed);
	mapping->n = 0;
	for (int i = 0; i < decomposed.n; i++)
	{
		Text		folded;
		Text		part;

		make_text(&part, 1, decomposed.cp[i]);
		if (part.cp[0] != 0x0345)
		{
			icu_casefold_mapping(part.cp[0], &folded);
			icu_normalize(icu_nfd, &folded, &part);
		}
		memcpy(mapping->cp + mapping->n, part.cp, part.n * sizeof(uint32));
		mapping->n += part.n;
	}
}

static void
check_assigned(uint32 cp)
{
	const UnicodeRecord *record = table_record(cp);
	uint8		ccc = u_getCombiningClass(cp);
	bool		combines = ccc != 0 ||
		u_getIntPropertyValue(cp, UCHAR_NFC_QUICK_CHECK) != UNORM_YES;
	Text		self;
	Text		mapping;
	Text		expected;

	make_text(&self, 1, cp);
	if (record == NULL)
	{
		if (combines)
			fail_at(cp, "has no record, but combines with what precedes it");
		icu_casefold_mapping(cp, &expected);
		expect_mapping(cp, &self, &expected);
		return;
	}

	if (record->ccc != ccc)
		fail_at(cp, "wrong combining class");
	if (record->combines != combines)
		fail_at(cp, "\"combines\" is wrong");
	if (record->length == UNICODE_SELF)
		mapping = self;
	else
		mapping_text(record->offset, record->length, &mapping);
	expected_mapping(cp, &expected);
	expect_mapping(cp, &mapping, &expected);
}

static void
test_mappings(void)
{
	begin_group("mappings, combining classes");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		const UnicodeRecord *record = table_record(cp);

		if (U_IS_SURROGATE(cp) || icu_status(cp) == STATUS_UNASSIGNED)
		{
			/* Some unassigned code points are default-ignorable already. */
			if (icu_drops(cp) ? record == NULL || record->length != 0 : record != NULL)
				fail_at(cp, "is not a character and should stand for itself");
		}
		else if (icu_status(cp) == STATUS_ASSIGNED)
			check_assigned(cp);
		else
			continue;
		unit_checks++;
	}
	end_group("code points");
}

static void
test_decompositions(void)
{
	int			next = 0;

	begin_group("canonical decompositions");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		Text		self;
		Text		got;
		Text		expected;

		make_text(&self, 1, cp);
		got = self;
		if (next < UNICODE_NDECOMPOSITIONS &&
			unicode_decomposition[next].codepoint == cp)
		{
			mapping_text(unicode_decomposition[next].offset,
						 unicode_decomposition[next].length, &got);
			next++;
			unit_checks++;
			if (table_record(cp) != NULL)
				fail_at(cp, "has a record as well");
		}
		if (icu_status(cp) == STATUS_ASSIGNED && table_record(cp) == NULL &&
			!U_IS_SURROGATE(cp) && !IS_HANGUL_SYLLABLE(cp))
		{
			icu_normalize(icu_nfd, &self, &expected);
			expect_mapping(cp, &got, &expected);
		}
	}
	if (next < UNICODE_NDECOMPOSITIONS)
		fail_at(unicode_decomposition[next].codepoint, "is out of order");
	end_group("decompositions");
}

static void
test_compositions(void)
{
	int			expected = 0;

	begin_group("canonical compositions");
	for (int i = 0; i < UNICODE_NCOMPOSITIONS; i++)
	{
		const UnicodeComposition *entry = &unicode_composition[i];
		uint32		composite = entry->composite;

		if (i > 0 && (entry[-1].first > entry->first ||
					  (entry[-1].first == entry->first &&
					   entry[-1].second >= entry->second)))
			fail_at(composite, "is out of order");
		if (icu_status(composite) == STATUS_UNKNOWN)
			continue;
		if (unorm2_composePair(icu_nfc, entry->first, entry->second) !=
			(UChar32) composite)
			fail_at(composite, "is not composed like this");
		unit_checks++;
	}

	/*
	 * The compositions are different and right.  If ICU has the same number, none is
	 * missing.
	 */
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		UErrorCode	status = U_ZERO_ERROR;
		UChar		parts[8];

		if (icu_status(cp) == STATUS_ASSIGNED && !IS_HANGUL_SYLLABLE(cp) &&
			unorm2_getRawDecomposition(icu_nfc, cp, parts, lengthof(parts), &status) > 0 &&
			!u_hasBinaryProperty(cp, UCHAR_FULL_COMPOSITION_EXCLUSION))
			expected++;
	}
	if (expected != unit_checks && count_failure())
		printf("ICU has %d compositions, the table %ld\n", expected, unit_checks);
	end_group("compositions");
}

/*
 * Return the token class, from ICU's properties.
 */
static TokenClass
expected_class(uint32 cp)
{
	int			category = U_MASK(u_charType(cp));
	UErrorCode	status = U_ZERO_ERROR;
	UScriptCode scripts[32];
	int			nscripts;

	if (icu_status(cp) == STATUS_UNASSIGNED)
		return TOKEN_WORD;
	if (u_hasBinaryProperty(cp, UCHAR_WHITE_SPACE))
		return TOKEN_SPACE;
	if (category & U_GC_M_MASK)
		return TOKEN_MARK;
	if (category & (U_GC_CN_MASK | U_GC_CO_MASK))
		return TOKEN_WORD;
	if (!(category & (U_GC_L_MASK | U_GC_N_MASK)))
		return TOKEN_SYMBOL;

	if (u_hasBinaryProperty(cp, UCHAR_IDEOGRAPHIC) ||
		uscript_getScript(cp, &status) == USCRIPT_HAN)
		return TOKEN_SINGLE;
	if (!(category & U_GC_L_MASK))
		return TOKEN_WORD;
	if (u_getIntPropertyValue(cp, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT)
		return TOKEN_SINGLE;

	/* kana, and letters that are both kana and ideographs */
	nscripts = uscript_getScriptExtensions(cp, scripts, lengthof(scripts), &status);
	for (int i = 0; i < nscripts; i++)
	{
		if (scripts[i] != USCRIPT_HIRAGANA && scripts[i] != USCRIPT_KATAKANA &&
			scripts[i] != USCRIPT_HAN)
			return TOKEN_WORD;
	}
	return nscripts > 0 ? TOKEN_SINGLE : TOKEN_WORD;
}

static void
test_classes(void)
{
	int			notes = 0;

	begin_group("token classes");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		const UnicodeRecord *record = table_record(cp);
		int			class = record ? record->class : table_value(cp);
		int			expected;

		if (icu_status(cp) == STATUS_UNKNOWN)
			continue;
		unit_checks++;
		expected = expected_class(cp);
		if (class == expected)
			continue;

		/* These properties are not stable between versions. */
		if (icu_is_unicode15 ? count_failure() : ++notes <= UNIT_MAX_REPORTS)
			printf("U+%04X: class %d, ICU's properties say %d\n", cp, class, expected);
	}
	if (notes > 0)
		printf("note: this ICU differs in %d code points\n", notes);
	end_group("code points");
}

static void
test_examples(void)
{
	static const struct
	{
		uint32		cp;
		TokenClass	class;
	}			examples[] = {
		{' ', TOKEN_SPACE}, {'\n', TOKEN_SPACE}, {0x3000, TOKEN_SPACE},
		{'!', TOKEN_SYMBOL}, {'_', TOKEN_SYMBOL}, {0x1F600, TOKEN_SYMBOL},
		{0, TOKEN_SYMBOL}, {0xD800, TOKEN_SYMBOL}, {0x3001, TOKEN_SYMBOL},
		{'a', TOKEN_WORD}, {'0', TOKEN_WORD}, {0x0416, TOKEN_WORD},
		{0x0E50, TOKEN_WORD}, {0xAC00, TOKEN_WORD}, {0xE000, TOKEN_WORD},
		{0x0378, TOKEN_WORD}, {0x10FFFF, TOKEN_WORD}, {0x3105, TOKEN_WORD},
		{0x4E00, TOKEN_SINGLE}, {0x3042, TOKEN_SINGLE}, {0x30A2, TOKEN_SINGLE},
		{0x30FC, TOKEN_SINGLE}, {0x3005, TOKEN_SINGLE}, {0x3006, TOKEN_SINGLE},
		{0x3007, TOKEN_SINGLE}, {0x303C, TOKEN_SINGLE}, {0x0E01, TOKEN_SINGLE},
		{0x0E40, TOKEN_SINGLE}, {0x1780, TOKEN_SINGLE}, {0x1000, TOKEN_SINGLE},
		{0x323AF, TOKEN_SINGLE}, {0x0301, TOKEN_MARK}, {0x0E31, TOKEN_MARK},
		{0x093E, TOKEN_MARK}, {0x20DD, TOKEN_MARK}
	};

	begin_group("token classes, examples");
	for (size_t i = 0; i < lengthof(examples); i++)
	{
		const UnicodeRecord *record = table_record(examples[i].cp);
		int			class = record ? record->class : table_value(examples[i].cp);

		if (class != (int) examples[i].class && count_failure())
			printf("U+%04X: class %d, expected %d\n", examples[i].cp, class,
				   examples[i].class);
		unit_checks++;
	}
	end_group("code points");
}

int
main(void)
{
	icu_open();
	test_mappings();
	test_decompositions();
	test_compositions();
	test_classes();
	test_examples();
	return end_tests();
}
