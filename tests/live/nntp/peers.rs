//! Comparison with Perl's Net::NNTP, if it is installed: the same articles. curl does not support NNTP.

use std::process::{Command, Stdio};

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::program::start_other;
use crate::live::work_dir::{WorkDir, fetch};

each_news_server![articles_equal_those_of_net_nntp, overviews_equal_those_of_net_nntp];

const ARTICLE: &str = "use Net::NNTP; my ($port, $group, @numbers) = @ARGV; binmode STDOUT; \
    my $news = Net::NNTP->new('127.0.0.1', Port => $port, Reader => 0) or die 'connect'; \
    $news->group($group) or die 'group'; for (@numbers) { my $lines = $news->article($_) or die $_; print @$lines }";

const OVERVIEW: &str = "use Net::NNTP; my ($port, $group) = @ARGV; binmode STDOUT; \
    my $news = Net::NNTP->new('127.0.0.1', Port => $port, Reader => 0) or die 'connect'; \
    $news->group($group) or die 'group'; my $rows = $news->xover([1, 9999]) or die 'xover'; \
    print join(qq(\\t), $_, @{$rows->{$_}}), qq(\\n) for sort { $a <=> $b } keys %$rows";

fn has_net_nntp() -> bool {
    let asked = Command::new("perl")
        .args(["-MNet::NNTP", "-e1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Returns the output of the Perl program. Net::NNTP converts line ends to LF.
#[track_caller]
fn peer(server: NewsServer, program: &str, arguments: &[&str]) -> Vec<u8> {
    let port = server.port().to_string();
    let own = ["-e", program, &port];
    start_other("perl", WorkDir::new().folder(), &[&own[..], arguments].concat()).wait().assert_exit(0).out
}

fn articles_equal_those_of_net_nntp(server: NewsServer) {
    if !has_net_nntp() {
        return;
    }
    for (group, nths) in
        [("fetch.test", 1699..=1704), ("fetch.8bit", 49..=54), ("alt.binaries.fetch", 20..=24)]
    {
        let numbers: Vec<String> = nths.map(|nth| server.number(nth).to_string()).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        let expected = peer(server, ARTICLE, &[&[group], &numbers[..]].concat());
        fetch(&["--text", &server.url(&format!("{group}/{first}-{last}"))]).assert_success(expected);
    }
}

fn overviews_equal_those_of_net_nntp(server: NewsServer) {
    if !has_net_nntp() {
        return;
    }
    for group in ["fetch.with+plus_and-dash", "fetch.holes", "fetch.8bit"] {
        let expected = peer(server, OVERVIEW, &[group]);
        let text = fetch(&["--format", "raw", &server.url(group)]).assert_exit(0).text();
        assert_eq!(text.replace("\r\n", "\n"), String::from_utf8_lossy(&expected), "{group}");
    }
}
