#!/usr/bin/perl
# make-news.pl [cancels]: prints the 2,000 articles of the news servers in wire format: lines end in CR LF, dots are
# doubled, and a line with one dot follows each article. The output is the same every time.
#   cancels  also prints the messages that cancel some articles of fetch.holes
use strict;
use warnings;

my $cancels = ($ARGV[0] // '') eq 'cancels';
my $count = 0;
binmode STDOUT;

sub lines { return join '', map { "$_\r\n" } @_ }

sub article {
    my ($id, $groups, $subject, $body, %more) = @_;
    $count++;
    return if $more{Control} && !$cancels;
    my %head = (From => 'Alice <alice@test.invalid>', %more);
    my $text = lines(
        'Path: feeder.test.invalid!not-for-mail', "Newsgroups: $groups", "Subject: $subject",
        'Date: Thu, 01 Dec 1994 12:34:56 +0000', "Message-ID: <$id>", map({ "$_: $head{$_}" } sort keys %head), '',
    ) . $body;
    $text =~ s/^\./../mg;
    print $text, ".\r\n";
}

sub mime { return ('MIME-Version' => '1.0', 'Content-Type' => @_) }

sub crc32 {
    my $sum = 0xffffffff;
    for my $octet (unpack 'C*', $_[0]) {
        $sum ^= $octet;
        $sum = $sum & 1 ? ($sum >> 1) ^ 0xedb88320 : $sum >> 1 for 1 .. 8;
    }
    return sprintf '%08x', $sum ^ 0xffffffff;
}

# yEnc: each byte plus 42; NUL, LF, CR, `=` and a dot at the beginning of a line are escaped.
sub yenc_lines {
    my ($octets) = @_;
    my ($lines, $line) = ('', '');
    for my $octet (unpack 'C*', $octets) {
        my $code = ($octet + 42) % 256;
        my $escaped = $code == 0 || $code == 10 || $code == 13 || $code == 61 || ($code == 46 && $line eq '');
        $line .= $escaped ? '=' . chr(($code + 64) % 256) : chr $code;
        ($lines, $line) = ("$lines$line\r\n", '') if length $line >= 128;
    }
    return $line eq '' ? $lines : "$lines$line\r\n";
}

sub yenc_whole {
    my ($name, $octets) = @_;
    my $size = length $octets;
    return "=ybegin line=128 size=$size name=$name\r\n" . yenc_lines($octets)
        . "=yend size=$size crc32=" . crc32($octets) . "\r\n";
}

sub yenc_part {
    my ($name, $octets, $part, $total, $at) = @_;
    my $part_octets = substr $octets, $at, 4096;
    my ($whole, $size, $from) = (length $octets, length $part_octets, $at + 1);
    return "=ybegin part=$part total=$total line=128 size=$whole name=$name\r\n=ypart begin=$from end=" . ($at + $size)
        . "\r\n" . yenc_lines($part_octets) . "=yend size=$size part=$part pcrc32=" . crc32($part_octets) . "\r\n";
}

sub uuencoded {
    my ($name, $octets) = @_;
    my $lines = pack 'u', $octets;
    $lines =~ s/\n/\r\n/g;
    return "begin 644 $name\r\n$lines`\r\nend\r\n";
}

for my $number (1 .. 1700) {
    my $before = sprintf '<plain-%04d@test.invalid>', $number - 1;
    article(
        sprintf('plain-%04d@test.invalid', $number), 'fetch.test', "plain article $number",
        lines("This is article $number.", 'filler ' x ($number % 9)), $number % 5 ? (References => $before) : (),
    );
}

# Unusual articles, all in fetch.test.
sub odd { my ($name, @rest) = @_; article("$name\@test.invalid", 'fetch.test', @rest) }
odd 'dots', 'lines that begin with dots', lines('.', '..', '...', '.dot', 'not.a.dot', '', '.');
odd 'emptybody', 'no body', '';
odd 'longline', 'one very long line', lines('x' x 100_000);
odd 'folded', "a folded\r\n\tsubject\r\n line", lines('x');
odd 'big', 'one mebibyte', lines('0123456789' x 6) x 16_913;
odd 'huge', 'ten mebibytes', lines(map { sprintf '%062d', $_ } 1 .. 163_840);    # 64 octets a line
odd 'from-line', 'From at the start of a line', lines('From here', '>From there');
odd 'a%b/c+d=e$f#g?h&i!j~k', 'a message-id with reserved characters', lines('ok');
odd "quote'back`brace{x}|y^z", 'a message-id with unsafe characters', lines('ok');
odd 'x' x 200, 'a long message-id', lines('ok');
odd 'html', 'HTML', lines('<p>x</p>'), mime('text/html; charset=utf-8');
odd 'mime', 'multipart', lines(
    '--b', 'Content-Type: text/plain', '', 'text part', '--b', 'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64', '', 'AAEC/w==', '--b--',
), mime('multipart/mixed; boundary=b');
article('crosspost@test.invalid', 'fetch.test,fetch.8bit', 'in two groups', lines('ok'));

article("plus-$_\@test.invalid", 'fetch.with+plus_and-dash', "in a group with a plus $_", lines('ok')) for 1 .. 10;
article(
    "latin1-$_\@test.invalid", 'fetch.8bit', "=?ISO-8859-1?Q?caf=E9_$_?=", lines("na\xefve caf\xe9 \xff"),
    mime('text/plain; charset=ISO-8859-1'), 'Content-Transfer-Encoding' => '8bit',
) for 1 .. 50;
article(
    "utf8-$_\@test.invalid", 'fetch.8bit', "raw UTF-8 \xc3\xbc\xc3\xb1\xc3\xae $_", lines("Gr\xc3\xbc\xc3\x9fe"),
    mime('text/plain; charset=UTF-8'), 'Content-Transfer-Encoding' => '8bit', From => "Zo\xc3\xab <zoe\@test.invalid>",
) for 1 .. 49;
article("hole-$_\@test.invalid", 'fetch.holes', "article $_, some of these are cancelled", lines('x')) for 1 .. 50;
article("secret-$_\@test.invalid", 'private.secret', "secret $_", lines('only for alice')) for 1 .. 50;

my $all = join('', map { chr } 0 .. 255) x 8;
my $parts = join '', map { pack 'N', $_ * 2654435761 % 4294967296 } 0 .. 3071;
sub binary { my ($name, @rest) = @_; article("$name\@test.invalid", 'alt.binaries.fetch', @rest) }
binary "yenc-$_", "yEnc \"all-$_.bin\" yEnc (1/1)", yenc_whole("all-$_.bin", $all) for 1 .. 20;
binary "yenc-multi-$_", "multi.bin yEnc ($_/3)", yenc_part('multi.bin', $parts, $_, 3, ($_ - 1) * 4096) for 1 .. 3;
binary "uu-$_", "uuencoded $_", uuencoded("all-$_.bin", $all) for 1 .. 12;

odd "filler-$count", "filler $count", lines('filler') while $count < 1989;
# Messages that cancel the articles 2, 3, 11 to 15 and 50 of fetch.holes.
article(
    "cancel.hole-$_\@test.invalid", 'fetch.holes', "cmsg cancel <hole-$_\@test.invalid>", lines('cancel'),
    Control => "cancel <hole-$_\@test.invalid>",
) for 2, 3, 11 .. 15, 50;
odd "last-$_", "last $_", lines('last') for 1 .. 3;
