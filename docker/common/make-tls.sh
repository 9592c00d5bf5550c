#!/bin/sh
# make-tls.sh DIR: creates a test CA and the certificates of the servers, once for all containers.
#   ca.pem                 the root that tests trust
#   server.pem .key        valid: localhost, *.test.invalid, 127.0.0.1, ::1
#   expired.pem .key       the same names, expired in 2021
#   wrongname.pem .key     for other.invalid only
#   selfsigned.pem .key    the same names, without a CA
#   client.pem .key        for clients that authenticate with a certificate: CN=client.test.invalid
# The files belong to the owner of DIR on the host, also the keys: they protect nothing.
set -eu
umask 022
DIR=$1
mkdir -p "$DIR"
exec 9>"$DIR/.lock"
flock 9                                   # let go by the kernel, even of a killed container
WANTED=$(md5sum "$0")                     # made again when this script is another one
[ "$WANTED" != "$(cat "$DIR/done" 2>/dev/null || true)" ] || exit 0
NEW=$(mktemp -d)
trap 'rm -rf "$NEW"' EXIT
cd "$NEW"

ssl() { openssl "$@" 2>>log || { cat log >&2; exit 1; }; }
new_key() { ssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

NAMES='DNS:localhost,DNS:*.test.invalid,IP:127.0.0.1,IP:::1'
cat >ca.cnf <<'C'
[req]
distinguished_name = dn
x509_extensions = root
[dn]
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = ${ENV::USE}
subjectAltName = ${ENV::SAN}
[ca]
default_ca = test
[test]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = anything
unique_subject = no
copy_extensions = none
[anything]
commonName = supplied
C
export SAN="$NAMES" USE=serverAuth
: >index
echo 1000 >serial

# `req -x509` cannot date a certificate back in OpenSSL 3.0, `ca` can.
leaf() { # FILE NAMES START END
  SAN=$2
  new_key "$1.key"
  ssl req -config ca.cnf -new -key "$1.key" -subj "/CN=$1.test.invalid" -out request
  ssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in request -out "$1.pem" -notext -extensions leaf \
    -startdate "$3" -enddate "$4"
}

new_key ca.key
ssl req -config ca.cnf -x509 -new -key ca.key -sha256 -days 3650 -subj '/CN=fetch-url test CA' -out ca.pem
leaf server    "$NAMES"            20240101000000Z 20400101000000Z
leaf expired   "$NAMES"            20200101000000Z 20210101000000Z
leaf wrongname 'DNS:other.invalid' 20240101000000Z 20400101000000Z
USE=clientAuth
leaf client    'DNS:client.test.invalid' 20240101000000Z 20400101000000Z
SAN=$NAMES
USE=serverAuth
new_key selfsigned.key
ssl req -config ca.cnf -x509 -extensions leaf -new -key selfsigned.key -sha256 -days 3650 -subj '/CN=localhost' \
  -out selfsigned.pem

for name in ca client server expired wrongname selfsigned; do cp "$name.pem" "$name.key" "$DIR/"; done
chmod 644 "$DIR"/*.pem "$DIR"/*.key
echo "$WANTED" >"$DIR/done"
chown --reference="$DIR" "$DIR"/*.pem "$DIR"/*.key "$DIR/done" "$DIR/.lock" || true
