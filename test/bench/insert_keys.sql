-- Measures insertions of rows with several keys.  insert_keys.sh runs this.  psql
-- variable: rows.
\ir one_core.sql
SET maintenance_work_mem = '1GB';

-- the keys are uniform, like hashes
CREATE FUNCTION random_words(i bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE
    RETURN ARRAY(SELECT hashint8extended(i, j) FROM generate_series(1, 18) AS j);
CREATE TABLE words AS SELECT i AS id, random_words(i) AS word FROM generate_series(1, :rows) AS i;
CREATE TABLE words_gin AS TABLE words;
CREATE TABLE fresh AS
    SELECT (i - 1) / (:rows / 10) AS batch, -i AS id, random_words(-i) AS word
    FROM generate_series(1, :rows * 3 / 2) AS i;
CREATE INDEX ON fresh (batch);
VACUUM ANALYZE;

\pset title 'build, once'
SELECT round((time_query('CREATE INDEX words_simhash ON words USING simhash (word)') / 1000)::numeric,
             1) AS "simhash, s",
       round((time_query(
           'CREATE INDEX words_gin_gin ON words_gin USING gin (word) WITH (fastupdate = off)') / 1000)::numeric,
           1) AS "gin, s";
\pset title 'size, bytes a row'
SELECT pg_relation_size('words_simhash') / :rows AS simhash, pg_relation_size('words_gin_gin') / :rows AS gin;

-- Returns a statement that inserts the next batch of rows, the same batches into each
-- table.
CREATE SEQUENCE words_batch MINVALUE 0;
CREATE SEQUENCE words_gin_batch MINVALUE 0;
CREATE FUNCTION insertion(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('INSERT INTO %s SELECT id, word FROM fresh WHERE batch = (SELECT nextval(%L))', target,
                  target || '_batch');
CREATE FUNCTION insertion_one_by_one(target text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN format('DO $$ DECLARE r record; BEGIN
        FOR r IN SELECT id, word FROM fresh WHERE batch = (SELECT nextval(%L)) LIMIT 20000 LOOP
            INSERT INTO %s VALUES (r.id, r.word);
        END LOOP; END $$', target || '_batch', target);

\pset title 'insertion of a tenth as many rows'
SELECT * FROM time_pair('simhash / gin, fastupdate = off', insertion('words'), insertion('words_gin'), 3);
\pset title 'insertion of 20,000 rows, each by a statement of its own'
SELECT * FROM time_pair(
    'simhash / gin, fastupdate = off', insertion_one_by_one('words'), insertion_one_by_one('words_gin'), 3);
ALTER INDEX words_gin_gin SET (fastupdate = on);
\pset title 'insertion of a tenth as many rows'
SELECT * FROM time_pair('simhash / gin, fastupdate = on', insertion('words'), insertion('words_gin'), 3);
ALTER INDEX words_gin_gin SET (fastupdate = off);
SELECT gin_clean_pending_list('words_gin_gin') \g /dev/null

-- WAL, without that of the heap
CREATE TABLE plain (LIKE words);
CREATE SEQUENCE plain_batch MINVALUE 0;
ALTER SYSTEM SET full_page_writes = off;
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null
CHECKPOINT;
\pset title 'WAL of the index alone, bytes a row, without full-page images'
WITH heap AS MATERIALIZED (SELECT wal_of(insertion('plain')) AS wal)
SELECT round((wal_of(insertion('words')) - heap.wal) / (:rows / 10)) AS simhash,
       round((wal_of(insertion('words_gin')) - heap.wal) / (:rows / 10)) AS "gin, fastupdate = off"
FROM heap;
SELECT simhash_index_check('words_simhash', true) \g /dev/null
