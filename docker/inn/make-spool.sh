#!/bin/sh
# make-spool.sh: creates groups, users and articles while the image is built, so that the server starts with them.
set -eu
cd /opt/fetch-url-test
AS_NEWS='setpriv --reuid=news --regid=news --clear-groups'
BIN=/usr/lib/news/bin

printf 'ME:*,!junk/!local::\n' >/etc/news/newsfeeds      # no peers
{
  printf 'alice:%s\n' "$(openssl passwd -6 secret)"
  printf 'bob:%s\n' "$(openssl passwd -6 'p@ss/w:rd#%41 x')"
} >/etc/news/passwd
chown root:news /etc/news/passwd
chmod 640 /etc/news/passwd

mkdir -p /etc/news/tls /run/news /var/log/news
cd /var/lib/news
rm -f active active.times newsgroups history*
: >active.times
for group in control:n control.cancel:n junk:n fetch.test:y fetch.empty:y fetch.holes:y fetch.8bit:y fetch.moderated:m \
  fetch.with+plus_and-dash:y alt.binaries.fetch:y private.secret:y; do
  echo "${group%:*} 0000000000 0000000001 ${group#*:}"
done >active
{
  printf 'fetch.test\tTest articles, plain\n'
  printf 'fetch.empty\tNothing here\n'
  printf 'fetch.holes\tArticles with gaps in the numbering\n'
  printf 'fetch.8bit\tGr\303\274\303\237e, na\303\257ve\n'
  printf 'fetch.moderated\tModerated (Moderated)\n'
  printf 'alt.binaries.fetch\tyEnc and uuencode\n'
} >newsgroups
chown -R news:news /run/news /var/lib/news /var/log/news /var/spool/news
$AS_NEWS sh -c "$BIN/makehistory && $BIN/makedbz -i -o -s 20000 && chmod 664 history*"

cd /opt/fetch-url-test
perl log-sessions.pl /tmp/feed.log $$
failed() { tail -n 20 /tmp/feed.log >&2; exit 1; }
$AS_NEWS $BIN/innd -P 17119 || failed
tries=0
until perl probe-line.pl 17119 20; do
  tries=$((tries + 1))
  [ $tries -lt 60 ] || failed
  sleep 0.2
done
perl make-news.pl cancels | perl feed.pl 17119 || failed
$AS_NEWS $BIN/ctlinnd -t 20 shutdown 'all articles are here'
while [ -e /run/news/innd.pid ]; do sleep 0.1; done
rm -f /dev/log /tmp/feed.log /run/news/*
