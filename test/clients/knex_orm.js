// Knex (npm: knex, pg).  PGHOST and the like say which server.
const assert = require('assert');
const knex = require('knex');

async function main() {
  const db = knex({ client: 'pg', connection: {}, pool: { min: 1, max: 1 } });
  const ids = async (query) => (await query).map((row) => row.id).join(' ');

  await db.schema.createTable('pages', (table) => {
    table.increments('id');
    table.text('body');
    table.specificType('fp', 'simhash GENERATED ALWAYS AS (simhash(body)) STORED');
    table.specificType('sig', 'minhash(18, 7) GENERATED ALWAYS AS (to_minhash(body)) STORED');
    table.specificType('sk', 'bigint[] GENERATED ALWAYS AS (shingle_hashes(body)) STORED');
    table.index(['fp'], 'pages_fp', 'simhash');
    table.index(['sig'], 'pages_sig', 'simhash');
    table.index(['sk'], 'pages_sk', 'simhash');
  });
  await db.raw('ALTER TABLE pages ADD CONSTRAINT pages_no_copies '
    + 'EXCLUDE USING simhash (sketch_ball(sk, 0.2) WITH =~=)');
  await db('pages').insert(await db('docs').select('body').orderBy('id'));

  const text = 'The bridge was opened by the mayor on Monday!';
  const radius = 3;
  console.log('resembles', await ids(db('pages').select('id')
    .whereRaw('sk <%> shingle_hashes(?) <= ?', [text, 0.2]).orderBy('id')));
  const near = db('pages').select('id').whereRaw('fp <~> to_simhash(?) <= ?', [text, radius]);
  console.log('within', await ids(near.clone().orderBy('id')));
  console.log('nearest', await ids(db('pages').select('id')
    .orderByRaw('fp <~> to_simhash(?)', [text]).limit(1)));

  const first = await db('pages').where({ id: 1 }).first('fp', 'sig', 'sk');
  console.log('fingerprint', await ids(db('pages').select('id').where({ fp: first.fp })));
  console.log('null', await ids(db('pages').select('id').whereNull('fp')));

  await ids(db('pages').select('id').where({ fp: 'no fingerprint' }))
    .catch((error) => console.log('wrong input', error.code));
  await db('pages').insert({ body: text })
    .catch((error) => console.log('duplicate', error.code));

  const added = await db('pages').insert({ body: text }, ['id']).onConflict().ignore();
  assert.deepEqual(added, []);
  await assert.rejects(db('pages').insert({ body: text }).onConflict('body').ignore(), { code: '42P10' });
  const whole = await db('pages').where({ id: 2 }).first();
  await assert.rejects(db('pages').where({ id: 2 }).update(whole), { code: '428C9' });
  await assert.rejects(db('pages').insert(whole), { code: '428C9' });
  const row = await db('pages').where({ id: 2 }).first('id', 'body');
  await db('pages').where({ id: row.id }).update({ body: row.body + ' Snow, too.' });
  assert.notEqual((await db('pages').where({ id: 2 }).first('fp')).fp, whole.fp);

  await db.raw('SET enable_seqscan = off');
  const plan = await db.raw('EXPLAIN SELECT id FROM pages WHERE fp <~> to_simhash(?) <= ?', [text, radius]);
  if (plan.rows.some((row) => row['QUERY PLAN'].includes('pages_fp'))) {
    console.log('plan uses the index');
  }

  console.log('signatures', await ids(db('pages').select('id').whereRaw('sig % ?', [first.sig])));
  console.log('sketches', await ids(db('pages').select('id').whereRaw('sk && ?', [first.sk])));
  await db.destroy();
}

main();
