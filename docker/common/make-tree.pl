#!/usr/bin/perl
# make-tree.pl ROOT: the tree of files that every test server serves.
# perl-base (always there on Debian) and openssl are enough. The tree is made inside the container at its start,
# because it contains names that a bind mount does not support on every host.
# The tree is the same each time: a small file contains one line, `path=` and its own percent-encoded path, so that a
# test sees which file it received; all times are 1994-12-01 12:34:56 UTC, the month in which RFC 1738 appeared.
use strict;
use warnings;

my $root = shift // die "usage: make-tree.pl ROOT\n";
my $time = 786285296;
my @made;

sub escaped {
    my ($text) = @_;
    $text =~ s/([^A-Za-z0-9\-._~\/])/sprintf("%%%02X", ord $1)/ge;
    return $text;
}

sub folder {
    my ($path) = @_;
    my $here = $root;
    for my $part (split m{/}, $path) {
        $here .= "/$part";
        -d $here or mkdir $here or die escaped($here) . ": $!\n";
    }
}

sub file {
    my ($path, $octets) = @_;
    $octets //= 'path=' . escaped($path) . "\n";
    folder($1) if $path =~ m{\A(.*)/[^/]+\z}s;
    open my $out, '>:raw', "$root/$path" or die escaped($path) . ": $!\n";
    print {$out} $octets;
    close $out or die escaped($path) . ": $!\n";
    push @made, $path;
}

# 64 MiB that cannot be compressed: zeros encrypted by AES-128-CTR with a fixed key.
sub big_file {
    my ($path) = @_;
    my $size = 64 * 1024 * 1024;
    my $cipher = 'openssl enc -aes-128-ctr -nosalt -K 00112233445566778899aabbccddeeff -iv ' . '0' x 32;
    system("head -c $size /dev/zero | $cipher > '$root/$path' 2>/dev/null");
    die "$path: openssl is needed\n" unless -s "$root/$path" == $size;
    push @made, $path;
}

-d $root or mkdir $root or die "$root: $!\n";

# Plain files, and the line ends and bytes that transfers in text mode change.
file 'hello.txt',    "Hello, world\n";
file 'empty.bin',    '';
file 'one-byte.bin', "\x00";
file 'lf.txt',       join '', map { "line $_ of LF text\n" } 1 .. 100;
file 'crlf.txt',     join '', map { "line $_ of CRLF text\r\n" } 1 .. 100;
file 'mixed.txt',    "lone LF\nCRLF\r\nlone CR\rno end of line at end";
file 'latin1.txt',   "na\xefve caf\xe9 \xff end\n";
file 'all-bytes.bin', join('', map { chr } 0 .. 255) x 16;
file 'range.txt', join '', map { sprintf "%07d\n", $_ } 0 .. 9999;    # 80,000 bytes; line N begins at N * 8
file 'pub/README';
file 'pub/a/b/c/deep.txt';
file 'etc/motd', "motd of the served tree, not of the host\n";
big_file 'big.bin';

# Names with every reserved, unsafe or unusual byte.
file "odd/$_" for (
    ' leading space', 'trailing space ', 'with space/a file.txt',
    'semi;colon/f.txt', 'name;type=a', 'hash#dir/f#1.txt', 'ques?tion/f.txt', '100%/f.txt', '%41.txt',
    'amp&and=eq+plus.txt', 'colon:at@.txt', '~tilde/f.txt', '-dash/-file.txt', '-la',
    '*', '[a-b].txt', '{x,y}.txt', 'quote"d/f.txt', "apos's.txt", 'back\\slash.txt', '...', '.hidden',
    "tab\there.txt", "new\nline/f.txt", "cr\rname.txt", "\x01ctl.txt", "\x7fdel.txt",
    "\xc3\xbcn\xc3\xafc\xc3\xb6de/\xc5\xbelu\xc5\xa5.txt", "caf\xe9/r\xe9sum\xe9.txt",
    "iac\xff.txt", "iac\xff\xff2.txt", 'a' x 200 . '.txt',
);

# Directories, unreadable entries, and dangling links.
file "many/f$_.txt", "$_\n" for map { sprintf '%04d', $_ } 0 .. 4999;
folder $_ for 'empty-dir', 'incoming', 'noperm-dir';
file 'noperm.txt', "secret\n";
chmod 0, "$root/noperm.txt", "$root/noperm-dir";
my %links = ('link.txt' => 'hello.txt', 'link-dir' => 'pub', 'loop' => 'loop', 'dangling' => 'nowhere');
symlink $links{$_}, "$root/$_" for sort keys %links;    # a second start finds them there

utime $time, $time, map { "$root/$_" } @made;
