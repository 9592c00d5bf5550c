//! Every news fault, played once over each of its transports to a naive client.

use std::io::{BufRead, BufReader, Read, Write};
use std::mem::take;
use std::net::TcpStream;
use std::time::Duration;

use super::*;
use crate::cert::client;
use crate::fault::case::{check_in_parallel, check_table};
use crate::{FaultCert, FaultResult};

fn fixture() -> FaultFixture {
    FaultFixture { stall: Duration::from_millis(1), ..NntpServer::fixture() }
}

trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A client that sends one command at a time and ignores reply codes.
struct NaiveClient {
    stream: BufReader<Box<dyn Stream>>,
    /// The bytes that the server sent before TLS.
    plaintext: Vec<u8>,
}

impl NaiveClient {
    fn new(server: &NntpServer) -> Self {
        Self { stream: BufReader::new(Box::new(connected(server))), plaintext: Vec::new() }
    }

    fn over(transport: Transport, server: &NntpServer, cert: &ServerCert) -> Self {
        let mut socket = connected(server);
        let mut plaintext = Vec::new();
        if transport == Transport::StartTls {
            plaintext = read_line(&mut socket);
            let _ = socket.write_all(b"STARTTLS\r\n");
            plaintext.extend(read_line(&mut socket));
        }
        let is_tls = transport == Transport::Tls || plaintext.windows(5).any(|window| window == b"\n382 ");
        let stream: Box<dyn Stream> = if is_tls { Box::new(client(cert, socket)) } else { Box::new(socket) };
        Self { stream: BufReader::new(stream), plaintext }
    }

    /// Reads a line, at most 3000 bytes of it.
    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        let _ = (&mut self.stream).take(3000).read_until(b'\n', &mut line);
        line
    }

    fn ask(&mut self, line: &str) -> Vec<u8> {
        let stream = self.stream.get_mut();
        let sent = stream.write_all(format!("{line}\r\n").as_bytes()).and_then(|()| stream.flush());
        if sent.is_ok() { self.line() } else { Vec::new() }
    }

    /// Logs in with the user and the password of the row's options, if there are any.
    fn log_in(&mut self, options: &[&str]) -> Vec<u8> {
        let login = options.iter().position(|word| *word == "-u").map(|at| options[at + 1]);
        let Some((name, password)) = login.and_then(|login| login.split_once(':')) else { return Vec::new() };
        [self.ask(&format!("AUTHINFO USER {name}")), self.ask(&format!("AUTHINFO PASS {password}"))].concat()
    }

    /// Reads a data block and undoes its dot-stuffing. The second value is `true` if the terminating dot was
    /// received.
    fn block(&mut self) -> (Vec<u8>, bool) {
        let mut block = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                let more = self.stream.read_until(b'\n', &mut line);
                if more.unwrap_or(0) == 0 || block.len() + line.len() > 9_000_000 {
                    block.extend(line);
                    return (block, false);
                }
            }
            match line.as_slice() {
                b".\r\n" => return (block, true),
                [b'.', b'.', ..] => block.extend_from_slice(&line[1..]),
                line => block.extend_from_slice(line),
            }
        }
    }

    /// Fetches the object of a path. Returns its content, whether it is complete, and all other replies.
    fn fetch(&mut self, path: &str, options: &[&str]) -> (Vec<u8>, bool, Vec<u8>) {
        let greeting = if self.plaintext.is_empty() { self.line() } else { take(&mut self.plaintext) };
        let mut replies = [greeting, self.ask("MODE READER"), self.log_in(options)].concat();
        let lines: Vec<String> = match (path.strip_prefix("news:"), path.split_once('/')) {
            (Some("*"), _) => vec!["LIST ACTIVE".to_owned()],
            (Some(id), _) if id.contains('@') => vec![format!("ARTICLE <{id}>")],
            (Some(group), _) => vec![format!("GROUP {group}"), "OVER 1-".to_owned()],
            (None, Some((group, number))) => {
                let (first, last) = number.split_once('-').unwrap_or((number, number));
                let numbers = first.parse().unwrap()..=last.parse::<u32>().unwrap();
                std::iter::once(format!("GROUP {group}"))
                    .chain(numbers.map(|number| format!("ARTICLE {number}")))
                    .collect()
            }
            (None, None) => vec![format!("GROUP {path}"), "OVER 1-".to_owned()],
        };
        let (mut content, mut is_complete) = (Vec::new(), true);
        for line in &lines {
            let status = self.ask(line);
            let is_block = ["215", "220", "224"].iter().any(|code| status.starts_with(code.as_bytes()));
            replies.extend(status);
            if is_block && !line.starts_with("GROUP") {
                let (block, is_ended) = self.block();
                content.extend(block);
                is_complete &= is_ended;
            }
        }
        (content, is_complete, replies)
    }
}

fn connected(server: &NntpServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    stream
}

/// Reads a line without reading ahead.
fn read_line(stream: &mut TcpStream) -> Vec<u8> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        line.push(byte[0]);
    }
    line
}

#[test]
fn tables_are_consistent() {
    check_table(NntpFault::all(), 394, 1452);
}

/// With these rows, a naive client assigns replies to the wrong commands, is refused, or supports less than the real
/// client.
const ODD: [&str; 11] = [
    "stall_any",
    "mode_reader_400",
    "capabilities_",
    "group_list_by_head",
    "group_list_503",
    "group_list_sn",
    "group_list_xover",
    "group_list_none",
    "group_list_wide",
    "login_plaintext",
    "range_close_after_each",
];

fn is_odd(fault: &NntpFault) -> bool {
    ODD.iter().any(|start| fault.name.starts_with(start))
}

/// Only clients that pipeline notice these faults.
fn is_about_pipelining(fault: &NntpFault) -> bool {
    fault.name.ends_with("reversed")
}

fn is_slow(fault: &NntpFault) -> bool {
    fault.arguments.contains(&"-m")
}

/// Returns the rows that run over this transport with a valid certificate.
fn rows_over(transport: Transport) -> Vec<&'static NntpFault> {
    let is_good = |fault: &NntpFault| fault.cert == FaultCert::Good && fault.transports.contains(&transport);
    NntpFault::all().filter(|fault| is_good(fault)).collect()
}

/// Plays one fault in plaintext and compares the content with the row.
fn check_plain(fault: &NntpFault, cert: &ServerCert) -> std::result::Result<(), String> {
    let fixture = fixture();
    let (server, _) = fault.serve(Transport::Plain, &fixture, cert).unwrap();
    let (content, is_complete, replies) = NaiveClient::new(&server).fetch(fault.path, fault.arguments);
    let is_silent = ["stall_greeting", "greeting_close", "greeting_reset"].contains(&fault.name);
    let is_cut =
        fault.exit == 18 && fault.other_exits.is_empty() || fault.exit == 28 && fault.name.contains("dot");
    let is_expected = match fault.result {
        _ if fault.exit != 0 || is_odd(fault) => true,
        FaultResult::Exactly(expected) => is_complete && content == expected(&fixture),
        FaultResult::Contains(words) => {
            let text = String::from_utf8_lossy(&content);
            is_complete && words.iter().all(|word| text.contains(word))
        }
    };
    if replies.is_empty() == is_silent && !(is_cut && is_complete) && is_expected {
        return Ok(());
    }
    let start = content[..content.len().min(100)].escape_ascii();
    Err(format!("{}: {} bytes, {start}; {}", fault.name, content.len(), replies.escape_ascii()))
}

#[test]
fn success_is_complete_and_cut_is_not() {
    let cert = ServerCert::good().unwrap();
    let mut plain = rows_over(Transport::Plain);
    plain.retain(|fault| !is_slow(fault));
    assert!(plain.len() > 250, "{}", plain.len());
    check_in_parallel(&plain, 16, |fault| check_plain(fault, &cert));
}

/// Plays the faults over a transport with TLS and compares what a client receives with a correct server.
fn check_encrypted(transport: Transport) {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let fault = NntpFault::all().find(|fault| fault.name == "correct").unwrap();
    let (server, _) = fault.serve(transport, &fixture, &cert).unwrap();
    let correct = NaiveClient::over(transport, &server, &cert).fetch("fetch.test/1", &[]);
    assert!(correct.1 && correct.0 == fixture.content, "{}", correct.2.escape_ascii());
    let mut faults = rows_over(transport);
    faults.retain(|fault| !is_slow(fault));
    check_in_parallel(&faults, 16, |fault| {
        let (server, _) = fault.serve(transport, &fixture, &cert).unwrap();
        let fetched = NaiveClient::over(transport, &server, &cert).fetch(fault.path, fault.arguments);
        let (content, is_complete, replies) = &fetched;
        let is_cut = fault.exit == 18 && fault.other_exits.is_empty();
        let is_expected = match fault.result {
            FaultResult::Exactly(expected) if fault.exit == 0 && !is_odd(fault) => {
                *is_complete && *content == expected(&fixture)
            }
            FaultResult::Exactly(_)
                if fault.arguments.is_empty() && !is_about_pipelining(fault) && !is_odd(fault) =>
            {
                fetched != correct
            }
            _ => true,
        };
        if !(is_cut && *is_complete) && is_expected {
            return Ok(());
        }
        Err(format!("{} {transport:?}: {} bytes; {}", fault.name, content.len(), replies.escape_ascii()))
    });
}

#[test]
fn faults_are_played_under_tls() {
    check_encrypted(Transport::Tls);
}

#[test]
fn faults_are_played_after_starttls() {
    check_encrypted(Transport::StartTls);
}

#[test]
fn faulty_server_differs_from_correct_server() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let fetch_correct = |path: &'static str| {
        let server = NntpServer::start(crate::nntp::fault_configs::correct(&fixture)).unwrap();
        (path, NaiveClient::new(&server).fetch(path, &[]))
    };
    let paths = ["fetch.test/1", "fetch.test/1-3", "fetch.test", "news:plain@test.invalid", "news:*"];
    let correct: Vec<_> = paths.map(fetch_correct).into();
    let is_fit = |fault: &NntpFault| {
        let is_faulty = fault.exit != 0 && !is_about_pipelining(fault);
        is_faulty && fault.arguments.is_empty() && paths.contains(&fault.path)
    };
    let mut faults = rows_over(Transport::Plain);
    faults.retain(|fault| is_fit(fault));
    assert!(faults.len() > 180, "{}", faults.len());
    check_in_parallel(&faults, 16, |fault| {
        let (server, _) = fault.serve(Transport::Plain, &fixture, &cert).unwrap();
        let fetched = NaiveClient::new(&server).fetch(fault.path, fault.arguments);
        let is_correct = correct.iter().any(|(path, expected)| *path == fault.path && fetched == *expected);
        if is_correct { Err(fault.name.to_owned()) } else { Ok(()) }
    });
}

#[test]
fn server_without_rules_is_correct() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let cut = rows_over(Transport::Plain).into_iter();
    for fault in cut.filter(|fault| fault.exit == 18 && fault.path == "fetch.test/1") {
        let (server, _) = fault.serve(Transport::Plain, &fixture, &cert).unwrap();
        server.disable_rules();
        let (content, is_complete, replies) = NaiveClient::new(&server).fetch(fault.path, fault.arguments);
        assert!(is_complete && content == fixture.content, "{}: {}", fault.name, replies.escape_ascii());
    }
}

#[test]
fn arguments_name_the_server_and_require_starttls() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    for fault in NntpFault::all() {
        let transport = fault.transports[0];
        let (server, _) = fault.serve(transport, &fixture, &cert).unwrap();
        let (url, words) = (fault.url(&server), server.client_arguments(transport, fault.path));
        let is_news = fault.path.starts_with("news:");
        let start = match (is_news, transport == Transport::Tls) {
            (true, true) => "snews:",
            (true, false) => "news:",
            (false, true) => "nntps://127.0.0.1:",
            (false, false) => "nntp://127.0.0.1:",
        };
        assert!(url.starts_with(start), "{url}");
        assert_eq!(words.iter().any(|word| word == "--news-server"), is_news, "{}", fault.name);
        let is_required = words.iter().any(|word| word == "--ssl-reqd");
        assert_eq!(is_required, transport == Transport::StartTls, "{}", fault.name);
    }
}

#[test]
fn login_in_plaintext_is_found_unless_allowed() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    let fault = |name: &str| NntpFault::all().find(|fault| fault.name == name).unwrap();
    for (name, lines) in [("login_plaintext", 1), ("login_plaintext_allowed", 0)] {
        let (server, _) = fault(name).serve(Transport::Plain, &fixture, &cert).unwrap();
        let mut client = NaiveClient::new(&server);
        client.line();
        assert!(client.ask("AUTHINFO USER alice").starts_with(b"381 "));
        client.ask("GROUP fetch.test");
        assert_eq!(fault(name).plaintext_logins(&server).len(), lines, "{name}");
    }
}
