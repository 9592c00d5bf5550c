#!/bin/sh
# innd listens on port 17119 and starts an nnrpd for each reader; inetd starts nnrpd on port 17563, for implicit TLS.
set -eu
cd /opt/fetch-url-test
sh prepare.sh inn.log
rm -f /run/news/* /var/lib/news/*.lock      # of a server that was killed
mkdir -p /etc/news/tls /run/news
cp /tls/ca.pem /tls/server.pem /tls/server.key /etc/news/tls/
chown -R news:news /etc/news/tls /run/news
chmod 600 /etc/news/tls/server.key          # else nnrpd does not take it
perl log-sessions.pl /log/inn.log $$
# No limit of connections per minute: by default inetd stops the service for ten minutes after 256 connections.
echo '0.0.0.0:17563 stream tcp4 nowait.1000000 news /usr/lib/news/bin/nnrpd nnrpd -S -t' >/etc/inetd.conf
inetd /etc/inetd.conf
exec setpriv --reuid=news --regid=news --clear-groups /usr/lib/news/bin/innd -f -P 17119
