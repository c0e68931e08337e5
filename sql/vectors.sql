--
-- Test vectors.  They pin the way from text to fingerprint: fingerprints are
-- stored data, so no release may change one.  A change needs a new function.
-- test/reference/simhash_reference.py computes the same ones from the
-- description of the algorithm, in another language.
--

-- XXH3, 64 bits, seed 0: values that the authors of xxHash publish
SELECT feature, simhash(ARRAY[feature], 1) AS fingerprint, simhash(ARRAY[feature], 1) = expected::simhash AS right
FROM (VALUES ('', '2d06800538d394c2'), ('a', 'e6c632b61e964e1f'), ('abc', '78af5f94892f3950')) AS v (feature, expected);

-- one shingle: its hash is the fingerprint
SELECT simhash('abc') = simhash(ARRAY['abc'], 1) AS word, simhash('Hello, World!') = simhash(ARRAY['hello world'], 1) AS words,
       simhash('hello world') AS fingerprint;

-- hashes whose majority can be counted by hand
SELECT what, right(simhash(hashes)::text, 4) AS low_bits, simhash(hashes) = expected::bigint::simhash AS right
FROM (VALUES
    ('one', ARRAY[x'00f0'::bigint], x'00f0'::bigint),
    ('two alike', ARRAY[x'00f0'::bigint, x'00f0'::bigint], x'00f0'::bigint),
    ('two: ties where they differ, 0', ARRAY[x'00f0'::bigint, x'0ff0'::bigint], x'00f0'::bigint),
    ('two opposites: all ties, 0', ARRAY[0::bigint, -1], 0),
    ('three: two of three', ARRAY[x'00ff'::bigint, x'0f0f'::bigint, x'3333'::bigint], x'033f'::bigint & x'03ff'::bigint | x'0303'::bigint),
    ('three, two alike', ARRAY[x'1234'::bigint, x'abcd'::bigint, x'1234'::bigint], x'1234'::bigint),
    ('four: three of four', ARRAY[1::bigint, 3, 7, 15], 3),
    ('five: three of five', ARRAY[1::bigint, 3, 7, 15, 31], 7),
    ('the highest bit', ARRAY[-9223372036854775808, -9223372036854775808, 0], -9223372036854775808),
    ('the highest bit, outvoted', ARRAY[-9223372036854775808, 0, 0], 0)) AS v (what, hashes, expected);
SELECT what, right(simhash(hashes, weights)::text, 4) AS low_bits, simhash(hashes, weights) = expected::bigint::simhash AS right
FROM (VALUES
    ('the heavier', ARRAY[x'00f0'::bigint, x'0f00'::bigint], ARRAY[2.0, 1.5], x'00f0'::bigint),
    ('two against one as heavy', ARRAY[1::bigint, 2, 2], ARRAY[2, 1, 1], 0),
    ('a little lighter', ARRAY[1::bigint, 2, 2], ARRAY[1.9, 1, 1], 2),
    ('negative: the complement', ARRAY[x'00f0'::bigint], ARRAY[-0.5], ~ x'00f0'::bigint),
    ('halves and a whole', ARRAY[x'000f'::bigint, x'00f0'::bigint, x'000f'::bigint], ARRAY[0.5, 0.999, 0.5], x'000f'::bigint),
    ('tenths add up exactly', ARRAY[1::bigint, 1, 1, 2], ARRAY[0.25, 0.25, 0.25, 0.75], 0),
    ('zero counts for nothing', ARRAY[1::bigint, 2], ARRAY[0, 1], 2)) AS v (what, hashes, weights, expected);

-- lexemes, with their labels' weights
SELECT simhash('fat:2,4 cat:3 rat:12A'::tsvector) AS defaults, simhash('fat:2,4 cat:3 rat:12A'::tsvector, '{0.1,0.2,0.4,0.1}') AS given,
       simhash('cat fat rat'::tsvector) AS stripped;
-- weighted features
SELECT simhash(ARRAY['rose', 'thorn', 'leaf', 'bee', 'stem'], ARRAY[5, 3.5, 2.25, -1, 0.125]) AS weighted;

-- texts of many languages, by words and by characters
CREATE TEMP TABLE vectors (id integer, language text, body text, word2 simhash, word1 simhash, word3 simhash, char3 simhash, char5 simhash);
INSERT INTO vectors VALUES
    (1, 'English', 'The quick brown fox jumps over the lazy dog.',
     '12bf80024a210544', '8212868318d29267', '5cc1c8efc0c9b905', 'a23ec5446cdf356c', '0f231859fb18ce61'),
    (2, 'English', 'We hold these truths to be self-evident, that all men are created equal, that they are endowed by their Creator with certain unalienable Rights, that among these are Life, Liberty and the pursuit of Happiness.',
     'eb6961f6b40bc3fb', '8448474b7bc3dc55', '26800da1c4323551', '070383f3d8395e14', 'e7c6d2d662e0f4fa'),
    (3, 'German', 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Straße, GRÖSSE, Äpfel: „Übermut tut selten gut“.',
     '6946e34ef419c4af', '1e1c526545d6b91c', '9a04300c22b2a722', 'bc26edf2abbbfc1e', 'b91b682bcede2e6d'),
    (4, 'French', 'Tous les êtres humains naissent libres et égaux en dignité et en droits.',
     'd8581014824b176e', 'bc31159853d3003f', 'd5248d83b7089013', 'ef0ff56861aa0e39', '5e88e24c92c29b66'),
    (5, 'Russian', 'Все люди рождаются свободными и равными в своём достоинстве и правах.',
     '0254019812674874', 'bf685db05c39b8dc', 'd90b366fa5fc3ba4', '2a64ede8f45a00af', '93889b82db6c7c10'),
    (6, 'Greek', 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.',
     '523d4b7385cfa933', '05c4f2d888865ea0', '1148d26987474210', 'd9549c4c6a44cdbc', 'cc5008962ff08ea2'),
    (7, 'Arabic', 'يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.',
     '492916437bf7002f', '251544c5a40780a6', '2260640d030c06c9', 'b8e9905e2a6112b5', '9a5478e8c08e85a5'),
    (8, 'Hebrew', 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.',
     '344924d31931de1f', '77f8b95fd48fec52', '04bf944afdebca52', 'd5d81458d10bc4a0', '4760805b46066b97'),
    (9, 'Hindi', 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।',
     '0a0917019e0a3805', '596afd91e7584874', '75955726896543c7', '80e1e9c8f735134f', 'ea8f6982ba53091f'),
    (10, 'Chinese', '人人生而自由，在尊严和权利上一律平等。',
     '8638264e54c73c45', '51566a5f31f5481f', 'e72da570335c188c', '8739262fc4cffc4d', 'e62185306a1c1ac6'),
    (11, 'Chinese (traditional)', '人人生而自由﹐在尊嚴和權利上一律平等。',
     '4239630d5cc77841', '5512eb7f51b74816', 'c52ba5cc0b04488e', 'c3f1660d65eff94d', 'e723a594691833d3'),
    (12, 'Japanese', 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。コンピューター',
     'a75ca4c9baf1b8fc', '8d797f6cd3ef5e8f', '88ff7208c63bed58', 'a759ac89feb9b87c', '88fe72884e3baf91'),
    (13, 'Korean', '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
     '469ecae1123fe0c9', '420210e76008269a', '6310c03e899a368c', '32104c74a36a029c', 'c230d81f0cdc6140'),
    (14, 'Thai', 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ',
     'a1f2f2631e306b85', '353a76bb259a1006', '4b53b01cb1dd08b1', '21989cc092b22f30', '482238c0b9cb9f21'),
    (15, 'Lao', 'ມະນຸດເກີດມາມີສິດເສລີພາບ',
     '2740e40a30e01134', 'fe1657a864c23219', '9680071060834227', '06186b4ed2653951', 'a090a248dc22870d'),
    (16, 'Khmer', 'មនុស្សទាំងអស់កើតមកមានសេរីភាព',
     '09090efd5a454b16', '550840155b84c4b5', '9e5ad348a2408cfc', '9ff0813ba942c59b', '4d6447e887650d5f'),
    (17, 'Burmese', 'လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့်',
     '1d88ac0a520cbb25', '6553923065d3a024', '0f12109a53d582ae', 'a318860b0911e5b4', '5182ab2b5a47ea26'),
    (18, 'Vietnamese', 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.',
     '1c1a005f6a0b9bcd', '8749752f55e792bc', '0541b8eda20dfee9', 'e3c062cef96fb680', '9212e7fa1c2c84f8'),
    (19, 'mixed', 'PostgreSQL 15 数据库 supports 全文検索 and ภาษาไทย, since 1996; ＦＵＬＬ　ＷＩＤＴＨ ½ ﬁne!',
     'b9ca90688030dc08', '65212e933e38f6b6', '48e455b8d83ab012', 'a5eb9420c5780eba', '7358d6f2e7996415'),
    (20, 'symbols', '★☆★ → ← !?',
     '58d0019cec1da419', '9ea3410e38dceaba', 'b4e8823ee9cc7623', '7cd1939aed5d8419', 'b4fce3bee98cf379'),
    (21, 'emoji', '😀😃😄 👍🏽 🇨🇳 👨‍👩‍👧',
     '1c685cb65447b949', '0918b66620811582', '40c540b801a7d0a0', '1ef1f4f690173809', '64c5702d03e750a9'),
    (22, 'digits', '3.14159 ١٢٣ १२३ ②',
     '01806c9401500906', '4324463a0e5c79d2', 'bca9fced1fc8f825', 'baec5a3aaa6b6fd0', '3a4b08c9b8fcfac0'),
    (23, 'one word', 'word',
     'e3ce369cf66c5c55', 'e3ce369cf66c5c55', 'e3ce369cf66c5c55', 'c15288d50008c003', 'e3ce369cf66c5c55'),
    (24, 'one ideograph', '我',
     '7931193e731884c4', '7931193e731884c4', '7931193e731884c4', '7931193e731884c4', '7931193e731884c4');
SELECT id, language, simhash(body) AS word2, simhash(body, 1) AS word1, simhash(body, 3) AS word3, simhash(body, 3, 'char') AS char3, simhash(body, 5, 'char') AS char5
FROM vectors ORDER BY id;
-- none of them differs
SELECT id, language FROM vectors
WHERE simhash(body) IS DISTINCT FROM word2 OR simhash(body, 1) IS DISTINCT FROM word1 OR simhash(body, 3) IS DISTINCT FROM word3
   OR simhash(body, 3, 'char') IS DISTINCT FROM char3 OR simhash(body, 5, 'char') IS DISTINCT FROM char5
ORDER BY id;
-- a long text, in which everything occurs
SELECT simhash(string_agg(body, E'\n' ORDER BY id)) AS word, simhash(string_agg(repeat(body || E'\n', 50), '' ORDER BY id)) AS repeated,
       simhash(string_agg(body, E'\n' ORDER BY id), 256) AS wide, simhash(string_agg(body, E'\n' ORDER BY id), 4, 'char') AS char
FROM vectors;
-- the letters of Latin, the syllables of Hangul, the first block of ideographs
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS latin FROM generate_series(1, 591) AS i;
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS hangul FROM generate_series(44032, 55203) AS i;
SELECT simhash(string_agg(chr(i), '' ORDER BY i)) AS ideographs FROM generate_series(19968, 40869) AS i;
