# docs/stream.md, documents that arrive continually, with eight sessions at a time.  No
# two stored articles resemble each other, each skipped one resembles a stored one, no two
# leaders of labels resemble each other, each document resembles its leader, each refused
# note names a stored one, and the longest of several reports stays.  The same for the
# codes of 256 bits of docs/recipes.md, whose searches find what a sequential scan finds.
# Texts whose numbers differ are different texts, by another recipe of that page.
#
# SIMHASH_ROUNDS sets the number of documents for each session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DocsTest;
use IndexTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $rounds = $ENV{SIMHASH_ROUNDS} || 100;
my $node = index_node('stream', conf => "autovacuum = off\ndeadlock_timeout = 100ms\n");

sub answer { return $node->safe_psql('postgres', @_); }

# Runs a procedure in eight sessions at the same time: none begins before all are
# connected.
sub together_ok
{
	my ($procedure, @more) = @_;
	my $barrier = $node->background_psql('postgres', on_error_stop => 1);

	$barrier->query_safe('SELECT pg_advisory_lock(1)');
	my @clients = map {
		client($node, 'SELECT pg_advisory_lock_shared(1)',
			"CALL $procedure(" . join(', ', $seed + 100_000 * $_, $rounds, @more) . ')')
	} 1 .. 8;
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 8 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted})
	  or die 'not all sessions came';
	$barrier->quit;
	clients_ok(@clients);
}

# The tables and functions of the page, without its documents.
my @blocks = grep { $_->{section} =~ /^(Candidates, then the texts|Labels)$/ } blocks_of('docs/stream.md');
answer($_->{sql}) foreach grep { $_->{sql} =~ /^CREATE (?!OR REPLACE)/ } @blocks;
my ($lock_blocks) = map { $_->{sql} } grep { $_->{sql} =~ /^CREATE OR REPLACE/ } @blocks;
answer('TRUNCATE docs, label');

# Texts of few subjects with one of twenty words changed, so that most resemble others.
answer(<<'SQL');
CREATE FUNCTION offer(i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN hashint8extended(i, w) & 31 = 0 THEN 'changed' || i
                      ELSE left(md5(format('%s %s', hashint8extended(i, 0) & 63, w)), 5) END, ' ' ORDER BY w)
    FROM generate_series(1, 30) AS w $$;
CREATE TABLE skipped (body text);
CREATE PROCEDURE add_articles(seed bigint, n integer, together integer) LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        INSERT INTO articles (body) VALUES (offer(i));
        GET DIAGNOSTICS added = ROW_COUNT;
        IF added = 0 THEN
            INSERT INTO skipped VALUES (offer(i));
        END IF;
        IF i % together = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END $$;
-- documents come, change and go: of each session those of its own
CREATE PROCEDURE change_docs(seed bigint, n integer) LANGUAGE plpgsql AS $$
DECLARE
    own bigint[];
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        INSERT INTO docs (body) VALUES (offer(i)) RETURNING own || id INTO own;
        COMMIT;
        IF i % 3 = 0 THEN
            UPDATE docs SET body = offer(-i) WHERE id = own[1 + i % 1000 * 7 % cardinality(own)];
        ELSIF i % 5 = 0 THEN
            DELETE FROM docs WHERE id = own[1 + i % 1000 * 7 % cardinality(own)];
        END IF;
        IF i % 11 = 0 THEN
            ROLLBACK;
        END IF;
        COMMIT;
    END LOOP;
END $$;
-- the pass over all documents in their order, without an index
CREATE FUNCTION from_scratch() RETURNS TABLE (doc bigint, leader bigint) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE pass (id bigint, label bigint, sk bigint[]);
    FOR doc IN SELECT id FROM docs ORDER BY id LOOP
        INSERT INTO pass
        SELECT doc, coalesce(nearest, doc), new.sk
        FROM (SELECT shingle_hashes(body) AS sk FROM docs WHERE id = doc) AS new
             LEFT JOIN LATERAL (SELECT id AS nearest FROM pass WHERE label = id AND (pass.sk <%> new.sk) + 0 <= 0.2
                                ORDER BY (pass.sk <%> new.sk) + 0, id LIMIT 1) AS found ON true;
    END LOOP;
    RETURN QUERY SELECT id, label FROM pass;
END $$;
SQL

# Adds articles in eight sessions.  together: the number of articles in a transaction.
sub articles_ok
{
	my ($locks, $together) = @_;

	answer('TRUNCATE articles, skipped');
	together_ok('add_articles', $together);
	my ($in, $out) = split /\|/, answer('SELECT (SELECT count(*) FROM articles), (SELECT count(*) FROM skipped)');
	is($in + $out, 8 * $rounds, "$locks: each article was added or skipped ($in and $out)");
	cmp_ok($out, '>', $rounds, "$locks: many were skipped");
	is(answer(<<'SQL'), '0', "$locks: no two articles resemble each other");
SELECT count(*) FROM articles AS a JOIN articles AS b ON a.id < b.id
WHERE (a.fp <~> b.fp) + 0 <= 10 AND resemblance(a.body, b.body) >= 0.8
SQL
	is(answer(<<'SQL'), '0', "$locks: each skipped article resembles another");
SELECT count(*) FROM skipped AS s WHERE NOT EXISTS
    (SELECT FROM articles AS a WHERE (a.fp <~> simhash(s.body)) + 0 <= 10 AND resemblance(a.body, s.body) >= 0.8)
SQL
}

articles_ok('one lock', 4);
answer("COPY articles (body) FROM STDIN;\nA text of its own.\na text: of its own\n\\.\n");
is(answer(q{SELECT count(*) FROM articles WHERE body ~ 'of its own'}), '1', 'COPY keeps one of several');
# transactions with several rows can deadlock
answer($lock_blocks);
articles_ok('locks of blocks', 1);

my ($trigger) = map { $_->{sql} =~ /^(CREATE FUNCTION keep_out\(.*?EXECUTE FUNCTION keep_out\(\);\n)/ms } @blocks;
my $keep_out = $trigger;

# docs/index.md: the same within a tenant.
my ($condition, $columns) =
  docs_file('docs/index.md') =~ /add\s+`(AND\s+tenant\s+=\s+NEW\.tenant)`.*fire\s+it\s+on\s+`UPDATE\s+OF\s+([^`]+)`/s;
$trigger =~ s/CREATE (FUNCTION|TRIGGER)/CREATE OR REPLACE $1/g;
$trigger =~ s/(AND id <> NEW\.id)/$1 $condition/;
$trigger =~ s/UPDATE OF body/UPDATE OF $columns/;
answer(<<"SQL");
TRUNCATE articles;
ALTER TABLE articles ADD tenant integer;
$trigger
INSERT INTO articles (tenant, body)
VALUES (1, 'A text of two tenants.'), (2, 'a text of two tenants'), (2, 'A text: of two tenants.');
SQL
is(answer('SELECT array_agg(tenant ORDER BY id) FROM articles'), '{1,2}', 'each tenant has the text once');
my $refused;
$node->psql('postgres', 'UPDATE articles SET tenant = 1', stderr => \$refused);
like($refused, qr/another article resembles this text/, 'nor does it get there from another tenant');
is(answer('UPDATE articles SET tenant = 3 WHERE tenant = 2; SELECT max(tenant) FROM articles'), '3',
	'a tenant without it may get it');

# Checks the labels.  Returns the number of clusters of several documents.
sub labels_ok
{
	my ($name) = @_;

	is(answer('SELECT count(*) FROM docs FULL JOIN label USING (id) WHERE label IS NULL OR body IS NULL'), '0',
		"$name: the documents have labels");
	is(answer(<<'SQL'), '0', "$name: each document resembles its leader");
SELECT count(*) FROM docs JOIN label AS own USING (id) LEFT JOIN label AS leader ON leader.id = own.label
WHERE ((shingle_hashes(body) <%> leader.sk) + 0 <= 0.2 AND (own.sk IS NULL) = (own.id <> own.label)) IS NOT TRUE
SQL
	is(answer(<<'SQL'), '0', "$name: no two leaders resemble each other");
SELECT count(*) FROM label AS a JOIN label AS b ON a.id < b.id AND (a.sk <%> b.sk) + 0 <= 0.2
SQL
	return answer('SELECT count(*) FROM (SELECT FROM label GROUP BY label HAVING count(*) > 1) AS s');
}

together_ok('change_docs');
cmp_ok(labels_ok('eight sessions'), '>', 10, 'there are clusters');
my $members = answer(<<'SQL');
SELECT count(*) FROM label WHERE label <> id AND label IN (SELECT id FROM label ORDER BY id LIMIT 100)
SQL
answer('DELETE FROM docs WHERE id IN (SELECT id FROM label WHERE label = id ORDER BY id LIMIT 100)');
labels_ok("100 leaders with $members members are gone");
answer('TRUNCATE label; CALL label_all(7)');
labels_ok('old documents');
is(answer('SELECT count(*) FROM from_scratch() JOIN label ON id = doc WHERE label <> leader'), '0',
	'labels are those of a pass over all documents');

answer($_->{sql})
  foreach grep { $_->{sql} =~ /^CREATE/ && $_->{section} =~ /^(Keep near|Refuse)/ } blocks_of('docs/stream.md');

# The longer report wins: one that is longer than all offered ones that resemble it stays.
answer(<<'SQL');
TRUNCATE reports;
CREATE TABLE reported (i bigint);
CREATE PROCEDURE replace_reports(seed bigint, n integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        INSERT INTO reported VALUES (i);
        COMMIT;
        LOOP
            BEGIN
                PERFORM add_or_replace(offer(i));
                EXIT;
            EXCEPTION WHEN deadlock_detected THEN
            END;
        END LOOP;
        COMMIT;
    END LOOP;
END $$;
SQL
together_ok('replace_reports');
answer(<<'SQL');
CREATE TABLE offered AS
SELECT body, shingle_hashes(body) AS sk FROM (SELECT DISTINCT offer(i) FROM reported) AS o (body)
SQL
is(answer(<<'SQL'), 't|0', 'the longest of those that resemble each other are stored');
SELECT count(*) > 30, count(*) FILTER (WHERE body NOT IN (SELECT body FROM reports)) FROM offered AS o
WHERE NOT EXISTS (SELECT FROM offered AS p WHERE (p.sk <%> o.sk) + 0 <= 0.2 AND p.body <> o.body
                                                 AND length(p.body) >= length(o.body))
SQL
is(answer(<<'SQL'), '0', 'no two of them resemble each other');
SELECT count(*) FROM reports AS a JOIN reports AS b
ON a.id < b.id AND (shingle_hashes(a.body) <%> shingle_hashes(b.body)) + 0 <= 0.2
SQL

# Notes of three owners are saved, imported, edited and deleted.  Each transaction has several
# notes of one owner, and none may fail, not even by a deadlock.
answer($_->{sql}) foreach grep { $_->{section} =~ /^Notes/ && $_->{sql} =~ /^CREATE/ } blocks_of('docs/stream.md');
answer(<<'SQL');
CREATE FUNCTION offer_note(i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN hashint8extended(i, w) & 15 = 0 THEN 'changed'
                      ELSE translate(left(md5(format('%s %s', hashint8extended(i, 0) & 15, w)), 5), '0123456789',
                                     'ghijklmnop') END, ' ' ORDER BY w) || ' ' || (hashint8extended(i, 99) & 1)
    FROM generate_series(1, 12) AS w $$;
CREATE TABLE saved_notes (owner bigint, body text, id bigint, saved boolean, resemblance float8);
CREATE PROCEDURE save_notes(seed bigint, n integer) LANGUAGE plpgsql AS $$
DECLARE
    imported bigint[];
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        FOR k IN 1 .. 3 LOOP
            INSERT INTO saved_notes
            SELECT i % 3, offer_note(i::bigint * k), s.* FROM save_note(i % 3, offer_note(i::bigint * k)) AS s;
        END LOOP;
        IF i % 4 = 0 THEN
            imported := ARRAY(SELECT id FROM import_notes(i % 3, ARRAY(SELECT offer_note(i::bigint * -k)
                                                                       FROM generate_series(1, 3) AS k)));
            INSERT INTO saved_notes SELECT owner, body, id, true FROM notes WHERE id = ANY (imported);
        ELSIF i % 5 = 0 THEN
            INSERT INTO saved_notes
            SELECT n.owner, offer_note(-i), s.*
            FROM notes AS n, save_note(n.owner, offer_note(-i), n.id) AS s
            WHERE n.owner = i % 3 AND n.body IN (offer_note(i), offer_note(i::bigint * 2));
        ELSIF i % 7 = 0 THEN
            DELETE FROM notes WHERE owner = i % 3 AND body = offer_note(i);
        END IF;
        COMMIT;
    END LOOP;
END $$;
SQL
together_ok('save_notes');
is(answer('SELECT count(*) FROM notes AS a JOIN notes AS b ON a.id < b.id AND (a.sk <%> b.sk) + 0 <= 0.3 '
		. 'AND numbers(a.body) = numbers(b.body)'), '0', 'no two notes resemble each other');
is(answer('SELECT count(*) FILTER (WHERE saved) > 30, count(*) FILTER (WHERE NOT saved) > ' . $rounds
		. ' FROM saved_notes'), 't|t', 'notes were saved, and others refused');
is(answer(<<'SQL'), '0', 'a refused note resembles the one that is named, of the same owner and numbers');
SELECT count(*) FROM saved_notes AS n
WHERE NOT saved AND NOT EXISTS (
    SELECT FROM saved_notes AS o
    WHERE o.saved AND o.id = n.id AND o.owner = n.owner AND numbers(o.body) = numbers(n.body) AND n.resemblance >= 0.7
          AND 1 - ((note_hashes(o.body, o.owner) <%> note_hashes(n.body, n.owner)) + 0) = n.resemblance)
SQL
is(answer('SELECT count(*) FROM (SELECT FROM notes GROUP BY owner) AS o'), '3', 'three owners have notes');

# docs/resemblance.md, "Tenants": the constraint of scoped hashes alone, without a lock.
my ($tenants) = map { $_->{sql} =~ /^(CREATE TABLE notes .*?;\n)/ms }
  grep { $_->{section} eq 'Tenants' } blocks_of('docs/resemblance.md');
$tenants =~ s/TABLE notes/TABLE tenant_notes/;
$tenants =~ s/CONSTRAINT \w+ //;
answer($tenants);
answer(<<'SQL');
CREATE TABLE offered_notes (tenant integer, body text);
CREATE PROCEDURE add_notes(seed bigint, n integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        INSERT INTO offered_notes VALUES (i % 3, offer_note(i / 3));
        INSERT INTO tenant_notes (tenant, body) VALUES (i % 3, offer_note(i / 3)) ON CONFLICT DO NOTHING;
        COMMIT;
    END LOOP;
END $$;
SQL
together_ok('add_notes');
is(answer(<<'SQL'), '0|0', 'tenants: no two notes of one resemble each other, and each note resembles a stored one');
SELECT (SELECT count(*) FROM tenant_notes AS a JOIN tenant_notes AS b ON a.tenant = b.tenant AND a.ctid < b.ctid
        WHERE (shingle_hashes(a.body) <%> shingle_hashes(b.body)) + 0 <= 0.2),
       (SELECT count(*) FROM offered_notes AS o WHERE NOT EXISTS (
            SELECT FROM tenant_notes AS n
            WHERE n.tenant = o.tenant AND (shingle_hashes(n.body) <%> shingle_hashes(o.body)) + 0 <= 0.2))
SQL
is(answer('SELECT count(*) > 10 FROM (SELECT body FROM tenant_notes GROUP BY body HAVING count(*) = 3) AS s'), 't',
	'all three have some');

# Notes about 1,000 orders, and a copy of each.
answer($_->{sql}) foreach grep { $_->{section} eq 'Numbers and signs' } blocks_of('docs/recipes.md');
answer(<<'SQL');
CREATE TABLE order_notes (id integer, body text, sk bigint[] GENERATED ALWAYS AS (agreeing_hashes(body)) STORED,
                    EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=));
CREATE TABLE unsalted (body text, EXCLUDE USING simhash (sketch_ball(shingle_hashes(body), 0.2) WITH =~=));
CREATE TABLE all_notes AS
SELECT id, copy, format(CASE WHEN copy
    THEN 'ORDER %s, was packed, and handed to the carrier today! You will receive it within '
         'three working days; thank you, and see you soon.'
    ELSE 'Order %s was packed and handed to the carrier today. You will receive it within '
         'three working days. Thank you, and see you soon.' END, 7000 + id) AS body
FROM generate_series(1, 1000) AS id, unnest('{f,t}'::bool[]) AS copy;
INSERT INTO order_notes SELECT id, body FROM all_notes ORDER BY copy, id ON CONFLICT DO NOTHING;
INSERT INTO unsalted SELECT body FROM all_notes ORDER BY copy, id ON CONFLICT DO NOTHING;
CREATE INDEX ON order_notes USING simhash (sk);
SQL
is(answer('SELECT count(*), count(DISTINCT id), (SELECT count(*) FROM unsalted) FROM order_notes'), '1000|1000|1',
	'one note of each number is kept');
is(answer('SELECT count(*), count(*) FILTER (WHERE a.id = b.id) FROM all_notes AS a JOIN all_notes AS b '
		. 'ON agreeing_hashes(a.body) <%> agreeing_hashes(b.body) <= 0.2 AND (a.id, a.copy) < (b.id, b.copy)'),
	'1000|1000', 'a join finds the copies');
is(answer('SET enable_seqscan = off; SELECT id FROM order_notes WHERE sk <%> '
		. 'agreeing_hashes((SELECT body FROM all_notes WHERE id = 783 AND copy)) <= 0.2'),
	'783', 'a search finds the note of a number');
is(answer('SELECT agreeing_hashes(a) && agreeing_hashes(b) FROM (VALUES (\'7783\', \'7784\')) AS v (a, b)'),
	'f', 'two numbers have nothing in common');

# Codes of few subjects with up to 48 bits flipped, and the trigger of the articles, with what that page changes.
answer($_->{sql}) foreach grep { $_->{section} eq 'Codes of 128 and 256 bits' } blocks_of('docs/recipes.md');
my ($event, $lock, $exists) = map { s/\s+/ /gr }
  docs_file('docs/recipes.md') =~ /Fire it on\s+`(.*?)`,\s+lock by\s+`(.*?)`,\s+and write the condition\s+`(.*?)`\./s;
$keep_out =~ s/keep_out/keep_out_images/g;
$keep_out =~ s/ON articles/ON images/;
$keep_out =~ s/UPDATE OF body/$event/;
$keep_out =~ s/DECLARE.*?BEGIN/BEGIN/s;
$keep_out =~ s/PERFORM lock_articles[^;]*/$lock/;
$keep_out =~ s/IF EXISTS .*? THEN/IF $exists THEN/s;
answer($keep_out);
answer(<<'SQL');
TRUNCATE images;
CREATE TABLE skipped_images (code bytea);
CREATE FUNCTION picture(i bigint) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    code bytea := sha256(int8send(hashint8(i) & 31));
    flipped integer;
BEGIN
    FOR n IN 1 .. i % 49 LOOP
        flipped := hashint8extended(i, n) & 255;
        code := set_bit(code, flipped, 1 - get_bit(code, flipped));
    END LOOP;
    RETURN code;
END $$;
CREATE PROCEDURE add_images(seed bigint, n integer) LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    FOR i IN seed .. seed + n - 1 LOOP
        INSERT INTO images (code) VALUES (picture(i));
        GET DIAGNOSTICS added = ROW_COUNT;
        IF added = 0 THEN
            INSERT INTO skipped_images VALUES (picture(i));
        END IF;
        COMMIT;
    END LOOP;
END $$;
SQL
together_ok('add_images');
my ($in, $out) = split /\|/, answer('SELECT (SELECT count(*) FROM images), (SELECT count(*) FROM skipped_images)');
is($in + $out, 8 * $rounds, "each image was added or skipped ($in and $out)");
cmp_ok($_, '>', $rounds, 'many of both') foreach $in, $out;
is(answer('SELECT count(*) FROM images AS a JOIN images AS b ON a.id < b.id WHERE image_distance(a, b) <= 31'),
	'0', 'no two images are near');
is(answer(<<'SQL'), '0', 'searches for codes find what a sequential scan finds');
SET enable_seqscan = off;
WITH query AS (SELECT code AS q, k FROM skipped_images, unnest('{0, 2, 30, 31, 33, 48}'::integer[]) AS k),
found AS (SELECT q, k, i.* FROM query, images_within(q, k) AS i),
near AS (
    SELECT q, k, id, bits
    FROM query, images AS i, LATERAL (SELECT bit_count(('x' || encode(q, 'hex'))::bit(256)
                                                       # ('x' || encode(i.code, 'hex'))::bit(256))) AS s (bits)
    WHERE bits <= k)
SELECT (SELECT count(*) FROM ((TABLE near EXCEPT ALL TABLE found) UNION ALL (TABLE found EXCEPT ALL TABLE near)) AS d)
     + (SELECT count(*) FROM skipped_images AS q WHERE NOT EXISTS (SELECT FROM images_within(q.code)))
SQL
is(answer(<<'SQL'), '0', 'the nearest codes are the nearest');
SELECT count(*) FROM skipped_images AS q
WHERE ARRAY(SELECT bits FROM images_nearest(q.code, 3, 40)) IS DISTINCT FROM
      ARRAY(SELECT d FROM images AS i, LATERAL (SELECT image_distance(i, (0, q.code, code_word(q.code, 0),
            code_word(q.code, 1), code_word(q.code, 2), code_word(q.code, 3))::images)) AS s (d)
            WHERE d <= 40 ORDER BY d LIMIT 3)
SQL
no_damage_ok($node, 'after all', 'articles_fp', 'one_leader', 'no_near_duplicates', 'notes_apart', 'notes_sk');
no_crash_ok($node);

done_testing();
