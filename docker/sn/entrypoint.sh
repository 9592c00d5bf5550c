#!/bin/sh
# sn implements RFC 977 only: no CAPABILITIES, no OVER, no logins. It has no log of commands, so log-lines.pl writes one.
set -eu
cd /opt/fetch-url-test
sh prepare.sh sn.log
# No limit of connections per minute: by default inetd stops the service for ten minutes after 256 connections.
echo "0.0.0.0:17118 stream tcp4 nowait.1000000 news /usr/bin/perl perl $PWD/log-lines.pl /log/sn.log /usr/sbin/snntpd" \
  >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
