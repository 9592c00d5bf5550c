//! The two news servers: their ports, raw requests, and the commands that they logged for a session.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/log");

/// The interval and the number of attempts to find a complete session in a log.
const PAUSE: Duration = Duration::from_millis(20);
const LOOKS: u32 = 250;

/// The time limit of a raw request.
const ANSWER: Duration = Duration::from_secs(15);

/// The replies that a multi-line block follows (RFC 3977 §9.4), for all commands except LISTGROUP.
const BLOCKS: [&str; 10] = ["100", "101", "215", "220", "221", "222", "224", "225", "230", "231"];

/// A news server of `docker/`.
#[derive(Clone, Copy)]
pub(crate) struct NewsServer {
    pub(crate) name: &'static str,
    port: u16,
    /// The number of the first article of each group.
    first: u32,
    /// The server supports RFC 3977 and its extensions: CAPABILITIES, OVER, AUTHINFO, STARTTLS, COMPRESS.
    pub(crate) is_modern: bool,
}

pub(crate) const INN: NewsServer = NewsServer { name: "inn", port: 17119, first: 1, is_modern: true };
pub(crate) const SN: NewsServer = NewsServer { name: "sn", port: 17118, first: 10, is_modern: false };

/// Host and port of INN with TLS from the first byte; the host name is that of the certificate.
pub(crate) const INN_TLS: &str = "localhost:17563";

impl NewsServer {
    /// Returns the `nntp:` URL of a path without leading slash.
    pub(crate) fn url(self, path: &str) -> String {
        format!("nntp://{}/{path}", self.authority())
    }

    /// Returns the `news:` URL of a message-id or group.
    pub(crate) fn id_url(self, id: &str) -> String {
        format!("news://{}/{id}", self.authority())
    }

    /// Returns the `nntp:` URL of the n-th article of a group.
    pub(crate) fn nth_url(self, group: &str, nth: u32) -> String {
        self.url(&format!("{group}/{}", self.number(nth)))
    }

    pub(crate) fn authority(self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(self) -> u16 {
        self.port
    }

    /// Returns the number of the n-th article of a group on this server.
    pub(crate) fn number(self, nth: u32) -> u32 {
        nth - 1 + self.first
    }

    /// Returns the replies to these commands, which are pipelined.
    fn replies(self, commands: &[&str]) -> Vec<Reply> {
        let stream = TcpStream::connect(self.authority()).expect("the server listens");
        stream.set_read_timeout(Some(ANSWER)).expect("a limit can be set");
        let mut lines = BufReader::new(&stream);
        Reply::read(&mut lines);
        let sent: String = commands.iter().map(|command| format!("{command}\r\n")).collect();
        (&stream).write_all(sent.as_bytes()).expect("the server reads");
        commands.iter().map(|_| Reply::read(&mut lines)).collect()
    }

    /// Returns the reply to the last of these commands.
    pub(crate) fn reply(self, commands: &[&str]) -> Reply {
        self.replies(commands).pop().expect("a command")
    }

    /// Returns the block of the reply to the last of these commands.
    #[track_caller]
    pub(crate) fn block(self, commands: &[&str]) -> Vec<u8> {
        let Reply { line, block } = self.reply(commands);
        block.unwrap_or_else(|| panic!("{commands:?}: {line}"))
    }

    /// Returns the n-th article of a group by a raw request; `verb` is ARTICLE, HEAD or BODY.
    #[track_caller]
    pub(crate) fn nth(self, verb: &str, group: &str, nth: u32) -> Vec<u8> {
        self.block(&[&format!("GROUP {group}"), &format!("{verb} {}", self.number(nth))])
    }

    /// Returns the existing articles with these numbers.
    pub(crate) fn those(self, verb: &str, group: &str, nths: impl IntoIterator<Item = u32>) -> Vec<Vec<u8>> {
        let articles = nths.into_iter().map(|nth| format!("{verb} {}", self.number(nth)));
        let commands: Vec<String> = std::iter::once(format!("GROUP {group}")).chain(articles).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        self.replies(&commands).into_iter().filter_map(|reply| reply.block).collect()
    }

    /// Returns a view of the log from now on.
    pub(crate) fn watch(self) -> Watch {
        Watch { server: self, from: self.log().len() }
    }

    fn log(self) -> Vec<u8> {
        let path = format!("{LOGS}/{}.log", self.name);
        fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns the command in a log line, without the name of the session.
    fn command(self, line: &str) -> Option<&str> {
        if self.is_modern {
            return line.split_once("]: ")?.1.split_once(" < ").map(|(_, command)| command);
        }
        (line != "end").then_some(line)
    }
}

/// The reply to one command.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    /// The status line without its line end.
    pub(crate) line: String,
    /// The block with its line ends, without dot-stuffing.
    pub(crate) block: Option<Vec<u8>>,
}

impl Reply {
    fn read(lines: &mut impl BufRead) -> Self {
        let mut line = || {
            let mut line = Vec::new();
            lines.read_until(b'\n', &mut line).expect("a line");
            assert!(line.ends_with(b"\n"), "the server has closed the connection");
            line
        };
        let first = String::from_utf8_lossy(&line()).trim_end().to_owned();
        let is_block = first.get(..3).is_some_and(|code| BLOCKS.contains(&code));
        let block = is_block.then(|| {
            let until_dot = std::iter::from_fn(|| Some(line()).filter(|line| line != b".\r\n"));
            until_dot
                .flat_map(|line| if line.starts_with(b".") { line[1..].to_vec() } else { line })
                .collect()
        });
        Self { line: first, block }
    }
}

/// The log of a server from some point on.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    server: NewsServer,
    from: usize,
}

impl Watch {
    /// Returns the commands of the session that logged `marker`, in the order of arrival, once it is over. INN logs
    /// passwords as stars.
    #[track_caller]
    pub(crate) fn commands_for(self, marker: &str) -> Vec<String> {
        for _ in 0..LOOKS {
            let log = self.text();
            if let Some(lines) = session(&log, marker) {
                let commands = lines.into_iter().filter_map(|line| self.server.command(line));
                return commands.map(str::to_owned).collect();
            }
            sleep(PAUSE);
        }
        panic!("{} has logged no session with {marker} that is over", self.server.name);
    }

    /// Returns the commands with `marker` of all sessions, once there are `count` of them.
    #[track_caller]
    pub(crate) fn lines(self, marker: &str, count: usize) -> Vec<String> {
        for _ in 0..LOOKS {
            let log = self.text();
            let texts = log.lines().filter_map(|line| Some(line.split_once(' ')?.1));
            let lines =
                texts.filter_map(|line| self.server.command(line)).filter(|line| line.contains(marker));
            let lines: Vec<String> = lines.map(str::to_owned).collect();
            if lines.len() >= count {
                return lines;
            }
            sleep(PAUSE);
        }
        panic!("{} has not logged {count} commands with {marker}", self.server.name);
    }

    /// Returns the number of sessions with `marker` that are in the log now.
    pub(crate) fn sessions(self, marker: &str) -> usize {
        let log = self.text();
        let with_marker = log.lines().filter_map(|line| line.split_once(' '));
        let mut names: Vec<&str> =
            with_marker.filter(|(_, text)| text.contains(marker)).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    fn text(self) -> String {
        let log = self.server.log();
        String::from_utf8_lossy(&log[self.from.min(log.len())..]).into_owned()
    }
}

/// Returns the lines of the latest session that contains `marker`, if it is over; each begins with the name of its
/// session.
fn session<'a>(log: &'a str, marker: &str) -> Option<Vec<&'a str>> {
    let mut newest = log.lines().rev().filter_map(|line| line.split_once(' '));
    let (name, _) = newest.find(|(_, text)| text.contains(marker))?;
    let of_it = |line: &'a str| line.strip_prefix(name)?.strip_prefix(' ');
    let lines: Vec<&str> = log.lines().filter_map(of_it).collect();
    (lines.last() == Some(&"end")).then_some(lines)
}

/// Defines one test for each news server: `each_news_server! { name, … }` calls `name(server)`.
macro_rules! each_news_server {
    ($($test:ident),+ $(,)?) => {
        mod inn { $(crate::live::nntp_server::each_news_server!(@one $test INN);)+ }
        mod sn { $(crate::live::nntp_server::each_news_server!(@one $test SN);)+ }
    };
    (@one $test:ident $server:ident) => {
        #[test]
        #[ignore = "needs the servers of docker/"]
        fn $test() {
            super::$test(crate::live::nntp_server::$server);
        }
    };
}
pub(crate) use each_news_server;

mod tests {
    use super::*;
    use crate::live::work_dir::key;

    #[test]
    fn replies_are_read_with_their_block() {
        for (bytes, line, block) in [
            (&b"200 hello\r\nmore"[..], "200 hello", None),
            (b"423 no\r\n", "423 no", None),
            (b"220 1 <a@b>\r\n.\r\n", "220 1 <a@b>", Some(&b""[..])),
            (
                b"222 1 <a@b>\r\na\r\n..\r\n...b\r\n\r\n.\r\nmore",
                "222 1 <a@b>",
                Some(b"a\r\n.\r\n..b\r\n\r\n"),
            ),
        ] {
            let expected = Reply { line: line.to_owned(), block: block.map(<[u8]>::to_vec) };
            assert_eq!(Reply::read(&mut &bytes[..]), expected);
        }
    }

    #[test]
    fn log_lines_are_parsed_to_commands() {
        for (server, line, expected) in [
            (INN, "Nov 21 22:37:04 nnrpd[9]: 172.18.0.1 < GROUP a < b", Some("GROUP a < b")),
            (INN, "Nov 21 22:37:04 nnrpd[9]: 172.18.0.1 > 220 1 <a@b> article", None),
            (INN, "end", None),
            (SN, "GROUP fetch.test", Some("GROUP fetch.test")),
            (SN, "end", None),
        ] {
            assert_eq!(server.command(line), expected, "{line}");
        }
    }

    fn logged_session_is_found_by_its_marker(server: NewsServer) {
        let (key, watch) = (key(), server.watch());
        let sent = ["GROUP fetch.test", &format!("ARTICLE <{key}@test.invalid>"), "QUIT"];
        assert_eq!(server.reply(&sent[..2]).line.get(..3), Some("430"));
        assert_eq!(watch.commands_for(&key), sent[..2]);
        assert_eq!((watch.sessions(&key), watch.sessions("no such marker")), (1, 0));
        server.reply(&sent);
        assert_eq!(watch.commands_for(&key), sent);
        assert_eq!(watch.sessions(&key), 2);
        assert_eq!(watch.lines(&key, 2), [sent[1], sent[1]]);
    }

    fn article_numbers_begin_with_the_first_of_the_server(server: NewsServer) {
        let reply = server.reply(&["GROUP fetch.test"]).line;
        let (first, last) = (server.number(1), server.number(1748));
        assert!(reply.starts_with(&format!("211 1748 {first} {last} ")), "{reply}");
    }

    each_news_server![
        logged_session_is_found_by_its_marker,
        article_numbers_begin_with_the_first_of_the_server
    ];
}
