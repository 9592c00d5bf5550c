#!/bin/sh
# Started by inetd: as a daemon it sleeps 0.2 s after each client that disconnects, and accepts no client meanwhile.
set -eu
cd /opt/fetch-url-test
sh prepare.sh proftpd.log
perl log-sessions.pl /log/proftpd.log $$
# No limit of connections per minute: by default inetd stops the service for ten minutes after 256 connections.
for port in 17122 17190; do
  echo "0.0.0.0:$port stream tcp nowait.1000000 root /usr/sbin/proftpd proftpd -c $PWD/proftpd.conf"
done >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
