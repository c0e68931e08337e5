-- The queries of crawl.sh.  psql variables: rows, add_crawl.
\ir one_core.sql
\i :add_crawl
SET work_mem = '256MB';
SET maintenance_work_mem = '1GB';

-- Return the fingerprint of a record: every third record is a copy of the one before it,
-- two bits apart.
CREATE FUNCTION fp_of(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE
    RETURN (hashint8extended(i - (i % 3 = 2)::integer, 0)
            # CASE WHEN i % 3 = 2 THEN (1::bigint << (i % 61)::integer) + (1::bigint << 62) ELSE 0 END)::simhash;

DROP INDEX records_fp;
INSERT INTO records SELECT i, fp_of(i), CASE WHEN i % 3 = 2 THEN i - 1 END
FROM (SELECT generate_series(0, :rows::bigint - 1) AS i) AS s;
\pset title 'index of the records that are no copies'
SELECT round((time_query('CREATE INDEX records_fp ON records USING simhash (fp) WHERE copy_of IS NULL')
              / 1000)::numeric, 1) AS "s, built";
VACUUM ANALYZE records;

-- Add a fiftieth of the first records.  Half of them are copies of those, three bits apart,
-- a sixth are copies of new ones.
CREATE FUNCTION add_day(first bigint, day integer, OUT records bigint, OUT new bigint, OUT seconds numeric,
                        OUT "us a record" numeric, OUT wal text)
LANGUAGE plpgsql AS $$
DECLARE
    known bigint := (SELECT max(id) + 1 FROM records);
    before pg_lsn;
    ms float8;
BEGIN
    records := first / 50;
    TRUNCATE crawl;
    INSERT INTO crawl
    SELECT known + i,
           CASE WHEN i % 2 = 0 THEN (fp_of(abs(hashint8extended(i, day) % (first / 3)) * 3)::bigint # 7)::simhash
                ELSE fp_of(day * first * 3 + i / 2) END
    FROM generate_series(0, records - 1) AS i;
    ANALYZE crawl;
    before := pg_current_wal_insert_lsn();
    ms := time_query('CREATE TEMP TABLE added AS SELECT add_crawl() AS id');
    new := (SELECT count(*) FROM added);
    DROP TABLE added;
    seconds := round((ms / 1000)::numeric, 1);
    "us a record" := round((ms * 1000 / records)::numeric, 1);
    wal := pg_size_pretty(pg_current_wal_insert_lsn() - before);
END $$;

\pset title 'crawls of a fiftieth'
SELECT day, d.* FROM generate_series(1, 3) AS day, add_day(:rows, day) AS d;
\pset title 'sizes, and those of 50 million records'
SELECT what, pg_size_pretty(bytes) AS size, round(bytes / n::numeric, 1) AS "bytes a record",
       pg_size_pretty(bytes * 50000000 / n) AS "50 million"
FROM (SELECT count(*) AS n FROM records) AS r,
     (VALUES ('table', pg_table_size('records')), ('primary key', pg_relation_size('records_pkey')),
             ('index of fingerprints', pg_relation_size('records_fp')),
             ('all', pg_total_relation_size('records'))) AS s (what, bytes);
\pset title 'the model: us of a search within 3 bits'
SELECT n AS originals, round(microseconds::numeric, 1) AS us
FROM unnest(ARRAY[:rows::bigint * 2 / 3, 50000000::bigint * 2 / 3]) AS n, simhash_index_advice(n, 3)
WHERE (blocks, prefix) = (4, 1);
\pset title 'the plan of the search'
EXPLAIN (COSTS OFF)
SELECT FROM crawl AS c LEFT JOIN records AS r ON r.fp <~> c.fp <= 3 AND r.copy_of IS NULL;
SELECT simhash_index_check('records_fp', true) \g /dev/null
