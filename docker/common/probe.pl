#!/usr/bin/perl
# probe.pl PORT [ftp]: the health check of a server on 127.0.0.1:PORT: exit 0 if a web server answers /hello.txt with
# 200, or if the greeting of an FTP server is 220.
# It needs perl-base only, so the images do not contain curl.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $kind) = @ARGV;
die "usage: probe.pl PORT [ftp]\n" unless defined $port;
my ($request, $good) = ("GET /hello.txt HTTP/1.0\r\nHost: localhost\r\n\r\n", qr{\AHTTP/1\.[01] 200 });
($request, $good) = ("QUIT\r\n", qr{\A220[ -]}) if ($kind // '') eq 'ftp';
$SIG{ALRM} = sub { exit 1 };
alarm 5;
my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 3) or exit 1;
print {$server} $request;
$server->flush;
my $line = <$server> // '';
1 while <$server>;    # to its end: no server shall find its client gone
exit($line =~ $good ? 0 : 1);
