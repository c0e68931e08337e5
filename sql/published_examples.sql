--
-- Worked examples of the literature
--

-- Distances of three often quoted fingerprints, 851459198, 847263864 and 984968088.
SELECT a, b, a::simhash <~> b::simhash AS distance
FROM (VALUES (851459198::bigint, 847263864::bigint),
             (851459198, 984968088),
             (847263864, 984968088)) AS pair (a, b)
ORDER BY a DESC, b;

-- Two features with 6-bit hashes 100101 (weight 4) and 101011 (weight 5).  The sums are
-- 9, -9, 9 - 8 = 1, -1, 1, 9, from left to right, hence 101011.
SELECT right(simhash(ARRAY[b'100101'::bigint, b'101011'::bigint], ARRAY[4, 5])::bit(64)::text, 6)
    AS six_bits;
SELECT simhash(ARRAY[b'100101'::bigint, b'101011'::bigint], ARRAY[4, 5])
     = (b'101011'::bigint)::simhash AS the_others_are_zero;
-- with equal weights the bits in which the two differ are ties, hence 0
SELECT right(simhash(ARRAY[b'100101'::bigint, b'101011'::bigint])::bit(64)::text, 6) AS six_bits;

-- Broder: the 4-shingles of a rose
SELECT ordinality, shingle
FROM unnest(shingles('a rose is a rose is a rose', 4)) WITH ORDINALITY AS s (shingle, ordinality)
ORDER BY ordinality;
SELECT count(DISTINCT shingle) AS distinct_shingles
FROM unnest(shingles('a rose is a rose is a rose', 4)) AS s (shingle);

-- Broder: a part is contained in its whole, but resembles it less
SELECT containment('a rose is a rose', 'a rose is a rose is a rose', 4) AS part_in_whole,
       containment('a rose is a rose is a rose', 'a rose is a rose', 4) AS whole_in_part,
       resemblance('a rose is a rose', 'a rose is a rose is a rose', 4) AS resemblance;
SELECT containment('the cat sat', 'once upon a time the cat sat on the mat') AS part_in_whole;
-- the number of repetitions does not count
SELECT resemblance('a rose is a rose is a rose', 'a rose is a rose is a rose is a rose', 4) AS same_set;

-- "a cat that sat on the mat" is nearer to "a cat that sat on a mat" than to ice cream.
WITH phrase (body) AS (VALUES ('the cat sat on the mat'), ('the cat sat on a mat'), ('we all scream for ice cream'))
SELECT a.body AS a, b.body AS b,
       resemblance(a.body, b.body, 2) AS resemblance,
       simhash(a.body) <~> simhash(b.body) AS distance
FROM phrase AS a, phrase AS b
WHERE a.body > b.body
ORDER BY distance;
SELECT unit, width,
       simhash('the cat sat on the mat', width, unit) <~> simhash('the cat sat on a mat', width, unit)
     < simhash('the cat sat on the mat', width, unit) <~> simhash('we all scream for ice cream', width, unit)
       AS nearer
FROM (VALUES ('word', 1), ('word', 2), ('char', 3), ('char', 4), ('char', 5)) AS s (unit, width)
ORDER BY unit DESC, width;

-- Charikar: the fraction of differing bits estimates the angle between the vectors.
-- 2,000 features, half of them common, all of weight 1: the cosine is 1/2, the angle 60
-- degrees, so about 64 / 3 = 21.3 bits differ.
SELECT distance BETWEEN 14 AND 29 AS about_21
FROM (SELECT a, b, a <~> b AS distance
      FROM (SELECT simhash_agg('feature ' || i) FILTER (WHERE i <= 2000) AS a,
                   simhash_agg('feature ' || i) FILTER (WHERE i > 1000) AS b
            FROM generate_series(1, 3000) AS i) AS fingerprints) AS distances;
