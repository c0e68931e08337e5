# pg (Debian: ruby-pg).  PGHOST and the like say which server.
require 'pg'

db = PG.connect
ids = ->(sql, values) { db.exec_params(sql, values).column_values(0).join(' ') }

text = 'The bridge was opened by the mayor on Monday!'
radius = 3
puts "resembles #{ids['SELECT id FROM docs WHERE sk <%> shingle_hashes($1) <= $2', [text, 0.2]]}"
puts "within #{ids['SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2 ORDER BY id', [text, radius]]}"
puts "nearest #{ids['SELECT id FROM docs ORDER BY fp <~> to_simhash($1) LIMIT $2', [text, 1]]}"

# All values are strings. An array is one, too: {1,2,3}.
fp, sig, sk = db.exec('SELECT fp, sig, sk FROM docs WHERE id = 1').values[0]
puts "fingerprint #{ids['SELECT id FROM docs WHERE fp = $1', [fp]]}"
puts "null #{ids['SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM $1', [nil]]}"

begin
  ids['SELECT id FROM docs WHERE fp = $1', ['no fingerprint']]
rescue PG::InvalidTextRepresentation => e
  puts "wrong input #{e.result.error_field(PG::PG_DIAG_SQLSTATE)}"
end

begin
  db.exec_params('INSERT INTO docs (body) VALUES ($1)', [text])
rescue PG::ExclusionViolation => e
  puts "duplicate #{e.result.error_field(PG::PG_DIAG_SQLSTATE)}"
end

db.exec('SET plan_cache_mode = force_generic_plan')
db.prepare('within', 'EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash($1) <= $2')
plan = db.exec_prepared('within', [text, radius]).column_values(0)
puts 'plan uses the index' if plan.any? { |line| line.include?('docs_fp') }

puts "signatures #{ids['SELECT id FROM docs WHERE sig % $1 ORDER BY id', [sig]]}"
puts "sketches #{ids['SELECT id FROM docs WHERE sk && $1 ORDER BY id', [sk]]}"
