#!/bin/sh
# prepare-gopher.sh LOG...: as prepare.sh, and /srv/gopher, made again when the script of it or of the tree is another one.
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
