--
-- simhash_blocks: near fingerprints have an equal block
--
SELECT simhash_blocks('0123456789abcdef', 4), to_hex(simhash_blocks('0123456789abcdef', 4) / 4) AS block;
SELECT simhash_blocks(fp, 1) AS whole, simhash_blocks(fp, 1) = fp::bigint AS same
FROM (VALUES (simhash '0123456789abcdef'), ('ffffffffffffffff'), ('8000000000000000')) AS v (fp);
-- for four blocks the formula is easy; block 0 is the last
SELECT count(*) AS compared,
       count(*) FILTER (
           WHERE block IS DISTINCT FROM ((fp::bigint >> (16 * (n::integer - 1))) & 65535) * 4 + n - 1) AS wrong
FROM (SELECT random_fp(i) AS fp FROM generate_series(1, 1000) AS i) AS t,
     simhash_blocks(fp, 4) WITH ORDINALITY AS b (block, n);
SELECT simhash_blocks(NULL, 4), simhash_blocks('0123456789abcdef', NULL);
SELECT count(*)
FROM simhash_blocks('0123456789abcdef', 64) AS a, simhash_blocks(fp => '0123456789abcdef', blocks => 3) AS b;

-- For any number of blocks, each value includes the block's position, and the blocks'
-- bits together are the fingerprint.  If the blocks do not divide 64, the first ones by
-- significance are one bit wider.
SELECT count(DISTINCT blocks) AS cuts, count(*) AS compared,
       count(*) FILTER (WHERE parts <> blocks OR again <> fp::bit(64)) AS wrong
FROM generate_series(1, 64) AS blocks,
     (VALUES (simhash '0000000000000000'), ('ffffffffffffffff'), ('8000000000000001'),
             (random_fp(1)), (random_fp(2))) AS v (fp),
     LATERAL (SELECT count(DISTINCT block) AS parts,
                     string_agg(right(bits, 64 / blocks + (blocks - n < 64 % blocks)::integer), ''
                                ORDER BY n DESC)::bit(64) AS again
              FROM simhash_blocks(fp, blocks) WITH ORDINALITY AS b (block, n),
                   LATERAL (SELECT CASE blocks WHEN 1 THEN block
                                ELSE (block - n + 1) / blocks END::bit(64)::text AS bits) AS s) AS c;

-- All pairs within blocks - 1 bits, found by equality.
CREATE TEMP TABLE docs AS SELECT i AS id, fp_of('mixed', i) AS fp FROM generate_series(1, 200) AS i
    UNION ALL SELECT 1000 + i, flip(random_fp(i), i % 64, i) FROM generate_series(1, 100) AS i
    UNION ALL SELECT 2000, NULL;
CREATE FUNCTION pg_temp.pairs(n integer)
    RETURNS TABLE (by_equality bigint, by_eye bigint, differing bigint) LANGUAGE plpgsql AS $$
DECLARE
    equality text := format(
        'SELECT DISTINCT a.id, b.id FROM (SELECT id, fp, simhash_blocks(fp, %1$s) AS block FROM docs) AS a
                             JOIN (SELECT id, fp, simhash_blocks(fp, %1$s) AS block FROM docs) AS b
                             ON a.block = b.block AND a.id < b.id WHERE a.fp <~> b.fp <= %1$s - 1', n);
    eye text := format(
        'SELECT a.id, b.id FROM docs AS a, docs AS b WHERE (a.fp <~> b.fp) + 0 <= %s - 1 AND a.id < b.id', n);
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) AS s', equality) INTO by_equality;
    EXECUTE format('SELECT count(*) FROM (%s) AS s', eye) INTO by_eye;
    differing := (differing(equality, eye)).differing;
    RETURN NEXT;
END $$;
SELECT blocks, p.*
FROM unnest(ARRAY[1, 2, 3, 4, 5, 9, 13, 16, 17, 33, 64]) AS blocks, pg_temp.pairs(blocks) AS p ORDER BY blocks;
