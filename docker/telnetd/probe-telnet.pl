#!/usr/bin/perl
# probe-telnet.pl PORT: the health check of telnetd: exit 0 if the first bytes are IAC DO.
use strict;
use warnings;
use IO::Socket::INET;

my ($port) = @ARGV;
die "usage: probe-telnet.pl PORT\n" unless defined $port;
$SIG{ALRM} = sub { exit 1 };
alarm 5;
my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 3) or exit 1;
my $count = sysread $server, my $octets, 2;
exit(defined $count && $octets =~ /\A\xff[\xfb\xfd]/ ? 0 : 1);
