#!/bin/sh
# The ftpd of busybox: anonymous only (no login is compiled in), no TLS, no MLSD. Data ports are chosen by the system.
set -eu
cd /opt/fetch-url-test
sh prepare.sh busybox.log
exec busybox tcpsvd -c 60 -E 0.0.0.0 17127 busybox ftpd -S -t 600 -T 3600 /srv/tree
