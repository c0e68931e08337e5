# psycopg 3 (Debian: python3-psycopg).  PGHOST and the like say which server.
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo


class Fingerprint(int):
    """A fingerprint, 0 to 2^64 - 1."""

    def __str__(self):
        return format(self, "016x")


class TextLoader(Loader):
    def load(self, data):
        return Fingerprint(bytes(data), 16)


class BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data):
        return Fingerprint.from_bytes(bytes(data), "big")


class TextDumper(Dumper):
    def dump(self, obj):
        return str(obj).encode()


class BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj):
        return obj.to_bytes(8, "big")


def register_fingerprint(connection):
    info = TypeInfo.fetch(connection, "simhash")
    info.register(connection)
    for loader in TextLoader, BinaryLoader:
        connection.adapters.register_loader(info.oid, loader)
    for dumper in BinaryDumper, TextDumper:
        dumper.oid = info.oid
        connection.adapters.register_dumper(Fingerprint, dumper)


db = psycopg.connect("", autocommit=True)
register_fingerprint(db)

text, radius = "The bridge was opened by the mayor on Monday!", 3
rows = db.execute("SELECT id FROM docs WHERE sk <%%> shingle_hashes(%s) <= %s ORDER BY id", [text, 0.2])
print("resembles", *[row[0] for row in rows])
rows = db.execute("SELECT id FROM docs WHERE fp <~> to_simhash(%s) <= %s ORDER BY id", [text, radius])
print("within", *[row[0] for row in rows])

rows = db.execute("SELECT id FROM docs ORDER BY fp <~> to_simhash(%s) LIMIT %s", [text, 1])
print("nearest", *[row[0] for row in rows])

for binary in False, True:
    (fp,) = db.execute("SELECT fp FROM docs WHERE id = 1", binary=binary).fetchone()
    assert type(fp) is Fingerprint
    assert str(fp) == db.execute("SELECT fp::text FROM docs WHERE id = 1").fetchone()[0]
    for place in "%s", "%b", "%t":
        assert db.execute(f"SELECT id FROM docs WHERE fp = {place}", [fp]).fetchall() == [(1,)]
print("fingerprint", 1)

rows = db.execute("SELECT id FROM docs WHERE fp IS NOT DISTINCT FROM %s", [None])
print("null", *[row[0] for row in rows])

try:
    db.execute("SELECT id FROM docs WHERE fp = %s", ["no fingerprint"])
except psycopg.errors.InvalidTextRepresentation as e:
    print("wrong input", e.sqlstate)

try:
    db.execute("INSERT INTO docs (body) VALUES (%s)", [text])
except psycopg.errors.ExclusionViolation as e:
    assert e.diag.constraint_name == "no_copies"
    print("duplicate", e.sqlstate)

db.execute("SET plan_cache_mode = force_generic_plan")
plan = db.execute("EXPLAIN SELECT id FROM docs WHERE fp <~> to_simhash(%s) <= %s", [text, radius], prepare=True)
if any("docs_fp" in line for (line,) in plan):
    print("plan uses the index")

(sig,) = db.execute("SELECT sig FROM docs WHERE id = 1").fetchone()
rows = db.execute("SELECT id FROM docs WHERE sig %% %s::minhash ORDER BY id", [sig])
print("signatures", *[row[0] for row in rows])

(sk,) = db.execute("SELECT sk FROM docs WHERE id = 1").fetchone()
rows = db.execute("SELECT id FROM docs WHERE sk && %s::bigint[] ORDER BY id", [sk])
print("sketches", *[row[0] for row in rows])
