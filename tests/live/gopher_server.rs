//! The two gopher servers: their ports, raw requests, and the requests that they logged.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/log");

/// The interval and the number of attempts to find a request in a log.
const PAUSE: Duration = Duration::from_millis(20);
const LOOKS: u32 = 100;

/// The time limit of a raw request.
const ANSWER: Duration = Duration::from_secs(15);

/// A gopher server of `docker/`.
#[derive(Clone, Copy)]
pub(crate) struct GopherServer {
    pub(crate) name: &'static str,
    port: u16,
    tls_port: u16,
    /// The server supports Gopher+.
    pub(crate) is_plus: bool,
}

pub(crate) const GOPHERNICUS: GopherServer =
    GopherServer { name: "gophernicus", port: 17070, tls_port: 17170, is_plus: false };
pub(crate) const PYGOPHERD: GopherServer =
    GopherServer { name: "pygopherd", port: 17071, tls_port: 17071, is_plus: true };

impl GopherServer {
    /// Returns the `gopher:` URL of a path: empty, or `/`, an item type and a selector.
    pub(crate) fn url(self, path: &str) -> String {
        format!("gopher://{}{path}", self.authority())
    }

    /// Returns the `gophers:` URL, with the host name of the certificate.
    pub(crate) fn tls_url(self, path: &str) -> String {
        format!("gophers://localhost:{}{path}", self.tls_port)
    }

    pub(crate) fn authority(self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(self) -> u16 {
        self.port
    }

    /// Returns the complete response to a raw request line.
    pub(crate) fn answer(self, line: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.authority()).expect("the server listens");
        stream.set_read_timeout(Some(ANSWER)).expect("a limit can be set");
        stream.write_all(&[line.as_ref(), b"\r\n"].concat()).expect("the server reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer with an end");
        bytes
    }

    /// Returns a text file as the server sends it: pygopherd unchanged; gophernicus with CR LF, without the text after
    /// a lone CR, and converted from Latin-1.
    pub(crate) fn as_text(self, file: &[u8]) -> Vec<u8> {
        if self.is_plus {
            return file.to_vec();
        }
        let line = |line: &[u8]| {
            let end = line.iter().position(|byte| b"\r\n".contains(byte)).unwrap_or(line.len());
            format!("{}\r\n", line[..end].iter().copied().map(char::from).collect::<String>())
        };
        file.split_inclusive(|&byte| byte == b'\n').map(line).collect::<String>().into_bytes()
    }

    /// Returns a view of the log from now on.
    pub(crate) fn watch(self) -> Watch {
        Watch { server: self, from: self.log().len() }
    }

    fn log(self) -> Vec<u8> {
        let path = format!("{LOGS}/{}.log", self.name);
        fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

/// The log of a server from some point on.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    server: GopherServer,
    from: usize,
}

impl Watch {
    /// Returns the first request line with `marker`. Bytes other than printable ASCII, and backslashes, are written as
    /// `\xNN`. pygopherd puts `TLS` before a line received over TLS.
    #[track_caller]
    pub(crate) fn line(self, marker: &str) -> String {
        self.lines(marker, 1).remove(0)
    }

    /// Returns the first `count` lines with `marker`.
    #[track_caller]
    pub(crate) fn lines(self, marker: &str, count: usize) -> Vec<String> {
        for _ in 0..LOOKS {
            let lines = self.all(marker);
            if lines.len() >= count {
                return lines;
            }
            sleep(PAUSE);
        }
        panic!("{} has not logged {count} times {marker}", self.server.name);
    }

    /// Returns all lines with `marker` that are in the log now.
    pub(crate) fn all(self, marker: &str) -> Vec<String> {
        let log = self.server.log();
        let log = String::from_utf8_lossy(&log[self.from.min(log.len())..]);
        let text = log.lines().filter_map(|line| line.split_once(' ')).map(|(_, text)| text);
        text.filter(|text| text.contains(marker)).map(str::to_owned).collect()
    }
}

/// Defines one test for each gopher server: `each_gopher_server! { name, … }` calls `name(server)`.
macro_rules! each_gopher_server {
    ($($test:ident),+ $(,)?) => {
        mod gophernicus { $(crate::live::gopher_server::each_gopher_server!(@one $test GOPHERNICUS);)+ }
        mod pygopherd { $(crate::live::gopher_server::each_gopher_server!(@one $test PYGOPHERD);)+ }
    };
    (@one $test:ident $server:ident) => {
        #[test]
        #[ignore = "needs the servers of docker/"]
        fn $test() {
            super::$test(crate::live::gopher_server::$server);
        }
    };
}
pub(crate) use each_gopher_server;

mod tests {
    use super::*;
    use crate::live::work_dir::key;

    fn logged_request_is_found_by_its_marker(server: GopherServer) {
        let (key, watch) = (key(), server.watch());
        server.answer(format!("/{key}\ta\\b é"));
        assert_eq!(watch.line(&key), format!("/{key}\\x09a\\x5cb \\xc3\\xa9"));
        assert_eq!(watch.all("no such marker"), [""; 0]);
    }

    #[test]
    fn as_text_converts_files_as_the_server_does() {
        for (file, expected) in [
            (&b""[..], &b""[..]),
            (b"a\nb", b"a\r\nb\r\n"),
            (b"a\r\n\xe9\n", b"a\r\n\xc3\xa9\r\n"),
            (b"a\rb\nc\n", b"a\r\nc\r\n"),
        ] {
            assert_eq!(GOPHERNICUS.as_text(file), expected);
            assert_eq!(PYGOPHERD.as_text(file), file);
        }
    }

    each_gopher_server![logged_request_is_found_by_its_marker];
}
