-- Adds to table candidate every pair of documents whose sets of word shingles of a
-- width can have a resemblance of :threshold or more.  Variables: width, threshold.
--
-- Uses prefix filtering (Bayardo, Ma, Srikant 2007; Xiao et al. 2008), which misses no
-- pair.  The distinct shingles of each document are in one global order, rarest first.
-- Two sets of resemblance t or more have at least t|x| shingles in common.  So the
-- first |x| - ceil(t|x|) + 1 shingles of x contain one of the corresponding first ones
-- of y.  The sizes of a pair bound its resemblance.  The positions of its first common
-- shingle bound it, too: all common shingles are at these positions or after them.
--
-- Shingles are compared by 64-bit hashes here.  Equal hashes of two different shingles
-- could only change a pair at the very edge of a bound, with a probability of one in a
-- million for ten million shingles.

CREATE TEMP TABLE feature AS
SELECT DISTINCT id, hashtextextended(shingle, 0) AS hash
FROM doc, unnest(shingles(body, :width)) AS shingle;

CREATE TEMP TABLE frequency AS
SELECT hash, count(*) AS documents FROM feature GROUP BY hash HAVING count(*) > 1;

CREATE TEMP TABLE size AS
SELECT id, count(*) AS size FROM feature GROUP BY id;
ANALYZE feature, frequency, size;

-- Shingles of only one document come first and match nothing.  They count, but need not
-- be stored.
CREATE TEMP TABLE prefix AS
SELECT *
FROM (
	SELECT id, hash, size,
		size - count(*) OVER (PARTITION BY id)
			+ row_number() OVER (PARTITION BY id ORDER BY documents, hash) AS place
	FROM feature JOIN frequency USING (hash) JOIN size USING (id)
) AS ordered
WHERE place <= size - ceil(:threshold * size) + 1;
ANALYZE prefix;

INSERT INTO candidate
SELECT DISTINCT a.id, b.id
FROM prefix a JOIN prefix b ON a.hash = b.hash AND a.id < b.id
WHERE least(a.size, b.size) >= :threshold * greatest(a.size, b.size)
	AND least(a.size - a.place, b.size - b.place) + 1
		>= :threshold / (1 + :threshold) * (a.size + b.size);

DROP TABLE feature, frequency, size, prefix;
