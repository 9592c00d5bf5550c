#!/bin/sh
# mkbase.sh [TAG]: a small Debian image made with debootstrap, for machines where no image registry answers.
# Needs root and Debian's debootstrap. TAG is fetch-url-test/base unless told otherwise, the release is SUITE (bookworm).
#
# MIRROR=URL selects the mirror. Without it, the mirror that apt on this machine uses for the release is taken, or Debian's
# public mirror if apt has none. An apt proxy is used and also configured in the image, so that apt-get in each
# `docker build` on top of the image uses it, too.
set -eu
TAG=${1:-fetch-url-test/base}
SUITE=${SUITE:-bookworm}
LIMIT=${LIMIT:-300}      # seconds for debootstrap

say() { echo "mkbase: $*" >&2; }
[ "$(id -u)" = 0 ] || { say "debootstrap needs root; run: sudo sh docker/base/mkbase.sh"; exit 1; }

# mirror_of SUITE: prints the first mirror that apt is configured to use for this suite, or nothing
mirror_of() {
  command -v apt-get >/dev/null || return 0
  apt-get indextargets --format '$(CREATED_BY) $(RELEASE) $(SITE)' 2>/dev/null |
    awk -v suite="$1" '$1 == "Packages" && $2 == suite { sub("/$", "", $3); print $3; exit }'
}
MAIN=${MIRROR:-$(mirror_of "$SUITE")};              MAIN=${MAIN:-http://deb.debian.org/debian}
SECURITY=${MIRROR:+$MIRROR-security};               SECURITY=${SECURITY:-$(mirror_of "$SUITE-security")}
SECURITY=${SECURITY:-http://deb.debian.org/debian-security}

PROXY=
if command -v apt-config >/dev/null; then eval "$(apt-config shell PROXY Acquire::http::Proxy)"; fi
[ -z "$PROXY" ] || export http_proxy="$PROXY"

if ! command -v debootstrap >/dev/null; then
  command -v apt-get >/dev/null || { say "debootstrap is missing here"; exit 1; }
  say "installing debootstrap"
  { apt-get update -q && apt-get install -y -q --no-install-recommends debootstrap; } >/dev/null
fi

ROOT=$(mktemp -d); LOG=$ROOT.log
trap 'rm -rf "$ROOT" "$LOG"' EXIT
chmod 755 "$ROOT"
EXTRA=; case $MAIN in https:*) EXTRA=--include=ca-certificates ;; esac
say "$SUITE from $MAIN"
timeout "$LIMIT" debootstrap --variant=minbase --merged-usr $EXTRA "$SUITE" "$ROOT" "$MAIN" >"$LOG" 2>&1 ||
  { tail -n 15 "$LOG" >&2; say "debootstrap failed"; exit 1; }

printf 'deb %s main\n' "$MAIN $SUITE" "$MAIN $SUITE-updates" "$SECURITY $SUITE-security" >"$ROOT/etc/apt/sources.list"
[ -z "$PROXY" ] || echo "Acquire::http::Proxy \"$PROXY\";" >"$ROOT/etc/apt/apt.conf.d/proxy"

# As in the official slim image: no package caches, no documentation, and no services started on installation.
# Without these settings the layer of a server is seven times as large.
cat >"$ROOT/etc/apt/apt.conf.d/docker" <<'A'
Acquire::GzipIndexes "true";
Acquire::Languages "none";
APT::Install-Recommends "false";
APT::Keep-Downloaded-Packages "false";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };
A
cat >"$ROOT/etc/dpkg/dpkg.cfg.d/docker" <<'D'
force-unsafe-io
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
D
printf '#!/bin/sh\nexit 101\n' >"$ROOT/usr/sbin/policy-rc.d"
chmod 755 "$ROOT/usr/sbin/policy-rc.d"
find "$ROOT/usr/share/doc" -type f ! -name copyright -delete
rm -rf "$ROOT"/dev/* "$ROOT"/usr/share/info/* "$ROOT"/usr/share/locale/* "$ROOT"/usr/share/man/* \
  "$ROOT"/var/cache/apt/* "$ROOT"/var/lib/apt/lists/* "$ROOT"/var/log/*.log
mkdir -p "$ROOT/var/cache/apt/archives/partial" "$ROOT/var/lib/apt/lists/partial"

tar -C "$ROOT" --numeric-owner -c . | docker import --change 'CMD ["bash"]' - "$TAG" >/dev/null
say "made $TAG"
