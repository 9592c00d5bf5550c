#!/bin/sh
# prepare.sh LOG...: prepares what every server needs: certificates in /tls, the tree in /srv/tree (one volume for all
# servers, created again if make-tree.pl has changed), and its log files. Servers that have dropped root can write to
# the log files, and the files belong to the owner of run/log on the host.
set -eu
umask 022
HERE=/opt/fetch-url-test

sh "$HERE/make-tls.sh" /tls

exec 9>/srv/.lock
flock 9
WANTED=$(md5sum "$HERE/make-tree.pl")
if [ "$WANTED" != "$(cat /srv/tree.made 2>/dev/null || true)" ]; then
  rm -rf /srv/tree
  perl "$HERE/make-tree.pl" /srv/tree
  echo "$WANTED" >/srv/tree.made
fi
exec 9>&-

for log in "$@"; do
  : >>"/log/$log"
  chmod 666 "/log/$log"
  chown --reference=/log "/log/$log" || true
done
