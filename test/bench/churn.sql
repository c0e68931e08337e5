-- Measures how the index grows while rows are replaced.  churn.sh runs this, and goes
-- on with the last table.  psql variables: rows, rounds.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

SET client_min_messages = warning;
CREATE EXTENSION simhash;

-- VACUUM is part of the loads, so autovacuum is off
ALTER SYSTEM SET autovacuum = off;
ALTER SYSTEM SET max_wal_size = '30GB';
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null

-- The loads differ in the fingerprint of a row in a round.  Round 0 is the initial
-- state.
--   hot      one fingerprint for all rows, another one in each round
--   window   ascending ones: each round adds rows above, and deletes the oldest
--   refill   near-duplicates, within two bits of centers that a hundred rows share
--   uniform  random ones, of which a round replaces half
CREATE FUNCTION fingerprint(load text, id bigint, round bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN CASE load WHEN 'hot' THEN hashint8extended(0, round)
                     WHEN 'window' THEN id << 26
                     WHEN 'refill' THEN hashint8extended(id / 100, round) # (1::bigint << (id * 7 % 61)::int) # (
                         1::bigint << (id * 11 % 64)::int)
                     WHEN 'uniform' THEN hashint8extended(id, round) END::simhash;
CREATE FUNCTION insertion(load text, round bigint, first bigint, last bigint) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO docs SELECT i, fingerprint(%L, i, %s) FROM generate_series(%s::bigint, %s) AS i', load,
                  round, first, last);
CREATE FUNCTION statements(load text, round bigint, nrows bigint, step bigint) RETURNS text[] LANGUAGE sql IMMUTABLE
    RETURN CASE
        WHEN round = 0 THEN ARRAY[
            'DROP TABLE IF EXISTS docs', 'CREATE TABLE docs (id bigint, fp simhash)', insertion(load, 0, 1, nrows),
            'CREATE INDEX docs_simhash ON docs USING simhash (fp)', 'CREATE INDEX docs_btree ON docs (fp)',
            'VACUUM ANALYZE docs']
        WHEN load = 'window' THEN ARRAY[
            insertion(load, round, nrows + (round - 1) * step + 1, nrows + round * step),
            format('DELETE FROM docs WHERE id <= %s', round * step), 'VACUUM docs']
        WHEN load = 'uniform' THEN ARRAY[
            format('UPDATE docs SET fp = fingerprint(%L, id, %s) WHERE id %% 2 = %s', load, round, round % 2),
            'VACUUM docs']
        ELSE ARRAY['DELETE FROM docs', 'VACUUM docs', insertion(load, round, 1, nrows)]
    END;

CREATE TABLE results (
    nr serial, load text, round bigint, vacuums bigint, simhash bigint, btree bigint, buffers bigint,
    fresh_simhash bigint, fresh_btree bigint, fresh_buffers bigint);
CREATE FUNCTION is_measured(round bigint, rounds bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
    RETURN round IN (1, 3, 8, 40, rounds);
CREATE FUNCTION pages(index regclass) RETURNS bigint LANGUAGE sql
    RETURN pg_relation_size(index) / current_setting('block_size')::bigint;
-- Returns the buffers that a search reads.  It reads the whole window in two of four
-- permuted tables, and finds nothing.
CREATE FUNCTION buffers_of_search(docs regclass)
    RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE format(
        'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM %s WHERE fp <~> ''0000ffff00ff0000'' <= 3',
        docs) INTO plan;
    plan := plan -> 0 -> 'Plan';
    ASSERT plan ->> 'Node Type' = 'Index Scan' AND (plan ->> 'Actual Rows')::numeric = 0, plan;
    RETURN (plan ->> 'Shared Hit Blocks')::bigint + (plan ->> 'Shared Read Blocks')::bigint;
END $$;
CREATE PROCEDURE measure(load text, round bigint) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results (load, round, vacuums, simhash, btree, buffers)
    VALUES (load, round, pg_stat_get_vacuum_count('docs'::regclass), pages('docs_simhash'), pages('docs_btree'),
            buffers_of_search('docs'));
END $$;
-- Prints the results since the last call, with those of fresh indexes on the current
-- rows.
CREATE PROCEDURE compare() LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE fresh AS TABLE docs;
    CREATE INDEX fresh_simhash ON fresh USING simhash (fp);
    CREATE INDEX fresh_btree ON fresh (fp);
    UPDATE results
    SET fresh_simhash = pages('fresh_simhash'), fresh_btree = pages('fresh_btree'),
        fresh_buffers = buffers_of_search('fresh')
    WHERE fresh_simhash IS NULL;
    DROP TABLE fresh;
END $$;
CREATE VIEW growth AS
    SELECT load, round, vacuums,
           simhash AS "pages", fresh_simhash AS "fresh", round(simhash::numeric / fresh_simhash, 2) AS "ratio",
           btree AS "btree's", fresh_btree AS "its fresh", round(btree::numeric / fresh_btree, 2) AS "its ratio",
           buffers AS "buffers read", fresh_buffers AS "of a fresh one",
           round(buffers::numeric / fresh_buffers, 2) AS "ratio of these"
    FROM results ORDER BY nr;

SELECT statement
FROM unnest(ARRAY['hot', 'window', 'refill', 'uniform']) WITH ORDINALITY AS l (load, nr),
     generate_series(0, :rounds) AS round,
     unnest(statements(load, round, :rows, :rows * 3 / 4)
            || CASE WHEN is_measured(round, :rounds)
                    THEN ARRAY[format('CALL measure(%L, %s)', load, round),
                               'CALL compare()'] END) WITH ORDINALITY AS s (statement, at)
ORDER BY nr, round, at \gexec
\pset title 'one session'
TABLE growth;
TRUNCATE results;

-- For the writers that never pause: each replaces one half of the rows, step by step.
DROP TABLE docs;
CREATE TABLE docs (id bigint PRIMARY KEY, fp simhash);
INSERT INTO docs SELECT i, fingerprint('uniform', i, 0) FROM generate_series(1::bigint, :rows) AS i;
CREATE INDEX docs_simhash ON docs USING simhash (fp);
CREATE INDEX docs_btree ON docs (fp);
VACUUM ANALYZE docs;
CREATE PROCEDURE write(load text, nrows bigint, rounds bigint) LANGUAGE plpgsql AS $$
DECLARE
    first bigint := CASE load WHEN 'hot' THEN 1 ELSE nrows / 2 + 1 END;
    size bigint := nrows / 40;
BEGIN
    FOR round IN 1 .. rounds LOOP
        FOR batch IN 0 .. 19 LOOP
            UPDATE docs SET fp = fingerprint(load, id, round)
            WHERE id >= first + batch * size AND id < first + (batch + 1) * size;
            COMMIT;
        END LOOP;
        IF is_measured(round, rounds) THEN
            CALL measure(load, round);
        END IF;
    END LOOP;
END $$;
