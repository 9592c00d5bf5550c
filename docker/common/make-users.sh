#!/bin/sh
# make-users.sh: creates the users of the FTP servers, the same ones for each server.
#   anonymous              sees the tree only
#   alice, bob, carol@…    see the whole container (no chroot). The etc/motd of a login directory differs from the
#                          container's /etc/motd, so that a test can distinguish `etc/motd` from `/%2Fetc/motd`
set -eu
umask 022

id ftp >/dev/null 2>&1 || useradd --system ftp
usermod --home /srv/tree --shell /bin/sh ftp

user() { # NAME PASSWORD; MD5 is the fastest kind: a login shall cost a test nothing
  home=/users/$1
  useradd --badname --no-create-home --home-dir "$home" --shell /bin/sh --password "$(openssl passwd -1 "$2")" "$1"
  mkdir -p "$home/etc"
  echo "motd of $1, not of the host" >"$home/etc/motd"
  echo "in the login directory of $1" >"$home/here.txt"
  ln -s /srv/tree "$home/tree"
}
user alice             secret
user bob               'p@ss/w:rd#%41 x'
user carol@example.org pw
echo 'motd of the host' >/etc/motd
