#!/bin/sh
# make-spool.sh: groups and articles, made while the image is built. Nothing is private to sn.
set -eu
mkdir -p /var/spool/sn/.outgoing
cd /var/spool/sn
for group in fetch.test fetch.empty fetch.holes fetch.8bit fetch.with+plus_and-dash alt.binaries.fetch private.secret; do
  snnewgroup $group
done
perl /opt/fetch-url-test/make-news.pl | snstore
# The first number is 10 here: these are the articles that INN's 2, 3, 11 to 15 and 50 are.
sncancel fetch.holes:11-12 fetch.holes:20-24 fetch.holes:59
rm -f .fifo
chown -R news:news /var/spool/sn
