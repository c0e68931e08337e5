# Django (Debian: python3-django, python3-psycopg2).  PGHOST and the like say which server.
import os

import django
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import PostgresIndex
from django.db import DataError, IntegrityError, connection, models, transaction
from django.db.models import Expression, Func, Lookup, Value
from django.db.models.constraints import BaseConstraint

settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
    "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}})
django.setup()


class Default(Expression):
    def as_sql(self, compiler, connection):
        return "DEFAULT", []


class GeneratedField(models.Field):
    """A column that PostgreSQL computes."""
    type = None

    def __init__(self, expression, **options):
        super().__init__(null=True, editable=False, **options)
        self.expression = expression

    def deconstruct(self):
        name, path, args, options = super().deconstruct()
        del options["null"], options["editable"]
        return name, path, [self.expression], options

    def db_type(self, connection):
        return f"{self.type} GENERATED ALWAYS AS ({self.expression}) STORED"

    def cast_db_type(self, connection):
        return self.type

    def pre_save(self, instance, add):
        return Default()


class SimHashField(GeneratedField):
    type = "simhash"


class MinHashField(GeneratedField):
    type = "minhash(18, 7)"


class SketchField(GeneratedField):
    type = "bigint[]"


@SimHashField.register_lookup
class Within(Lookup):
    """fp__within=(text, radius)"""
    lookup_name = "within"
    prepare_rhs = False

    def as_sql(self, compiler, connection):
        left, params = self.process_lhs(compiler, connection)
        return f"{left} <~> to_simhash(%s) <= %s", [*params, *self.rhs]


@MinHashField.register_lookup
class SharesBand(Lookup):
    """sig__shares_band=signature"""
    lookup_name = "shares_band"

    def as_sql(self, compiler, connection):
        left, params = self.process_lhs(compiler, connection)
        return f"{left} %% %s::minhash", [*params, self.rhs]


@SketchField.register_lookup
class Overlap(Lookup):
    """sk__overlap=[hash, ...]"""
    lookup_name = "overlap"
    prepare_rhs = False

    def as_sql(self, compiler, connection):
        left, params = self.process_lhs(compiler, connection)
        return f"{left} && %s::bigint[]", [*params, self.rhs]


class Distance(Func):
    arg_joiner = " <~> "
    template = "%(expressions)s"
    output_field = models.IntegerField()


class ToSimHash(Func):
    function = "to_simhash"
    output_field = models.TextField()


class SimHashIndex(PostgresIndex):
    suffix = "simhash"


class NoCopies(BaseConstraint):
    def __init__(self, field, radius, name):
        super().__init__(name)
        self.field, self.radius = field, radius

    def deconstruct(self):
        path, args, options = super().deconstruct()
        return path, args, {**options, "field": self.field, "radius": self.radius}

    def constraint_sql(self, model, schema_editor):
        column = model._meta.get_field(self.field).column
        return (f'CONSTRAINT "{self.name}" EXCLUDE USING simhash '
                f'(simhash_ball("{column}", {self.radius}) WITH =~=)')

    def create_sql(self, model, schema_editor):
        return f'ALTER TABLE "{model._meta.db_table}" ADD {self.constraint_sql(model, schema_editor)}'

    def remove_sql(self, model, schema_editor):
        return f'ALTER TABLE "{model._meta.db_table}" DROP CONSTRAINT "{self.name}"'


class Doc(models.Model):
    body = models.TextField(null=True)
    fp = SimHashField("simhash(body)")
    sig = MinHashField("to_minhash(body)")
    sk = SketchField("winnow(body, 6, 3)")

    class Meta:
        app_label = "library"
        indexes = [SimHashIndex(fields=["fp"], name="library_doc_fp"),
                   SimHashIndex(fields=["sig"], name="library_doc_sig"),
                   SimHashIndex(fields=["sk"], name="library_doc_sk")]
        constraints = [NoCopies(field="fp", radius=3, name="library_no_copies")]


with connection.schema_editor() as editor:
    editor.create_model(Doc)
with connection.cursor() as cursor:
    cursor.execute("SELECT body FROM docs ORDER BY id")
    for body, in cursor.fetchall():
        Doc.objects.create(body=body)

text, radius = "The bridge was opened by the mayor on Monday!", 3
near = Doc.objects.filter(fp__within=(text, radius)).order_by("id")
print("within", *[doc.id for doc in near])
nearest = Doc.objects.order_by(Distance("fp", ToSimHash(Value(text))))[:1]
print("nearest", *[doc.id for doc in nearest])

first = Doc.objects.get(id=1)
first.save()
print("fingerprint", *Doc.objects.filter(fp=first.fp).values_list("id", flat=True))
print("null", *Doc.objects.filter(fp__isnull=True).values_list("id", flat=True))

try:
    with transaction.atomic():
        list(Doc.objects.filter(fp="no fingerprint"))
except DataError as e:
    print("wrong input", e.__cause__.pgcode)

try:
    with transaction.atomic():
        Doc.objects.create(body=text)
except IntegrityError as e:
    assert e.__cause__.diag.constraint_name == "library_no_copies"
    print("duplicate", e.__cause__.pgcode)

with connection.cursor() as cursor:
    cursor.execute("SET enable_seqscan = off")
if "library_doc_fp" in near.explain():
    print("plan uses the index")

print("signatures", *Doc.objects.filter(sig__shares_band=first.sig).values_list("id", flat=True))
print("sketches", *Doc.objects.filter(sk__overlap=first.sk).values_list("id", flat=True))
