# The app of django_orm.py.
from django.contrib import admin

from library.models import Doc


@admin.register(Doc)
class DocAdmin(admin.ModelAdmin):
    list_display = readonly_fields = ["fp"]
