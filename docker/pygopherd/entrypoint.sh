#!/bin/sh
# Not as root, so that unreadable files are refused.
set -eu
cd /opt/fetch-url-test
sh prepare-gopher.sh pygopherd.log
exec setpriv --reuid=nobody --regid=nogroup --clear-groups env PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1 \
  pygopherd "$PWD/pygopherd.conf"
