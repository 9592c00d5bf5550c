#!/bin/sh
set -eu
cd /opt/fetch-url-test
sh prepare.sh caddy.log caddy-error.log
export HOME=/tmp
# Not as root, who could read noperm.txt. The file capability of Debian's caddy is not needed: the ports are above 1023.
exec setpriv --reuid=caddy --regid=caddy --clear-groups caddy run --config Caddyfile --adapter caddyfile
