# Django (Debian: python3-django, python3-psycopg2).  PGHOST and the like say which server.
# A project with a copy of the app library, from the first makemigrations to the admin.
import os
import pathlib
import shutil
import sys
import tempfile

import django
from django.conf import settings
from django.core import serializers
from django.core.management import call_command
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import Value
from django.urls import path

project = tempfile.TemporaryDirectory()
shutil.copytree(os.path.join(os.path.dirname(__file__), "library"), os.path.join(project.name, "library"))
sys.path[:0] = [project.name]
settings.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
        "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}},
    INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
                    "django.contrib.messages", "django.contrib.sessions", "library"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.contrib.auth.context_processors.auth",
                                                   "django.template.context_processors.request",
                                                   "django.contrib.messages.context_processors.messages"]}}],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="__main__", SECRET_KEY="of a test", STATIC_URL="/static/",
    USE_TZ=True)
django.setup()

from django.contrib import admin
from django.contrib.auth.models import User
from django.forms import modelform_factory
from django.test import Client
from library.models import Distance, Doc, JaccardDistance, ShingleHashes, ToSimHash

urlpatterns = [path("admin/", admin.site.urls)]
validates = django.VERSION >= (4, 1)    # full_clean() calls validate() of a constraint

call_command("makemigrations", "library", verbosity=0)
migration = pathlib.Path(project.name, "library", "migrations", "0001_initial.py")
migration.write_text(
    "from django.contrib.postgres.operations import CreateExtension\n"
    + migration.read_text().replace("operations = [", 'operations = [CreateExtension("simhash"),'))
with connection.cursor() as cursor:
    cursor.execute("DROP EXTENSION simhash CASCADE")
call_command("migrate", verbosity=0)
call_command("makemigrations", "library", dry_run=True)

with connection.cursor() as cursor:
    cursor.execute("SELECT body FROM docs ORDER BY id")
    for body, in cursor.fetchall():
        doc = Doc.objects.create(body=body)
        created = doc.fp, doc.sig, doc.sk
        doc.refresh_from_db()
        assert created == (doc.fp, doc.sig, doc.sk), created

text, radius = "The bridge was opened by the mayor on Monday!", 3
resembling = Doc.objects.filter(sk__resembles=(text, 0.2)).order_by("id")
print("resembles", *[doc.id for doc in resembling])
distance = JaccardDistance("sk", ShingleHashes(Value(text)))
for doc in resembling.annotate(distance=distance).order_by("distance", "id"):
    print("distance", doc.id, doc.distance)
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
    print("wrong input", e.__cause__.diag.sqlstate)

try:
    with transaction.atomic():
        Doc.objects.create(body=text)
except IntegrityError as e:
    assert e.__cause__.diag.constraint_name == "library_no_copies"
    print("duplicate", e.__cause__.diag.sqlstate)

with connection.cursor() as cursor:
    cursor.execute("SET enable_seqscan = off")
if "library_doc_fp" in near.explain():
    print("plan uses the index")

similar = Doc.objects.filter(sig__shares_band=first.sig)
print("signatures", *similar.values_list("id", flat=True))
overlapping = Doc.objects.filter(sk__overlap=first.sk)
print("sketches", *overlapping.values_list("id", flat=True))

# A form refuses a copy of another row, and accepts the row itself and a text of its own.
Form = modelform_factory(Doc, fields=["body"])
try:
    with transaction.atomic():
        Form({"body": text}).save()
except (ValueError if validates else IntegrityError):
    print("form refuses a copy")
assert Form({"body": text}, instance=first).is_valid()
print("form", len(Form({"body": "A third text, of a form."}).save().fp))

# The admin does the same.
browser = Client()
browser.force_login(User.objects.create_superuser("editor"))
if validates:
    assert "is violated" in browser.post("/admin/library/doc/add/", {"body": text}).content.decode()
page = browser.post("/admin/library/doc/add/", {"body": "A fourth text, of the admin."}, follow=True)
print("admin", page.status_code, Doc.objects.latest("id").fp in page.content.decode())

# Rows that are dumped can be loaded.
dump = serializers.serialize("json", Doc.objects.all())
Doc.objects.all().delete()
for row in serializers.deserialize("json", dump):
    row.save()
print("loaded", Doc.objects.filter(fp=first.fp).count(), "of", Doc.objects.count())

call_command("migrate", "library", "zero", verbosity=0)
