#!/bin/sh
# The telnetd of GNU inetutils, twice: a program of the tests at 17023, a login at 17024. It asks for everything that a
# client may say of itself, and lets the program say nothing before all of that is answered.
set -eu
cd /opt/fetch-url-test
sh prepare.sh telnetd.log
perl log-sessions.pl /log/telnetd.log $$
# As many clients a minute as come: else inetd stops the service for ten minutes after 256.
cat >/etc/inetd.conf <<CONF
0.0.0.0:17023 stream tcp nowait.1000000 root /usr/sbin/telnetd telnetd -E $PWD/session
0.0.0.0:17024 stream tcp nowait.1000000 root /usr/sbin/telnetd telnetd
CONF
exec inetd -i /etc/inetd.conf
