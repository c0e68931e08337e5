# Alembic (Debian: python3-alembic, python3-psycopg2).  PGHOST and the like say which server.
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Computed, Index, Integer, MetaData, Table, Text, create_engine, text as sql
from sqlalchemy.dialects.postgresql import ExcludeConstraint
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType


class SimHash(UserDefinedType):
    """A fingerprint, a string of 16 hexadecimal digits."""
    cache_ok = True

    def get_col_spec(self, **kw):
        return "simhash"


# Autogenerate reads the type of a column from the catalog by this table.
ischema_names["simhash"] = SimHash


def upgrade(op):
    op.execute(sql("CREATE EXTENSION IF NOT EXISTS simhash"))
    op.create_table(
        "pages",
        Column("id", Integer, primary_key=True),
        Column("body", Text),
        Column("fp", SimHash, Computed("simhash(body)", persisted=True)),
        ExcludeConstraint((sql("sketch_ball(shingle_hashes(body), 0.2)"), "=~="), using="simhash",
                          name="pages_no_copies"))
    op.create_index("pages_fp", "pages", ["fp"], postgresql_using="simhash")


def is_ours(name, kind, parents):
    return kind != "table" or name in metadata.tables


def is_no_constraint(item, name, kind, reflected, other):
    """The index of the constraint is in the catalog, and not in the metadata."""
    return name != "pages_no_copies"


metadata = MetaData()
Table("pages", metadata,
      Column("id", Integer, primary_key=True),
      Column("body", Text),
      Column("fp", SimHash, Computed("simhash(body)", persisted=True)),
      Index("pages_fp", "fp", postgresql_using="simhash"))

engine = create_engine("postgresql+psycopg2://")
with engine.begin() as connection:
    context = MigrationContext.configure(
        connection,
        opts={"compare_type": True, "include_name": is_ours, "include_object": is_no_constraint})
    upgrade(Operations(context))
    print("differences", compare_metadata(context, metadata))
    for line in connection.execute(sql(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'pages_fp'")).scalars():
        print(line)
