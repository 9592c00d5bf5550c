#!/bin/sh
# Not as process 1 (Compose: `init: true`): vsftpd crashes when orphans are handed to it.
set -eu
cd /opt/fetch-url-test
sh prepare.sh vsftpd.log
cp pam.conf /etc/pam.d/vsftpd
# Who has not logged in yet is served, and logged, from inside this folder.
LOCKED=/var/run/vsftpd/empty
mkdir -p "$LOCKED/dev"
perl log-sessions.pl /log/vsftpd.log $$ "$LOCKED/dev/log"
exec vsftpd /opt/fetch-url-test/vsftpd.conf
