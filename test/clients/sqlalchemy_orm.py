# SQLAlchemy (Debian: python3-sqlalchemy, python3-psycopg2).  PGHOST and the like say which server.
from sqlalchemy import Computed, Float, Index, Integer, Text, create_engine, func, select, text as sql
from sqlalchemy.dialects.postgresql import ARRAY, BIGINT, ExcludeConstraint
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy import Column
from sqlalchemy.types import UserDefinedType


class SimHash(UserDefinedType):
    """A fingerprint, a string of 16 hexadecimal digits."""
    cache_ok = True

    def get_col_spec(self, **kw):
        return "simhash"

    class comparator_factory(UserDefinedType.Comparator):
        def distance(self, other):
            return self.op("<~>", precedence=6, return_type=Integer())(other)


class MinHash(UserDefinedType):
    """A signature, in its text form."""
    cache_ok = True

    def __init__(self, bands=18, rows=7):
        self.bands, self.rows = bands, rows

    def get_col_spec(self, **kw):
        return f"minhash({self.bands}, {self.rows})"

    class comparator_factory(UserDefinedType.Comparator):
        def shares_band(self, other):
            return self.bool_op("%")(other)


Base = declarative_base()


class Doc(Base):
    __tablename__ = "orm_docs"
    id = Column(Integer, primary_key=True)
    body = Column(Text)
    fp = Column(SimHash, Computed("simhash(body)", persisted=True))
    sig = Column(MinHash(18, 7), Computed("to_minhash(body)", persisted=True))
    sk = Column(ARRAY(BIGINT), Computed("shingle_hashes(body)", persisted=True))
    __table_args__ = (
        ExcludeConstraint((sql("sketch_ball(sk, 0.2)"), "=~="), using="simhash", name="orm_no_copies"),
        Index("orm_docs_fp", "fp", postgresql_using="simhash"),
        Index("orm_docs_sig", "sig", postgresql_using="simhash"),
        Index("orm_docs_sk", "sk", postgresql_using="simhash"),
    )


engine = create_engine("postgresql+psycopg2://")
Base.metadata.create_all(engine)
with engine.begin() as connection:
    connection.execute(sql("INSERT INTO orm_docs (body) SELECT body FROM docs ORDER BY id"))

text, radius = "The bridge was opened by the mayor on Monday!", 3
query = func.to_simhash(text)
with Session(engine) as db:
    resembling = Doc.sk.op("<%>", precedence=6, return_type=Float())(func.shingle_hashes(text)) <= 0.2
    print("resembles", *db.scalars(select(Doc.id).where(resembling).order_by(Doc.id)))
    near = Doc.fp.distance(query) <= radius
    print("within", *db.scalars(select(Doc.id).where(near).order_by(Doc.id)))
    print("nearest", *db.scalars(select(Doc.id).order_by(Doc.fp.distance(query)).limit(1)))
    first = db.get(Doc, 1)
    print("fingerprint", *db.scalars(select(Doc.id).where(Doc.fp == first.fp)))
    print("null", *db.scalars(select(Doc.id).where(Doc.fp == None)))

    try:
        db.scalars(select(Doc.id).where(Doc.fp == "no fingerprint"))
    except DBAPIError as e:
        print("wrong input", e.orig.pgcode)
        db.rollback()

    try:
        db.add(Doc(body=text))
        db.flush()
    except IntegrityError as e:
        print("duplicate", e.orig.pgcode)
        db.rollback()

    compiled = str(select(Doc.id).where(near).compile(engine, compile_kwargs={"literal_binds": True}))
    db.execute(sql("SET enable_seqscan = off"))
    if any("orm_docs_fp" in line for line in db.scalars(sql("EXPLAIN " + compiled))):
        print("plan uses the index")

    print("signatures", *db.scalars(select(Doc.id).where(Doc.sig.shares_band(first.sig)).order_by(Doc.id)))
    print("sketches", *db.scalars(select(Doc.id).where(Doc.sk.overlap(first.sk)).order_by(Doc.id)))
