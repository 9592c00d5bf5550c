#!/bin/sh
# sn, as old as RFC 977: no CAPABILITIES, no OVER, no logins, no log, so another one writes it.
set -eu
cd /opt/fetch-url-test
sh prepare.sh sn.log
# As many clients a minute as come: else inetd stops the service for ten minutes after 256.
echo "0.0.0.0:17118 stream tcp4 nowait.1000000 news /usr/bin/perl perl $PWD/log-lines.pl /log/sn.log /usr/sbin/snntpd" \
  >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
