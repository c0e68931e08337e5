/* src/sql/simhash--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

--
-- The library
--

CREATE FUNCTION simhash_version() RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simhash_version() IS 'version of the library that this session has loaded';
CREATE FUNCTION simhash_check_version(text) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simhash_check_version(text) IS
    'called by the scripts of the extension: raises an error if the library is older';

SELECT simhash_check_version('1.0'::text);

--
-- Type simhash: a 64-bit fingerprint
--

CREATE TYPE simhash;

CREATE FUNCTION simhash_in(cstring) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in(cstring) IS 'I/O';
CREATE FUNCTION simhash_out(simhash) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_out(simhash) IS 'I/O';
CREATE FUNCTION simhash_recv(internal) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_recv(internal) IS 'I/O';
CREATE FUNCTION simhash_send(simhash) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_send(simhash) IS 'I/O';

CREATE TYPE simhash (
    INPUT = simhash_in,
    OUTPUT = simhash_out,
    RECEIVE = simhash_recv,
    SEND = simhash_send,
    LIKE = pg_catalog.int8,
    CATEGORY = 'U'
);
COMMENT ON TYPE simhash IS '64-bit fingerprint of a text: near-duplicates differ in few bits';

--
-- Order and equality
--

CREATE FUNCTION simhash_eq(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_eq(simhash, simhash) IS 'implementation of = operator';
CREATE FUNCTION simhash_ne(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ne(simhash, simhash) IS 'implementation of <> operator';
CREATE FUNCTION simhash_lt(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_lt(simhash, simhash) IS 'implementation of < operator';
CREATE FUNCTION simhash_le(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_le(simhash, simhash) IS 'implementation of <= operator';
CREATE FUNCTION simhash_gt(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_gt(simhash, simhash) IS 'implementation of > operator';
CREATE FUNCTION simhash_ge(simhash, simhash) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ge(simhash, simhash) IS 'implementation of >= operator';

CREATE OPERATOR = (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash, simhash) IS 'equal';
CREATE OPERATOR <> (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash, simhash) IS 'not equal';
CREATE OPERATOR < (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash, simhash) IS 'less than, as unsigned integers';
CREATE OPERATOR <= (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash, simhash) IS 'less than or equal, as unsigned integers';
CREATE OPERATOR > (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash, simhash) IS 'greater than, as unsigned integers';
CREATE OPERATOR >= (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash, simhash) IS 'greater than or equal, as unsigned integers';

CREATE FUNCTION simhash_cmp(simhash, simhash) RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_cmp(simhash, simhash) IS 'btree support: three-way comparison';
CREATE FUNCTION simhash_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sortsupport(internal) IS 'btree support: sort support';
CREATE FUNCTION simhash_hash(simhash) RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_hash(simhash) IS 'hash support';
CREATE FUNCTION simhash_hash_extended(simhash, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_hash_extended(simhash, bigint) IS 'hash support';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 simhash_cmp(simhash, simhash),
    FUNCTION 2 simhash_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash_ops USING btree IS
    'order of fingerprints as unsigned integers, for sorting and equality; it does not find near ones';
COMMENT ON OPERATOR FAMILY simhash_ops USING btree IS
    'order of fingerprints as unsigned integers, for sorting and equality; it does not find near ones';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 simhash_hash(simhash),
    FUNCTION 2 simhash_hash_extended(simhash, bigint);
COMMENT ON OPERATOR CLASS simhash_ops USING hash IS 'equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash_ops USING hash IS 'equality of fingerprints';

--
-- Type simhash_ball: the argument of an index search, as circle is for points
--

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_in(cstring) IS 'I/O';
CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS 'I/O';
CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_recv(internal) IS 'I/O';
CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS 'I/O';

CREATE TYPE simhash_ball (
    INPUT = simhash_ball_in,
    OUTPUT = simhash_ball_out,
    RECEIVE = simhash_ball_recv,
    SEND = simhash_ball_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE simhash_ball IS 'all fingerprints within a radius of a center: (fingerprint,radius)';

CREATE FUNCTION simhash_ball(center simhash, radius bigint) RETURNS simhash_ball
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball(simhash, bigint) IS
    'ball with a center and a radius; the radius is clamped to -1 (empty) to 64 (all fingerprints)';

--
-- Equality of balls: of center and radius
--

CREATE FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) IS 'implementation of = operator';
CREATE FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) IS 'implementation of <> operator';
CREATE OPERATOR = (
    LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (simhash_ball, simhash_ball) IS 'equal';
CREATE OPERATOR <> (
    LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_ball, simhash_ball) IS 'not equal';
CREATE FUNCTION simhash_ball_hash(simhash_ball) RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_hash(simhash_ball) IS 'hash support';
CREATE FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) IS 'hash support';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 simhash_ball_hash(simhash_ball),
    FUNCTION 2 simhash_ball_hash_extended(simhash_ball, bigint);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hash IS 'equality of balls';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING hash IS 'equality of balls';

--
-- Distance
--

-- Planner support functions.  The one of distances and of operators on balls also loads the
-- library before the planner reads the tables of a query.
CREATE FUNCTION simhash_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_support(internal) IS
    'called by the planner: support of distances, operators on balls, simhash_within, shares_band and others';
CREATE FUNCTION simhash_selectivity(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_selectivity(internal, oid, internal, integer) IS
    'called by the planner: restriction selectivity of operators on balls and of %';
CREATE FUNCTION simhash_join_selectivity(internal, oid, internal, smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_join_selectivity(internal, oid, internal, smallint, internal) IS
    'called by the planner: join selectivity of operators on balls and of %';

CREATE FUNCTION hamming_distance(simhash, simhash) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_hamming_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION hamming_distance(simhash, simhash) IS 'number of differing bits, 0 to 64';

CREATE OPERATOR <~> (
    LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = hamming_distance,
    COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash, simhash) IS 'Hamming distance: number of differing bits, 0 to 64';

CREATE FUNCTION simhash_within(simhash, simhash, radius bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION simhash_within(simhash, simhash, bigint) IS 'do the fingerprints differ in at most radius bits?';

-- The planner writes the following functions in place of comparisons.  The functions of numeric
-- are not leakproof, since numeric's comparisons are not.
CREATE FUNCTION simhash_between(simhash, simhash, radius bigint, above bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION simhash_between(simhash, simhash, bigint, bigint) IS
    'internal, written by the planner: do the fingerprints differ in more than "above" and at most "radius" bits?';
CREATE FUNCTION simhash_beside("any", "any", clause boolean) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION simhash_beside("any", "any", boolean) IS
    'internal, written by the planner beside a clause that bounds the distance of two values: the clause''s value';
CREATE FUNCTION simhash_radius(bound double precision) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_radius_float8'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_radius(double precision) IS
    'internal, written by the planner: the greatest integer not above a bound, clamped to -1 to 64';
CREATE FUNCTION simhash_radius(bound numeric) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_radius_numeric'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_radius(numeric) IS
    'internal, written by the planner: the greatest integer not above a bound, clamped to -1 to 64';
CREATE FUNCTION simhash_radius_below(bound double precision) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_radius_below_float8'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_radius_below(double precision) IS
    'internal, written by the planner: the greatest integer below a bound, clamped to -1 to 64';
CREATE FUNCTION simhash_radius_below(bound numeric) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_radius_below_numeric'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_radius_below(numeric) IS
    'internal, written by the planner: the greatest integer below a bound, clamped to -1 to 64';

CREATE FUNCTION simhash_in_ball(simhash, simhash_ball) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION simhash_in_ball(simhash, simhash_ball) IS 'implementation of <@ operator';
CREATE FUNCTION simhash_ball_near(simhash_ball, simhash_ball) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
    SUPPORT simhash_support;
COMMENT ON FUNCTION simhash_ball_near(simhash_ball, simhash_ball) IS 'implementation of =~= operator';

CREATE OPERATOR <@ (
    LEFTARG = simhash, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR <@ (simhash, simhash_ball) IS 'is in the ball';
CREATE OPERATOR =~= (
    LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_near,
    COMMUTATOR = =~=,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR =~= (simhash_ball, simhash_ball) IS 'centers are within the smaller radius of each other';

--
-- Casts.  None is implicit.  All but the casts from text and varchar are explicit: a number is
-- not a fingerprint by itself, since it may be signed or unsigned.
--

CREATE CAST (simhash AS bigint) WITHOUT FUNCTION;
COMMENT ON CAST (simhash AS bigint) IS 'the same 64 bits, as signed integer';
CREATE CAST (bigint AS simhash) WITHOUT FUNCTION;
COMMENT ON CAST (bigint AS simhash) IS 'the same 64 bits';

CREATE FUNCTION simhash_to_numeric(simhash) RETURNS numeric
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_to_numeric(simhash) IS 'implementation of cast: as unsigned integer';
CREATE FUNCTION simhash_from_numeric(numeric) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_numeric(numeric) IS 'implementation of cast: from unsigned integer';
CREATE CAST (simhash AS numeric) WITH FUNCTION simhash_to_numeric(simhash);
COMMENT ON CAST (simhash AS numeric) IS 'as unsigned integer';
CREATE CAST (numeric AS simhash) WITH FUNCTION simhash_from_numeric(numeric);
COMMENT ON CAST (numeric AS simhash) IS 'from unsigned integer';

CREATE FUNCTION simhash_from_integer(integer) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_integer(integer) IS 'implementation of cast: from unsigned integer';
CREATE CAST (integer AS simhash) WITH FUNCTION simhash_from_integer(integer);
COMMENT ON CAST (integer AS simhash) IS 'from unsigned integer';
-- Drivers send small numbers as smallint.
CREATE FUNCTION simhash_from_smallint(smallint) RETURNS simhash
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN $1::integer::simhash;
COMMENT ON FUNCTION simhash_from_smallint(smallint) IS 'implementation of cast: from unsigned integer';
CREATE CAST (smallint AS simhash) WITH FUNCTION simhash_from_smallint(smallint);
COMMENT ON CAST (smallint AS simhash) IS 'from unsigned integer';

CREATE FUNCTION simhash_to_bit(simhash) RETURNS bit
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_to_bit(simhash) IS 'implementation of cast: as bit(64), most significant bit first';
CREATE FUNCTION simhash_from_bit(bit) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_bit(bit) IS 'implementation of cast: from bit(64), most significant bit first';
CREATE CAST (simhash AS bit) WITH FUNCTION simhash_to_bit(simhash);
COMMENT ON CAST (simhash AS bit) IS 'as bit(64), most significant bit first';
CREATE CAST (bit AS simhash) WITH FUNCTION simhash_from_bit(bit);
COMMENT ON CAST (bit AS simhash) IS 'from bit(64), most significant bit first';

CREATE FUNCTION simhash_to_bytea(simhash) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION simhash_to_bytea(simhash) IS 'implementation of cast: as 8 bytes, most significant first';
CREATE FUNCTION simhash_from_bytea(bytea) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_bytea(bytea) IS 'implementation of cast: from 8 bytes, most significant first';
CREATE CAST (simhash AS bytea) WITH FUNCTION simhash_to_bytea(simhash);
COMMENT ON CAST (simhash AS bytea) IS 'as 8 bytes, most significant first';
CREATE CAST (bytea AS simhash) WITH FUNCTION simhash_from_bytea(bytea);
COMMENT ON CAST (bytea AS simhash) IS 'from 8 bytes, most significant first';

-- These functions parse the text form, as the input function does.  The casts need functions.
-- With a cast by input and output the parser would take simhash(x) of a varchar, a char(n), a
-- name or a domain for x::simhash.
--
-- The casts from text and varchar are assignment casts, so INSERT takes a parameter or a column
-- of these types.  They are not implicit: body = fp is an error when it is parsed, not an error
-- of some row.
CREATE FUNCTION simhash_from_text(text) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_text(text) IS 'implementation of cast: from 16 hexadecimal digits';
CREATE CAST (text AS simhash) WITH FUNCTION simhash_from_text(text) AS ASSIGNMENT;
COMMENT ON CAST (text AS simhash) IS 'from 16 hexadecimal digits';
CREATE CAST (varchar AS simhash) WITH FUNCTION simhash_from_text(text) AS ASSIGNMENT;
COMMENT ON CAST (varchar AS simhash) IS 'from 16 hexadecimal digits';
CREATE FUNCTION simhash_from_text(character) RETURNS simhash
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN $1::text::simhash;
COMMENT ON FUNCTION simhash_from_text(character) IS 'implementation of cast: from 16 hexadecimal digits';
CREATE FUNCTION simhash_from_text(name) RETURNS simhash
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN $1::text::simhash;
COMMENT ON FUNCTION simhash_from_text(name) IS 'implementation of cast: from 16 hexadecimal digits';
CREATE CAST (character AS simhash) WITH FUNCTION simhash_from_text(character);
COMMENT ON CAST (character AS simhash) IS 'from 16 hexadecimal digits';
CREATE CAST (name AS simhash) WITH FUNCTION simhash_from_text(name);
COMMENT ON CAST (name AS simhash) IS 'from 16 hexadecimal digits';

--
-- Fingerprints
--

-- Here and below, NULL stands for the default of an optional argument.  The default width
-- depends on the unit: 2 words, 8 characters.
CREATE FUNCTION simhash(body text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text, integer, text) IS
    'fingerprint of a text, from its shingles of width words or characters';

-- A bare literal is of type unknown.  Without this, simhash('some text') would
-- be the text form of a fingerprint.
CREATE FUNCTION simhash(unknown) RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_text'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(unknown) IS 'fingerprint of a text written as a bare literal';

CREATE FUNCTION simhash(tokens text[], width integer DEFAULT 2) RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text[], integer) IS
    'fingerprint of tokens cut by the caller, from their shingles of width tokens';

CREATE FUNCTION simhash(features text[], weights double precision[]) RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_features'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(text[], double precision[]) IS 'fingerprint of weighted features';

CREATE FUNCTION simhash(hashes bigint[], weights double precision[] DEFAULT NULL) RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash(bigint[], double precision[]) IS
    'fingerprint of features given by their 64-bit hashes, with or without weights';

CREATE FUNCTION simhash(document tsvector, weights real[] DEFAULT NULL) RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_tsvector'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash(tsvector, real[]) IS
    'fingerprint of lexemes, by their occurrences and the weights {D,C,B,A} of their labels, by default as ts_rank '
    'has them';

-- simhash(text, integer, text) under a second name, which no type and no other function has.  So
-- the parser takes no call for a cast, and untyped parameters are a text, a width and a unit.
CREATE FUNCTION to_simhash(body text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS simhash
    AS 'MODULE_PATHNAME', 'simhash_text'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION to_simhash(text, integer, text) IS
    'fingerprint of a text, from its shingles of width words or characters';

--
-- Aggregate
--

CREATE FUNCTION simhash_agg_transition(bytea, text) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_transition(bytea, text) IS 'transition function of simhash_agg';
CREATE FUNCTION simhash_agg_transition(bytea, text, double precision) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_transition(bytea, text, double precision) IS 'transition function of simhash_agg';
CREATE FUNCTION simhash_agg_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_combine(bytea, bytea) IS 'combine function of simhash_agg';
CREATE FUNCTION simhash_agg_final(bytea) RETURNS simhash
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_final(bytea) IS 'final function of simhash_agg';

CREATE AGGREGATE simhash_agg(feature text) (
    SFUNC = simhash_agg_transition, STYPE = bytea, SSPACE = 1100,
    FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text) IS 'fingerprint of features in rows';
CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_transition, STYPE = bytea, SSPACE = 1100,
    FINALFUNC = simhash_agg_final, COMBINEFUNC = simhash_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS 'fingerprint of weighted features in rows';

--
-- Shingles, and shingles that two documents have in common
--

CREATE FUNCTION shingles(body text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS text[]
    AS 'MODULE_PATHNAME', 'simhash_shingles'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text, integer, text) IS 'shingles of a text, in order, as fingerprints are made of them';
CREATE FUNCTION shingles(tokens text[], width integer DEFAULT 2) RETURNS text[]
    AS 'MODULE_PATHNAME', 'simhash_shingles'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles(text[], integer) IS 'shingles of tokens cut by the caller, in order';

-- The default width of comparisons is 3 words or 8 characters, as in to_minhash() and
-- shingle_hashes().  So jaccard() of signatures estimates resemblance(), and <%> of hashes is
-- 1 minus resemblance().
CREATE FUNCTION resemblance(a text, b text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_resemblance'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION resemblance(text, text, integer, text) IS
    'exact resemblance: fraction of the distinct shingles of both texts that both contain, 0 to 1';
CREATE FUNCTION resemblance(a text[], b text[], width integer DEFAULT 3)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_resemblance'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION resemblance(text[], text[], integer) IS
    'exact resemblance: fraction of the distinct shingles of both token sequences that both contain, 0 to 1';

CREATE FUNCTION containment(a text, b text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_containment'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION containment(text, text, integer, text) IS
    'exact containment: fraction of the distinct shingles of a that b contains, 0 to 1';
CREATE FUNCTION containment(a text[], b text[], width integer DEFAULT 3)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_containment'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION containment(text[], text[], integer) IS
    'exact containment: fraction of the distinct shingles of a that b contains, 0 to 1';

-- These are for inspecting two documents, not for searching many.
CREATE FUNCTION shingle_difference(a text, b text, width integer DEFAULT NULL, unit text DEFAULT 'word',
    OUT only_in text, OUT start integer, OUT length integer, OUT shingle text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_shingle_difference'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION shingle_difference(text, text, integer, text) IS
    'shingles that only one of two texts has, in order: the text, a or b; position and length of the passage in '
    'characters, as substr() counts';
CREATE FUNCTION shingle_difference(a text[], b text[], width integer DEFAULT 3,
    OUT only_in text, OUT start integer, OUT length integer, OUT shingle text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_shingle_difference'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION shingle_difference(text[], text[], integer) IS
    'shingles that only one of two documents of tokens has, in order: the document, a or b; first token, counted '
    'from 1, and number of tokens';

--
-- Whole corpora
--

CREATE FUNCTION simhash_cluster(fp simhash, radius double precision, method text DEFAULT 'single')
    RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cluster(simhash, double precision, text) IS
    'number of the first row of the row''s cluster, in the window''s order; method ''single'', single linkage: '
    'connected within the radius; method ''leader'': within the radius of the first leader';

CREATE FUNCTION connected_component(a bigint, b bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_connected_component'
    LANGUAGE C IMMUTABLE PARALLEL SAFE WINDOW COST 10;
COMMENT ON FUNCTION connected_component(bigint, bigint) IS
    'smallest id of the connected component of an edge; each row of the window is an edge from a to b';
CREATE FUNCTION keeper(a bigint, b bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_keeper'
    LANGUAGE C IMMUTABLE PARALLEL SAFE WINDOW COST 10;
COMMENT ON FUNCTION keeper(bigint, bigint) IS
    'a if b goes because of a, else NULL; each row of the window is an edge from a to b, ordered by the rank of a; '
    'a row stays if no edge leads to it from a row that stays';

--
-- Type minhash: a signature, from which the resemblance of sets is estimated
--

CREATE TYPE minhash;

CREATE FUNCTION minhash_in(cstring, oid, integer) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_in(cstring, oid, integer) IS 'I/O';
CREATE FUNCTION minhash_out(minhash) RETURNS cstring
    AS 'MODULE_PATHNAME', 'simhash_minhash_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_out(minhash) IS 'I/O';
CREATE FUNCTION minhash_recv(internal, oid, integer) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_recv'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_recv(internal, oid, integer) IS 'I/O';
CREATE FUNCTION minhash_send(minhash) RETURNS bytea
    AS 'MODULE_PATHNAME', 'simhash_minhash_send'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_send(minhash) IS 'I/O';
CREATE FUNCTION minhash_typmod_in(cstring[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_minhash_typmod_in'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_in(cstring[]) IS 'I/O typmod';
CREATE FUNCTION minhash_typmod_out(integer) RETURNS cstring
    AS 'MODULE_PATHNAME', 'simhash_minhash_typmod_out'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_out(integer) IS 'I/O typmod';

-- Minima are random, so compressing values stored out of line is not worthwhile.
CREATE TYPE minhash (
    INPUT = minhash_in,
    OUTPUT = minhash_out,
    RECEIVE = minhash_recv,
    SEND = minhash_send,
    TYPMOD_IN = minhash_typmod_in,
    TYPMOD_OUT = minhash_typmod_out,
    INTERNALLENGTH = VARIABLE,
    ALIGNMENT = int4,
    STORAGE = external,
    CATEGORY = 'U'
);
COMMENT ON TYPE minhash IS
    'MinHash signature of a set, of bands x rows minima; the more minima of two signatures are equal, the more the '
    'sets resemble each other';

CREATE FUNCTION minhash_modified(minhash, integer) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_modified'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_modified(minhash, integer) IS
    'implementation of cast: the signature, if it has the parameters of the type modifier; else an error';
CREATE CAST (minhash AS minhash) WITH FUNCTION minhash_modified(minhash, integer) AS IMPLICIT;
COMMENT ON CAST (minhash AS minhash) IS 'to a column with other parameters: an error';

--
-- Order and equality of signatures: by parameters, then by minima
--

CREATE FUNCTION minhash_eq(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_eq'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_eq(minhash, minhash) IS 'implementation of = operator';
CREATE FUNCTION minhash_ne(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_ne'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_ne(minhash, minhash) IS 'implementation of <> operator';
CREATE FUNCTION minhash_lt(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_lt'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_lt(minhash, minhash) IS 'implementation of < operator';
CREATE FUNCTION minhash_le(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_le'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_le(minhash, minhash) IS 'implementation of <= operator';
CREATE FUNCTION minhash_gt(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_gt'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_gt(minhash, minhash) IS 'implementation of > operator';
CREATE FUNCTION minhash_ge(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_ge'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_ge(minhash, minhash) IS 'implementation of >= operator';

CREATE OPERATOR = (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_eq,
    COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (minhash, minhash) IS 'equal';
CREATE OPERATOR <> (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ne,
    COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash, minhash) IS 'not equal';
CREATE OPERATOR < (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_lt,
    COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash, minhash) IS 'less than, by parameters, then by minima';
CREATE OPERATOR <= (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_le,
    COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash, minhash) IS 'less than or equal, by parameters, then by minima';
CREATE OPERATOR > (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_gt,
    COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash, minhash) IS 'greater than, by parameters, then by minima';
CREATE OPERATOR >= (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ge,
    COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash, minhash) IS 'greater than or equal, by parameters, then by minima';

CREATE FUNCTION minhash_cmp(minhash, minhash) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_minhash_cmp'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_cmp(minhash, minhash) IS 'btree support: three-way comparison';
CREATE FUNCTION minhash_hash(minhash) RETURNS integer
    AS 'MODULE_PATHNAME', 'simhash_minhash_hash'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_hash(minhash) IS 'hash support';
CREATE FUNCTION minhash_hash_extended(minhash, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'simhash_minhash_hash_extended'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION minhash_hash_extended(minhash, bigint) IS 'hash support';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING btree AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 minhash_cmp(minhash, minhash),
    FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS minhash_ops USING btree IS
    'order of signatures, by parameters, then by minima; it serves sorting and equality, not resemblance';
COMMENT ON OPERATOR FAMILY minhash_ops USING btree IS
    'order of signatures, by parameters, then by minima; it serves sorting and equality, not resemblance';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 minhash_hash(minhash),
    FUNCTION 2 minhash_hash_extended(minhash, bigint);
COMMENT ON OPERATOR CLASS minhash_ops USING hash IS 'equality of signatures';
COMMENT ON OPERATOR FAMILY minhash_ops USING hash IS 'equality of signatures';

--
-- Estimates from signatures.  Signatures with different parameters raise an error.
--

CREATE FUNCTION jaccard(minhash, minhash) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_minhash_jaccard'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard(minhash, minhash) IS 'estimated resemblance: fraction of equal minima, 0 to 1';
CREATE FUNCTION jaccard_distance(minhash, minhash) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_minhash_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard_distance(minhash, minhash) IS
    'estimated Jaccard distance: fraction of minima that differ, 0 to 1';
CREATE FUNCTION shares_band(minhash, minhash) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_minhash_shares_band'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT simhash_support;
COMMENT ON FUNCTION shares_band(minhash, minhash) IS
    'LSH banding (locality-sensitive hashing): are all minima of at least one band equal?';

CREATE OPERATOR <%> (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = jaccard_distance,
    COMMUTATOR = <%>
);
COMMENT ON OPERATOR <%> (minhash, minhash) IS 'estimated Jaccard distance: fraction of minima that differ, 0 to 1';
CREATE OPERATOR % (
    LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = shares_band,
    COMMUTATOR = %,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR % (minhash, minhash) IS
    'share a band: all minima of at least one band are equal; LSH banding (locality-sensitive hashing)';

CREATE FUNCTION containment(a minhash, b minhash) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_minhash_containment'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment(minhash, minhash) IS
    'estimated containment: fraction of the features of a that b has, 0 to 1';
CREATE FUNCTION minhash_cardinality(minhash) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_minhash_cardinality'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minhash_cardinality(minhash) IS 'estimated number of distinct features';

--
-- Signatures
--

-- Defaults: 18 bands of 7 rows, a width of 3 words or 8 characters.
CREATE FUNCTION to_minhash(body text, bands integer DEFAULT NULL, rows integer DEFAULT NULL,
    width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_to_minhash'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION to_minhash(text, integer, integer, integer, text) IS
    'MinHash signature of a text, from its shingles of width words or characters';
CREATE FUNCTION to_minhash(tokens text[], bands integer DEFAULT NULL, rows integer DEFAULT NULL,
    width integer DEFAULT NULL)
    RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_to_minhash'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION to_minhash(text[], integer, integer, integer) IS
    'MinHash signature of tokens cut by the caller, from their shingles of width tokens';
CREATE FUNCTION to_minhash(hashes bigint[], bands integer DEFAULT NULL, rows integer DEFAULT NULL)
    RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_to_minhash_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION to_minhash(bigint[], integer, integer) IS
    'MinHash signature of a set of numbers: ids, or hashes of features';

CREATE FUNCTION minhash_union(minhash, minhash) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_union'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS 'MinHash signature of the union of two sets';
CREATE AGGREGATE minhash_union_agg(minhash) (
    SFUNC = minhash_union, STYPE = minhash, SSPACE = 600,
    COMBINEFUNC = minhash_union, PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS 'MinHash signature of the union of all sets';

CREATE FUNCTION minhash_agg_transition(minhash, text) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash_agg_transition(minhash, text) IS 'transition function of minhash_agg';
CREATE FUNCTION minhash_agg_transition(minhash, text, integer, integer) RETURNS minhash
    AS 'MODULE_PATHNAME', 'simhash_minhash_agg_transition'
    LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash_agg_transition(minhash, text, integer, integer) IS 'transition function of minhash_agg';
CREATE AGGREGATE minhash_agg(feature text) (
    SFUNC = minhash_agg_transition, STYPE = minhash, SSPACE = 600,
    COMBINEFUNC = minhash_union, PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg(text) IS 'MinHash signature of features in rows';
CREATE AGGREGATE minhash_agg(feature text, bands integer, rows integer) (
    SFUNC = minhash_agg_transition, STYPE = minhash, SSPACE = 600,
    COMBINEFUNC = minhash_union, PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_agg(text, integer, integer) IS
    'MinHash signature of features in rows, with this number of bands and rows';

--
-- Bands
--

CREATE FUNCTION minhash_bands(minhash) RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_minhash_bands'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION minhash_bands(minhash) IS
    'a hash of each band and its number; signatures share a band if they have one of these in common';
CREATE FUNCTION minhash_advice(threshold double precision, recall double precision DEFAULT 0.95,
    OUT bands integer, OUT rows integer, OUT length integer, OUT bytes integer,
    OUT finds double precision, OUT at_three_quarters double precision,
    OUT at_half double precision, OUT at_a_quarter double precision)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_minhash_advice'
    LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION minhash_advice(double precision, double precision) IS
    'bands and rows that find sets of the threshold''s resemblance with probability recall: the advised shape first, '
    'then larger ones, which find fewer sets of three quarters, half and a quarter of that resemblance';

--
-- Sketches: arrays of some of the hashes of shingles.  Texts with common passages have common
-- elements.
--

-- Defaults: a width of 3 words or 8 characters, as to_minhash() has them.
CREATE FUNCTION shingle_hashes(body text, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_shingle_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingle_hashes(text, integer, text) IS
    'the hashes of all shingles of a text; 1 minus the distance <%> of two such arrays is the resemblance of the texts';
CREATE FUNCTION shingle_hashes(tokens text[], width integer DEFAULT NULL)
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_shingle_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingle_hashes(text[], integer) IS 'the hashes of all shingles of tokens cut by the caller';

-- Defaults: a width of 8 words or 48 characters, a guarantee of 3 widths.
CREATE FUNCTION sketch(body text, modulus integer, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_sketch'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sketch(text, integer, integer, text) IS
    '0 mod p sketch of a text: the hashes of its shingles that the modulus divides';
CREATE FUNCTION sketch(tokens text[], modulus integer, width integer DEFAULT NULL)
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_sketch'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sketch(text[], integer, integer) IS
    '0 mod p sketch of tokens cut by the caller: the hashes of their shingles that the modulus divides';

CREATE FUNCTION winnow(body text, guarantee integer DEFAULT NULL, width integer DEFAULT NULL, unit text DEFAULT 'word')
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_winnow'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow(text, integer, integer, text) IS
    'winnowed sketch of a text: texts with a common passage of at least guarantee words or characters have an '
    'element in common; a passage shorter than width yields none';
CREATE FUNCTION winnow(tokens text[], guarantee integer DEFAULT NULL, width integer DEFAULT NULL)
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_winnow'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow(text[], integer, integer) IS
    'winnowed sketch of tokens cut by the caller: documents with a common passage of at least guarantee tokens have '
    'an element in common; a passage shorter than width yields none';
CREATE FUNCTION winnow_hashes(hashes bigint[], size integer)
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_winnow_hashes'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION winnow_hashes(bigint[], integer) IS
    'winnowed sketch of given hashes, in their order: the smallest of each window of size hashes; documents with '
    'size consecutive hashes in common have an element in common';

-- Not strict: a NULL scope raises an error.
CREATE FUNCTION scoped_hashes(hashes bigint[], scope text)
    RETURNS bigint[]
    AS 'MODULE_PATHNAME', 'simhash_scoped_hashes'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION scoped_hashes(bigint[], text) IS
    'given hashes, hashed once more with a scope, such as a tenant: arrays of one scope keep their distances, and '
    'arrays of two have no element in common';
CREATE FUNCTION scoped_hashes(hashes bigint[], scope bigint)
    RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100
    RETURN scoped_hashes(hashes, scope::text);
COMMENT ON FUNCTION scoped_hashes(bigint[], bigint) IS
    'given hashes, hashed once more with a scope, such as a tenant: arrays of one scope keep their distances, and '
    'arrays of two have no element in common; the scope is the decimal text of the number';

CREATE FUNCTION common_passages(a text, b text, minimum integer DEFAULT NULL, unit text DEFAULT 'word',
    OUT a_start integer, OUT a_length integer, OUT b_start integer, OUT b_length integer,
    OUT units integer, OUT passage text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_common_passages'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION common_passages(text, text, integer, text) IS
    'passages of a of at least minimum words or characters that are in b too, the longest first: position and length '
    'in each text in characters, as substr() counts; length in units, words or characters; the passage as a spells '
    'it';
CREATE FUNCTION common_passages(a text[], b text[], minimum integer DEFAULT NULL,
    OUT a_start integer, OUT b_start integer, OUT length integer)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_common_passages'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION common_passages(text[], text[], integer) IS
    'passages of a of at least minimum tokens that are in b too, the longest first: first token in each, counted '
    'from 1, and number of tokens';

CREATE FUNCTION edited_passages(a text, b text, minimum integer DEFAULT NULL, gap integer DEFAULT NULL,
    unit text DEFAULT 'word',
    OUT a_start integer, OUT a_length integer, OUT b_start integer, OUT b_length integer,
    OUT units integer, OUT passage text, OUT a_gaps text[], OUT b_gaps text[])
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_edited_passages'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION edited_passages(text, text, integer, integer, text) IS
    'passages of a that are in b too, joined where at most gap words or characters differ: as common_passages(), '
    'with units the words or characters that both have, and what stands in each gap of a and of b';

CREATE FUNCTION text_windows(body text, size integer DEFAULT 1, step integer DEFAULT NULL, unit text DEFAULT 'word',
    OUT start integer, OUT length integer, OUT piece text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'simhash_text_windows'
    LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION text_windows(text, integer, integer, text) IS
    'chunks of a text, in order, of size words, characters, lines, sentences or paragraphs, one beginning every step '
    'units; position and length in characters, as substr() counts';

--
-- Sets of hashes: arrays of bigint
--

CREATE FUNCTION containment_distance(document bigint[], passage bigint[]) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_containment_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION containment_distance(bigint[], bigint[]) IS
    'fraction of the distinct elements of passage that document lacks, 0 to 1';
CREATE OPERATOR <%>> (
    LEFTARG = bigint[], RIGHTARG = bigint[], FUNCTION = containment_distance
);
COMMENT ON OPERATOR <%>> (bigint[], bigint[]) IS
    'fraction of the distinct elements of the right array that the left one lacks, 0 to 1';

CREATE FUNCTION sketch_overlaps(a bigint[], b bigint[]) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_sketch_overlaps'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION sketch_overlaps(bigint[], bigint[]) IS
    'internal, written by the planner for a && b, which an index supports';
CREATE FUNCTION sketch_contained(a bigint[], b bigint[]) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_sketch_contained'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION sketch_contained(bigint[], bigint[]) IS
    'internal, written by the planner for a <@ b, which an index supports';
CREATE FUNCTION containment_within(document bigint[], passage bigint[], radius double precision) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_containment_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION containment_within(bigint[], bigint[], double precision) IS
    'internal, written by the planner for document <%>> passage <= radius';
CREATE FUNCTION containment_between(
    document bigint[], passage bigint[], radius double precision, above double precision) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_containment_between'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION containment_between(bigint[], bigint[], double precision, double precision) IS
    'internal, written by the planner for a distance document <%>> passage above "above" and at most "radius"';

CREATE FUNCTION jaccard_distance(bigint[], bigint[]) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_array_distance'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION jaccard_distance(bigint[], bigint[]) IS
    'fraction of the distinct elements of two arrays that are not in both, 0 to 1';
CREATE OPERATOR <%> (
    LEFTARG = bigint[], RIGHTARG = bigint[], FUNCTION = jaccard_distance, COMMUTATOR = <%>
);
COMMENT ON OPERATOR <%> (bigint[], bigint[]) IS
    'Jaccard distance: fraction of the distinct elements of two arrays that are not in both, 0 to 1';
CREATE FUNCTION jaccard_within(bigint[], bigint[], radius double precision) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_jaccard_within'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION jaccard_within(bigint[], bigint[], double precision) IS
    'internal, written by the planner for a <%> b <= radius';
CREATE FUNCTION jaccard_between(bigint[], bigint[], radius double precision, above double precision) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_jaccard_between'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100
    SUPPORT simhash_support;
COMMENT ON FUNCTION jaccard_between(bigint[], bigint[], double precision, double precision) IS
    'internal, written by the planner for a distance a <%> b above "above" and at most "radius"';
CREATE FUNCTION sketch_radius_below(bound double precision) RETURNS double precision
    AS 'MODULE_PATHNAME', 'simhash_sketch_radius_below'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF;
COMMENT ON FUNCTION sketch_radius_below(double precision) IS
    'internal, written by the planner: the greatest number below a bound';

CREATE TYPE sketch_ball AS (center bigint[], radius double precision);
COMMENT ON TYPE sketch_ball IS 'all arrays within a distance of center';
CREATE FUNCTION sketch_ball(center bigint[], radius double precision) RETURNS sketch_ball
    AS 'MODULE_PATHNAME', 'simhash_sketch_ball'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sketch_ball(bigint[], double precision) IS
    'ball with a center and a radius: all arrays within this distance of center';
CREATE FUNCTION containment_in_ball(bigint[], sketch_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_containment_in_ball'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION containment_in_ball(bigint[], sketch_ball) IS 'implementation of <%>@ operator';
CREATE OPERATOR <%>@ (
    LEFTARG = bigint[], RIGHTARG = sketch_ball, FUNCTION = containment_in_ball,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR <%>@ (bigint[], sketch_ball) IS 'is in the ball, by containment distance';
CREATE FUNCTION jaccard_in_ball(bigint[], sketch_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_jaccard_in_ball'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION jaccard_in_ball(bigint[], sketch_ball) IS 'implementation of <%@ operator';
CREATE OPERATOR <%@ (
    LEFTARG = bigint[], RIGHTARG = sketch_ball, FUNCTION = jaccard_in_ball,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR <%@ (bigint[], sketch_ball) IS 'is in the ball, by Jaccard distance';
CREATE FUNCTION sketch_ball_near(sketch_ball, sketch_ball) RETURNS boolean
    AS 'MODULE_PATHNAME', 'simhash_sketch_ball_near'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION sketch_ball_near(sketch_ball, sketch_ball) IS 'implementation of =~= operator';
CREATE OPERATOR =~= (
    LEFTARG = sketch_ball, RIGHTARG = sketch_ball, FUNCTION = sketch_ball_near,
    COMMUTATOR = =~=,
    RESTRICT = simhash_selectivity, JOIN = simhash_join_selectivity
);
COMMENT ON OPERATOR =~= (sketch_ball, sketch_ball) IS
    'centers are within the smaller radius of each other, by Jaccard distance';

--
-- Index access method
--

CREATE FUNCTION simhash_handler(internal) RETURNS index_am_handler
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION simhash_handler(internal) IS 'handler of the index access method simhash';

CREATE ACCESS METHOD simhash TYPE INDEX HANDLER simhash_handler;
COMMENT ON ACCESS METHOD simhash IS
    'index of fingerprints by Hamming distance: multi-index hashing with permuted tables; of MinHash signatures by '
    'their bands, and of sketches by their elements';

-- Each operator class names the function with its methods.
CREATE FUNCTION simhash_opclass(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_opclass(internal) IS 'index support: fingerprints';
CREATE FUNCTION simhash_ball_opclass(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_opclass(internal) IS 'index support: balls, by their centers';
CREATE FUNCTION simhash_minhash_opclass(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_minhash_opclass(internal) IS 'index support: signatures, by their bands';
CREATE FUNCTION simhash_sketch_opclass(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_opclass(internal) IS 'index support: arrays of hashes, by their elements';
CREATE FUNCTION simhash_sketch_ball_opclass(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sketch_ball_opclass(internal) IS
    'index support: balls of arrays of hashes, by the elements of their centers';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING simhash AS
    OPERATOR 1 <@ (simhash, simhash_ball),
    OPERATOR 2 =,
    OPERATOR 3 <~> FOR ORDER BY integer_ops,
    FUNCTION 1 simhash_opclass(internal);
COMMENT ON OPERATOR CLASS simhash_ops USING simhash IS 'fingerprints within a Hamming distance, or the nearest first';
COMMENT ON OPERATOR FAMILY simhash_ops USING simhash IS 'fingerprints within a Hamming distance, or the nearest first';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING simhash AS
    OPERATOR 4 =~=,
    FUNCTION 1 simhash_ball_opclass(internal);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING simhash IS
    'balls whose centers are within the smaller radius of each other, for exclusion constraints';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING simhash IS
    'balls whose centers are within the smaller radius of each other, for exclusion constraints';

CREATE OPERATOR CLASS sketch_ops DEFAULT FOR TYPE bigint[] USING simhash AS
    OPERATOR 1 <%>@ (bigint[], sketch_ball),
    OPERATOR 5 && (anyarray, anyarray),
    OPERATOR 7 <%>> (bigint[], bigint[]) FOR ORDER BY float_ops,
    OPERATOR 8 @> (anyarray, anyarray),
    OPERATOR 9 <@ (anyarray, anyarray),
    OPERATOR 10 <%@ (bigint[], sketch_ball),
    OPERATOR 11 <%> (bigint[], bigint[]) FOR ORDER BY float_ops,
    FUNCTION 1 simhash_sketch_opclass(internal);
COMMENT ON OPERATOR CLASS sketch_ops USING simhash IS
    'arrays of hashes within a distance, that have any or all elements of the query or no others, or ordered by a '
    'distance';
COMMENT ON OPERATOR FAMILY sketch_ops USING simhash IS
    'arrays of hashes within a distance, that have any or all elements of the query or no others, or ordered by a '
    'distance';

CREATE OPERATOR CLASS sketch_ball_ops DEFAULT FOR TYPE sketch_ball USING simhash AS
    OPERATOR 4 =~=,
    FUNCTION 1 simhash_sketch_ball_opclass(internal);
COMMENT ON OPERATOR CLASS sketch_ball_ops USING simhash IS
    'arrays of hashes within the smaller radius of each other, for exclusion constraints';
COMMENT ON OPERATOR FAMILY sketch_ball_ops USING simhash IS
    'arrays of hashes within the smaller radius of each other, for exclusion constraints';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING simhash AS
    OPERATOR 6 %,
    FUNCTION 1 simhash_minhash_opclass(internal);
COMMENT ON OPERATOR CLASS minhash_ops USING simhash IS
    'signatures that share a band: LSH banding (locality-sensitive hashing)';
COMMENT ON OPERATOR FAMILY minhash_ops USING simhash IS
    'signatures that share a band: LSH banding (locality-sensitive hashing)';

CREATE FUNCTION simhash_index_advice(rows bigint, radius bigint,
    OUT blocks integer, OUT prefix integer, OUT nested integer,
    OUT tables integer, OUT bytes bigint, OUT probes double precision,
    OUT candidates double precision, OUT microseconds double precision,
    OUT advised boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 3;
COMMENT ON FUNCTION simhash_index_advice(bigint, bigint) IS
    'index options for this number of rows and searches within a radius in bits: the designs that no smaller one '
    'beats in speed, with their size and speed by a model';

CREATE FUNCTION simhash_index_stats(index regclass,
    OUT permuted_table integer, OUT prefix_bits integer, OUT level integer,
    OUT pages bigint, OUT entries bigint, OUT fill double precision,
    OUT longest_run bigint, OUT rebuilt_pages bigint)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION simhash_index_stats(regclass) IS
    'pages and entries of each level of each permuted table of an index (permuted_table NULL: rows whose value is '
    'NULL; level NULL: free pages, for reuse), the maximum number of entries with one prefix, and the pages of the '
    'whole permuted table after REINDEX';

CREATE FUNCTION simhash_index_explain(index regclass, query simhash, radius bigint,
    OUT tables integer, OUT prefix_bits integer, OUT probes bigint,
    OUT pages bigint, OUT candidates bigint, OUT matches bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simhash_index_explain(regclass, simhash, bigint) IS
    'search an index within a radius and report the work: permuted tables searched, prefix bits used, probes, leaves '
    'read, entries compared, entries found';

CREATE FUNCTION simhash_index_check(index regclass, heap boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL RESTRICTED;
COMMENT ON FUNCTION simhash_index_check(regclass, boolean) IS
    'raise an error if the structure of an index is damaged; with heap true, also if its entries do not match the '
    'table';

--
-- GiST: fingerprints beside other columns
--

-- A key: the bits that all fingerprints below it agree on, and the values of these bits.
CREATE TYPE simhash_gist_key;

CREATE FUNCTION simhash_gist_key_in(cstring) RETURNS simhash_gist_key
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_key_in(cstring) IS 'I/O';
CREATE FUNCTION simhash_gist_key_out(simhash_gist_key) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_key_out(simhash_gist_key) IS 'I/O';

CREATE TYPE simhash_gist_key (
    INPUT = simhash_gist_key_in,
    OUTPUT = simhash_gist_key_out,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE simhash_gist_key IS 'key of a GiST index: (bits that fingerprints agree on,their values)';

-- A key of balls: the same for their centers, and the greatest radius.
CREATE TYPE simhash_ball_gist_key;

CREATE FUNCTION simhash_ball_gist_key_in(cstring) RETURNS simhash_ball_gist_key
    AS 'MODULE_PATHNAME', 'simhash_gist_key_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_key_in(cstring) IS 'I/O';
CREATE FUNCTION simhash_ball_gist_key_out(simhash_ball_gist_key) RETURNS cstring
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_key_out(simhash_ball_gist_key) IS 'I/O';

CREATE TYPE simhash_ball_gist_key (
    INPUT = simhash_ball_gist_key_in,
    OUTPUT = simhash_ball_gist_key_out,
    INTERNALLENGTH = 24,
    ALIGNMENT = double
);
COMMENT ON TYPE simhash_ball_gist_key IS
    'key of a GiST index: (bits that centers agree on,their values,greatest radius)';

CREATE FUNCTION simhash_gist_consistent(internal, simhash, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_consistent(internal, simhash, smallint, oid, internal) IS
    'GiST support: whether an entry may satisfy a condition';
CREATE FUNCTION simhash_gist_union(internal, internal) RETURNS simhash_gist_key
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_union(internal, internal) IS 'GiST support: the key of entries together';
CREATE FUNCTION simhash_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_compress(internal) IS 'GiST support: the key of a fingerprint';
CREATE FUNCTION simhash_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_penalty(internal, internal, internal) IS
    'GiST support: the cost of adding an entry to a key';
CREATE FUNCTION simhash_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_picksplit(internal, internal) IS 'GiST support: the split of a page';
CREATE FUNCTION simhash_gist_same(simhash_gist_key, simhash_gist_key, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_same(simhash_gist_key, simhash_gist_key, internal) IS
    'GiST support: whether two keys are equal';
CREATE FUNCTION simhash_gist_distance(internal, simhash, smallint, oid, internal) RETURNS double precision
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_distance(internal, simhash, smallint, oid, internal) IS
    'GiST support: a lower bound of the distance of an entry';
CREATE FUNCTION simhash_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_fetch(internal) IS 'GiST support: the fingerprint of a key';

-- These serve balls too.
CREATE FUNCTION simhash_gist_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_sortsupport(internal) IS 'GiST support: the order in which an index is built';
CREATE FUNCTION simhash_gist_strategy(integer) RETURNS smallint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gist_strategy(integer) IS 'GiST support: the strategy number of equality';

CREATE FUNCTION simhash_ball_gist_consistent(internal, simhash_ball, smallint, oid, internal) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_consistent(internal, simhash_ball, smallint, oid, internal) IS
    'GiST support: whether an entry may satisfy a condition';
CREATE FUNCTION simhash_ball_gist_union(internal, internal) RETURNS simhash_ball_gist_key
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_union(internal, internal) IS 'GiST support: the key of entries together';
CREATE FUNCTION simhash_ball_gist_compress(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_compress(internal) IS 'GiST support: the key of a ball';
CREATE FUNCTION simhash_ball_gist_penalty(internal, internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_penalty(internal, internal, internal) IS
    'GiST support: the cost of adding an entry to a key';
CREATE FUNCTION simhash_ball_gist_picksplit(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_picksplit(internal, internal) IS 'GiST support: the split of a page';
CREATE FUNCTION simhash_ball_gist_same(simhash_ball_gist_key, simhash_ball_gist_key, internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_same(simhash_ball_gist_key, simhash_ball_gist_key, internal) IS
    'GiST support: whether two keys are equal';
CREATE FUNCTION simhash_ball_gist_fetch(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gist_fetch(internal) IS 'GiST support: the ball of a key';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING gist AS
    OPERATOR 1 <@ (simhash, simhash_ball),
    OPERATOR 2 =,
    OPERATOR 3 <~> FOR ORDER BY integer_ops,
    FUNCTION 1 simhash_gist_consistent(internal, simhash, smallint, oid, internal),
    FUNCTION 2 simhash_gist_union(internal, internal),
    FUNCTION 3 simhash_gist_compress(internal),
    FUNCTION 5 simhash_gist_penalty(internal, internal, internal),
    FUNCTION 6 simhash_gist_picksplit(internal, internal),
    FUNCTION 7 simhash_gist_same(simhash_gist_key, simhash_gist_key, internal),
    FUNCTION 8 simhash_gist_distance(internal, simhash, smallint, oid, internal),
    FUNCTION 9 simhash_gist_fetch(internal),
    FUNCTION 11 simhash_gist_sortsupport(internal),
    STORAGE simhash_gist_key;
COMMENT ON OPERATOR CLASS simhash_ops USING gist IS
    'fingerprints within a Hamming distance, or the nearest first, beside other columns';
COMMENT ON OPERATOR FAMILY simhash_ops USING gist IS
    'fingerprints within a Hamming distance, or the nearest first, beside other columns';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING gist AS
    OPERATOR 2 =,
    OPERATOR 4 =~=,
    FUNCTION 1 simhash_ball_gist_consistent(internal, simhash_ball, smallint, oid, internal),
    FUNCTION 2 simhash_ball_gist_union(internal, internal),
    FUNCTION 3 simhash_ball_gist_compress(internal),
    FUNCTION 5 simhash_ball_gist_penalty(internal, internal, internal),
    FUNCTION 6 simhash_ball_gist_picksplit(internal, internal),
    FUNCTION 7 simhash_ball_gist_same(simhash_ball_gist_key, simhash_ball_gist_key, internal),
    FUNCTION 9 simhash_ball_gist_fetch(internal),
    FUNCTION 11 simhash_gist_sortsupport(internal),
    STORAGE simhash_ball_gist_key;
COMMENT ON OPERATOR CLASS simhash_ball_ops USING gist IS
    'balls whose centers are within the smaller radius of each other, for exclusion constraints beside other columns';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING gist IS
    'balls whose centers are within the smaller radius of each other, for exclusion constraints beside other columns';

-- PostgreSQL 18 and later call a support function for the strategy number of equality.  Earlier
-- versions have no such support function.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY simhash_ops USING gist ADD
            FUNCTION 12 ("any", "any") simhash_gist_strategy(integer);
        ALTER OPERATOR FAMILY simhash_ball_ops USING gist ADD
            FUNCTION 12 ("any", "any") simhash_gist_strategy(integer);
    END IF;
END $$;
