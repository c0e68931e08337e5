# An image that contains the extension alone, from its Debian package, in the folders that
# CloudNativePG mounts (PostgreSQL 18 and later).  In the folder of the package:
#
#   docker build -f /path/to/simhash/packaging/extension.Dockerfile \
#       --build-arg DEB=postgresql-18-simhash_1.0.0-1_amd64.deb -t simhash-extension:1.0.0-18 .
#
# Untested: no image has been built from this file.

FROM debian:trixie-slim AS unpacked
ARG DEB
ARG MAJOR=18
COPY ${DEB} /simhash.deb
RUN dpkg-deb -x /simhash.deb /deb \
    && mkdir -p /image/lib /image/share /image/licenses \
    && cp -r /deb/usr/lib/postgresql/${MAJOR}/lib/. /image/lib/ \
    && cp -r /deb/usr/share/postgresql/${MAJOR}/extension /image/share/ \
    && cp /deb/usr/share/doc/postgresql-${MAJOR}-simhash/copyright /image/licenses/

FROM scratch
COPY --from=unpacked /image/ /
USER 65532:65532
