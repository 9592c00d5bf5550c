#!/bin/sh
# pyftpdlib: aborts a transfer when EPSV or PASV arrives while it runs; supports MLSD and REST, no TLS here.
set -eu
cd /opt/fetch-url-test
sh prepare.sh pyftpdlib.log
exec python3 server.py 17125 17960 17999 /srv/tree
