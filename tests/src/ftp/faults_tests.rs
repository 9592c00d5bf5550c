//! Every FTP fault in plaintext, played once to a naive client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::*;
use crate::fault::case::check_in_parallel;
use crate::{FTP_FAULTS, FaultResult};

fn fixture() -> FaultFixture {
    FaultFixture { stall: Duration::from_millis(1), ..FtpServer::fixture() }
}

/// A client that sends one command at a time and ignores reply codes.
struct NaiveClient {
    control: BufReader<TcpStream>,
    host: String,
}

impl NaiveClient {
    fn new(server: &FtpServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let host = server.addr().ip().to_string();
        Self { control: BufReader::new(stream), host }
    }

    /// Reads one reply, at most 3000 bytes of it. Returns an empty string if the server sends no reply.
    fn reply(&mut self) -> String {
        let mut reply = Vec::new();
        loop {
            let start = reply.len();
            let line = (&mut self.control).take(3000).read_until(b'\n', &mut reply);
            let is_last = reply.get(start + 3) == Some(&b' ') && reply[start] != b' ';
            if line.unwrap_or(0) == 0 || is_last || reply.len() >= 3000 {
                return String::from_utf8_lossy(&reply).into_owned();
            }
        }
    }

    fn ask(&mut self, line: &str) -> String {
        let sent = self.control.get_mut().write_all(format!("{line}\r\n").as_bytes());
        if sent.is_ok() { self.reply() } else { String::new() }
    }

    /// Opens a data connection by EPSV, or by PASV if that fails.
    fn open_data(&mut self) -> Option<TcpStream> {
        let epsv = self.ask("EPSV");
        let delimiter = if epsv.contains('!') { '!' } else { '|' };
        let port = epsv.split(delimiter).nth(3).and_then(|port| port.parse().ok());
        let port = port.filter(|port| *port > 1023 && *port != 6667);
        port.and_then(|port: u16| self.connect(port)).or_else(|| {
            let pasv = self.ask("PASV");
            let numbers = pasv.get(4..)?.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
            let numbers: Vec<u16> = numbers.filter_map(|number| number.parse().ok()).collect();
            let [_, _, _, _, high, low] = numbers[..] else { return None };
            self.connect(high.checked_mul(256)? + low)
        })
    }

    fn connect(&self, port: u16) -> Option<TcpStream> {
        let data = TcpStream::connect((self.host.as_str(), port)).ok()?;
        data.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
        Some(data)
    }

    /// Retrieves the file. Returns the data and all replies.
    fn fetch(&mut self) -> (Vec<u8>, String) {
        let mut replies = self.reply();
        if replies.starts_with("120 ") {
            replies += &self.reply();
        }
        for line in ["USER a", "PASS b", "CWD pub", "TYPE I", "SIZE a.bin", "MDTM a.bin"] {
            replies += &self.ask(line);
        }
        let Some(mut data) = self.open_data() else { return (Vec::new(), replies) };
        replies += &self.ask("RETR a.bin");
        let mut bytes = Vec::new();
        let _ = data.read_to_end(&mut bytes);
        drop(data);
        replies += &self.reply();
        (bytes, replies)
    }
}

fn is_plain(fault: &FtpFault) -> bool {
    fault.transports.contains(&Transport::Plain)
}

#[test]
fn table_is_consistent() {
    crate::fault::case::check_table(FTP_FAULTS, 217, 434);
    for fault in FTP_FAULTS {
        assert!(matches!(fault.result, FaultResult::Exactly(_)), "{}", fault.name);
    }
}

/// Plays one fault and compares the data with the row.
fn check_fault(fault: &FtpFault, cert: &ServerCert) -> std::result::Result<(), String> {
    let fixture = fixture();
    let (server, _) = fault.serve(Transport::Plain, &fixture, cert).unwrap();
    let (bytes, replies) = NaiveClient::new(&server).fetch();
    let is_silent = ["stall_greeting", "greeting_close", "greeting_reset"].contains(&fault.name);
    let is_prefix = !bytes.is_empty() && fixture.content.starts_with(&bytes);
    // With these rows, a naive client assigns replies to the wrong commands.
    let is_odd = ["one_at_a_time", "cwd_other_code_inside", "greeting_look_alikes"].contains(&fault.name);
    let FaultResult::Exactly(stored) = fault.result else { panic!("{}", fault.name) };
    let is_complete = fault.exit != 0 || is_odd || bytes == stored(&fixture);
    if replies.is_empty() == is_silent && (!fault.keeps_part || is_prefix) && is_complete {
        return Ok(());
    }
    Err(format!("{}: {} bytes, {replies}", fault.name, bytes.len()))
}

#[test]
fn kept_part_is_a_prefix_and_success_is_complete() {
    let cert = ServerCert::good().unwrap();
    let plain: Vec<_> = FTP_FAULTS.iter().filter(|fault| is_plain(fault)).collect();
    assert!(plain.len() > 100, "{}", plain.len());
    check_in_parallel(&plain, 16, |fault| check_fault(fault, &cert));
}

#[test]
fn server_without_rules_is_correct() {
    let (fixture, cert) = (fixture(), ServerCert::good().unwrap());
    for fault in FTP_FAULTS.iter().filter(|fault| fault.keeps_part && is_plain(fault)) {
        let (server, _) = fault.serve(Transport::Plain, &fixture, &cert).unwrap();
        server.disable_rules();
        let (bytes, replies) = NaiveClient::new(&server).fetch();
        assert_eq!(bytes, fixture.content, "{}: {replies}", fault.name);
    }
}
