#!/bin/sh
set -eu
cd /opt/fetch-url-test
sh prepare.sh pureftpd.log
cat /tls/server.key /tls/server.pem >/run/pure-ftpd.pem      # it wants both in one file
perl log-sessions.pl /log/pureftpd.log $$
# -P the address told in PASV   -p passive ports: it takes half as many clients   -c -C clients, and of one address
# -l Unix users   -Y 1 TLS for who asks   -d -d commands and replies into the log   -D names that begin with a dot
# -i anonymous uploads nothing   -H looks up no names
exec pure-ftpd -S 0.0.0.0,17123 -P 127.0.0.1 -p 17800:17899 -c 50 -C 50 -l unix -Y 1 -2 /run/pure-ftpd.pem \
  -d -d -D -i -H
