#!/usr/bin/perl
# make-gopher.pl TREE ROOT: the objects of the gopher servers: the files of TREE, as hard links, and beside them menus, texts
# with dots, scripts, and files with Gopher+ attributes.
# If a line of a gophermap has no host, the server adds its own, so one ROOT serves both servers.
# No item names a host other than 127.0.0.1.
use strict;
use warnings;

my ($tree, $root) = @ARGV;
die "usage: make-gopher.pl TREE ROOT\n" unless defined $root;
system('cp', '-al', $tree, $root) == 0 or die "cp: no copy of $tree\n";
my $time = 786285296;    # as make-tree.pl
my @made;
# One white pixel.
my $picture = pack 'H*', '47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b';

sub file {
    my ($path, $octets, $mode) = @_;
    mkdir "$root/$1" if $path =~ m{\A(.*)/};
    open my $out, '>:raw', "$root/$path" or die "$path: $!\n";
    print {$out} $octets;
    close $out or die "$path: $!\n";
    chmod $mode // 0644, "$root/$path";
    push @made, $path;
}

sub lines { return join '', map { "$_\n" } @_ }
sub script { file($_[0], "#!/bin/sh\n$_[1]", 0755) }

file 'gophermap', lines(
    'Welcome to the gopher servers of the fetch-url tests', '',
    "0About\t/about.txt", "9All octets\t/all-bytes.bin", "gPicture\t/dot.gif", "7Search\t/cgi-bin/search",
    "1Odd names\t/odd", "1One of each kind\t/kinds", "1Gopher+\t/plus", "1Relative\tpub",
    "1Five thousand files\t/many", "1Ten thousand items\t/cgi-bin/ten-thousand",
    "0Not for everybody\t/noperm.txt", "3An error\tno such item\t127.0.0.1\t17001",
    "hWeb page\tURL:http://127.0.0.1:17080/hello.txt",
    "8Telnet\talice\t127.0.0.1\t17023", "TTerminal\t\t127.0.0.1\t17023", "2Phone book\t\t127.0.0.1\t17105",
    "0At pygopherd\t/hello.txt\t127.0.0.1\t17071", "+Also at pygopherd\t/hello.txt\t127.0.0.1\t17071",
    'a line that ends with a dot.',
);
file 'kinds/gophermap', lines(
    (map { "${_}Of type $_\t/all-bytes.bin" } split //, '0456789gIsd;MPX<r'), "hOf type h\t/page.html",
);
file 'about.txt', lines('About the gopher servers of the tests.');
file 'page.html', lines('<html><head><title>A title</title></head><body>A body</body></html>');
file 'dot.gif', $picture;

# Lines that begin with dots: not doubled, as most servers send them, and doubled, as in RFC 1436 §3.
file 'dots/none-doubled.txt',  lines('first', '.', '..', '.dot', '...', 'last');
file 'dots/only.txt',          lines('.');
file 'dots/last.txt',          lines('first', 'last', '.');
file 'dots/two-last.txt',      lines('first', '.', '.');
file 'dots/all-doubled.txt',   lines('first', '..', '...', '..dot', 'last', '.');
file 'dots/some-doubled.txt',  lines('first', '..two', '.one', 'last', '.');
file 'dots/doubled-no-end.txt', lines('first', '..dot', 'last');
file 'dots/no-line-end.txt',   "first\nlast\n.";
file 'dots/large.txt',         lines((map { "..line $_ of a text of more than one mebibyte" } 1 .. 30_000), '.');
file 'unended.txt',            'no end of line';

# A search that returns one item for each search word.
script 'cgi-bin/search', <<'END';
words=${SEARCHREQUEST-$QUERY_STRING}
[ -n "$words" ] || printf '3no query given\t\t127.0.0.1\t17001\r\n'
for word in $words; do printf '0found %s\t/about.txt\t%s\t%s\r\n' "$word" "$SERVER_NAME" "$SERVER_PORT"; done
END
# As a gophermap, this menu would take pygopherd some seconds.
script 'cgi-bin/ten-thousand', <<'END';
digits='0 1 2 3 4 5 6 7 8 9'
for half in 0 5; do for first in 0 1 2 3 4; do for second in $digits; do for third in $digits; do for fourth in $digits; do
  rest=$second$third$fourth
  printf '0item %s\t/many/f%s.txt\t%s\t%s\r\n' $((half + first))$rest $first$rest "$SERVER_NAME" "$SERVER_PORT"
done; done; done; done; done
printf '.\r\n'
END
# Lines that menus have in practice: no fields, no port, port 0, no host, too many fields, a lone LF, no end.
script 'cgi-bin/odd-menu', <<'END';
here=$(printf '%s\t%s' "$SERVER_NAME" "$SERVER_PORT")
printf '0four fields\t/about.txt\t%s\r\n' "$here"
printf '0five fields\t/about.txt\t%s\t+\r\n' "$here"
printf '0six fields\t/about.txt\t%s\t?\tmore\r\n' "$here"
printf '0lone line feed\t/about.txt\t%s\n' "$here"
printf '0no fields\r\n0\r\n\r\n0no host\t/about.txt\r\n0no port\t/about.txt\t%s\r\n' "$SERVER_NAME"
printf '0port 0\t/about.txt\t%s\t0\r\n0port 99999\t/about.txt\t%s\t99999\r\n' "$SERVER_NAME" "$SERVER_NAME"
printf '0port x\t/about.txt\t%s\tx\r\n0empty host\t/about.txt\t\t%s\r\n' "$SERVER_NAME" "$SERVER_PORT"
printf 'i\tfake\t(NULL)\t0\r\niinfo\r\n'
printf '0latin-1: \351, escape: \033[31m\t/odd/caf\351/r\351sum\351.txt\t%s\r\n' "$here"
printf '0the last one\t/about.txt\t%s' "$here"
END
script 'cgi-bin/slow', "echo first; sleep 5; echo last\n";

# Gopher+ attributes, which pygopherd creates from the files beside a file.
my $form = "Note: a form\nAsk: Your name?\tanonymous\nAskP: A password?\nChoose: Colour?\tred\tgreen\nSelect: News?:0\n"
    . "AskL: Tell us\nAskF: A file?\nChooseF: A file here?\n";
file 'plus/doc.txt',          lines('A document with attributes.');
file 'plus/doc.txt.abstract', lines('What the document is about,', 'in two lines.');
file 'plus/doc.txt.keywords', lines('gopher plus test');
file 'plus/ask.txt',          lines('A document with a form.');
file 'plus/ask.txt.ask',      $form;
file 'plus/pic.gif',          $picture;
file 'plus/.names', lines('Path=./doc.txt', 'Name=A document by a name of its own', 'Numb=1');
file 'plus/.links', lines('Name=A link', 'Type=1', 'Path=/pub');
file 'mail/box.mbox', join '', map {
    lines('From a@test.invalid Thu Dec  1 12:34:56 1994', 'From: a@test.invalid', "Subject: message $_", '', "body $_", '')
} 1 .. 3;

utime $time, $time, map { "$root/$_" } @made;
