#!/bin/sh
# Proxies to the other servers, which they know by the names of their services: microsocks (SOCKS5) without a login on
# port 17180 and with one on port 17181, tinyproxy (CONNECT to every port) on port 17182, and squid, which also fetches
# ftp: URLs itself, on port 17183.
set -eu
cd /opt/fetch-url-test
sh prepare.sh microsocks.log tinyproxy.log squid.log
microsocks -i 0.0.0.0 -p 17180 >>/log/microsocks.log 2>&1 &
microsocks -i 0.0.0.0 -p 17181 -u alice -P secret >>/log/microsocks.log 2>&1 &
tinyproxy -d -c "$PWD/tinyproxy.conf" >>/log/tinyproxy.log 2>&1 &
exec squid -N -f "$PWD/squid.conf"
