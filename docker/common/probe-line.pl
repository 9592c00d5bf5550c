#!/usr/bin/perl
# probe-line.pl PORT BEGINNING [LINE]: the health check of gopher and news servers: exit 0 if the response of the server
# on 127.0.0.1:PORT, to LINE if one is given, begins with BEGINNING.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $beginning, $line) = @ARGV;
die "usage: probe-line.pl PORT BEGINNING [LINE]\n" unless defined $beginning;
$SIG{ALRM} = sub { exit 1 };
alarm 5;
my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 3) or exit 1;
print {$server} "$line\r\n" if defined $line;
$server->flush;
my $said = <$server> // '';
exit(index($said, $beginning) == 0 ? 0 : 1);
