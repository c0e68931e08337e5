// node-postgres (npm: pg).  PGHOST and the like say which server.
const { Client } = require('pg');

async function main() {
  const db = new Client();
  await db.connect();
  const ids = async (sql, values) => (await db.query(sql, values)).rows.map((row) => row.id).join(' ');

  const text = 'The bridge was opened by the mayor on Monday!';
  const radius = 3;
  console.log('resembles', await ids(
    'SELECT id FROM docs WHERE sk <%> shingle_hashes($1) <= $2 ORDER BY id', [text, 0.2]));
  console.log('within', await ids(
    'SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2 ORDER BY id', [text, radius]));
  console.log('nearest', await ids('SELECT id FROM docs ORDER BY fp <~> to_simhash($1) LIMIT $2', [text, 1]));

  // A fingerprint is a string of 16 hexadecimal digits.
  const first = (await db.query('SELECT fp, sig, sk FROM docs WHERE id = 1')).rows[0];
  console.log('fingerprint', await ids('SELECT id FROM docs WHERE fp = $1', [first.fp]));
  console.log('null', await ids('SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM $1', [null]));

  await ids('SELECT id FROM docs WHERE fp = $1', ['no fingerprint'])
    .catch((error) => console.log('wrong input', error.code));
  await db.query('INSERT INTO docs (body) VALUES ($1)', [text])
    .catch((error) => console.log('duplicate', error.code));

  // A name makes a prepared statement.
  await db.query('SET plan_cache_mode = force_generic_plan');
  const plan = await db.query({
    name: 'within',
    text: 'EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2',
    values: [text, radius],
  });
  if (plan.rows.some((row) => row['QUERY PLAN'].includes('docs_fp'))) {
    console.log('plan uses the index');
  }

  console.log('signatures', await ids('SELECT id FROM docs WHERE sig % $1 ORDER BY id', [first.sig]));
  // Elements of an array of bigint are strings.
  console.log('sketches', await ids('SELECT id FROM docs WHERE sk && $1 ORDER BY id', [first.sk]));
  await db.end();
}

main();
