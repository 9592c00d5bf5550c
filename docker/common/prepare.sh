#!/bin/sh
# prepare.sh LOG...: what every server needs before it starts: certificates in /tls, the tree in /srv/tree (one
# volume for all of them, made again when make-tree.pl is another one), and its log files, which servers that gave up
# root can still write and which belong to whoever owns run/log on the host.
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
