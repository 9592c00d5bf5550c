#!/bin/sh
# try.sh DEB VERSION HTTP_URL FTP_URL GOPHER_URL: installs the package, uses it as a user would, upgrades and removes it.
# Runs in a container of docker/dist/Dockerfile. The URLs name a text that contains "Hello".
set -eu
DEB=$1 VERSION=$2
shift 2
here=$(dirname "$0")
say() { echo "try: $*"; }
fail() { echo "try: FAILED: $*" >&2; exit 1; }

command -v fetch-url >/dev/null && fail "fetch-url is installed already"
dpkg -i "$DEB" || fail "dpkg -i"
dpkg -L fetch-url | sort >/tmp/files

[ "$(fetch-url -V | head -n 1)" = "fetch-url $VERSION" ] || fail "fetch-url -V prints $(fetch-url -V)"
for page in fetch-url fetch-url-mirror fetch-url-serve fetch-url-explain fetch-url-extract fetch-url-completions; do
    # zgrep is not enough: the page must also be formatted.
    MANWIDTH=80 man -P cat "$page" >/tmp/page 2>/tmp/page.err || fail "man $page: $(cat /tmp/page.err)"
    grep -q SYNOPSIS /tmp/page || fail "man $page has no synopsis"
done
say "the manual has 5 pages"
for shell in bash zsh fish; do
    expect "$here/complete.exp" "$shell" >/tmp/complete 2>&1 || { cat -v /tmp/complete; fail "completion in $shell"; }
done
say "bash, zsh and fish complete"
for url; do
    fetch-url -o /tmp/fetched "$url" && grep -q Hello /tmp/fetched || fail "fetch of $url"
    rm /tmp/fetched
done
say "fetched $*"
[ -f /usr/share/doc/fetch-url/copyright ] || fail "no copyright file"

# The same files in a newer version.
mkdir /tmp/newer
dpkg-deb -R "$DEB" /tmp/newer
sed -i 's/^Version: .*/&+newer1/' /tmp/newer/DEBIAN/control
dpkg-deb --root-owner-group -b /tmp/newer /tmp/newer.deb >/dev/null
dpkg -i /tmp/newer.deb || fail "upgrade"
case $(dpkg-query -W -f '${Version} ${Status}' fetch-url) in
    *"+newer1 install ok installed") ;;
    *) fail "not upgraded: $(dpkg-query -W fetch-url)" ;;
esac
fetch-url -V >/dev/null || fail "fetch-url -V after the upgrade"
say "upgraded"

dpkg --purge fetch-url || fail "purge"
[ ! -e /usr/bin/fetch-url ] || fail "fetch-url is still there"
while read -r file; do
    [ -d "$file" ] || { [ -e "$file" ] && fail "$file is left over"; }
done </tmp/files
[ ! -e /usr/share/doc/fetch-url ] || fail "/usr/share/doc/fetch-url is left over"
say "purged, nothing is left over"
