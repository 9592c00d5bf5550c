#!/bin/sh
# make-spool.sh: creates groups and articles while the image is built. sn has no private groups.
set -eu
mkdir -p /var/spool/sn/.outgoing
cd /var/spool/sn
for group in fetch.test fetch.empty fetch.holes fetch.8bit fetch.with+plus_and-dash alt.binaries.fetch private.secret; do
  snnewgroup $group
done
perl /opt/fetch-url-test/make-news.pl | snstore
# Numbers begin with 10 here: these are the articles that have the numbers 2, 3, 11 to 15 and 50 on INN.
sncancel fetch.holes:11-12 fetch.holes:20-24 fetch.holes:59
rm -f .fifo
chown -R news:news /var/spool/sn
