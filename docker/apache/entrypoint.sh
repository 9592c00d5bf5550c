#!/bin/sh
set -eu
cd /opt/fetch-url-test
sh prepare.sh apache.log apache-error.log
chmod 755 cgi/*                             # not every checkout keeps the bit
cp site.conf /etc/apache2/sites-enabled/
set +u                                      # Debian's envvars reads variables that are not set
. /etc/apache2/envvars
set -u
rm -f "$APACHE_PID_FILE"                    # left by a killed container
install -d -o www-data /var/run/apache2/socks /var/lock/apache2 /var/tmp/cgi
exec apache2 -DFOREGROUND
