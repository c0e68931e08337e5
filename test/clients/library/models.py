# The app of django_orm.py.  docs/applications.md quotes it.
from django.core.exceptions import ValidationError
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import PostgresIndex
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models import Expression, Func, Lookup
from django.db.models.constraints import BaseConstraint


class Default(Expression):
    def as_sql(self, compiler, connection):
        return "DEFAULT", []


class GeneratedField(models.Field):
    """A column that PostgreSQL computes."""
    type = None
    db_returning = True

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

    def get_db_prep_save(self, value, connection):
        return Default()


class SimHashField(GeneratedField):
    type = "simhash"


class MinHashField(GeneratedField):
    type = "minhash(18, 7)"


class SketchField(GeneratedField):
    type = "bigint[]"


class WithinDistance(Lookup):
    """column__lookup=(text, distance)"""
    prepare_rhs = False

    def as_sql(self, compiler, connection):
        left, params = self.process_lhs(compiler, connection)
        return f"{left} {self.operator} {self.digest}(%s) <= %s", [*params, *self.rhs]


@SimHashField.register_lookup
class Within(WithinDistance):
    lookup_name, operator, digest = "within", "<~>", "to_simhash"


@SketchField.register_lookup
class Resembles(WithinDistance):
    lookup_name, operator, digest = "resembles", "<%%>", "shingle_hashes"


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


class JaccardDistance(Func):
    """The distance of two sets of hashes, 1 minus the resemblance."""
    arg_joiner = " <%%> "
    template = "%(expressions)s"
    output_field = models.FloatField()


class ShingleHashes(Func):
    function = "shingle_hashes"
    output_field = ArrayField(models.BigIntegerField())


class ToSimHash(Func):
    function = "to_simhash"
    output_field = models.TextField()


class SimHashIndex(PostgresIndex):
    suffix = "simhash"


class NoCopies(BaseConstraint):
    def __init__(self, *, field, radius, name, **options):
        super().__init__(name=name, **options)
        self.field, self.radius = field, radius

    def __eq__(self, other):
        return isinstance(other, NoCopies) and self.deconstruct() == other.deconstruct()

    def deconstruct(self):
        path, args, options = super().deconstruct()
        return path, args, {**options, "field": self.field, "radius": self.radius}

    def constraint_sql(self, model, schema_editor):
        column = model._meta.get_field(self.field).column
        return (f'CONSTRAINT "{self.name}" EXCLUDE USING simhash '
                f'(sketch_ball("{column}", {self.radius}) WITH =~=)')

    def create_sql(self, model, schema_editor):
        return f'ALTER TABLE "{model._meta.db_table}" ADD {self.constraint_sql(model, schema_editor)}'

    def remove_sql(self, model, schema_editor):
        return f'ALTER TABLE "{model._meta.db_table}" DROP CONSTRAINT "{self.name}"'

    def validate(self, model, instance, exclude=None, using=DEFAULT_DB_ALIAS):
        """Look for a near row before the INSERT or UPDATE.  The constraint itself decides."""
        database, meta = connections[using], model._meta
        field = meta.get_field(self.field)
        given = [f for f in meta.concrete_fields if not isinstance(f, GeneratedField)]
        row = ", ".join(f'%s::{f.cast_db_type(database)} AS "{f.column}"' for f in given)
        values = [f.get_db_prep_save(getattr(instance, f.attname), database) for f in given]
        with database.cursor() as cursor:
            cursor.execute(
                f'SELECT FROM "{meta.db_table}" WHERE "{meta.pk.column}" IS DISTINCT FROM %s AND '
                f'sketch_ball("{field.column}", {self.radius}) =~= sketch_ball('
                f'(SELECT {field.expression} FROM (SELECT {row}) AS new), {self.radius}) LIMIT 1',
                [instance.pk, *values])
            if cursor.rowcount:
                raise ValidationError(self.get_violation_error_message())


class Doc(models.Model):
    body = models.TextField(null=True)
    fp = SimHashField("simhash(body)")
    sig = MinHashField("to_minhash(body)")
    sk = SketchField("shingle_hashes(body)")

    class Meta:
        indexes = [SimHashIndex(fields=["fp"], name="library_doc_fp"),
                   SimHashIndex(fields=["sig"], name="library_doc_sig"),
                   SimHashIndex(fields=["sk"], name="library_doc_sk")]
        constraints = [NoCopies(field="sk", radius=0.2, name="library_no_copies")]
