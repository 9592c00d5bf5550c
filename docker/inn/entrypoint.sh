#!/bin/sh
# innd greets at 17119 and leaves every reader to an nnrpd of its own; at 17563 inetd does, for TLS from the first octet.
set -eu
cd /opt/fetch-url-test
sh prepare.sh inn.log
rm -f /run/news/* /var/lib/news/*.lock      # of a server that was killed
mkdir -p /etc/news/tls /run/news
cp /tls/ca.pem /tls/server.pem /tls/server.key /etc/news/tls/
chown -R news:news /etc/news/tls /run/news
chmod 600 /etc/news/tls/server.key          # else nnrpd does not take it
perl log-sessions.pl /log/inn.log $$
# As many clients a minute as come: else inetd stops the service for ten minutes after 256.
echo '0.0.0.0:17563 stream tcp4 nowait.1000000 news /usr/lib/news/bin/nnrpd nnrpd -S -t' >/etc/inetd.conf
inetd /etc/inetd.conf
exec setpriv --reuid=news --regid=news --clear-groups /usr/lib/news/bin/innd -f -P 17119
