-- Common start of the benchmarks of indexes: psql's settings, the extension, a server
-- that does one thing at a time, and measures other than time.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off

CREATE EXTENSION simhash;
\ir timing.sql

-- no checkpoints except explicit ones
ALTER SYSTEM SET max_wal_size = '30GB';
ALTER SYSTEM SET checkpoint_timeout = '1h';
SELECT pg_reload_conf(), pg_sleep(1) \g /dev/null

-- one core; no just-in-time compilation
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET jit = off;

-- Returns the bytes of WAL that a statement writes.
CREATE FUNCTION wal_of(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    before pg_lsn := pg_current_wal_insert_lsn();
BEGIN
    EXECUTE query;
    RETURN pg_current_wal_insert_lsn() - before;
END $$;

-- Returns the number of buffers that a query's plan reads, cached or not.
CREATE FUNCTION buffers_of(query text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::integer
        + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::integer;
END $$;
