#!/bin/sh
# prepare-gopher.sh LOG...: does what prepare.sh does, and creates /srv/gopher, again if its script or make-tree.pl has changed.
set -eu
umask 022
HERE=/opt/fetch-url-test
sh "$HERE/prepare.sh" "$@"

exec 9>/srv/.lock
flock 9
WANTED=$(cat "$HERE/make-tree.pl" "$HERE/make-gopher.pl" | md5sum)
if [ "$WANTED" != "$(cat /srv/gopher.made 2>/dev/null || true)" ]; then
  rm -rf /srv/gopher
  perl "$HERE/make-gopher.pl" /srv/tree /srv/gopher
  echo "$WANTED" >/srv/gopher.made
fi
