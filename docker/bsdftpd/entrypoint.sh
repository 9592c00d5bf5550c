#!/bin/sh
# The ftpd of GNU inetutils, derived from BSD: no TLS, no MLSD, 0xFF doubled, its own address in PASV.
set -eu
cd /opt/fetch-url-test
sh prepare.sh bsdftpd.log
perl log-sessions.pl /log/bsdftpd.log $$
# No limit of connections per minute: by default inetd stops the service for ten minutes after 256 connections.
echo '0.0.0.0:17124 stream tcp nowait.1000000 root /usr/sbin/ftpd ftpd -l -l -d' >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
