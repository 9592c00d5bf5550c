#!/bin/sh
# The ftpd of GNU inetutils, of BSD descent: no TLS, no MLSD, 0xFF doubled, its own address in PASV.
set -eu
cd /opt/fetch-url-test
sh prepare.sh bsdftpd.log
perl log-sessions.pl /log/bsdftpd.log $$
# As many clients a minute as come: else inetd stops the service for ten minutes after 256.
echo '0.0.0.0:17124 stream tcp nowait.1000000 root /usr/sbin/ftpd ftpd -l -l -d' >/etc/inetd.conf
exec inetd -i /etc/inetd.conf
