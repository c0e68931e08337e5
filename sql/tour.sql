--
-- README's examples, then each feature of the extension with a few short texts.  The
-- other tests check the details.
--
CREATE SCHEMA tour;
SET search_path = tour, public;

CREATE TABLE news (id integer, body text);
CREATE INDEX ON news USING simhash (shingle_hashes(body));
INSERT INTO news VALUES
    (1, 'The ferry to the island leaves the old harbour at nine and comes back at six.'),
    (2, 'THE FERRY to the island leaves the old harbour at nine, and comes back at seven!'),
    (3, 'The library is closed for repairs until the first of May.');
SELECT id, round(resemblance(body, text)::numeric, 2) AS resemblance
FROM news, (VALUES ('The ferry to the island leaves the old harbour at nine and comes back at six.')) AS new (text)
WHERE shingle_hashes(body) <%> shingle_hashes(text) <= 0.2;

CREATE TABLE docs (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body     text,
    sk       bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED,
    passages bigint[] GENERATED ALWAYS AS (winnow(body, 12, 6)) STORED
);
CREATE INDEX ON docs USING simhash (sk);
CREATE INDEX ON docs USING simhash (passages);
INSERT INTO docs (body) VALUES
    ('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs and stir slowly.'),
    ('BEAT FOUR EGGS with a pinch of salt; melt a spoon of butter in a hot pan; pour in the eggs and stir slowly!'),
    ('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs and stir.'),
    ('My grandmother had no books. "Melt a spoon of butter in a hot pan, pour in the eggs", she used to say.');

-- the nearest
SELECT id FROM docs ORDER BY sk <%> shingle_hashes('melt butter in a hot pan, pour in the eggs and stir') LIMIT 1;

-- keep one of each: each row that goes resembles one of a lower id that stays
DELETE FROM docs USING (
    SELECT b.id, keeper(a.id, b.id) OVER (ORDER BY a.id)
    FROM docs AS a JOIN docs AS b ON a.sk <%> b.sk <= 0.2 AND a.id < b.id) AS edge
WHERE docs.id = edge.id AND keeper IS NOT NULL;

-- keep duplicates out from now on
ALTER TABLE docs ADD CONSTRAINT no_duplicates EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=);
INSERT INTO docs (body) VALUES
    ('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs and stir well.'),
    ('The library is closed for repairs until the first of May.')
ON CONFLICT DO NOTHING RETURNING left(body, 11) AS inserted;

-- documents that contain a passage
SELECT id FROM docs
WHERE passages && winnow('melt a spoon of butter in a hot pan; pour in the eggs', 12, 6) ORDER BY id;
DROP TABLE docs, news;

--
-- A fingerprint: 64 bits of a text
--
-- Case, spaces and punctuation do not count.  A changed word changes some bits.
SELECT simhash('The quick brown fox jumps over the lazy dog.') AS a,
       simhash('THE QUICK BROWN FOX   jumps over the lazy dog!') AS b,
       simhash('The quick brown fox jumped over the lazy dog.') AS c;
-- <~> counts the bits in which two fingerprints differ.
SELECT simhash('The quick brown fox jumps over the lazy dog.')
           <~> simhash('The quick brown fox jumped over the lazy dog.') AS one_word,
       simhash('The quick brown fox jumps over the lazy dog.')
           <~> simhash('Every fingerprint has 64 bits, whatever the text.') AS another_text;
-- A fingerprint is made of shingles: sequences of words, ideographs, or characters.
SELECT shingles('The quick brown fox'), shingles('近乎重复'), shingles('quick!', 4, 'char');

--
-- A table of documents with their fingerprints
--
CREATE TABLE docs (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body text,
    fp   simhash GENERATED ALWAYS AS (simhash(body)) STORED
);
INSERT INTO docs (body) VALUES
    ('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs and stir slowly '
     'until they are nearly set. Fold the omelette in half, turn off the heat and serve it at once on warm plates '
     'with bread and a green salad.'),
    ('Heavy rain is expected in the north on Monday, with strong winds along the coast and some snow above a '
     'thousand metres. The south stays dry and mild. On Tuesday the sun comes back everywhere, and by the end of '
     'the week it will be warmer than usual for the season.'),
    -- text 1 in another layout
    ('BEAT FOUR EGGS with a pinch of salt; melt a spoon of butter in a hot pan; pour in the eggs, and stir slowly '
     'until they are nearly set!  Fold the omelette in half: turn off the heat, and serve it at once, on warm '
     'plates, with bread and a green salad.'),
    -- text 1 with one more word
    ('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs and stir slowly '
     'until they are nearly set. Fold the omelette in half, turn off the heat and serve it at once on warm plates '
     'with bread and a small green salad.'),
    -- text 2 with another day and another wind
    ('Heavy rain is expected in the north on Sunday, with strong gales along the coast and some snow above a '
     'thousand metres. The south stays dry and mild. On Tuesday the sun comes back everywhere, and by the end of '
     'the week it will be warmer than usual for the season.'),
    -- quotes text 1
    ('My grandmother had no scales and no books. "Beat four eggs with a pinch of salt, melt a spoon of butter in '
     'a hot pan, pour in the eggs and stir slowly until they are nearly set", she used to say, and that was all '
     'that one could learn from her in a kitchen which nobody else was allowed to enter.'),
    ('The library is closed for repairs until the first of May. Books can be returned at the town hall, where a '
     'shelf has been put up beside the stairs.'),
    (NULL);
SELECT id, fp, left(body, 60) AS body FROM docs ORDER BY id;
-- The same 64 bits in the types that other programs store.
SELECT fp, fp::bigint AS signed, fp::numeric AS unsigned, fp::bytea AS bytes FROM docs WHERE id = 1;

--
-- The index
--
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT fp AS omelette, body AS recipe FROM docs WHERE id = 1 \gset
-- PostgreSQL prefers a sequential scan for so small a table.
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <~> :'omelette' <= 3;
-- copies; in a text this short, one more word changed 5 bits
SELECT id, fp <~> :'omelette' AS distance FROM docs WHERE fp <~> :'omelette' <= 3 ORDER BY id;
-- near-duplicates: the index finds candidates, then the texts are compared
SELECT id, fp <~> :'omelette' AS distance, round(resemblance(body, :'recipe', 2)::numeric, 2) AS resemblance
FROM docs WHERE fp <~> :'omelette' <= 10 AND resemblance(body, :'recipe', 2) >= 0.8 ORDER BY id;
-- the nearest first
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY fp <~> :'omelette' LIMIT 4;
SELECT id, fp <~> :'omelette' AS distance
FROM (SELECT * FROM docs ORDER BY fp <~> :'omelette' LIMIT 4) AS nearest ORDER BY distance, id;
-- all pairs of near-duplicates
SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
FROM docs a JOIN docs b ON a.fp <~> b.fp <= 10 AND a.id < b.id
WHERE resemblance(a.body, b.body, 2) >= 0.8 ORDER BY a.id, b.id;
-- keep one document of each cluster, the longest
SELECT id, length(body), simhash_cluster(fp, 10, 'leader') OVER w = row_number() OVER w AS keep
FROM docs WHERE fp IS NOT NULL WINDOW w AS (ORDER BY length(body) DESC, id) ORDER BY id;

--
-- Keep copies out, even if several sessions insert at the same time: 3 is a copy of 1
--
CREATE TABLE news (id integer, body text, fp simhash GENERATED ALWAYS AS (simhash(body)) STORED,
    CONSTRAINT no_copies EXCLUDE USING simhash (simhash_ball(fp, 3) WITH =~=));
INSERT INTO news SELECT id, body FROM docs ORDER BY id ON CONFLICT ON CONSTRAINT no_copies DO NOTHING;
SELECT id FROM news ORDER BY id;

--
-- How two texts resemble each other, and the shingles that only one of them has
--
SELECT a.fp <~> b.fp AS bits, resemblance(a.body, b.body, 2),
       containment(a.body, b.body, 2), containment(b.body, a.body, 2)
FROM docs a, docs b WHERE a.id = 2 AND b.id = 5;
SELECT only_in, shingle, substr(CASE only_in WHEN 'a' THEN a.body ELSE b.body END, start, length) AS passage
FROM docs a, docs b, shingle_difference(a.body, b.body, 2) WHERE a.id = 2 AND b.id = 5
ORDER BY only_in, start;

--
-- Clusters of known pairs
--
SELECT a, b, connected_component(a, b) OVER () AS cluster
FROM (SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 10 AND a.id < b.id
      WHERE resemblance(a.body, b.body, 2) >= 0.8) AS pairs (a, b)
ORDER BY a, b;

--
-- Signatures for texts with a resemblance of 0.8: bands find the candidates
--
ALTER TABLE docs ADD sig minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED;
CREATE INDEX docs_sig ON docs USING simhash (sig);
SELECT b.id, round(jaccard(a.sig, b.sig)::numeric, 2) AS estimated,
       round(resemblance(a.body, b.body, 3)::numeric, 2) AS resemblance
FROM docs a JOIN docs b ON b.sig % a.sig WHERE a.id = 2 ORDER BY b.id;
-- a small signature as an example: two bands of two minima
SELECT to_minhash('The quick brown fox jumps over the lazy dog.', 2, 2) AS signature;

--
-- Passages: which texts contain this paragraph, whatever else they contain?
--
ALTER TABLE docs ADD sk bigint[] GENERATED ALWAYS AS (winnow(body)) STORED;
CREATE INDEX docs_sk ON docs USING simhash (sk);
SELECT id FROM docs
WHERE sk && winnow('Beat four eggs with a pinch of salt, melt a spoon of butter in a hot pan, pour in the eggs '
                   'and stir slowly until they are nearly set.')
ORDER BY id;
-- the position of the passage in both texts
SELECT units AS words, a_start, b_start, left(passage, 40) AS passage
FROM docs a, docs b, common_passages(a.body, b.body) WHERE a.id = 1 AND b.id = 6;
-- a text split into pieces
SELECT w.start, w.length, w.piece FROM docs, text_windows(body, unit => 'sentence') AS w WHERE id = 7 ORDER BY w.start;

RESET enable_seqscan;
SET client_min_messages = warning;
DROP SCHEMA tour CASCADE;
