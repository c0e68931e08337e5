-- Counts the edited texts that share a band with the original text.  Variables:
-- language, and those of edited.sql.
\ir edited.sql

-- Tokens are arguments, not texts: a text made of tokens may be tokenised in another
-- way.
CREATE TABLE pair AS
SELECT text, length, edit, rate, original.tokens AS a, edited.tokens AS b,
	array_to_string(original.tokens, ' ') AS a_body, array_to_string(edited.tokens, ' ') AS b_body
FROM edited JOIN (
	SELECT text, length, array_agg(token ORDER BY place) AS tokens FROM token GROUP BY text, length
) AS original USING (text);
ANALYZE pair;

CREATE TABLE resemblance AS
SELECT text, edit, rate, n, CASE unit
	WHEN 'word' THEN resemblance(a, b, width)
	ELSE resemblance(a_body, b_body, width, unit) END AS s
FROM pair CROSS JOIN shapes.kind;
ANALYZE resemblance;

CREATE TABLE compared AS
SELECT length, edit, rate, n, shingles, bands, rows, s, CASE unit
	WHEN 'word' THEN to_minhash(a, bands, rows, width) % to_minhash(b, bands, rows, width)
	ELSE to_minhash(a_body, bands, rows, width, unit) % to_minhash(b_body, bands, rows, width, unit)
	END AS found
FROM pair JOIN resemblance USING (text, edit, rate) JOIN shapes.kind USING (n) CROSS JOIN shapes.shape;

INSERT INTO shapes.edits
SELECT :'language', length, edit, rate, n, shingles, bands, rows, count(*), round(avg(s)::numeric, 4),
	count(*) FILTER (WHERE found), round(sum(1 - (1 - s ^ rows) ^ bands)::numeric, 2)
FROM compared
GROUP BY length, edit, rate, n, shingles, bands, rows;

INSERT INTO shapes.recall
SELECT :'language', n, shingles, bands, rows, round(s::numeric, 1), count(*),
	count(*) FILTER (WHERE found), round(sum(1 - (1 - s ^ rows) ^ bands)::numeric, 2)
FROM compared
WHERE abs(s - round(s::numeric, 1)::float8) <= 0.02 AND round(s::numeric, 1) IN (0.7, 0.8, 0.9)
GROUP BY n, shingles, bands, rows, round(s::numeric, 1);
