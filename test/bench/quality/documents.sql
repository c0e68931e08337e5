-- Loads one corpus from the CSV of corpora.sh: distinct bodies, numbered 1, 2, ... in
-- the order of their names, so that families stay neighbours.
-- Variables: corpus, csv, every (uses one of so many), rows (the limit; 0 for all),
-- ideographs (the minimum fraction of a document's tokens).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS :corpus CASCADE;
CREATE SCHEMA :corpus;
SET search_path = :corpus, public;

CREATE TEMP TABLE source (name text, title text, body text);
COPY source FROM :'csv' CSV;
DELETE FROM source WHERE hashtextextended(name, 0) % :every <> 0;

-- Exact copies are found by md5 as well, so they would only improve the result.
CREATE TEMP TABLE body AS
SELECT min(name COLLATE "C") AS name, body, cardinality(shingles(body, 1)) AS tokens
FROM source GROUP BY body;
DELETE FROM body WHERE coalesce(tokens, 0) = 0;

-- Partly translated pages are neither Chinese nor English.
DELETE FROM body
WHERE :ideographs > 0 AND :ideographs * tokens >
	(SELECT count(*) FROM unnest(shingles(body, 1)) AS token WHERE token ~ '[㐀-鿿]');

CREATE TABLE doc AS
SELECT row_number() OVER (ORDER BY name COLLATE "C", body COLLATE "C")::int AS id, *
FROM body
ORDER BY 1
LIMIT nullif(:rows, 0);
ALTER TABLE doc ADD PRIMARY KEY (id);
VACUUM ANALYZE doc;
