#!/bin/sh
# The FTP server of Twisted: no EPSV, no MLSD, no REST, no TLS.
set -eu
cd /opt/fetch-url-test
sh prepare.sh twisted.log
exec python3 server.py 17126 18000 18039 /srv/tree
