#!/usr/bin/perl
# probe.pl PORT: the health check of a web server: exit 0 when 127.0.0.1:PORT answers /hello.txt with 200.
# perl-base has all it needs, so no curl goes into the images.
use strict;
use warnings;
use IO::Socket::INET;

my $port = shift // die "usage: probe.pl PORT\n";
$SIG{ALRM} = sub { exit 1 };
alarm 5;
my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 3) or exit 1;
print {$server} "GET /hello.txt HTTP/1.0\r\nHost: localhost\r\n\r\n";
$server->flush;
my $status = <$server> // '';
exit($status =~ m{\AHTTP/1\.[01] 200 } ? 0 : 1);
