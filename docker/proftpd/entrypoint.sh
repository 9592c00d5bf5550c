#!/bin/sh
# From inetd: as a daemon of its own it sleeps 0.2 s after each client that leaves, and greets nobody meanwhile.
set -eu
cd /opt/fetch-url-test
sh prepare.sh proftpd.log
perl log-sessions.pl /log/proftpd.log $$
# As many clients a minute as come: else inetd stops the service for ten minutes after 256.
for port in 17122 17190; do
  echo "0.0.0.0:$port stream tcp nowait.1000000 root /usr/sbin/proftpd proftpd -c $PWD/proftpd.conf"
done >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
