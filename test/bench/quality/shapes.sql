-- The compared shapes and shingles of signatures, and tables for their results.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS shapes CASCADE;
CREATE SCHEMA shapes;
SET search_path = shapes, public;

CREATE TABLE shape (bands int, rows int);
INSERT INTO shape VALUES (20, 5), (20, 6), (18, 7), (16, 8), (32, 4);

CREATE TABLE kind (n int, shingles text, width int, unit text);
INSERT INTO kind VALUES
	(1, 'word2', 2, 'word'), (2, 'word3', 3, 'word'), (3, 'word4', 4, 'word'), (4, 'word5', 5, 'word'),
	(5, 'char8', 8, 'char');

-- Candidates of some documents, by their exact resemblance, and their cost.
CREATE TABLE background (
	corpus text, documents int, queries int, n int, shingles text, bands int, rows int,
	below_03 bigint, below_05 bigint, below_07 bigint, below_08 bigint, above_08 bigint,
	bytes int, microseconds numeric);

-- Edited texts, their mean exact resemblance to the originals, and the number that
-- share a band with them: counted, and expected for that resemblance.
CREATE TABLE edits (
	language text, length int, edit text, rate float8, n int, shingles text, bands int, rows int,
	texts int, resemblance numeric, found int, expected numeric);

-- The edited texts whose resemblance is within 0.02 of .7, .8 and .9.
CREATE TABLE recall (
	language text, n int, shingles text, bands int, rows int, resemblance numeric,
	texts int, found int, expected numeric);
