//! Every fault of a news server, played once over each of its transports to a client that believes everything.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::mem::take;
use std::net::TcpStream;

use super::*;
use crate::cert::client;

fn setting() -> NntpFaultSetting {
    NntpFaultSetting { stall: Duration::from_millis(1), ..NntpFaultSetting::default() }
}

trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A client that asks one thing at a time and draws no conclusions.
struct Naive {
    stream: BufReader<Box<dyn Stream>>,
    /// What was said before TLS.
    before: Vec<u8>,
}

impl Naive {
    fn new(server: &NntpServer) -> Self {
        Self { stream: BufReader::new(Box::new(connected(server))), before: Vec::new() }
    }

    fn over(transport: NntpTransport, server: &NntpServer, cert: &ServerCert) -> Self {
        let mut clear = connected(server);
        let mut before = Vec::new();
        if transport == NntpTransport::Starttls {
            before = line_of(&mut clear);
            let _ = clear.write_all(b"STARTTLS\r\n");
            before.extend(line_of(&mut clear));
        }
        let is_secured =
            transport == NntpTransport::Tls || before.windows(5).any(|window| window == b"\n382 ");
        let stream: Box<dyn Stream> =
            if is_secured { Box::new(client(cert, clear)) } else { Box::new(clear) };
        Self { stream: BufReader::new(stream), before }
    }

    /// A line with its end, if it has one; no more than 3000 octets of it.
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

    /// Logs in with the name and the password of the options, if there are any.
    fn log_in(&mut self, options: &[&str]) -> Vec<u8> {
        let login = options.iter().position(|word| *word == "-u").map(|at| options[at + 1]);
        let Some((name, password)) = login.and_then(|login| login.split_once(':')) else { return Vec::new() };
        [self.ask(&format!("AUTHINFO USER {name}")), self.ask(&format!("AUTHINFO PASS {password}"))].concat()
    }

    /// What follows up to the final dot, not stuffed any more, and whether that came.
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

    /// What the URL stands for, whether it is whole, and everything else that was said.
    fn fetch(&mut self, path: &str, options: &[&str]) -> (Vec<u8>, bool, Vec<u8>) {
        let greeting = if self.before.is_empty() { self.line() } else { take(&mut self.before) };
        let mut said = [greeting, self.ask("MODE READER"), self.log_in(options)].concat();
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
        let (mut content, mut is_whole) = (Vec::new(), true);
        for line in &lines {
            let status = self.ask(line);
            let is_block = ["215", "220", "224"].iter().any(|code| status.starts_with(code.as_bytes()));
            said.extend(status);
            if is_block && !line.starts_with("GROUP") {
                let (block, is_ended) = self.block();
                content.extend(block);
                is_whole &= is_ended;
            }
        }
        (content, is_whole, said)
    }
}

fn connected(server: &NntpServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    stream
}

/// A line, and nothing of what follows it.
fn line_of(stream: &mut TcpStream) -> Vec<u8> {
    let mut line = Vec::new();
    let mut octet = [0];
    while !line.ends_with(b"\n") && stream.read(&mut octet).unwrap_or(0) == 1 {
        line.push(octet[0]);
    }
    line
}

#[test]
fn every_fault_has_a_name_of_its_own() {
    let names: HashSet<_> = NntpFault::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), NntpFault::all().count());
    assert!(names.len() >= 300, "{}", names.len());
    for fault in NntpFault::all() {
        assert!(fault.accepts(fault.expect) && !fault.transports.is_empty(), "{}", fault.name);
        let is_clear = fault.transports.contains(&NntpTransport::Plain);
        assert!(fault.cert == NntpFaultCert::Good || !is_clear, "{}", fault.name);
        assert!(!fault.also.contains(&fault.expect), "{}", fault.name);
    }
}

/// With these a naive client gets out of step, or is refused, or knows less than a real one.
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
    "login_in_clear",
    "range_close_after_each",
];

/// Plays one fault and holds what came against what the table promises.
fn is_played(fault: &NntpFault, cert: &ServerCert) {
    let setting = setting();
    let (server, _) = fault.serve(NntpTransport::Plain, &setting, cert).unwrap();
    let (content, is_whole, said) = Naive::new(&server).fetch(fault.path, fault.options);
    let clipped = content[..content.len().min(100)].escape_ascii();
    let told = format!("{}: {} octets, {clipped}; {}", fault.name, content.len(), said.escape_ascii());
    let is_silent = ["stall_greeting", "greeting_close", "greeting_reset"].contains(&fault.name);
    assert_eq!(said.is_empty(), is_silent, "{told}");
    let is_odd = ODD.iter().any(|start| fault.name.starts_with(start));
    let is_cut =
        fault.expect == 18 && fault.also.is_empty() || fault.expect == 28 && fault.name.contains("dot");
    assert!(!is_cut || !is_whole, "{told}");
    if fault.expect != 0 || is_odd {
        return;
    }
    assert!(is_whole, "{told}");
    match fault.result {
        NntpResult::Is(expected) => assert!(content == expected(&setting), "{told}"),
        NntpResult::Shows(words) => {
            let text = String::from_utf8_lossy(&content);
            assert!(words.iter().all(|word| text.contains(word)), "{told}");
        }
    }
}

#[test]
fn a_success_is_whole_and_a_cut_is_none() {
    let cert = ServerCert::good().unwrap();
    let is_slow = |fault: &NntpFault| fault.options.contains(&"-m");
    let plain: Vec<_> = NntpFault::all()
        .filter(|fault| fault.transports.contains(&NntpTransport::Plain) && !is_slow(fault))
        .collect();
    assert!(plain.len() > 250, "{}", plain.len());
    in_threads(&plain, |fault| is_played(fault, &cert));
}

/// Runs `check` for all of them, on several threads.
fn in_threads(faults: &[&NntpFault], check: impl Fn(&NntpFault) + Sync) {
    std::thread::scope(|scope| {
        for part in faults.chunks(faults.len().div_ceil(16)) {
            scope.spawn(|| part.iter().for_each(|fault| check(fault)));
        }
    });
}

/// Under TLS, where the one with a login tells it.
fn is_played_in(transport: NntpTransport) {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    let fault = NntpFault::all().find(|fault| fault.name == "honest").unwrap();
    let (server, _) = fault.serve(transport, &setting, &cert).unwrap();
    let honest = Naive::over(transport, &server, &cert).fetch("fetch.test/1", &[]);
    assert!(honest.1 && honest.0 == setting.article, "{}", honest.2.escape_ascii());
    let is_fit = |fault: &NntpFault| {
        let is_good = fault.cert == NntpFaultCert::Good && !fault.options.contains(&"-m");
        is_good && fault.transports.contains(&transport)
    };
    let faults: Vec<_> = NntpFault::all().filter(|fault| is_fit(fault)).collect();
    in_threads(&faults, |fault| {
        let (server, _) = fault.serve(transport, &setting, &cert).unwrap();
        let played = Naive::over(transport, &server, &cert).fetch(fault.path, fault.options);
        let (content, is_whole, said) = &played;
        let told = format!("{} {transport:?}: {} octets; {}", fault.name, content.len(), said.escape_ascii());
        let is_cut = fault.expect == 18 && fault.also.is_empty();
        assert!(!is_cut || !is_whole, "{told}");
        let NntpResult::Is(expected) = fault.result else { return };
        let is_odd = ODD.iter().any(|start| fault.name.starts_with(start));
        if fault.expect == 0 && !is_odd {
            assert!(*is_whole && *content == expected(&setting), "{told}");
        } else if fault.options.is_empty() && !is_of_order(fault) && !is_odd {
            assert!(played != honest, "{told}");
        }
    });
}

#[test]
fn faults_are_played_under_tls() {
    is_played_in(NntpTransport::Tls);
}

#[test]
fn faults_are_played_after_starttls() {
    is_played_in(NntpTransport::Starttls);
}

/// Faults that only a client that asks several things at a time meets.
fn is_of_order(fault: &NntpFault) -> bool {
    fault.name.ends_with("reversed")
}

#[test]
fn a_fault_is_there() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    let path = |path: &'static str| {
        let server = NntpServer::start(crate::nntp::fault_sites::honest(&setting)).unwrap();
        (path, Naive::new(&server).fetch(path, &[]))
    };
    let paths = ["fetch.test/1", "fetch.test/1-3", "fetch.test", "news:plain@test.invalid", "news:*"];
    let honest: Vec<_> = paths.map(path).into();
    let plain = NntpFault::all().filter(|fault| fault.transports.contains(&NntpTransport::Plain));
    let bad = plain.filter(|fault| fault.expect != 0 && fault.options.is_empty() && !is_of_order(fault));
    let known: Vec<_> = bad.filter(|fault| paths.contains(&fault.path)).collect();
    assert!(known.len() > 180, "{}", known.len());
    in_threads(&known, |fault| {
        let (server, _) = fault.serve(NntpTransport::Plain, &setting, &cert).unwrap();
        let played = Naive::new(&server).fetch(fault.path, fault.options);
        assert!(
            honest.iter().all(|(path, expected)| *path != fault.path || played != *expected),
            "{}",
            fault.name
        );
    });
}

#[test]
fn a_mended_server_is_honest() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    let cut = NntpFault::all().filter(|fault| fault.expect == 18 && fault.path == "fetch.test/1");
    for fault in cut.filter(|fault| fault.transports.contains(&NntpTransport::Plain)) {
        let (server, _) = fault.serve(NntpTransport::Plain, &setting, &cert).unwrap();
        server.mend();
        let (content, is_whole, said) = Naive::new(&server).fetch(fault.path, fault.options);
        assert!(is_whole && content == setting.article, "{}: {}", fault.name, said.escape_ascii());
    }
}

#[test]
fn options_say_what_the_fault_needs() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    for fault in NntpFault::all() {
        let (server, ca) = fault.serve(fault.transports[0], &setting, &cert).unwrap();
        let is_foreign = matches!(fault.cert, NntpFaultCert::Expired | NntpFaultCert::WrongName);
        assert_eq!(ca != cert.ca_pem(), is_foreign, "{}", fault.name);
        let (url, words) = (fault.url(&server), fault.arguments(fault.transports[0], &server));
        let is_news = fault.path.starts_with("news:");
        let is_tls = fault.transports[0] == NntpTransport::Tls;
        let start = match (is_news, is_tls) {
            (true, true) => "snews:",
            (true, false) => "news:",
            (false, true) => "nntps://127.0.0.1:",
            (false, false) => "nntp://127.0.0.1:",
        };
        assert!(url.starts_with(start), "{url}");
        assert_eq!(words.iter().any(|word| word == "--news-server"), is_news, "{}", fault.name);
        let insists = words.iter().any(|word| word == "--ssl-reqd");
        assert_eq!(insists, fault.transports[0] == NntpTransport::Starttls, "{}", fault.name);
    }
}

#[test]
fn logins_in_clear_are_noticed() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    let fault = |name: &str| NntpFault::all().find(|fault| fault.name == name).unwrap();
    for (name, lines) in [("login_in_clear", 1), ("login_in_clear_insisted", 0)] {
        let (server, _) = fault(name).serve(NntpTransport::Plain, &setting, &cert).unwrap();
        let mut client = Naive::new(&server);
        client.line();
        assert!(client.ask("AUTHINFO USER alice").starts_with(b"381 "));
        client.ask("GROUP fetch.test");
        assert_eq!(fault(name).secrets_in_clear(&server).len(), lines, "{name}");
    }
}
