#!/usr/bin/perl
# feed.pl PORT: sends the articles on standard input, in the format of common/make-news.pl, to innd by TAKETHIS (RFC 4644).
use strict;
use warnings;
use IO::Socket::INET;

my ($port) = @ARGV;
die "usage: feed.pl PORT\n" unless defined $port;
my $innd = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or die "connect: $!\n";
binmode $_ for $innd, *STDIN;

sub reply {
    my ($code) = @_;
    my $line = <$innd> // die "innd closed the connection\n";
    die "not $code: $line" unless index($line, $code) == 0;
}

reply(20);
print {$innd} "MODE STREAM\r\n";
reply(203);
local $/ = "\r\n.\r\n";
while (defined(my $article = <STDIN>)) {
    my ($id) = $article =~ /^Message-ID: (\S+)\r$/m;
    print {$innd} "TAKETHIS $id\r\n$article";
    local $/ = "\n";
    reply(239);
}
print {$innd} "QUIT\r\n";
