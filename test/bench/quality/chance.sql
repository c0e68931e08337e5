-- Random choices from a hash of two numbers and a seed, so that neither plans nor
-- parallel workers change them.  Other scripts include this file.

-- Returns a number evenly distributed in [0, 1).
CREATE FUNCTION chance(a bigint, b bigint, seed bigint) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (hashint8extended((a << 24) + b, seed) & 9007199254740991) / 9007199254740992.0
$$;
