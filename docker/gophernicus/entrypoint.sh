#!/bin/sh
# gophernicus uses standard input and output, one process per request, and refuses to run as root. socat listens for it,
# and adds TLS on a second port.
set -eu
cd /opt/fetch-url-test
sh prepare-gopher.sh gophernicus.log
# -nm no shared memory, and so no throttling   -np no PROXY line before the request   -ns no syslog
SERVER="perl log-lines.pl /log/gophernicus.log gophernicus -h 127.0.0.1 -r /srv/gopher -nm -np -ns"
USER=_gophernicus
TLS=cert=/tls/server.pem,key=/tls/server.key,verify=0
socat "OPENSSL-LISTEN:17170,fork,reuseaddr,backlog=128,$TLS" "EXEC:$SERVER -p 17170,su=$USER" &
exec socat TCP-LISTEN:17070,fork,reuseaddr,backlog=128 "EXEC:$SERVER -p 17070,su=$USER"
