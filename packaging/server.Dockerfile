# A server with the extension, out of its Debian package, which must be for the same release of Debian
# and the same PostgreSQL (MAJOR).  In the folder of the package:
#
#   docker build -f /path/to/simhash/packaging/server.Dockerfile \
#       --build-arg DEB=postgresql-17-simhash_1.0.0-1_amd64.deb -t postgres-simhash:17 .
#
# Built by buildah, with PostgreSQL 17 of Debian 13 in place of postgres:17-trixie.  The server used the
# extension.

ARG MAJOR=17
FROM postgres:${MAJOR}-trixie
ARG DEB
COPY ${DEB} /tmp/simhash.deb
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/simhash.deb \
    && rm -rf /tmp/simhash.deb /var/lib/apt/lists/*
