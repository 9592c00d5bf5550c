#!/bin/sh
set -eu
cd /opt/fetch-url-test
sh prepare.sh pureftpd.log
cat /tls/server.key /tls/server.pem >/run/pure-ftpd.pem      # it wants both in one file
perl log-sessions.pl /log/pureftpd.log $$
# -P the address in PASV replies   -p passive ports: half of them are used   -c -C clients, in all and per address
# -l Unix users   -Y 1 TLS for clients that request it   -d -d log commands and replies   -D list names that begin with a dot
# -i no uploads by anonymous users   -H no DNS queries
exec pure-ftpd -S 0.0.0.0,17123 -P 127.0.0.1 -p 17800:17899 -c 50 -C 50 -l unix -Y 1 -2 /run/pure-ftpd.pem \
  -d -d -D -i -H
