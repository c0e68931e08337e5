# An image of the extension alone, out of its Debian package.  It has the layout of CloudNativePG's
# extension images: /lib, /share/extension and /licenses (PostgreSQL 18 and later).  The package must
# be for the cluster's release of Debian (DISTRO), its architecture and its PostgreSQL (MAJOR).  In the
# folder of the package:
#
#   docker build -f /path/to/simhash/packaging/extension.Dockerfile \
#       --build-arg DEB=postgresql-18-simhash_1.0.0-1_amd64.deb -t simhash:1.0.0-18-trixie .
#
# Built by buildah, with a Debian 13 of mmdebstrap in place of debian:trixie-slim.  PostgreSQL 18.6 then
# used the extension from these folders, by extension_control_path and dynamic_library_path.

ARG MAJOR=18
ARG DISTRO=trixie

FROM debian:${DISTRO}-slim AS unpacked
ARG DEB
COPY ${DEB} /simhash.deb
RUN dpkg-deb -x /simhash.deb /deb

FROM scratch
ARG MAJOR
ARG DISTRO
COPY --from=unpacked /deb/usr/lib/postgresql/${MAJOR}/lib/ /lib/
COPY --from=unpacked /deb/usr/share/postgresql/${MAJOR}/extension/ /share/extension/
COPY --from=unpacked /deb/usr/share/doc/postgresql-${MAJOR}-simhash/copyright \
    /licenses/postgresql-${MAJOR}-simhash/
LABEL org.opencontainers.image.title="simhash" \
    org.opencontainers.image.description="Near-duplicate detection for PostgreSQL ${MAJOR}" \
    org.opencontainers.image.licenses="PostgreSQL AND BSD-2-Clause AND Unicode-DFS-2016" \
    org.opencontainers.image.base.name="scratch" \
    io.cloudnativepg.image.base.name="ghcr.io/cloudnative-pg/postgresql:${MAJOR}-minimal-${DISTRO}" \
    io.cloudnativepg.image.base.pgmajor="${MAJOR}" \
    io.cloudnativepg.image.base.os="${DISTRO}"
USER 65532:65532
