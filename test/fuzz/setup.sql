CREATE EXTENSION simhash
CREATE FUNCTION fuzz(text, regtype[], text[]) RETURNS void AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_assert(boolean) RETURNS void AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_receive(bytea, regtype, integer) RETURNS text AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_typmod(regtype, text[]) RETURNS text AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_state(bytea) RETURNS void AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_damage(regclass, bytea) RETURNS void AS 'MODULE' LANGUAGE C STRICT
CREATE FUNCTION fuzz_vacuum(regclass, integer) RETURNS void AS 'MODULE' LANGUAGE C STRICT
CREATE UNLOGGED TABLE f (id integer, fp simhash)
INSERT INTO f SELECT i, hashint8extended(i / 3, 7)::bit(64)::simhash FROM generate_series(1, 1500) i
CREATE INDEX ON f USING simhash (fp)
CREATE UNLOGGED TABLE s (id integer, sk bigint[])
INSERT INTO s SELECT i, ARRAY(SELECT j % (i + 1) FROM generate_series(1, 20) j) FROM generate_series(1, 300) i
CREATE INDEX ON s USING simhash (sk)
CREATE UNLOGGED TABLE m (id integer, sig minhash(4, 2))
INSERT INTO m SELECT i, to_minhash(ARRAY[i / 3, i / 60, 1, 2, 3, 4]::bigint[], 4, 2) FROM generate_series(1, 600) i
CREATE INDEX ON m USING simhash (sig)
ANALYZE
