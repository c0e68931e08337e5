-- Tables with every type, operator class, constraint, type modifier and generated column,
-- and the searches that are compared once they have moved to another server.  Needs
-- sql/setup.sql.

-- Texts of families of five, which differ in a word.  Some are NULL.
CREATE FUNCTION text_of(i integer) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN i % 40 > 0 THEN
        (SELECT string_agg(md5(format('%s %s', i / 5 + CASE WHEN w = i % 5 THEN i ELSE 0 END, w)), ' ' ORDER BY w)
         FROM generate_series(1, 60) AS w) END;

CREATE DOMAIN words AS minhash(20, 5, 'word', 2) CHECK (minhash_cardinality(VALUE) > 0);
CREATE TABLE docs (
    id integer PRIMARY KEY,
    body text DEFAULT 'some text',
    fp simhash GENERATED ALWAYS AS (simhash(body)) STORED,
    fps simhash[] GENERATED ALWAYS AS (ARRAY[simhash(body)]) STORED,
    ball simhash_ball GENERATED ALWAYS AS (simhash_ball(simhash(body), 3)) STORED,
    sig minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED,
    chars minhash(5, 4, 'char', 9) DEFAULT to_minhash('some text', 5, 4, 9, 'char'),
    features minhash(6, 4, 'feature'),
    hashes minhash(6, 4, 'hash'),
    words words,
    plain minhash,
    sk bigint[] GENERATED ALWAYS AS (winnow(body, 8)) STORED,
    multiples bigint[] GENERATED ALWAYS AS (sketch(body, 4)) STORED,
    shingles bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED,
    near sketch_ball,
    CHECK (fp <~> simhash(body) = 0),
    CHECK (fp <@ ball),
    CHECK (sig % to_minhash(body)),
    CHECK (shingles <%> shingle_hashes(body) = 0));
CREATE INDEX docs_ball ON docs USING simhash (ball);
CREATE INDEX docs_fps ON docs USING simhash ((fps[1]));
CREATE INDEX docs_sig ON docs USING simhash (sig);
CREATE INDEX docs_chars ON docs USING simhash (chars);
CREATE INDEX docs_features ON docs USING simhash (features);
CREATE INDEX docs_hashes ON docs USING simhash (hashes);
CREATE INDEX docs_words ON docs USING simhash (words);
CREATE INDEX docs_plain ON docs USING simhash ((plain::minhash(18, 7)));
CREATE INDEX docs_sk ON docs USING simhash (sk);
CREATE INDEX docs_multiples ON docs USING simhash (multiples);
CREATE INDEX docs_shingles ON docs USING simhash (shingles);
CREATE INDEX docs_some ON docs USING simhash (fp) WHERE id % 2 = 0;
INSERT INTO docs (id, body, chars, features, hashes, words, plain, near)
SELECT i, body, to_minhash(body, 5, 4, 9, 'char'),
    (SELECT minhash_agg(word, 6, 4) FROM string_to_table(body, ' ') AS word),
    to_minhash(winnow(body, 8), 6, 4), to_minhash(body, 20, 5, 2), to_minhash(body),
    sketch_ball(winnow(body, 8), 0.5)
FROM generate_series(1, 300) AS i, LATERAL (SELECT text_of(i) AS body) AS t;

-- The designs of an index of fingerprints, and the other access methods
CREATE TABLE fps AS SELECT id, fp, ball FROM docs;
CREATE TABLE fps_10 AS TABLE fps;
CREATE TABLE fps_nested AS TABLE fps;
CREATE TABLE fps_gist AS TABLE fps;
CREATE TABLE fps_hash AS TABLE fps;
CREATE TABLE fps_btree AS SELECT id, fp, sig FROM docs;
CREATE INDEX fps_fp ON fps USING simhash (fp);
CREATE INDEX fps_10_fp ON fps_10 USING simhash (fp) WITH (blocks = 5, prefix = 2);
CREATE INDEX fps_nested_fp ON fps_nested USING simhash (fp) WITH (nested = 4);
CREATE INDEX fps_gist_fp ON fps_gist USING gist (fp);
CREATE INDEX fps_gist_ball ON fps_gist USING gist (ball);
CREATE INDEX fps_hash_fp ON fps_hash USING hash (fp);
CREATE INDEX fps_hash_ball ON fps_hash USING hash (ball);
CREATE INDEX fps_btree_fp ON fps_btree (fp);
CREATE INDEX fps_btree_sig ON fps_btree (sig);

-- Constraints
CREATE TABLE apart (
    id integer, fp simhash UNIQUE, sig minhash(18, 7),
    CONSTRAINT apart_fp EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=),
    CONSTRAINT apart_sig EXCLUDE USING simhash (sig WITH %));
CREATE TABLE apart_sets (
    id integer, sk bigint[], near sketch_ball,
    CONSTRAINT apart_sk EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=),
    CONSTRAINT apart_near EXCLUDE USING simhash (near WITH =~=));
CREATE TABLE apart_later (
    fp simhash, CONSTRAINT apart_gist EXCLUDE USING gist (simhash_ball(fp, 3) WITH =~=) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE referring (fp simhash REFERENCES apart (fp));
INSERT INTO apart SELECT id, fp, sig FROM docs WHERE id % 5 = 0 ON CONFLICT DO NOTHING;
INSERT INTO apart_sets SELECT id, sk, near FROM docs WHERE id % 5 = 0 OR id = 123 ON CONFLICT DO NOTHING;
INSERT INTO apart_later SELECT fp FROM apart;
INSERT INTO referring SELECT fp FROM apart;

-- Partitions, a view, a materialized view, and a function with operators in its body
CREATE TABLE parted (id integer, fp simhash, sig minhash(18, 7)) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (150);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
CREATE INDEX parted_fp ON parted USING simhash (fp);
CREATE INDEX parted_sig ON parted USING simhash (sig);
INSERT INTO parted SELECT id, fp, sig FROM docs;
CREATE VIEW near_pairs AS
    SELECT a.id, b.id AS other FROM docs AS a JOIN docs AS b ON a.id < b.id AND a.sig % b.sig AND a.fp <~> b.fp <= 20;
CREATE VIEW near_sets AS
    SELECT a.id, b.id AS other FROM docs AS a JOIN docs AS b ON a.id < b.id AND a.shingles <%> b.shingles <= 0.2;
CREATE MATERIALIZED VIEW copies AS SELECT id, body, sig FROM docs WHERE body IS NOT NULL;
CREATE INDEX copies_sig ON copies USING simhash (sig);
CREATE INDEX copies_body ON copies USING simhash ((to_minhash(body, 20, 5, 2)::minhash(20, 5, 'word', 2)));
CREATE FUNCTION near_ids(q simhash) RETURNS SETOF integer LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT id FROM fps WHERE fp <~> q <= 12; END;

-- Searches, and the index that each of them uses
CREATE TABLE searches (index text, query text);
INSERT INTO searches
SELECT v.* FROM docs AS d, LATERAL (VALUES
    ('docs_fps', format('SELECT id FROM docs WHERE fps[1] <~> %L <= 12', fp)),
    ('docs_ball', format('SELECT id FROM docs WHERE ball =~= %L', simhash_ball(fp, 12))),
    ('docs_some', format('SELECT id FROM docs WHERE fp <~> %L <= 12 AND id %% 2 = 0', fp)),
    ('docs_sig', format('SELECT id FROM docs WHERE sig %% %L', sig)),
    ('docs_chars', format('SELECT id FROM docs WHERE chars %% %L', chars)),
    ('docs_features', format('SELECT id FROM docs WHERE features %% %L', features)),
    ('docs_hashes', format('SELECT id FROM docs WHERE hashes %% %L', hashes)),
    ('docs_words', format('SELECT id FROM docs WHERE words %% %L', words)),
    ('docs_plain', format('SELECT id FROM docs WHERE plain::minhash(18, 7) %% %L', plain)),
    ('docs_sk', format('SELECT id FROM docs WHERE sk <%%>> %L <= 0.5', sk)),
    ('docs_sk', format('SELECT id FROM docs WHERE sk <%%>@ %L', near)),
    ('docs_multiples', format('SELECT id FROM docs WHERE multiples && %L', multiples)),
    ('docs_multiples', format('SELECT id FROM docs WHERE multiples @> %L', multiples[1:2])),
    ('docs_multiples', format('SELECT id FROM docs WHERE multiples <@ %L', multiples)),
    ('docs_shingles', format('SELECT id FROM docs WHERE shingles <%%> %L <= 0.2', shingles)),
    ('fps_fp', format('SELECT id FROM fps WHERE fp <~> %L <= 12', fp)),
    ('fps_fp', 'SELECT id FROM fps WHERE fp IS NULL'),
    ('fps_10_fp', format('SELECT id FROM fps_10 WHERE fp <~> %L <= 12', fp)),
    ('fps_nested_fp', format('SELECT id FROM fps_nested WHERE fp <~> %L <= 12', fp)),
    ('fps_gist_fp', format('SELECT id FROM fps_gist WHERE fp <~> %L <= 12', fp)),
    ('fps_gist_ball', format('SELECT id FROM fps_gist WHERE ball =~= %L', simhash_ball(fp, 12))),
    ('fps_hash_fp', format('SELECT id FROM fps_hash WHERE fp = %L', fp)),
    ('fps_hash_ball', format('SELECT id FROM fps_hash WHERE ball = %L', ball)),
    ('fps_btree_fp', format('SELECT id FROM fps_btree WHERE fp >= %L', fp)),
    ('fps_btree_sig', format('SELECT id FROM fps_btree WHERE sig = %L', sig)),
    ('apart_fp', format('SELECT id FROM apart WHERE simhash_ball(fp, 3) =~= %L', simhash_ball(fp, 12))),
    ('apart_sig', format('SELECT id FROM apart WHERE sig %% %L', sig)),
    ('apart_sk', format('SELECT id FROM apart_sets WHERE sketch_ball(sk, 0.2) =~= %L', sketch_ball(sk, 0.6))),
    ('apart_near', format('SELECT id FROM apart_sets WHERE near =~= %L', near)),
    ('parted_1_fp_idx', format('SELECT id FROM parted WHERE fp <~> %L <= 12', fp)),
    ('parted_2_sig_idx', format('SELECT id FROM parted WHERE sig %% %L', sig)),
    ('copies_sig', format('SELECT id FROM copies WHERE sig %% %L', sig)),
    ('copies_body', format('SELECT id FROM copies WHERE to_minhash(body, 20, 5, 2)::minhash(20, 5, ''word'', 2) %% %L',
                           words))) AS v
WHERE d.id IN (10, 123, 278);

CREATE TABLE orders (tab text, distance text);
INSERT INTO orders
SELECT v.* FROM docs AS d, LATERAL (VALUES
    ('fps', format('fp <~> %L', fp)), ('fps_10', format('fp <~> %L', fp)), ('fps_nested', format('fp <~> %L', fp)),
    ('fps_gist', format('fp <~> %L', fp)), ('docs', format('sk <%%>> %L', sk))) AS v
WHERE d.id IN (7, 123);

-- Return true if a query uses an index.
CREATE FUNCTION uses_index(query text, index text) RETURNS boolean LANGUAGE sql SET enable_seqscan = off AS $$
    SELECT EXISTS (SELECT FROM plan(query, ' (using|on) ' || index || '\M')) $$;

-- Return the searches that return no row, differ from a sequential scan or do not use their
-- index.  Raise an error if an index is damaged.
CREATE FUNCTION wrong_searches() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM check_indexes(c.oid)
        FROM pg_class AS c WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace;
    RETURN QUERY
        SELECT format('%s: %s rows, %s differ, used: %s', index, sum(rows), sum(by_index + by_bitmap), bool_and(used))
        FROM searches, differing_by(query), uses_index(query, index) AS used
        GROUP BY index HAVING sum(rows) = 0 OR sum(by_index + by_bitmap) > 0 OR NOT bool_and(used);
    RETURN QUERY
        SELECT format('%s by %s: %s', tab, distance, differs)
        FROM orders, order_differs(tab::regclass, 'true', distance) AS differs WHERE differs !~ '^[1-9]\d* same$';
END $$;

-- Return a hash of the rows of each table.
CREATE FUNCTION all_rows() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    tab text;
    hash text;
BEGIN
    FOR tab IN SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'm', 'v') AND relnamespace = 'public'::regnamespace ORDER BY relname COLLATE "C"
    LOOP
        EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(t::text, '','' ORDER BY t::text COLLATE "C"))
            FROM %I AS t', tab) INTO hash;
        RETURN NEXT tab || ': ' || hash;
    END LOOP;
END $$;
