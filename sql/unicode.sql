--
-- Unicode: texts that normalisation makes equal, and the tokens of each script
--
\pset format unaligned

-- Both texts of a row have one fingerprint.
CREATE TEMP TABLE same (what text, a text, b text);
INSERT INTO same VALUES
    ('NFC and NFD, Latin', U&'caf\00E9 \00C5ngstr\00F6m', U&'cafe\0301 A\030Angstro\0308m'),
    ('NFC and NFD, Vietnamese', U&'Vi\1EC7t Nam', U&'Vie\0323\0302t Nam'),
    ('NFC and NFD, Hangul', U&'\D55C\AD6D\C5B4', U&'\1112\1161\11AB\1100\116E\11A8\110B\1165'),
    ('NFC and NFD, kana', U&'\30AC\30D1 \3054', U&'\30AB\3099\30CF\309A \3053\3099'),
    ('NFC and NFD, Cyrillic', U&'\0439\0451', U&'\0438\0306\0435\0308'),
    ('NFC and NFD, Devanagari', U&'\0915\093C', U&'\0958'),
    ('order of marks', U&'a\0323\0302', U&'a\0302\0323'),
    ('Angstrom, Kelvin, Ohm', U&'\212B \212A \2126', U&'\00E5 k \03C9'),
    ('full width', U&'\FF21\FF22\FF23\FF11\FF12\FF13', 'abc123'),
    ('half width', U&'\FF76\FF85 \FF8A\FF9F \FFA1\FFC2', U&'\30AB\30CA \30D1 \1100\1161'),
    ('ideographic space', U&'a\3000b', 'a b'),
    ('case, Latin', 'ÀÉÎÕÜ ÇÑ ŁØĐ', 'àéîõü çñ łøđ'),
    ('case, Greek', 'ΑΘΗΝΑ', 'αθηνα'),
    ('case, Cyrillic', 'МОСКВА', 'москва'),
    ('case, Armenian', U&'\0540\0531\0545', U&'\0570\0561\0575'),
    ('case, Georgian', U&'\1C90\1C91', U&'\10D0\10D1'),
    ('case, Cherokee', U&'\13A0', U&'\AB70'),
    ('case, Deseret', U&'\+010400\+010401', U&'\+010428\+010429'),
    ('title case', U&'\01C5', U&'d\017E'),
    ('final sigma', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'),
    ('final sigma elsewhere', 'οδυσσευσ', 'οδυσσευς'),
    ('sharp s', 'Straße', 'STRASSE'),
    ('capital sharp s', U&'STRA\1E9EE', 'strasse'),
    ('long s', U&'wi\017F\017Fen', 'wissen'),
    ('ligatures', U&'o\FB03ce \FB02at', 'office flat'),
    ('iota below', U&'\1FB3', U&'\03B1\03B9'),
    ('superscripts', U&'x\00B2', 'x2'),
    ('circled', U&'\2460\24B6\3251', '1a21'),
    ('Roman numerals', U&'\2167', 'viii'),
    ('fractions', U&'\00BD', '1 2'),
    ('mathematical letters', U&'\+01D400\+01D4D0\+01D7D8', 'aa0'),
    ('squared units', U&'\339D', 'cm'),
    ('Arabic presentation forms', U&'\FEDF\FE8E', U&'\0644\0627'),
    ('ideographs, compatibility', U&'\F900\2F00', U&'\8C48\4E00'),
    ('zero-width space', U&'zero\200Bwidth', 'zerowidth'),
    ('zero-width non-joiner', U&'\0645\06CC\200C\062E\0648\0627\0647\0645', U&'\0645\06CC\062E\0648\0627\0647\0645'),
    ('zero-width joiner', U&'\0915\094D\200D\0937', U&'\0915\094D\0937'),
    ('word joiner, byte order mark', U&'\FEFFword\2060s', 'words'),
    ('soft hyphen', U&'hy\00ADphen\00ADation', 'hyphenation'),
    ('directions', U&'\200Eabc\200F \202Adef\202C \2066g\2069', 'abc def g'),
    ('variation selectors', U&'\845B\+0E0100 a\FE0F', U&'\845B a'),
    ('combining grapheme joiner', U&'a\034F\0301', U&'\00E1'),
    ('Hangul filler', U&'a\3164b', 'ab'),
    ('tags', U&'a\+0E0061b', 'ab'),
    ('no-break space', U&'a\00A0b\202Fc', 'a b c'),
    ('kinds of quotes and dashes', U&'\201Cdon\2019t\201D \2013 stop\2026', '"don''t" -- stop...'),
    ('ellipsis alone', U&'\2026', '...');
SELECT what, shingles(a, 1) AS a, shingles(b, 1) AS b FROM same
WHERE simhash(a) IS DISTINCT FROM simhash(b) OR simhash(a, 3, 'char') IS DISTINCT FROM simhash(b, 3, 'char')
   OR simhash(a) IS NULL OR shingles(a, 1) IS DISTINCT FROM shingles(b, 1);
SELECT count(*) AS same FROM same WHERE simhash(a) = simhash(b);
-- all normal forms have one fingerprint: NFC, NFD, NFKC and NFKD of the first plane.
-- Except characters with decompositions that are not in Unicode 15.0 but that servers
-- know: U+A7F1 of 17.0
SELECT count(*) AS compared,
       count(*) FILTER (WHERE s <> shingles(normalize(body, NFD), 1) OR s <> shingles(normalize(body, NFC), 1)
                           OR s <> shingles(normalize(body, NFKC), 1) OR s <> shingles(normalize(body, NFKD), 1))
           AS wrong
FROM generate_series(160, 65535) AS i,
     LATERAL (SELECT 'a' || chr(i) || 'b' AS body OFFSET 0) AS t, LATERAL (SELECT shingles(body, 1) AS s) AS l
WHERE i NOT BETWEEN 55296 AND 57343 AND i NOT BETWEEN 64976 AND 65007 AND i < 65534 AND i <> 42993;

-- These texts differ.
SELECT what, simhash(a) <> simhash(b) AS differ FROM (VALUES
    ('accents', 'cafe', 'café'),
    ('dotless i', U&'\0131', 'i'),
    ('dotted capital I', U&'\0130stanbul', 'istanbul'),
    ('hiragana and katakana', U&'\3042', U&'\30A2'),
    ('simplified and traditional', '爱', '愛'),
    ('Latin and Cyrillic a', 'a', 'а'),
    ('Arabic and European digits', '١', '1'),
    ('eng and n', 'ŋ', 'n')) AS v (what, a, b);
SELECT shingles('I İ ı i', 1) AS i;

-- Tokens of each script: a letter with its marks ...
SELECT script, shingles(body, 1) AS tokens FROM (VALUES
    (1, 'Chinese', '我爱北京。天安门'), (2, 'Chinese, extension B', U&'\+020000\+02A6D6'),
    (3, 'Chinese, zero', U&'\4E8C\3007\3007\4E00'),
    (4, 'hiragana', U&'\3042\308A\304C\3068\3046'), (5, 'katakana', U&'\30C6\30EC\30D3\30FB\30E9\30B8\30AA'),
    (6, 'kana, decomposed', U&'\304B\3099\30CF\309A'),
    (7, 'kana, small and long', U&'\30AD\30E3\30FC'),
    (8, 'Thai', U&'\0E17\0E35\0E48 \0E19\0E35\0E49'), (9, 'Thai, vowels', U&'\0E40\0E01\0E32\0E30'),
    (10, 'Lao', U&'\0E9E\0EB2\0EAA\0EB2\0EA5\0EB2\0EA7'),
    (11, 'Khmer', U&'\1781\17D2\1798\17C2\179A'),
    (12, 'Burmese', U&'\1019\103C\1014\103A\1019\102C')) AS v (i, script, body) ORDER BY i;
-- ... and a word with its marks
SELECT script, shingles(body, 1) AS tokens FROM (VALUES
    (1, 'Hangul', '한국어 위키백과'), (2, 'Arabic', U&'\0643\064E\062A\064E\0628\064E \0643\062A\0627\0628'),
    (3, 'Devanagari', U&'\0939\093F\0928\094D\0926\0940 \092D\093E\0937\093E'),
    (4, 'Cyrillic', 'Съешь ещё этих булок'), (5, 'Greek', 'Ξεσκεπάζω την ψυχοφθόρα'),
    (6, 'Hebrew', U&'\05E9\05C1\05B8\05DC\05D5\05B9\05DD \05E2\05D5\05DC\05DD'),
    (7, 'Armenian', U&'\0532\0561\0580\0587'), (8, 'Georgian', U&'\10D2\10D0\10DB\10D0\10E0'),
    (9, 'Tamil', U&'\0BA4\0BAE\0BBF\0BB4\0BCD \0BAE\0BCA\0BB4\0BBF'),
    (10, 'Bengali', U&'\09AC\09BE\0982\09B2\09BE'), (11, 'Ethiopic', U&'\12A0\121B\122D\129B'),
    (12, 'Mongolian', U&'\182E\1823\1829'),
    (13, 'Latin, decomposed', U&'Cre\0300me bru\0302le\0301e'),
    (14, 'digits of Arabic', '١٢٣ ٤٥')) AS v (i, script, body) ORDER BY i;
-- several scripts in one text
SELECT shingles('PostgreSQL数据库15版, ภาษาไทย2 Καὶ한국', 1) AS mixed;
-- words and characters of Thai, with a digit between them
SELECT shingles(U&'\0E01\0E34 2\0E02\0E34\0E03', 1) AS words,
       shingles(U&'\0E01\0E34 2\0E02\0E34\0E03', 2, 'char') AS chars;
-- a mark belongs to the character before it: a letter or a separator
SELECT shingles(U&'a\0489b', 1) AS within, shingles(U&'a \0489b', 1) AS after_a_space, shingles(U&'\0489a', 1) AS first,
       shingles(U&'a-\0489\0489', 1) AS after_a_dash,
       shingles(U&'\6211\0489\7231', 1) AS after_an_ideograph, shingles(U&'x\20E3', 1) AS enclosing;
SELECT shingles(U&'\0489', 1) AS alone, shingles(U&'\0489 \0489', 2) AS two, shingles(U&'-\0489', 1) AS with_a_dash;
-- Frozen at Unicode 15.0: a code point that 15.0 does not assign is a letter that
-- normalisation does not change, even if the server's own tables know it
SELECT what, shingles(body, 1) = ARRAY[body] AS unchanged FROM (VALUES
    (1, 'unassigned', U&'a\0378b'), (2, 'a capital letter of 16.0', U&'\A7CB'),
    (3, 'a capital letter of 16.0', U&'\1C89'),
    (4, 'a mark of 16.0', U&'a\0897\0323'), (5, 'two that 16.0 composes', U&'\+016D67\+016D67'),
    (6, 'and the composition', U&'\+016D68'),
    (7, 'private use', U&'\E000\E001\+0F0000')) AS v (i, what, body) ORDER BY i;
-- marks of 15.0 are ordered even if the server's own tables do not know them
SELECT shingles(U&'a\0301\+010EFD', 1) = shingles(U&'a\+010EFD\0301', 1) AS ordered;

-- Texts of symbols and emoji: each code point is a token.  Blank texts have no
-- fingerprint.
SELECT shingles('👍 👎', 1) AS emoji, shingles(U&'\+01F468\200D\+01F469', 1) AS joined,
       shingles(U&'\2764\FE0F', 1) AS variation, shingles('♔♕', 2, 'char') AS chess;
SELECT simhash(U&'\200B\200D\FEFF') IS NULL AS invisible, simhash(U&'\2003\3000') IS NULL AS spaces,
       simhash(U&'\FE0F') IS NULL AS selector;
SELECT simhash('👍') <> simhash('👎') AS differ, simhash('👍') = simhash(ARRAY['👍'], 1) AS as_token;

-- Very many marks.  Equal marks need no sort; different marks are sorted in acceptable
-- time, too.
SELECT simhash('a' || repeat(U&'\0301', 200000), 1) IS NOT NULL AS acute,
       simhash(repeat(U&'\0301', 200000)) IS NOT NULL AS nothing_else,
       simhash('a' || repeat(U&'\0301\0323', 100000), 1) IS NOT NULL AS two_kinds,
       simhash('a' || repeat(U&'\0345\0301\0323\0334', 50000), 3, 'char') IS NOT NULL AS four_kinds;
SELECT array_agg(DISTINCT length(s)) AS lengths, count(*)
FROM unnest(shingles('x' || repeat(U&'\0489', 200000), 1)) AS s;
SELECT simhash('x' || repeat(U&'\0316\0301', 15), 1)
           = simhash('x' || repeat(U&'\0316', 15) || repeat(U&'\0301', 15), 1) AS thirty_are_ordered;
-- runs near the limit of length are equal composed and decomposed, with and without
-- ignored characters
SELECT count(*) AS runs,
       count(*) FILTER (WHERE shingles(U&'\00E9' || marks, 1) <> shingles(U&'e\0301' || marks, 1)
                           OR shingles(U&'\1EC7' || marks || 'x', 1) <> shingles(U&'e\0302\0323' || marks || 'x', 1)
                           OR shingles(U&'\1EC7' || marks || 'x', 1)
                               <> shingles(U&'e\0302\00AD\0323' || replace(marks, U&'\0301', U&'\0301\200D') || 'x',
                                           1)) AS wrong
FROM generate_series(0, 100) AS n, unnest(ARRAY[U&'\0301', U&'\0323', U&'\0316\0301', U&'\0345', U&'\0334\0300']) AS m,
     LATERAL (SELECT repeat(m, n)) AS l (marks);
