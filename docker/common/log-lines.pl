#!/usr/bin/perl
# log-lines.pl FILE PROGRAM...: runs a server that uses standard input and output, and appends to FILE each line that
# its client sent, as `TIME.PID line`, with backslashes and non-printable bytes as \xNN; then `TIME.PID end`, in the
# format of log-sessions.pl. The server's standard error is appended unchanged.
use strict;
use warnings;
use IO::Handle;

my ($file, @program) = @ARGV;
die "usage: log-lines.pl FILE PROGRAM...\n" unless @program;
my $session = "$^T.$$";
open my $log, '>>:raw', $file or die "$file: $!\n";
$log->autoflush(1);
open STDERR, '>>&', $log or die "standard error: $!\n";
$SIG{PIPE} = 'IGNORE';

sub note {
    my ($line) = @_;
    $line =~ s/\r?\n\z//;
    $line =~ s/([^\x20-\x5b\x5d-\x7e])/sprintf '\x%02x', ord $1/ge;
    print {$log} "$session $line\n";
}

# The server ended: later data of the client is not read.
$SIG{CHLD} = sub {
    print {$log} "$session end\n";
    exit 0;
};
open my $server, '|-:raw', @program or die "$program[0]: $!\n";
$server->autoflush(1);
close STDOUT;    # the server's own is the only one: when it ends, the client sees that
binmode STDIN;
while (defined(my $line = <STDIN>)) {
    note($line);
    print {$server} $line;
}
$SIG{CHLD} = 'DEFAULT';
close $server;    # waits for its end
print {$log} "$session end\n";
