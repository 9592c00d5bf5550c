#!/bin/sh
set -eu
cd /opt/fetch-url-test
sh prepare.sh nginx.log nginx-error.log
cp nginx.conf /etc/nginx/nginx.conf
exec nginx -g 'daemon off;'
