/*
 * Test of the normaliser against ICU
 *
 * Usage: normalize [SEED [NORMALIZATION_TEST]]
 *
 * NORMALIZATION_TEST is Unicode's NormalizationTest.txt, or that file packed
 * with bzip2.
 *
 * Copyright (c) 2026, the simhash authors
 */
#include "postgres_fe.h"

#include "icu.h"
#include "text/normalize.h"
#include "unit.h"

#define NORMALIZATION_TEST	"/usr/share/unicode/NormalizationTest.txt.bz2"

#define RANDOM_STRINGS		400000
#define RANDOM_LONG_STRINGS	20000

/* The code points of one type, for random strings. */
typedef struct Pool
{
	int			n;
	uint32		cp[MAX_CODEPOINT + 1];
} Pool;

static Pool marks;				/* with a combining class */
static Pool joiners;			/* may combine with what precedes them */
static Pool composites;			/* have a canonical decomposition */
static Pool folded;				/* mapped to something else */
static Pool anything;

/* Known to be difficult. */
static const uint32 difficult[] = {
	'a', 'e', 'A', 0x0130, 0x00DF,
	0x03B1, 0x03B9, 0x0345, 0x0345, 0x0345, 0x1F80, 0x1FB3, 0x1FBC, 0x037A, 0x03D3,
	0xFF9E, 0xFF9F, 0xFF76, 0x30CF, 0x3099, 0x309A, 0x309B,
	0x200D, 0x200C, 0x034F, 0x00AD, 0xFE0F, 0x115F, 0x3164, 0xFFA0, 0xE0001,
	0x0301, 0x0323, 0x0338, 0x0340, 0x0344, 0x1DC0, 0x20D0,
	0x0F71, 0x0F72, 0x0F73, 0x0F74, 0x0F75, 0x0F76, 0x0F77, 0x0F80, 0x0F81, 0x0FB2,
	0x09C7, 0x09BE, 0x09D7, 0x09CB, 0x0BC6, 0x0BBE, 0x0BD7, 0x0CC6, 0x0CC2, 0x0CD5,
	0x0CCB, 0x0DD9, 0x0DCF, 0x0DCA, 0x0DDD, 0x0DDF, 0x1025, 0x102E, 0x1B05, 0x1B35,
	0x11131, 0x11127, 0x114B9, 0x114BA, 0x0915, 0x093C, 0x0958, 0x094D, 0x05D0, 0x05B0,
	0xFB2C, 0x1D15E, 0x1D165, 0x1D16E, 0x2126, 0x212B, 0xFDFA
};

/*
 * The two sides
 */

static void
fail_text(const char *what, const Text *input)
{
	if (count_failure())
	{
		printf("%s", what);
		print_text(": input", input);
		printf("\n");
	}
}

/*
 * Return the normaliser's result with token classes.  Pushes `piece` code points at a
 * time; 0 means a random number.
 */
static void
normalize_classed(const Text *input, int piece, Text *output)
{
	Normalizer	norm;
	uint32		buffer[NORMALIZE_MAX_OUT(MAX_TEXT) + 1];
	size_t		got;

	output->n = 0;
	normalizer_init(&norm);
	for (int at = 0; at < input->n;)
	{
		int			n = piece > 0 ? piece : (int) random_below(5);
		size_t		limit;

		n = Min(n, input->n - at);
		limit = NORMALIZE_MAX_OUT((size_t) n);
		buffer[limit] = 0xEEEEEEEE;
		got = normalize_push(&norm, input->cp + at, n, buffer);
		if (got > limit || buffer[limit] != 0xEEEEEEEE)
			fail_text("more than NORMALIZE_MAX_OUT", input);
		if (output->n + got + NORMALIZE_MAX_PENDING > MAX_TEXT)
		{
			fprintf(stderr, "a text is too long for this test\n");
			exit(1);
		}
		memcpy(output->cp + output->n, buffer, got * sizeof(uint32));
		output->n += got;
		at += n;
	}
	got = normalize_flush(&norm, output->cp + output->n);
	if (got > NORMALIZE_MAX_PENDING)
		fail_text("more than NORMALIZE_MAX_PENDING", input);
	output->n += got;
	if (normalize_flush(&norm, buffer) != 0)
		fail_text("flushing twice gives something twice", input);
}

static void
normalize(const Text *input, Text *output)
{
	normalize_classed(input, MAX_TEXT, output);
	for (int i = 0; i < output->n; i++)
		output->cp[i] = NORMALIZED_CODEPOINT(output->cp[i]);
}

static void
expect_equal(const char *what, const Text *input, const Text *got,
			 const Text *expected)
{
	if (!text_equal(got, expected) && count_failure())
	{
		printf("%s", what);
		print_text(": input", input);
		print_text(", got", got);
		print_text(", expected", expected);
		printf("\n");
	}
}

static void
expect_icu(const Text *input)
{
	Text		got;
	Text		expected;

	normalize(input, &got);
	icu_expected(input, &expected);
	expect_equal("not ICU's", input, &got, &expected);
}

static void
expect_same(const char *what, const Text *a, const Text *b)
{
	Text		of_a;
	Text		of_b;

	normalize(a, &of_a);
	normalize(b, &of_b);
	expect_equal(what, b, &of_b, &of_a);
}

/* Check that canonical equivalents of a text are normalised to the same text. */
static void
expect_same_as_equivalents(const Text *text)
{
	Text		equivalent;

	icu_normalize(icu_nfc, text, &equivalent);
	expect_same("not as before NFC", text, &equivalent);
	icu_normalize(icu_nfd, text, &equivalent);
	expect_same("not as before NFD", text, &equivalent);
}

/*
 * Check that the result does not depend on the number of pieces in which a text is
 * pushed.
 */
static void
expect_same_in_pieces(const Text *text)
{
	Text		whole;
	Text		pieces;

	normalize_classed(text, MAX_TEXT, &whole);
	normalize_classed(text, 1, &pieces);
	expect_equal("one at a time", text, &pieces, &whole);
	normalize_classed(text, 0, &pieces);
	expect_equal("in random pieces", text, &pieces, &whole);
}

/*
 * Every code point
 */

static void
test_codepoints(void)
{
	Text		text;

	begin_group("every code point, alone and in context");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		if (U_IS_SURROGATE(cp) || icu_status(cp) == STATUS_UNKNOWN)
			continue;
		make_text(&text, 1, cp);
		expect_icu(&text);
		make_text(&text, 3, 'a', cp, 'b');
		expect_icu(&text);
		make_text(&text, 3, 'e', cp, 0x0301);
		expect_icu(&text);
		unit_checks++;
	}
	end_group("code points");
}

static void
expect_idempotent(const Text *text)
{
	Text		once;
	Text		twice;
	Text		once_classed;
	Text		twice_classed;

	normalize(text, &once);
	normalize(&once, &twice);
	expect_equal("normalised twice", text, &twice, &once);
	normalize_classed(text, MAX_TEXT, &once_classed);
	normalize_classed(&once, MAX_TEXT, &twice_classed);
	expect_equal("classes, normalised twice", text, &twice_classed, &once_classed);
}

static void
test_idempotence(void)
{
	begin_group("normalised twice is as normalised once");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		Text		text;

		make_text(&text, 1, cp);
		expect_idempotent(&text);
		unit_checks++;
	}
	end_group("code points");
}

/*
 * Check that a code point always has the same class, and that surrogates, which ICU does
 * not know, stay as they are.
 */
static void
test_classes(void)
{
	begin_group("token classes in the output");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		Text		text;
		Text		output;
		Text		part;
		Text		alone;

		make_text(&text, 1, cp);
		normalize_classed(&text, 1, &output);
		if (U_IS_SURROGATE(cp) &&
			(output.n != 1 || output.cp[0] != NORMALIZED(cp, TOKEN_SYMBOL)))
			fail_text("surrogate", &text);
		for (int i = 0; i < output.n; i++)
		{
			make_text(&part, 1, NORMALIZED_CODEPOINT(output.cp[i]));
			normalize_classed(&part, 1, &alone);
			if (alone.n != 1 || alone.cp[0] != output.cp[i])
				fail_text("class or code point differs when alone", &text);
		}
		unit_checks++;
	}
	end_group("code points");
}

static void
test_equivalents(void)
{
	static const uint32 second[] = {
		0x0301, 0x0307, 0x0323, 0x0327, 0x0338, 0x0344, 0x0345, 0x05B0, 0x064B, 0x093C,
		0x0F71, 0x0F73, 0x3099, 0x309A, 0x1161, 0x11A8, 0x09BE, 0x0DCA, 0xFF9E, 0x034F
	};

	begin_group("canonical equivalents, before a mark");
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		/* All private-use code points stay as they are. */
		if (U_IS_SURROGATE(cp) || icu_status(cp) != STATUS_ASSIGNED ||
			u_charType(cp) == U_PRIVATE_USE_CHAR)
			continue;
		for (size_t i = 0; i < lengthof(second); i++)
		{
			Text		text;

			make_text(&text, 2, cp, second[i]);
			expect_icu(&text);
			expect_same_as_equivalents(&text);
		}
		unit_checks++;
	}
	end_group("code points");
}

/*
 * Unicode's own test: the columns c1 to c5 of a line are a text, its NFC, NFD, NFKC and
 * NFKD.
 */

static bool
parse_columns(const char *line, Text *columns)
{
	for (int column = 0; column < 5; column++)
	{
		char	   *end;

		columns[column].n = 0;
		while (*line != ';' && *line != '\0')
		{
			uint32		cp = strtoul(line, &end, 16);

			if (end == line)
				return false;
			columns[column].cp[columns[column].n++] = cp;
			for (line = end; *line == ' ';)
				line++;
		}
		if (*line++ != ';' || columns[column].n == 0)
			return false;
	}
	return true;
}

static bool
all_judged(const Text *text)
{
	for (int i = 0; i < text->n; i++)
	{
		if (icu_status(text->cp[i]) == STATUS_UNKNOWN)
			return false;
	}
	return true;
}

/*
 * Return true if a code point is unassigned in 15.0.  A later NormalizationTest.txt has
 * lines with them.
 */
static bool
is_of_unicode15(const Text *c)
{
	for (int column = 0; column < 5; column++)
	{
		for (int i = 0; i < c[column].n; i++)
		{
			if (icu_status(c[column].cp[i]) == STATUS_UNASSIGNED)
				return false;
		}
	}
	return true;
}

static void
check_columns(const Text *c)
{
	expect_same("c1 and c2", &c[0], &c[1]);
	expect_same("c1 and c3", &c[0], &c[2]);
	expect_same("c4 and c5", &c[3], &c[4]);
	expect_same("c1 and c4", &c[0], &c[3]);
	for (int column = 0; column < 5; column++)
	{
		if (all_judged(&c[column]))
			expect_icu(&c[column]);
		expect_same_in_pieces(&c[column]);
	}
}

static void
test_normalization_test(const char *path)
{
	size_t		length = strlen(path);
	bool		packed = length > 4 && strcmp(path + length - 4, ".bz2") == 0;
	char		command[MAXPGPATH];
	char		line[8192];
	Text		columns[5];
	FILE	   *file;

	if (access(path, R_OK) != 0 && strcmp(path, NORMALIZATION_TEST) == 0)
	{
		printf("skipped: there is no %s\n", path);
		return;
	}
	begin_group("NormalizationTest.txt");
	snprintf(command, sizeof(command), "bzcat '%s'", path);
	file = packed ? popen(command, "r") : fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
	{
		if (line[0] == '#' || line[0] == '@' || line[0] == '\n')
			continue;
		if (!parse_columns(line, columns))
		{
			if (count_failure())
				printf("unexpected line: %s", line);
			continue;
		}
		if (!is_of_unicode15(columns))
			continue;
		check_columns(columns);
		unit_checks++;
	}
	if (file == NULL || (packed ? pclose(file) : fclose(file)) != 0)
	{
		if (count_failure())
			printf("could not read %s\n", path);
	}
	end_group("lines");
}

/*
 * Random strings
 */

static void
fill_pools(void)
{
	for (uint32 cp = 0; cp <= MAX_CODEPOINT; cp++)
	{
		Text		self;
		Text		mapping;

		if (U_IS_SURROGATE(cp) || icu_status(cp) == STATUS_UNKNOWN)
			continue;
		/* a later ICU has forms of code points that are unassigned in 15.0 */
		if (icu_is_unicode15 || icu_status(cp) == STATUS_ASSIGNED)
			anything.cp[anything.n++] = cp;
		if (icu_status(cp) == STATUS_UNASSIGNED)
			continue;
		if (u_getCombiningClass(cp) != 0)
			marks.cp[marks.n++] = cp;
		if (u_getIntPropertyValue(cp, UCHAR_NFC_QUICK_CHECK) != UNORM_YES)
			joiners.cp[joiners.n++] = cp;
		make_text(&self, 1, cp);
		icu_normalize(icu_nfd, &self, &mapping);
		if (!text_equal(&self, &mapping))
			composites.cp[composites.n++] = cp;
		icu_casefold_mapping(cp, &mapping);
		if (!text_equal(&self, &mapping))
			folded.cp[folded.n++] = cp;
	}
}

static uint32
random_codepoint(void)
{
	switch (random_below(10))
	{
		case 0:
		case 1:
			return marks.cp[random_below(marks.n)];
		case 2:
			return joiners.cp[random_below(joiners.n)];
		case 3:
			return composites.cp[random_below(composites.n)];
		case 4:
			return folded.cp[random_below(folded.n)];
		case 5:
			return 0x1100 + random_below(0x100);	/* jamo */
		case 6:
			return anything.cp[random_below(anything.n)];
		default:
			return difficult[random_below(lengthof(difficult))];
	}
}

static void
test_random_strings(void)
{
	Text		text;
	Text		kept;

	begin_group("random strings");
	for (int i = 0; i < RANDOM_STRINGS; i++)
	{
		text.n = 1 + random_below(12);
		kept.n = 0;
		for (int at = 0; at < text.n; at++)
		{
			text.cp[at] = random_codepoint();
			if (!icu_drops(text.cp[at]))
				kept.cp[kept.n++] = text.cp[at];
		}
		expect_icu(&text);
		expect_same_as_equivalents(&text);
		expect_same("not as without ignorables", &kept, &text);
		expect_idempotent(&text);
		expect_same_in_pieces(&text);
		unit_checks++;
	}
	end_group("strings");
}

/*
 * Check that the first marks of a long run are kept, in canonical order, so that
 * canonically equivalent texts stay equal.
 */
static void
test_random_long_strings(void)
{
	static const uint32 special[] = {0x0345, 0x0301, 0xFF9E, 0x0F73, 0x01C4, 0x1FBC};

	begin_group("random strings with long runs of marks");
	for (int i = 0; i < RANDOM_LONG_STRINGS; i++)
	{
		Text		text;
		int			others = 1 + random_below(60);
		int			specials = 1 + random_below(60);

		text.n = 1 + random_below(150);
		for (int at = 0; at < text.n; at++)
		{
			if (random_below(others) == 0)
				text.cp[at] = random_codepoint();
			else if (random_below(specials) == 0)
				text.cp[at] = special[random_below(lengthof(special))];
			else
				text.cp[at] = marks.cp[random_below(marks.n)];
		}
		expect_icu(&text);
		expect_same_as_equivalents(&text);
		expect_same_in_pieces(&text);
		unit_checks++;
	}
	end_group("strings");
}

/*
 * Check that a very long run of marks is truncated to its first marks, by canonical
 * order, and the first U+0345.
 */
static void
test_endless_marks(void)
{
	static const uint32 endless[] = {0x0301, 0x0323, 0x0345, 0x05B0, 0x0338};
	uint32		input[1000];
	uint32		output[NORMALIZE_MAX_OUT(lengthof(input))];
	size_t		n = 0;
	Normalizer	norm;

	begin_group("200,000 marks in a row");
	normalizer_init(&norm);
	for (int block = 0; block < 200; block++)
	{
		for (size_t i = 0; i < lengthof(input); i++)
			input[i] = endless[(i + block) % lengthof(endless)];
		n += normalize_push(&norm, input, lengthof(input), output);
		unit_checks += lengthof(input);
	}
	n += normalize_flush(&norm, output);
	if (n != 2 * NORMALIZE_MAX_MARKS && count_failure())
		printf("the result has %zu code points\n", n);
	for (size_t i = 0; i < n; i++)
	{
		/* U+0338, of class 1, is the first */
		uint32		expected = i < NORMALIZE_MAX_MARKS ? 0x0338 : 0x03B9;

		if (NORMALIZED_CODEPOINT(output[i]) != expected && count_failure())
			printf("the result contains U+%04X\n", NORMALIZED_CODEPOINT(output[i]));
	}
	end_group("marks");
}

int
main(int argc, char **argv)
{
	seed_random(argc, argv);
	icu_open();
	fill_pools();
	test_codepoints();
	test_idempotence();
	test_classes();
	test_equivalents();
	test_normalization_test(argc > 2 ? argv[2] : NORMALIZATION_TEST);
	test_random_strings();
	test_random_long_strings();
	test_endless_marks();
	return end_tests();
}
