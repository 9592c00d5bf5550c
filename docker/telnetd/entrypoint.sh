#!/bin/sh
# The telnetd of GNU inetutils, twice: a test program on port 17023, a login on port 17024. It requests all information
# that a client can send about itself, and delays the program's output until all requests are answered.
set -eu
cd /opt/fetch-url-test
sh prepare.sh telnetd.log
perl log-sessions.pl /log/telnetd.log $$
# No limit of connections per minute: by default inetd stops the service for ten minutes after 256 connections.
cat >/etc/inetd.conf <<CONF
0.0.0.0:17023 stream tcp nowait.1000000 root /usr/sbin/telnetd telnetd -E $PWD/session
0.0.0.0:17024 stream tcp nowait.1000000 root /usr/sbin/telnetd telnetd
CONF
exec inetd -i /etc/inetd.conf
