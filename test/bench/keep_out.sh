#!/bin/bash
# Measures the ways of docs/stream.md to keep out near-duplicates, in documents a
# second.  Eight sessions add documents to a table of 100,000, each in a transaction of
# its own, with fsync.  Each round runs each way for ten seconds, in turn.  Only the
# numbers of one round are comparable.
#
# Then compares the constraint of exact resemblance, and the labels, with the constraint's
# index alone: batches of 2,000 documents into tables of 100,000, in turn.
#
#   bash test/bench/keep_out.sh [ROUNDS]
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Prints the SQL block of docs/stream.md that contains a string.
block_with() {
	awk -v wanted="$1" '
		/^```sql$/ { inside = 1; block = ""; next }
		/^```$/ { if (inside && index(block, wanted)) { printf "%s", block; exit } inside = 0 }
		inside { block = block $0 "\n" }' "$ROOT/docs/stream.md"
}

load() {
	cat >"$WORK/tmp/load.sql" <<-END
		CREATE EXTENSION simhash;
		CREATE TABLE sentence AS
		SELECT n, string_agg(left(md5(format('%s %s', n, w)), 3 + (n + w) % 6), ' ') AS words
		FROM generate_series(0, 8191) AS n, generate_series(1, 14) AS w GROUP BY n;
		CREATE UNIQUE INDEX ON sentence (n);
		$(block_with 'CREATE TABLE articles')
		ALTER TABLE articles DISABLE TRIGGER keep_out;
		INSERT INTO articles (body)
		SELECT concat_ws(' ', a.words, b.words, c.words) FROM generate_series(1, 100000) AS i
		JOIN sentence AS a ON a.n = hashint8extended(i, 1) & 8191
		JOIN sentence AS b ON b.n = hashint8extended(i, 2) & 8191
		JOIN sentence AS c ON c.n = hashint8extended(i, 3) & 8191;
		$(block_with 'CREATE TABLE reports' | sed '/^INSERT/,$d')
		INSERT INTO reports (body) SELECT body FROM articles ON CONFLICT DO NOTHING;
		CREATE TABLE indexed (id bigint GENERATED ALWAYS AS IDENTITY, body text NOT NULL);
		INSERT INTO indexed (body) SELECT body FROM reports;
		CREATE INDEX ON indexed USING simhash (sketch_ball(shingle_hashes(body), 0.2));
		$(block_with 'CREATE TABLE label' | sed '/^INSERT INTO docs/,$d')
		INSERT INTO docs (body) SELECT body FROM articles;
		VACUUM ANALYZE;
		ALTER SYSTEM SET fsync = on;
		ALTER SYSTEM SET max_wal_size = '8GB';
		SELECT pg_reload_conf();
	END
	demo_psql -f "$WORK/tmp/load.sql"
}

# Runs one way.  Arguments: its name, whether the trigger is enabled, the statements
# that add the text :text.
way() {
	local name=$1 trigger=$2 words_of='(SELECT words FROM sentence WHERE n = N)'
	demo_psql -c "ALTER TABLE articles $trigger TRIGGER keep_out"
	{
		printf '\\set %s random(0, 8191)\n' a b c
		cat
	} | sed "s/:text/concat_ws(' ', ${words_of//N/:a}, ${words_of//N/:b}, ${words_of//N/:c})/" \
		>"$WORK/tmp/$name.sql"
	as_builder "$("$PG_CONFIG" --bindir)/pgbench" -h "$WORK/socket" -U postgres -n -c 8 -j 2 -T 10 \
		--max-tries=1000 -f "$WORK/tmp/$name.sql" postgres >"$WORK/log/$name" 2>&1 ||
		{ cat "$WORK/log/$name"; die "$name went wrong"; }
	awk -v name="$name" '
		/^number of transactions actually/ { done = $NF }
		/^total number of retries/ { retries = $NF }
		/^tps/ { printf "%-14s %6d a second, %.2f tries each\n", name, $3, 1 + retries / done }' "$WORK/log/$name"
}

checked="INSERT INTO articles (body) SELECT new.body FROM (SELECT :text) AS new (body)
	WHERE NOT EXISTS (SELECT FROM articles
	WHERE fp <~> simhash(new.body) <= 10 AND resemblance(articles.body, new.body) >= 0.8);"

round() {
	way unguarded DISABLE <<<'INSERT INTO articles (body) SELECT :text;'
	way racing DISABLE <<<"$checked"
	demo_psql -c "$(block_with 'CREATE TABLE articles' |
		sed -n '/^CREATE FUNCTION lock_articles/,/^END/p' | sed 's/^CREATE/& OR REPLACE/')"
	way one-lock ENABLE <<<'INSERT INTO articles (body) SELECT :text;'
	demo_psql -c "$(block_with 'CREATE OR REPLACE FUNCTION lock_articles')"
	way block-locks ENABLE <<<'INSERT INTO articles (body) SELECT :text;'
	way exact DISABLE <<<'INSERT INTO reports (body) SELECT :text ON CONFLICT DO NOTHING;'
	way labels DISABLE <<<'INSERT INTO docs (body) SELECT :text;'
	way serializable DISABLE <<<"BEGIN ISOLATION LEVEL SERIALIZABLE; $checked COMMIT;"
}

compare_exact() {
	local batch="SELECT concat_ws(' ', a.words, b.words, c.words)
		FROM (SELECT nextval('batch_of_%s') * 2000 AS n OFFSET 0) AS s, generate_series(n + 1, n + 2000) AS i
		JOIN sentence AS a ON a.n = hashint8extended(-i, 1) & 8191
		JOIN sentence AS b ON b.n = hashint8extended(-i, 2) & 8191
		JOIN sentence AS c ON c.n = hashint8extended(-i, 3) & 8191"

	demo_psql -f test/bench/timing.sql -c 'CREATE SEQUENCE batch_of_reports' -c 'CREATE SEQUENCE batch_of_indexed' \
		-c 'CREATE SEQUENCE batch_of_docs' -c "SELECT * FROM time_pair('exact constraint / index alone',
			\$\$INSERT INTO reports (body) ${batch/\%s/reports} ON CONFLICT DO NOTHING\$\$,
			\$\$INSERT INTO indexed (body) ${batch/\%s/indexed}\$\$, 9)" \
		-c "SELECT * FROM time_pair('labels / index alone',
			\$\$INSERT INTO docs (body) ${batch/\%s/docs}\$\$,
			\$\$INSERT INTO indexed (body) ${batch/\%s/indexed}\$\$, 9)"
}

main() {
	local i
	# shellcheck disable=SC2119
	prepare
	build_and_start
	load >/dev/null
	for ((i = 1; i <= ${1:-3}; i++)); do
		say "round $i"
		round
	done
	compare_exact
}

main "$@"
