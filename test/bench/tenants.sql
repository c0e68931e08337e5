-- Tenants with the same documents, for tenants.sh.
--
-- Documents have 54 hashes, 20 of them frequent.  Tenants 1 to :tenants have the same :rows
-- documents.  Tenant 0 has these and others, as many as all others together.
\ir one_core.sql

CREATE FUNCTION document(i bigint, changed integer DEFAULT 0) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(CASE WHEN j <= changed THEN hashint8extended(i * 64 + j, 9)
                          WHEN j <= 34 THEN hashint8extended(i * 64 + j, 0)
                          ELSE hashint8extended((hashint8extended(i * 64 + j, 1) & 2147483647) % 30000, 2) END)
    FROM generate_series(1, 54) AS j $$;
CREATE TABLE document AS
SELECT i, document(i) AS sk FROM generate_series(1, :tenants::bigint * :rows) AS i;
CREATE TABLE filtered AS
SELECT tenant, i, sk FROM generate_series(1, :tenants) AS tenant, document WHERE i <= :rows
UNION ALL SELECT 0, i, sk FROM document;
CREATE TABLE scoped AS SELECT tenant, i, scoped_hashes(sk, tenant) AS sk FROM filtered;
CREATE TABLE parted (LIKE filtered) PARTITION BY LIST (tenant);
SELECT format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%1$s)', tenant)
FROM generate_series(0, :tenants) AS tenant \gexec
INSERT INTO parted TABLE filtered;
CREATE INDEX ON filtered USING simhash (sk);
CREATE INDEX ON scoped USING simhash (sk);
CREATE INDEX ON parted USING simhash (sk);
VACUUM ANALYZE;

SELECT left(relname, 6) AS "table", pg_size_pretty(sum(pg_indexes_size(oid))) AS indexes
FROM pg_class WHERE relkind = 'r' AND relname ~ '^(filtered|scoped|parted_)' GROUP BY 1;

-- Returns the number of rows that n searches find, each a statement of its own.
CREATE FUNCTION searches(tab text, condition text, first_tenant integer, last_tenant integer, n integer, rows integer)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
    total bigint := 0;
    q bigint[];
    tenant integer;
BEGIN
    FOR k IN 1 .. n LOOP
        tenant := first_tenant + (hashint4(k) & 2147483647) % (last_tenant - first_tenant + 1);
        q := document(1 + (hashint4(-k) & 2147483647) % rows, 5);
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %s) AS s', tab, condition)
            INTO found USING q, tenant;
        total := total + found;
    END LOOP;
    RETURN total;
END $$;
-- Adds documents that no tenant has.
CREATE FUNCTION additions(tab text, hashes text, n integer, tenants integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR k IN 1 .. n LOOP
        EXECUTE format('INSERT INTO %I SELECT tenant, i, %s
                        FROM (SELECT $1 AS tenant, $2 AS i, document($2) AS sk) AS d', tab, hashes)
            USING (hashint4(k) & 2147483647) % (tenants + 1), nextval('added');
    END LOOP;
END $$;
CREATE SEQUENCE added START 1000000000;

CREATE TEMP TABLE kind (kind text, condition text, scoped_condition text);
INSERT INTO kind VALUES
    ('within 0.2', 'tenant = $2 AND sk <%> $1 <= 0.2', 'sk <%> scoped_hashes($1, $2) <= 0.2'),
    ('within 0.5', 'tenant = $2 AND sk <%> $1 <= 0.5', 'sk <%> scoped_hashes($1, $2) <= 0.5'),
    ('ten nearest by <%>>', 'tenant = $2 ORDER BY sk <%>> $1 LIMIT 10',
     'true ORDER BY sk <%>> scoped_hashes($1, $2) LIMIT 10');
CREATE TEMP TABLE tenants (whose text, first_tenant integer, last_tenant integer);
INSERT INTO tenants VALUES ('a small one', 1, :tenants), ('the large one', 0, 0);
\echo milliseconds of 200 searches, in the table of a method (A) and with scoped hashes (B)
SELECT format($$SELECT * FROM time_pair('%s, %s, %s, %s rows', $q$SELECT searches('%s', '%s', %s, %s, 200, %s)$q$,
                  $q$SELECT searches('scoped', '%10$s', %7$s, %8$s, 200, %9$s)$q$, 3)$$, tab, kind, whose,
              searches(tab, condition, first_tenant, last_tenant, 200, :rows), tab, condition, first_tenant,
              last_tenant, :rows, scoped_condition)
FROM kind, tenants, unnest('{filtered,parted}'::text[]) AS tab
\gexec
SELECT kind, whose, searches('scoped', scoped_condition, first_tenant, last_tenant, 200, :rows) AS rows
FROM kind, tenants;

\echo milliseconds of 1,000 insertions (A), and with scoped hashes (B)
SELECT format($$SELECT * FROM time_pair('%s', $q$SELECT additions('%1$s', 'sk', 1000, %s)$q$,
                  $q$SELECT additions('scoped', 'scoped_hashes(sk, tenant)', 1000, %2$s)$q$, 3)$$, tab, :tenants)
FROM unnest('{filtered,parted}'::text[]) AS tab
\gexec

\echo milliseconds to add a constraint to each partition, and to the table of scoped hashes
SELECT clock_timestamp() AS started \gset
SELECT format('ALTER TABLE %s ADD EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=)', relid)
FROM pg_partition_tree('parted') WHERE isleaf \gexec
SELECT round(extract(epoch FROM clock_timestamp() - :'started') * 1000) AS parted,
       round(time_query('ALTER TABLE scoped ADD EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=)')) AS scoped;
\echo milliseconds of 1,000 insertions, with an index and a constraint: partitions (A), and with scoped hashes (B)
SELECT * FROM time_pair('parted', format($$SELECT additions('parted', 'sk', 1000, %s)$$, :tenants),
                        format($$SELECT additions('scoped', 'scoped_hashes(sk, tenant)', 1000, %s)$$, :tenants), 3);
