-- Searches one corpus by several indexes, and compares what each finds with the known
-- copies.  peers.sh runs this.  psql variables: rows; file, the documents; truth, their
-- families; searches, the number of queries; methods, a regular expression; seconds, the
-- limit of the searches of one method; seed; has_pgvector, has_bktree, has_smlar,
-- has_datasketch; and files to write: queries, results, sizes.
\ir one_core.sql
\ir quality/chance.sql
SET client_min_messages = warning;
SET maintenance_work_mem = '2GB';
CREATE EXTENSION pg_trgm;
\if :has_pgvector
CREATE EXTENSION vector;
\endif
\if :has_bktree
CREATE EXTENSION bktree;
\endif
\if :has_smlar
CREATE EXTENSION smlar;
\endif

CREATE TABLE docs (id bigint PRIMARY KEY, body text);
COPY docs FROM :'file';
CREATE TABLE truth (id bigint PRIMARY KEY, family bigint, edit text);
COPY truth FROM :'truth';
CREATE INDEX ON truth (family);

-- A code of 256 bits: four fingerprints, each by another hash.
CREATE FUNCTION words_of(body text) RETURNS simhash[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT simhash(ARRAY(SELECT n || shingle FROM unnest(shingles(body)) AS shingle), 1)
                 FROM generate_series(1, 4) AS n);

-- Digests have tables of their own, so that a sequential scan reads nothing else.
CREATE TABLE digest (relation text, seconds float8);
INSERT INTO digest VALUES
    ('docs', NULL),
    ('fingerprints', time_query('CREATE TABLE fingerprints AS SELECT id, simhash(body) AS fp FROM docs') / 1000),
    ('signatures', time_query('CREATE TABLE signatures AS
                               SELECT id, to_minhash(body)::minhash(18, 7) AS sig FROM docs') / 1000),
    ('signatures4', time_query('CREATE TABLE signatures4 AS
                                SELECT id, to_minhash(body, 32, 4)::minhash(32, 4) AS sig FROM docs') / 1000),
    ('shingles', time_query('CREATE TABLE shingles AS SELECT id, shingle_hashes(body) AS sk FROM docs') / 1000),
    ('bits', time_query('CREATE TABLE bits AS SELECT id, simhash(body)::bit(64) AS fp FROM docs') / 1000),
    ('hashes', time_query('CREATE TABLE hashes AS SELECT id, simhash(body)::bigint AS hash FROM docs') / 1000),
    ('codes', time_query('CREATE TABLE codes AS SELECT id, w[1] AS w0, w[2] AS w1, w[3] AS w2, w[4] AS w3
                          FROM (SELECT id, words_of(body) AS w FROM docs OFFSET 0) AS s') / 1000),
    ('bits256', time_query('CREATE TABLE bits256 AS
                            SELECT id, (w0::bit(64) || w1::bit(64) || w2::bit(64) || w3::bit(64))::bit(256) AS code
                            FROM codes') / 1000);
VACUUM ANALYZE;

CREATE TABLE query AS
SELECT id, body, simhash(body) AS fp, simhash(body)::bit(64) AS bits, to_minhash(body) AS sig,
       to_minhash(body, 32, 4) AS sig4, shingle_hashes(body) AS sk, w0, w1, w2, w3, code
FROM docs JOIN codes USING (id) JOIN bits256 USING (id)
ORDER BY chance(id, 1, :seed) LIMIT :searches;
COPY (SELECT id FROM query) TO :'queries';

-- The methods.  One without DDL uses the index before it.
CREATE TABLE method (n serial, name text, parameters text, relation text, ddl text, settings text, search text);
INSERT INTO method (name, parameters, relation, ddl, settings, search) VALUES
    ('primary key', 'id, for comparison', 'docs', NULL, '',
     'SELECT id FROM docs WHERE id = q.id'),
    ('sequential scan', 'within 8 bits', 'fingerprints', NULL, 'enable_seqscan=on',
     'SELECT id FROM fingerprints WHERE (fp <~> q.fp) + 0 <= 8'),
    ('simhash, fingerprints', 'within 3 bits', 'fingerprints',
     'CREATE INDEX peer ON fingerprints USING simhash (fp)', '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 3'),
    ('simhash, fingerprints', 'within 8 bits', 'fingerprints', NULL, '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 8'),
    ('simhash, fingerprints', 'within 10 bits', 'fingerprints', NULL, '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 10'),
    ('simhash, fingerprints', 'within 13 bits', 'fingerprints', NULL, '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 13'),
    ('simhash, fingerprints', 'within 10 bits, resemblance >= 0.5', 'fingerprints', NULL, '',
     'SELECT id FROM fingerprints JOIN docs USING (id)
      WHERE fp <~> q.fp <= 10 AND resemblance(docs.body, q.body, 2) >= 0.5'),
    ('simhash, signatures', '18 bands of 7, %', 'signatures', 'CREATE INDEX peer ON signatures USING simhash (sig)', '',
     'SELECT id FROM signatures WHERE sig % q.sig'),
    ('simhash, signatures', '%, resemblance >= 0.5', 'signatures', NULL, '',
     'SELECT id FROM signatures JOIN docs USING (id)
      WHERE sig % q.sig AND resemblance(docs.body, q.body, 2) >= 0.5'),
    ('simhash, signatures of 32 bands', '32 bands of 4, %', 'signatures4',
     'CREATE INDEX peer ON signatures4 USING simhash (sig)', '',
     'SELECT id FROM signatures4 WHERE sig % q.sig4'),
    ('simhash, all shingle hashes', 'resemblance >= 0.8', 'shingles',
     'CREATE INDEX peer ON shingles USING simhash (sk)', '',
     'SELECT id FROM shingles WHERE sk <%> q.sk <= 0.2'),
    ('simhash, all shingle hashes', 'resemblance >= 0.5', 'shingles', NULL, '',
     'SELECT id FROM shingles WHERE sk <%> q.sk <= 0.5'),
    -- a resemblance of at least t is a cosine of at least 2 t / (1 + t)
    ('smlar, GIN', 'resemblance >= 0.8', 'shingles', 'CREATE INDEX peer ON shingles USING gin (sk _int8_sml_ops)',
     'smlar.type=cosine smlar.threshold=0.888',
     'SELECT id FROM shingles WHERE sk % q.sk AND smlar(sk, q.sk, ''N.i / (N.a + N.b - N.i)'') >= 0.8::float4'),
    ('smlar, GIN', 'resemblance >= 0.5', 'shingles', NULL, 'smlar.type=cosine smlar.threshold=0.666',
     'SELECT id FROM shingles WHERE sk % q.sk AND smlar(sk, q.sk, ''N.i / (N.a + N.b - N.i)'') >= 0.5'),
    ('smlar, GiST', 'resemblance >= 0.5', 'shingles', 'CREATE INDEX peer ON shingles USING gist (sk _int8_sml_ops)',
     'smlar.type=cosine smlar.threshold=0.666',
     'SELECT id FROM shingles WHERE sk % q.sk AND smlar(sk, q.sk, ''N.i / (N.a + N.b - N.i)'') >= 0.5'),
    ('GIN on band keys', '18 bands of 7, &&', 'signatures',
     'CREATE INDEX peer ON signatures USING gin (minhash_bands(sig))', '',
     'SELECT id FROM signatures WHERE minhash_bands(sig) && minhash_bands(q.sig)'),
    ('four B-trees', 'within 3 bits', 'fingerprints',
     'CREATE INDEX peer ON fingerprints ((fp::bigint >> 48 & 65535));
      CREATE INDEX peer2 ON fingerprints ((fp::bigint >> 32 & 65535));
      CREATE INDEX peer3 ON fingerprints ((fp::bigint >> 16 & 65535));
      CREATE INDEX peer4 ON fingerprints ((fp::bigint & 65535))', '',
     'SELECT id FROM fingerprints
      WHERE ((fp::bigint >> 48 & 65535) = (q.fp::bigint >> 48 & 65535)
             OR (fp::bigint >> 32 & 65535) = (q.fp::bigint >> 32 & 65535)
             OR (fp::bigint >> 16 & 65535) = (q.fp::bigint >> 16 & 65535)
             OR (fp::bigint & 65535) = (q.fp::bigint & 65535))
            AND (fp <~> q.fp) + 0 <= 3'),
    ('GiST, fingerprints', 'within 3 bits', 'fingerprints', 'CREATE INDEX peer ON fingerprints USING gist (fp)', '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 3'),
    ('GiST, fingerprints', 'within 8 bits', 'fingerprints', NULL, '',
     'SELECT id FROM fingerprints WHERE fp <~> q.fp <= 8'),
    ('pgvector, hnsw', '50 nearest, within 8 bits', 'bits', 'CREATE INDEX peer ON bits USING hnsw (fp bit_hamming_ops)',
     'hnsw.ef_search=50',
     'SELECT id FROM (SELECT id, fp <~> q.bits AS d FROM bits ORDER BY fp <~> q.bits LIMIT 50) AS n WHERE d <= 8'),
    ('pgvector, hnsw', 'the same, ef_search = 200', 'bits', NULL, 'hnsw.ef_search=200',
     'SELECT id FROM (SELECT id, fp <~> q.bits AS d FROM bits ORDER BY fp <~> q.bits LIMIT 50) AS n WHERE d <= 8'),
    ('pgvector, ivfflat', '50 nearest, within 8 bits, 10 probes', 'bits',
     format('CREATE INDEX peer ON bits USING ivfflat (fp bit_hamming_ops) WITH (lists = %s)',
            greatest(:rows / 1000, 10)),
     'ivfflat.probes=10',
     'SELECT id FROM (SELECT id, fp <~> q.bits AS d FROM bits ORDER BY fp <~> q.bits LIMIT 50) AS n WHERE d <= 8'),
    ('pgvector, ivfflat', 'the same, 30 probes', 'bits', NULL, 'ivfflat.probes=30',
     'SELECT id FROM (SELECT id, fp <~> q.bits AS d FROM bits ORDER BY fp <~> q.bits LIMIT 50) AS n WHERE d <= 8'),
    ('sequential scan', '256 bits, within 31', 'bits256', NULL, 'enable_seqscan=on',
     'SELECT id FROM bits256 WHERE bit_count(code # q.code) <= 31'),
    ('simhash, 256 bits', 'within 31 bits', 'codes',
     'CREATE INDEX peer ON codes USING simhash (w0); CREATE INDEX peer2 ON codes USING simhash (w1);
      CREATE INDEX peer3 ON codes USING simhash (w2); CREATE INDEX peer4 ON codes USING simhash (w3)', '',
     'SELECT id FROM codes
      WHERE (w0 <~> q.w0 <= 7 OR w1 <~> q.w1 <= 7 OR w2 <~> q.w2 <= 7 OR w3 <~> q.w3 <= 7)
            AND (w0 <~> q.w0) + (w1 <~> q.w1) + (w2 <~> q.w2) + (w3 <~> q.w3) <= 31'),
    ('pgvector, hnsw, 256 bits', '50 nearest, within 31 bits', 'bits256',
     'CREATE INDEX peer ON bits256 USING hnsw (code bit_hamming_ops)', 'hnsw.ef_search=50',
     'SELECT id FROM (SELECT id, code <~> q.code AS d FROM bits256 ORDER BY code <~> q.code LIMIT 50) AS n
      WHERE d <= 31'),
    ('pgvector, hnsw, 256 bits', 'the same, ef_search = 200', 'bits256', NULL, 'hnsw.ef_search=200',
     'SELECT id FROM (SELECT id, code <~> q.code AS d FROM bits256 ORDER BY code <~> q.code LIMIT 50) AS n
      WHERE d <= 31'),
    ('BK-tree', 'within 3 bits', 'hashes', 'CREATE INDEX peer ON hashes USING spgist (hash bktree_ops)', '',
     'SELECT id FROM hashes WHERE hash <@ (q.fp::bigint, 3)'),
    ('BK-tree', 'within 8 bits', 'hashes', NULL, '', 'SELECT id FROM hashes WHERE hash <@ (q.fp::bigint, 8)'),
    ('BK-tree', 'within 10 bits', 'hashes', NULL, '', 'SELECT id FROM hashes WHERE hash <@ (q.fp::bigint, 10)'),
    ('pg_trgm, GIN', 'similarity >= 0.5', 'docs', 'CREATE INDEX peer ON docs USING gin (body gin_trgm_ops)',
     'pg_trgm.similarity_threshold=0.5',
     'SELECT id FROM docs WHERE body % q.body'),
    ('pg_trgm, GIN', 'similarity >= 0.3', 'docs', NULL, 'pg_trgm.similarity_threshold=0.3',
     'SELECT id FROM docs WHERE body % q.body'),
    ('pg_trgm, GiST', 'similarity >= 0.5', 'docs',
     'CREATE INDEX peer ON docs USING gist (body gist_trgm_ops (siglen = 256))', 'pg_trgm.similarity_threshold=0.5',
     'SELECT id FROM docs WHERE body % q.body');
DELETE FROM method WHERE name !~ :'methods' OR name ~ '^pgvector' AND NOT :'has_pgvector'::boolean
                         OR name = 'BK-tree' AND NOT :'has_bktree'::boolean
                        OR name ~ '^smlar' AND NOT :'has_smlar'::boolean;

CREATE TABLE built (name text, digests float8, build float8, bytes bigint);
CREATE TABLE result (name text, parameters text, id bigint, ms float8, found bigint[]);

-- Measures a method: builds its index, if it has one of its own, and searches, for a
-- limited time.  The function is planned once, as a prepared statement is.
CREATE PROCEDURE measure(number integer, max_seconds float8) LANGUAGE plpgsql AS $$
DECLARE
    m method := (SELECT method FROM method WHERE n = number);
    setting text;
    q query;
    began timestamptz;
    started timestamptz;
    found bigint[];
BEGIN
    IF m.ddl IS NOT NULL THEN
        DROP INDEX IF EXISTS peer, peer2, peer3, peer4;
        INSERT INTO built SELECT m.name, seconds, time_query(m.ddl) / 1000 FROM digest WHERE relation = m.relation;
        UPDATE built SET bytes = (SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^peer[234]?$')
        WHERE name = m.name;
    END IF;
    PERFORM set_config('enable_seqscan', 'off', true);
    FOREACH setting IN ARRAY string_to_array(m.settings, ' ') LOOP
        PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
    END LOOP;
    EXECUTE format('CREATE OR REPLACE FUNCTION search(q query) RETURNS SETOF bigint LANGUAGE plpgsql AS
                    $body$ BEGIN RETURN QUERY %s; END $body$', m.search);
    -- the first searches warm up
    PERFORM search(w) FROM (SELECT * FROM query LIMIT 5) AS w;
    began := clock_timestamp();
    FOR q IN SELECT * FROM query LOOP
        started := clock_timestamp();
        found := ARRAY(SELECT search(q));
        INSERT INTO result VALUES (m.name, m.parameters, q.id,
                                   extract(epoch FROM clock_timestamp() - started) * 1000, found);
        EXIT WHEN clock_timestamp() > began + max_seconds * interval '1 s';
    END LOOP;
END $$;
SET plan_cache_mode = force_generic_plan;
SELECT format('CALL measure(%s, %s)', n, :seconds) FROM method ORDER BY n \gexec

\if :has_datasketch
\set command 'python3 test/bench/peers.py ' :file ' ' :queries ' ' :results ' ' :sizes
\setenv COMMAND :command
\! $COMMAND
COPY result FROM :'results';
COPY built FROM :'sizes';
\endif

-- A document has as partners the others of its family.  Recall and precision are means
-- over the documents that have partners, and that find any.
\pset title 'the corpus'
SELECT count(*) AS documents, pg_size_pretty(sum(length(body))) AS text,
       (SELECT count(DISTINCT family) FROM truth) AS families, (SELECT count(*) FROM query) AS searches,
       current_setting('server_version') AS "PostgreSQL"
FROM docs;
CREATE VIEW searched AS
SELECT name, parameters, ms, cardinality(f.ids) AS found, id <> ALL (result.found) AS misses_itself,
       (SELECT count(*) FROM truth AS o WHERE o.family = t.family) - 1 AS partners,
       (SELECT count(*) FROM truth AS o WHERE o.id = ANY (f.ids) AND o.family = t.family) AS rightly
FROM result JOIN truth AS t USING (id), LATERAL (SELECT array_remove(found, id) AS ids) AS f;
\pset title 'recall, precision and latency'
SELECT name AS method, parameters, count(*) AS searches,
       round(avg(rightly / partners::numeric) FILTER (WHERE partners > 0), 3) AS recall,
       round(avg(rightly / found::numeric) FILTER (WHERE found > 0), 3) AS precision,
       round(avg(found - rightly), 2) AS "false, a search",
       count(*) FILTER (WHERE misses_itself) AS "misses itself",
       round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms))::numeric, 3) AS "ms, median",
       round((percentile_cont(0.95) WITHIN GROUP (ORDER BY ms))::numeric, 3) AS "ms, 95%"
FROM searched LEFT JOIN method USING (name, parameters) GROUP BY name, parameters ORDER BY min(n);
\pset title 'build and size'
SELECT b.name AS method, round(digests::numeric, 1) AS "digests, s", round(build::numeric, 1) AS "index, s",
       round(bytes / 1e6) AS "index, MB", round(bytes / :rows::numeric) AS "bytes a document"
FROM built AS b LEFT JOIN (SELECT name, min(n) AS n FROM method GROUP BY name) AS m USING (name) ORDER BY n;
