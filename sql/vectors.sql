--
-- Test vectors.  They pin the fingerprints of texts.  Fingerprints are stored data, so
-- no release may change one.  A change needs a new function.
-- test/reference/simhash_reference.py computes the same fingerprints from the
-- description of the algorithm, in another language.
--

-- XXH3, 64 bits, seed 0: values that the authors of xxHash publish
SELECT feature, simhash(ARRAY[feature], 1) AS fingerprint, simhash(ARRAY[feature], 1) = expected::simhash AS right
FROM (VALUES ('', '2d06800538d394c2'), ('a', 'e6c632b61e964e1f'), ('abc', '78af5f94892f3950')) AS v (feature, expected);

-- one shingle: its hash is the fingerprint
SELECT simhash('abc') = simhash(ARRAY['abc'], 1) AS word,
       simhash('Hello, World!') = simhash(ARRAY['hello world'], 1) AS words,
       simhash('hello world') AS fingerprint;

-- hashes whose majority is easy to count by hand
SELECT what, right(simhash(hashes)::text, 4) AS low_bits, simhash(hashes) = expected::bigint::simhash AS right
FROM (VALUES
    ('one', ARRAY[x'00f0'::bigint], x'00f0'::bigint),
    ('two alike', ARRAY[x'00f0'::bigint, x'00f0'::bigint], x'00f0'::bigint),
    ('two: ties where they differ, 0', ARRAY[x'00f0'::bigint, x'0ff0'::bigint], x'00f0'::bigint),
    ('two opposites: all ties, 0', ARRAY[0::bigint, -1], 0),
    ('three: two of three', ARRAY[x'00ff'::bigint, x'0f0f'::bigint, x'3333'::bigint],
     x'033f'::bigint & x'03ff'::bigint | x'0303'::bigint),
    ('three, two alike', ARRAY[x'1234'::bigint, x'abcd'::bigint, x'1234'::bigint], x'1234'::bigint),
    ('four: three of four', ARRAY[1::bigint, 3, 7, 15], 3),
    ('five: three of five', ARRAY[1::bigint, 3, 7, 15, 31], 7),
    ('the highest bit', ARRAY[-9223372036854775808, -9223372036854775808, 0], -9223372036854775808),
    ('the highest bit, outvoted', ARRAY[-9223372036854775808, 0, 0], 0)) AS v (what, hashes, expected);
SELECT what, right(simhash(hashes, weights)::text, 4) AS low_bits,
       simhash(hashes, weights) = expected::bigint::simhash AS right
FROM (VALUES
    ('the heavier', ARRAY[x'00f0'::bigint, x'0f00'::bigint], ARRAY[2.0, 1.5], x'00f0'::bigint),
    ('two against one as heavy', ARRAY[1::bigint, 2, 2], ARRAY[2, 1, 1], 0),
    ('a little lighter', ARRAY[1::bigint, 2, 2], ARRAY[1.9, 1, 1], 2),
    ('negative: the complement', ARRAY[x'00f0'::bigint], ARRAY[-0.5], ~ x'00f0'::bigint),
    ('halves and a whole', ARRAY[x'000f'::bigint, x'00f0'::bigint, x'000f'::bigint], ARRAY[0.5, 0.999, 0.5],
     x'000f'::bigint),
    ('tenths add up exactly', ARRAY[1::bigint, 1, 1, 2], ARRAY[0.25, 0.25, 0.25, 0.75], 0),
    ('zero counts for nothing', ARRAY[1::bigint, 2], ARRAY[0, 1], 2)) AS v (what, hashes, weights, expected);

-- lexemes, with their labels' weights
SELECT simhash('fat:2,4 cat:3 rat:12A'::tsvector) AS defaults,
       simhash('fat:2,4 cat:3 rat:12A'::tsvector, '{0.1,0.2,0.4,0.1}') AS given,
       simhash('cat fat rat'::tsvector) AS stripped;
-- weighted features
SELECT simhash(ARRAY['rose', 'thorn', 'leaf', 'bee', 'stem'], ARRAY[5, 3.5, 2.25, -1, 0.125]) AS weighted;

-- texts in many languages, by words and by characters
CREATE TEMP TABLE vectors (
    id integer, language text, body text, word2 simhash, word1 simhash, word3 simhash, char3 simhash, char5 simhash);
INSERT INTO vectors VALUES
    (1, 'English', 'The quick brown fox jumps over the lazy dog.',
     '12bf80024a210544', '8200868208529263', '5cc1c8efc0c9b905', 'a23ec554685f346c', '0f231859fb18ce61'),
    (2, 'English',
     'We hold these truths to be self-evident, that all men are created equal, that they are endowed by '
     'their Creator with certain unalienable Rights, that among these are Life, Liberty and the pursuit '
     'of Happiness.',
     'eb6961f6b40bc3fb', 'a668454377c3dc51', '26800da1c4323551', '164763e2d839ff95', 'e6c6d2d666e0b4fa'),
    (3, 'German',
     'Alle Menschen sind frei und gleich an Würde und Rechten geboren. '
     'Straße, GRÖSSE, Äpfel: „Übermut tut selten gut“.',
     '6946e34ef419c4af', '3e1c526555d6f91c', '9a04300c22b2a722', 'b8266fd22ff9bc1c', 'b91b682b8ede2e6d'),
    (4, 'French', 'Tous les êtres humains naissent libres et égaux en dignité et en droits.',
     'd8581014824b176e', 'b8211dd873d30037', 'd5248d83b7089013', 'ff0bf56a619b0639', '5e08e24c92829b26'),
    (5, 'Russian', 'Все люди рождаются свободными и равными в своём достоинстве и правах.',
     '0254019812674874', 'bc6855b04839b8dc', 'd90b366fa5fc3ba4', '0a64ade8e45a002b', '93889b83db6e7c12'),
    (6, 'Greek', 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.',
     '523d4b7385cfa933', '05e4f2df88865ea0', '1148d26987474210', 'dd549e0c6246cf94', 'ce500a962ff08fa2'),
    (7, 'Arabic', 'يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.',
     '492916437bf7002f', '251544c5a40780a6', '2260640d030c06c9', 'bce9965e2e7193b5', '9a5478e8c08e85a5'),
    (8, 'Hebrew', 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.',
     '344924d31931de1f', '76f8391ed40fa442', '04bf944afdebca52', 'd5d41458d129c4a0', '4760807b66066b97'),
    (9, 'Hindi', 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।',
     '0a0917019e0a3805', '596af581c7000854', '75955726896543c7', '80e1f9c8f7359347', 'ea8f6982ba53091f'),
    (10, 'Chinese', '人人生而自由，在尊严和权利上一律平等。',
     '8638264e54c73c45', '1106425f30f5481e', 'e72da570335c188c', '8739262fc4cffc4d', 'e62185306a1c1ac6'),
    (11, 'Chinese (traditional)', '人人生而自由﹐在尊嚴和權利上一律平等。',
     '4239630d5cc77841', '1512ca7f40b54816', 'c52ba5cc0b04488e', 'c3f1660d65eff94d', 'e723a594691833d3'),
    (12, 'Japanese', 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。コンピューター',
     'a75ca4c9baf1b8fc', '8f797b6d52ed7c8f', '88ff7208c63bed58', '2759ac89beb9e87c', '883e70884e3baf91'),
    (13, 'Korean', '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
     '469ecae1123fe0c9', '420210e76008269a', '6310c03e899a368c', '32104c74a36a029c', 'c230d81f0cdc6140'),
    (14, 'Thai', 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ',
     'a1f2f0432e306ba5', '753f367a354ab826', '4b53b81cb1dd08b1', '219cbe4192b2af34', 'c82238c0b9cf9f21'),
    (15, 'Lao', 'ມະນຸດເກີດມາມີສິດເສລີພາບ',
     '0340a40a20e01134', 'fe1677cdd4c2361b', '9680071060834227', '2f18ebeed263b959', 'b4b4aa48dd22c70d'),
    (16, 'Khmer', 'មនុស្សទាំងអស់កើតមកមានសេរីភាព',
     '09090efd5a454b16', '5518c4155b84c4bf', '9e5ad348a2408cfc', '9ff0813ba942c59b', '4d6447e887650d5f'),
    (17, 'Burmese', 'လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့်',
     '1d88ac0a520cbb25', '6553923065d3a024', '0f12109a53d582ae', 'e318860f0911f5b4', '5182ab2b5a47ea26'),
    (18, 'Vietnamese', 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.',
     '1c1a005f6a0b9bcd', '87485427554392b8', '0541b8eda20dfee9', 'efc062cffd6fb684', '9212e7fa1c2c84f8'),
    (19, 'mixed', 'PostgreSQL 15 数据库 supports 全文検索 and ภาษาไทย, since 1996; ＦＵＬＬ　ＷＩＤＴＨ ½ ﬁne!',
     'b9ca90688030dc08', '65212e133e38f296', '48e455b8d83ab012', 'a5cb9420c4580cba', '7358d6f2e7996415'),
    (20, 'symbols', '★☆★ → ← !?',
     '58d0019cec1da419', '9a22410a1814283a', 'b4e8823ee9cc7623', '7cd1939aed5d8419', 'b4fce3bee98cf379'),
    (21, 'emoji', '😀😃😄 👍🏽 🇨🇳 👨‍👩‍👧',
     '1c685cb65447b949', '0918b66620811582', '40c540b801a7d0a0', '1ef1f4f690173809', '64c5702d03e750a9'),
    (22, 'digits', '3.14159 ١٢٣ १२३ ②',
     '01806c9401500906', '4324463a0e5c79d2', 'bca9fced1fc8f825', 'baec5a3aaa6b6fd0', '3a4b08c9b8fcfac0'),
    (23, 'one word', 'word',
     'e3ce369cf66c5c55', 'e3ce369cf66c5c55', 'e3ce369cf66c5c55', 'c15288d50008c003', 'e3ce369cf66c5c55'),
    (24, 'one ideograph', '我',
     '7931193e731884c4', '7931193e731884c4', '7931193e731884c4', '7931193e731884c4', '7931193e731884c4');
SELECT id, language, simhash(body) AS word2, simhash(body, 1) AS word1, simhash(body, 3) AS word3,
       simhash(body, 3, 'char') AS char3, simhash(body, 5, 'char') AS char5
FROM vectors ORDER BY id;
-- no fingerprint differs
SELECT count(*) AS compared, array_agg(language) FILTER (
           WHERE simhash(body) IS DISTINCT FROM word2
              OR simhash(body, 1) IS DISTINCT FROM word1
              OR simhash(body, 3) IS DISTINCT FROM word3
              OR simhash(body, 3, 'char') IS DISTINCT FROM char3
              OR simhash(body, 5, 'char') IS DISTINCT FROM char5) AS wrong
FROM vectors;
-- a long text, which contains all of them
SELECT simhash(string_agg(body, E'\n' ORDER BY id)) AS word,
       simhash(string_agg(repeat(body || E'\n', 50), '' ORDER BY id)) AS repeated,
       simhash(string_agg(body, E'\n' ORDER BY id), 256) AS wide,
       simhash(string_agg(body, E'\n' ORDER BY id), 4, 'char') AS char
FROM vectors;
-- rare features of texts, and their rules in docs/specification.md
CREATE TEMP TABLE rules (what text, body text, word2 simhash, char3 simhash);
INSERT INTO rules VALUES
    ('31 marks, of which 30 count', 'a' || repeat(U&'\0301', 31) || ' b',
     '1fd1cc19ee6cfc53', 'a348025000cac222'),
    ('the first ones in canonical order', 'a' || repeat(U&'\0301', 30) || U&'\0323 b',
     '75e92866540a7f02', '33c04210004bc302'),
    ('31 of a mark that becomes a letter', U&'\03B1' || repeat(U&'\0345', 31) || ' b',
     '4f6f01b4f23a0f2e', '9628dd2af5060500'),
    ('and marks that were none behind it', U&'\30AB\0345\FF9E\FF76\FF9E\FF8A\FF9F\0345',
     '254ac08682026922', '400a89160e000043'),
    ('what does not count keeps no marks apart', U&'a\0301\034F\0323 b\00ADc\200Dd',
     'f2c624169c72b1cd', '91801200027b33ad'),
    ('marks after a space and after a symbol', U&'a \0301b!\0323c',
     '8040d08024182c0c', '9044f0a87638ac4c'),
    ('nothing but marks', U&'\0301 \0323\0301',
     '70000a0430843807', '7181ba14729c7e57'),
    ('unassigned', U&'\0378\0379 \+0323B0x',
     '8a66404f212af7f7', '40608e8a668c3914'),
    ('unassigned, but ignorable', U&'x\2065y \FFF0\+0E0080z',
     '5bc787a0057f3fcb', '5825bf461974a50c'),
    ('for private use', U&'\E000x\+0F0000 \+10FFFDy',
     'a543a719ffe432a6', 'a810028b4906a93c'),
    ('words of more than 1,024 letters', repeat('x', 1025) || ' ' || repeat('é', 2048),
     '4918c3475a057020', '399e8d06c0bda083'),
    ('numbers, letters and marks of ideographic scripts', '〇一〡々〆〱ーｰ゛〼ㇰⅧ㊀㍿',
     '28c063938b19cf9a', '2e052dd2035b4d58'),
    ('letters of scripts without spaces, and digits', 'กำ๑ ᧁ᧑ ꪀ 𑜀𑜰',
     '409beb70530e030f', '40c901643342130d'),
    ('two shingles, whose ties are 0', 'one two three',
     '831008a200150010', '3216a96d591dd4a9'),
    ('four', 'one two three four five',
     '8010082200850294', '7017ab6d481194ab');
-- no fingerprint differs
SELECT count(*) AS compared, array_agg(what) FILTER (
           WHERE simhash(body) IS DISTINCT FROM word2 OR simhash(body, 3, 'char') IS DISTINCT FROM char3) AS wrong
FROM rules;
-- the letters of Latin, the syllables of Hangul, the first block of ideographs
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS latin FROM generate_series(1, 591) AS i;
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS hangul FROM generate_series(44032, 55203) AS i;
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS ideographs FROM generate_series(19968, 40869) AS i;
-- more distinct shingles than the limit, in any order
SELECT simhash(string_agg(i::text, ' ' ORDER BY i), 1) AS forwards,
       simhash(string_agg(i::text, ' ' ORDER BY -i), 1) AS backwards
FROM generate_series(1, 1700000) AS i;
-- 2^20 + 1 distinct shingles: if all of them counted, or 2^20 - 1 of them, the second
-- digit would be 2
SELECT simhash(string_agg(i::text, ' ' ORDER BY i), 1) AS limited FROM generate_series(2, 1048579) AS i WHERE i <> 6;
