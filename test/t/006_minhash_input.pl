# Damaged signatures: the text form, the binary form and the stored form, with bytes
# changed, removed and added.  Each raises an error, or is a valid signature.
#
# SIMHASH_SEED repeats a run.  SIMHASH_ROUNDS sets the number of damages for each form.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'servers refuse to run as root' if $> == 0;

my $seed = $ENV{SIMHASH_SEED} || int(rand(1_000_000_000)) + 1;
my $rounds = $ENV{SIMHASH_ROUNDS} || 1500;
diag("SIMHASH_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my $directory = $node->basedir;

# Signatures with all types of parameters, large and small; %s is the seed.
$node->safe_psql('postgres', sprintf(<<'END', $seed));
CREATE EXTENSION simhash;
CREATE CAST (minhash AS bytea) WITHOUT FUNCTION;
CREATE CAST (bytea AS minhash) WITHOUT FUNCTION;

CREATE FUNCTION number(i bigint, below integer) RETURNS integer LANGUAGE sql IMMUTABLE
    RETURN ((hashint8extended(i, %s) >> 8 & 2147483647) %% below)::integer;

CREATE FUNCTION signature(i bigint) RETURNS minhash LANGUAGE sql IMMUTABLE
    RETURN CASE number(i, 4)
        WHEN 0 THEN to_minhash('some text ' || i, 1 + number(i + 1, 20), 1 + number(i + 2, 9), 1 + number(i + 3, 3))
        WHEN 1 THEN to_minhash('some text ' || i, 1, 1 + number(i + 1, 64), 4, 'char')
        WHEN 2 THEN to_minhash(ARRAY[i, i + 1], 1 + number(i + 1, 3), 1 + number(i + 2, 3))
        ELSE (SELECT minhash_agg(i::text, 1 + number(i + 1, 3), 1 + number(i + 2, 3))) END;

-- One to three changes: a bit, a byte, a byte less, a byte more, a truncation, an appended end.
CREATE FUNCTION damaged(b bytea, i bigint, bytes bytea DEFAULT NULL) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    at integer;
    new bytea;
BEGIN
    FOR change IN 0 .. number(i, 3) LOOP
        -- the beginning, which contains the parameters, twice as often
        at := number(i + 10 * change + 1,
                     CASE number(i + 10 * change + 2, 2) WHEN 0 THEN least(length(b), 10) ELSE length(b) END);
        new := CASE WHEN bytes IS NULL THEN substr(int4send(number(i + 10 * change + 3, 256)), 4)
                    ELSE substr(bytes, 1 + number(i + 10 * change + 3, length(bytes)), 1) END;
        b := CASE number(i + 10 * change + 4, CASE WHEN bytes IS NULL THEN 6 ELSE 5 END)
            WHEN 0 THEN substr(b, 1, at) || substr(b, at + 2)
            WHEN 1 THEN substr(b, 1, at) || new || substr(b, at + 1)
            WHEN 2 THEN CASE WHEN at > 0 THEN substr(b, 1, at) ELSE b END
            WHEN 3 THEN b || new
            WHEN 4 THEN overlay(b PLACING new FROM at + 1)
            ELSE set_bit(b, at * 8 + number(i + 10 * change + 5, 8),
                         1 - get_bit(b, at * 8 + number(i + 10 * change + 5, 8))) END;
        EXIT WHEN length(b) = 0;
    END LOOP;
    RETURN b;
END $$;
CREATE TABLE outcome (form text, round bigint, result text);
END

# Checks the outcomes for a form: no wrong result, some signatures accepted, many
# refused.
sub outcome_ok
{
	my ($form) = @_;
	is($node->safe_psql('postgres',
		"SELECT round, result FROM outcome
			WHERE form = '$form' AND result NOT IN ('taken', 'refused') ORDER BY 1 LIMIT 5"),
		'', "$form: each is refused, or valid");
	is($node->safe_psql('postgres',
		"SELECT count(*) FILTER (WHERE result = 'taken') > 0, count(*) FILTER (WHERE result = 'refused') > $rounds / 10,
		count(*) FROM outcome WHERE form = '$form'"), "t|t|$rounds", "$form: some are accepted, many refused");
}

$node->safe_psql('postgres', sprintf(<<'END', $rounds));
DO $$
DECLARE
    written text;
    result text;
BEGIN
    FOR i IN 1 .. %d LOOP
        BEGIN
            written := convert_from(
                damaged(convert_to(signature(i)::text, 'UTF8'), i * 100, '0123456789abcdefABx:-wordcharfeature g'),
                'UTF8');
            result := CASE WHEN written::minhash::text = lower(written) THEN 'taken' ELSE written END;
        EXCEPTION WHEN invalid_text_representation OR invalid_parameter_value THEN
            result := 'refused';
        END;
        INSERT INTO outcome VALUES ('text', i, result);
    END LOOP;
END $$;
END
outcome_ok('text');

# The binary form, read by COPY.
my @forms = split /\n/, $node->safe_psql('postgres',
	"SELECT encode(damaged(minhash_send(signature(i)), i * 100), 'hex') FROM generate_series(1, $rounds) AS i");
for my $i (1 .. $rounds)
{
	my $form = pack('H*', $forms[ $i - 1 ]);
	open my $file, '>:raw', "$directory/$i" or die $!;
	print $file pack('a11N2nN/a*n', "PGCOPY\n\xFF\r\n\0", 0, 0, 1, $form, 0xFFFF);
	close $file or die $!;
}
$node->safe_psql('postgres', sprintf(<<'END', $rounds, $directory));
DO $$
DECLARE
    result text;
BEGIN
    CREATE TEMP TABLE received (sig minhash);
    FOR i IN 1 .. %d LOOP
        BEGIN
            TRUNCATE received;
            EXECUTE format('COPY received FROM %%L (FORMAT binary)', '%s/' || i);
            SELECT CASE WHEN minhash_send(sig) = damaged(minhash_send(signature(i)), i * 100) THEN 'taken'
                   ELSE sig::text END INTO result FROM received;
        EXCEPTION WHEN invalid_binary_representation OR protocol_violation OR invalid_parameter_value THEN
            result := 'refused';
        END;
        INSERT INTO outcome VALUES ('binary', i, result);
    END LOOP;
END $$;
END
outcome_ok('binary');

# The stored form: each function refuses it, or uses the damaged value.
$node->safe_psql('postgres', sprintf(<<'END', $rounds));
CREATE FUNCTION used(sig minhash) RETURNS boolean LANGUAGE sql
    RETURN sig::text::minhash::text = sig::text AND jaccard(sig, sig) = 1 AND sig <%%> sig = 0 AND sig %% sig
      AND containment(sig, sig) = 1
        AND minhash_cardinality(sig) >= 1 AND minhash_union(sig, sig)::text = sig::text
        AND array_length(minhash_bands(sig), 1) > 0 AND minhash_cmp(sig, sig) = 0
        AND minhash_hash(sig) IS NOT NULL AND minhash_hash_extended(sig, 1) IS NOT NULL
        AND minhash_send(sig) IS NOT NULL;
DO $$
DECLARE
    result text;
BEGIN
    FOR i IN 1 .. %d LOOP
        BEGIN
            result := CASE WHEN used(damaged(signature(i)::bytea, i * 100)::minhash) THEN 'taken' ELSE 'wrong' END;
        EXCEPTION WHEN data_corrupted THEN
            result := 'refused';
        END;
        INSERT INTO outcome VALUES ('stored', i, result);
    END LOOP;
END $$;
END
outcome_ok('stored');

$node->stop;
done_testing();
