# A server with the extension, from its Debian package.  In the folder of the package:
#
#   docker build -f /path/to/simhash/packaging/server.Dockerfile \
#       --build-arg DEB=postgresql-17-simhash_1.0.0-1_amd64.deb -t postgres-simhash:17 .
#
# Untested: no image has been built from this file.

ARG MAJOR=17
FROM postgres:${MAJOR}-trixie
ARG DEB
COPY ${DEB} /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/${DEB} \
    && rm -rf /tmp/${DEB} /var/lib/apt/lists/*
