// Drizzle (npm: drizzle-orm, pg).  PGHOST and the like say which server.
const { Client } = require('pg');
const { arrayOverlaps, asc, eq, isNull, sql } = require('drizzle-orm');
const { drizzle } = require('drizzle-orm/node-postgres');
const { bigint, customType, index, integer, pgTable, text } = require('drizzle-orm/pg-core');

const simhash = customType({ dataType: () => 'simhash' });
const minhash = customType({ dataType: ({ bands, rows }) => `minhash(${bands}, ${rows})` });

const docs = pgTable('docs', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  body: text('body'),
  fp: simhash('fp').generatedAlwaysAs(sql`simhash(body)`),
  sig: minhash('sig', { bands: 18, rows: 7 }).generatedAlwaysAs(sql`to_minhash(body)`),
  sk: bigint('sk', { mode: 'bigint' }).array().generatedAlwaysAs(sql`shingle_hashes(body)`),
}, (table) => [
  index('docs_fp').using('simhash', table.fp),
  index('docs_sig').using('simhash', table.sig),
  index('docs_sk').using('simhash', table.sk),
]);

const jaccard = (column, body) => sql`${column} <%> shingle_hashes(${body})`;
const distance = (column, body) => sql`${column} <~> to_simhash(${body})`;
const sharesBand = (column, signature) => sql`${column} % ${signature}::minhash`;

async function main() {
  const client = new Client();
  await client.connect();
  const db = drizzle(client);
  const ids = async (query) => (await query).map((row) => row.id).join(' ');
  const code = (error) => (error.cause ?? error).code;

  const body = 'The bridge was opened by the mayor on Monday!';
  const radius = 3;
  console.log('resembles', await ids(db.select({ id: docs.id }).from(docs)
    .where(sql`${jaccard(docs.sk, body)} <= ${0.2}`)));
  const near = db.select({ id: docs.id }).from(docs).where(sql`${distance(docs.fp, body)} <= ${radius}`);
  console.log('within', await ids(near.orderBy(asc(docs.id))));
  console.log('nearest', await ids(db.select().from(docs).orderBy(distance(docs.fp, body)).limit(1)));

  const [first] = await db.select().from(docs).where(eq(docs.id, 1));
  console.log('fingerprint', await ids(db.select().from(docs).where(eq(docs.fp, first.fp))));
  console.log('null', await ids(db.select().from(docs).where(isNull(docs.fp))));

  await ids(db.select().from(docs).where(eq(docs.fp, 'no fingerprint')))
    .catch((error) => console.log('wrong input', code(error)));
  await db.insert(docs).values({ body })
    .catch((error) => console.log('duplicate', code(error)));

  await db.execute(sql`SET enable_seqscan = off`);
  const plan = await db.execute(sql`EXPLAIN ${near}`);
  if (plan.rows.some((row) => row['QUERY PLAN'].includes('docs_fp'))) {
    console.log('plan uses the index');
  }

  console.log('signatures', await ids(db.select().from(docs).where(sharesBand(docs.sig, first.sig))));
  console.log('sketches', await ids(db.select().from(docs).where(arrayOverlaps(docs.sk, first.sk))));
  await client.end();
}

main();
