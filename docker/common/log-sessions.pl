#!/usr/bin/perl
# log-sessions.pl FILE SERVER-PID [SOCKET]: reads SOCKET, or /dev/log, as a syslog daemon does, and appends each line with
# its session to FILE, so that a test can find one session among many: `RUN.PID text`, and `RUN.PID end` at its end.
#   RUN  the start time of this container, because process ids are used again after a restart
#   PID  the child of the server that the session began with; vsftpd has three processes per session, pure-ftpd two
# The kernel reports which process wrote a line, because pure-ftpd does not log it. perl-base has no recvmsg, hence the
# system call by its number.
# Runs in the background as soon as the socket exists.
use strict;
use warnings;
use Config;
use IO::Handle;
use IO::Socket::UNIX;
use Socket;

use constant { SO_PASSCRED => 16, LONGEST => 65536 };

my %recvmsg = (x86_64 => 47, aarch64 => 212);
my ($machine) = split /-/, $Config{archname};
my $recvmsg = $recvmsg{$machine} // die "recvmsg has no known number on $machine\n";

my ($file, $server, $path) = @ARGV;
die "usage: log-sessions.pl FILE SERVER-PID [SOCKET]\n" unless defined $server;
unlink '/dev/log';
if (defined $path) {
    symlink $path, '/dev/log' or die "/dev/log: $!\n";
    unlink $path;
}
my $log = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path // '/dev/log') or die "syslog: $!\n";
setsockopt $log, SOL_SOCKET, SO_PASSCRED, 1 or die "SO_PASSCRED: $!\n";
chmod 0666, $path // '/dev/log';
open my $out, '>>:raw', $file or die "$file: $!\n";
$out->autoflush(1);
exit 0 if fork;

my $run = time;
my %session;    # of each process that has logged
my %open;       # the sessions that are not over

sub parent {
    my ($process) = @_;
    open my $status, '<', "/proc/$process/status" or return 0;
    my ($parent) = map { /\APPid:\s*(\d+)/ } <$status>;
    return $parent // 0;
}

# The server's child from which this process descends; itself, when it is gone already. vsftpd's are not: its container
# has net.unix.max_dgram_qlen at 0, so that a process cannot log its third line before its first one has been here.
sub session {
    my ($process) = @_;
    my $first = $process;
    while ((my $parent = parent($first)) != $server) {
        return $process if $parent <= 1;
        $first = $parent;
    }
    return $first;
}

# One line and the process that wrote it: recvmsg(2) with its struct msghdr, as 64-bit machines lay it out.
sub receive {
    my ($text, $control) = ("\0" x LONGEST, "\0" x 64);
    my $part = pack 'P Q', $text, LONGEST;
    my $message = pack 'Q L x4 P Q P Q l x4', 0, 0, $part, 1, $control, length $control, 0;
    my $count = syscall $recvmsg, fileno $log, $message, 0;
    return if $count < 0;
    my (undef, undef, undef, $process) = unpack 'Q l l l', $control;
    return (substr($text, 0, $count), $process);
}

sub take {
    my ($text, $process) = receive();
    return if !defined $text || $process == $server;
    $text =~ s/\A<\d+>//;
    $text =~ s/[\0\r\n]+\z//;
    $text =~ s/([\x00-\x1f\x7f])/sprintf "\\x%02x", ord $1/ge;
    my $session = $session{$process} //= session($process);
    $open{$session} = 1;
    print {$out} "$run.$session $text\n";
}

# Returns whether data can be read within this number of seconds.
sub waits {
    my ($seconds) = @_;
    my $ready = '';
    vec($ready, fileno $log, 1) = 1;
    return select($ready, undef, undef, $seconds) > 0;
}

while (1) {
    if (waits(%open ? 0.01 : undef)) {
        take();
        next;
    }
    my @gone = grep { !-d "/proc/$_" } keys %open;
    take() while waits(0);    # what they wrote last
    for my $session (@gone) {
        print {$out} "$run.$session end\n";
        delete $open{$session};
        delete @session{ grep { $session{$_} == $session } keys %session };
    }
}
