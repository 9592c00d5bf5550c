//! The four FTP servers: their ports, and the commands that they logged for a session.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/log");

/// The interval and the number of attempts to find a complete session in a log.
const PAUSE: Duration = Duration::from_millis(20);
const LOOKS: u32 = 250;

/// An FTP server of `docker/`.
#[derive(Clone, Copy)]
pub(crate) struct FtpServer {
    pub(crate) name: &'static str,
    port: u16,
    /// The TLS support.
    pub(crate) tls: Option<Tls>,
    dialect: Dialect,
}

/// TLS of an FTP server. Every server with TLS supports AUTH TLS on the plain port.
#[derive(Clone, Copy)]
pub(crate) struct Tls {
    /// The port with TLS from the first byte.
    implicit_port: Option<u16>,
}

/// The format of commands in the log of a server.
#[derive(Clone, Copy, Debug)]
enum Dialect {
    /// `command: CWD pub`
    Bsd,
    /// `CWD pub => 250 CWD command successful (password)`
    ProFtpd,
    /// `[DEBUG] Command [cwd] [pub]`
    PureFtpd,
    /// `FTP command: Client "172.18.0.1", "CWD pub"`
    Vsftpd,
}

const AUTH_TLS: Option<Tls> = Some(Tls { implicit_port: None });

pub(crate) const BSDFTPD: FtpServer =
    FtpServer { name: "bsdftpd", port: 17124, tls: None, dialect: Dialect::Bsd };
pub(crate) const PROFTPD: FtpServer = FtpServer {
    name: "proftpd",
    port: 17122,
    tls: Some(Tls { implicit_port: Some(17190) }),
    dialect: Dialect::ProFtpd,
};
pub(crate) const PUREFTPD: FtpServer =
    FtpServer { name: "pureftpd", port: 17123, tls: AUTH_TLS, dialect: Dialect::PureFtpd };
pub(crate) const VSFTPD: FtpServer =
    FtpServer { name: "vsftpd", port: 17121, tls: AUTH_TLS, dialect: Dialect::Vsftpd };

impl FtpServer {
    /// Returns the `ftp:` URL of a path that begins with `/`.
    pub(crate) fn url(self, path: &str) -> String {
        format!("ftp://{}{path}", self.authority())
    }

    /// Returns the `ftp:` URL with a login, which is percent-encoded here.
    pub(crate) fn url_as(self, user: &str, password: &str, path: &str) -> String {
        format!("ftp://{}:{}@{}{path}", escaped(user), escaped(password), self.authority())
    }

    /// Returns the `ftp:` URL with the host name of the certificate, if the server supports AUTH TLS.
    pub(crate) fn tls_url(self, path: &str) -> Option<String> {
        self.tls.map(|_| format!("ftp://localhost:{}{path}", self.port))
    }

    /// Returns the `ftps:` URL, if the server has a port with TLS from the first byte.
    pub(crate) fn implicit_url(self, path: &str) -> Option<String> {
        let port = self.tls?.implicit_port?;
        Some(format!("ftps://localhost:{port}{path}"))
    }

    pub(crate) fn authority(self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns a view of the log from now on, for markers that earlier runs also used.
    pub(crate) fn watch(self) -> Watch {
        Watch { server: self, from: self.log().len() }
    }

    /// Returns the commands of the latest session that logged `marker`; see [`Watch::commands_for`].
    #[track_caller]
    pub(crate) fn commands_for(self, marker: &str) -> Vec<String> {
        Watch { server: self, from: 0 }.commands_for(marker)
    }

    fn log(self) -> Vec<u8> {
        let path = format!("{LOGS}/{}.log", self.name);
        fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// The log of a server from some point on.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    server: FtpServer,
    from: usize,
}

impl Watch {
    /// Returns the commands of the latest session that logged `marker`, in the order of arrival, once that session is
    /// over. Verbs are in capitals, and PASS has no argument.
    ///
    /// A marker is an argument in one session only: a file of `/many/`, the name of a missing file, or an anonymous
    /// password, which pure-ftpd does not log.
    #[track_caller]
    pub(crate) fn commands_for(self, marker: &str) -> Vec<String> {
        for _ in 0..LOOKS {
            let log = self.server.log();
            let log = String::from_utf8_lossy(&log[self.from.min(log.len())..]);
            if let Some(lines) = session(&log, marker) {
                return lines.into_iter().filter_map(|line| self.server.dialect.command(line)).collect();
            }
            sleep(PAUSE);
        }
        panic!("{} has logged no session with {marker} that is over", self.server.name);
    }

    /// Returns `true` if the log contains `marker` now. Use it to assert that something was not sent.
    pub(crate) fn contains(self, marker: &str) -> bool {
        let log = self.server.log();
        log[self.from.min(log.len())..].windows(marker.len()).any(|part| part == marker.as_bytes())
    }
}

/// Returns the lines of the latest session that contains `marker`, if it is over. `docker/common/log-sessions.pl` puts
/// the name of the session before each line.
fn session<'a>(log: &'a str, marker: &str) -> Option<Vec<&'a str>> {
    let mut newest = log.lines().rev().filter_map(|line| line.split_once(' '));
    let (name, _) = newest.find(|(_, text)| text.contains(marker))?;
    let of_it = |line: &'a str| line.strip_prefix(name)?.strip_prefix(' ');
    let lines: Vec<&str> = log.lines().filter_map(of_it).collect();
    (lines.last() == Some(&"end")).then_some(lines)
}

impl Dialect {
    /// Returns the command in a log line.
    fn command(self, line: &str) -> Option<String> {
        let line = match self {
            Self::Bsd => line.split_once("]: command: ")?.1.to_owned(),
            Self::ProFtpd => line.split_once("]: ")?.1.split_once(" => ")?.0.to_owned(),
            Self::PureFtpd => {
                let (verb, argument) = line.split_once("[DEBUG] Command [")?.1.split_once("] [")?;
                format!("{verb} {}", argument.strip_suffix(']')?)
            }
            Self::Vsftpd => {
                let (_, quoted) = line.split_once("FTP command: Client \"")?.1.split_once("\", \"")?;
                quoted.strip_suffix('"')?.to_owned()
            }
        };
        let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
        let verb = verb.to_ascii_uppercase();
        Some(if verb == "PASS" || argument.is_empty() { verb } else { format!("{verb} {argument}") })
    }
}

/// Percent-encodes everything except letters and digits.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Defines one test for each FTP server: `each_ftp_server! { name, … }` calls `name(server)`.
macro_rules! each_ftp_server {
    ($($test:ident),+ $(,)?) => {
        mod bsdftpd { $(crate::live::ftp_server::each_ftp_server!(@one $test BSDFTPD);)+ }
        mod proftpd { $(crate::live::ftp_server::each_ftp_server!(@one $test PROFTPD);)+ }
        mod pureftpd { $(crate::live::ftp_server::each_ftp_server!(@one $test PUREFTPD);)+ }
        mod vsftpd { $(crate::live::ftp_server::each_ftp_server!(@one $test VSFTPD);)+ }
    };
    (@one $test:ident $server:ident) => {
        #[test]
        #[ignore = "needs the servers of docker/"]
        fn $test() {
            super::$test(crate::live::ftp_server::$server);
        }
    };
}
pub(crate) use each_ftp_server;

mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn log_lines_are_parsed_to_commands() {
        let rows = [
            (Dialect::Bsd, "Nov 21 ftpd[9]: command: cwd a b ", Some("CWD a b ")),
            (Dialect::Bsd, "Nov 21 ftpd[9]: command: PASS me@x", Some("PASS")),
            (Dialect::Bsd, "Nov 21 ftpd[9]: <--- 250 ", None),
            (Dialect::ProFtpd, "Nov 21 proftpd[9]: TYPE I => 200 Type set to I (me@x)", Some("TYPE I")),
            (Dialect::ProFtpd, "Nov 21 proftpd[9]: PASS (hidden) => 230 Ok (me@x)", Some("PASS")),
            (Dialect::ProFtpd, "Nov 21 proftpd[9]: ANON anonymous: Login successful.", None),
            (
                Dialect::PureFtpd,
                "Nov 21 pure-ftpd: (ftp@h) [DEBUG] Command [retr] [a].txt]",
                Some("RETR a].txt"),
            ),
            (Dialect::PureFtpd, "Nov 21 pure-ftpd: (ftp@h) [DEBUG] Command [epsv] []", Some("EPSV")),
            (Dialect::PureFtpd, "Nov 21 pure-ftpd: (?@h) [DEBUG] Command [pass] [<*>]", Some("PASS")),
            (Dialect::PureFtpd, "Nov 21 pure-ftpd: (ftp@h) [DEBUG] 213 13", None),
            (Dialect::Vsftpd, "vsftpd[9]: [ftp] FTP command: Client \"h\", \"CWD q\"d\"", Some("CWD q\"d")),
            (Dialect::Vsftpd, "vsftpd[9]: FTP command: Client \"h\", \"PASS <password>\"", Some("PASS")),
            (Dialect::Vsftpd, "vsftpd[9]: [ftp] FTP response: Client \"h\", \"250 Ok\"", None),
        ];
        for (dialect, line, expected) in rows {
            assert_eq!(dialect.command(line).as_deref(), expected, "{dialect:?}: {line}");
        }
    }

    #[test]
    fn session_returns_the_lines_of_the_latest_complete_session() {
        let log = "1.7 a x\n1.8 b y\n1.7 c\n1.70 b x\n1.8 end\n1.7 end\n1.70 d\n";
        assert_eq!(session(log, "c"), Some(vec!["a x", "c", "end"]));
        assert_eq!(session(log, "y"), Some(vec!["b y", "end"]));
        assert_eq!(session(log, "x"), None, "the latest one, and it is not over");
        assert_eq!(session(log, "z"), None);
    }

    fn logged_session_is_found_by_its_marker(server: FtpServer) {
        let key = super::super::work_dir::key();
        let watch = server.watch();
        let size = format!("SIZE {key}");
        let sent = ["USER anonymous", "PASS me@example.org", "cwd pub", "CWD a", "TYPE I", &size, "QUIT"];
        talk(server, &sent);
        let received = ["USER anonymous", "PASS", "CWD pub", "CWD a", "TYPE I", &size, "QUIT"];
        assert_eq!(watch.commands_for(&key), received);
        assert_eq!(server.commands_for(&key), received);
    }

    /// Sends each command after the reply to the previous one.
    fn talk(server: FtpServer, commands: &[&str]) {
        let stream = TcpStream::connect(server.authority()).expect("the server listens");
        let mut replies = BufReader::new(stream.try_clone().expect("a second handle")).lines();
        let is_last =
            |line: &String| line.as_bytes().get(3) == Some(&b' ') && line.as_bytes()[0].is_ascii_digit();
        let mut reply = || replies.by_ref().map(|line| line.expect("a line")).find(is_last).expect("a reply");
        reply();
        for command in commands {
            (&stream).write_all(format!("{command}\r\n").as_bytes()).expect("the server reads");
            reply();
        }
    }

    each_ftp_server![logged_session_is_found_by_its_marker];
}
