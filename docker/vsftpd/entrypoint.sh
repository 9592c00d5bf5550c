#!/bin/sh
# Not as process 1 (Compose: `init: true`): vsftpd crashes when orphans are handed to it.
set -eu
cd /opt/fetch-url-test
sh prepare.sh vsftpd.log
cp pam.conf /etc/pam.d/vsftpd
# The processes of clients that have not logged in yet run, and log, inside this directory.
LOCKED=/var/run/vsftpd/empty
mkdir -p "$LOCKED/dev"
perl log-sessions.pl /log/vsftpd.log $$ "$LOCKED/dev/log"
exec vsftpd /opt/fetch-url-test/vsftpd.conf
