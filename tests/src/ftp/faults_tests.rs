//! Every FTP fault in clear, played once to a client that believes everything.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::*;
use crate::FTP_FAULTS;

fn setting() -> FtpFaultSetting {
    FtpFaultSetting { stall: Duration::from_millis(1), ..FtpFaultSetting::default() }
}

/// A client that asks one thing at a time and draws no conclusions.
struct Naive {
    control: BufReader<TcpStream>,
    host: String,
}

impl Naive {
    fn new(server: &FtpServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let host = server.addr().ip().to_string();
        Self { control: BufReader::new(stream), host }
    }

    /// Some reply, or nothing: no more than 3000 octets of it.
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

    fn data(&mut self) -> Option<TcpStream> {
        let epsv = self.ask("EPSV");
        let other = epsv.contains('!');
        let port = epsv.split(if other { '!' } else { '|' }).nth(3).and_then(|port| port.parse().ok());
        let made = port.filter(|port| *port > 1023 && *port != 6667).and_then(|port: u16| self.to(port));
        made.or_else(|| {
            let pasv = self.ask("PASV");
            let numbers = pasv.get(4..)?.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
            let numbers: Vec<u16> = numbers.filter_map(|number| number.parse().ok()).collect();
            let [_, _, _, _, high, low] = numbers[..] else { return None };
            self.to(high.checked_mul(256)? + low)
        })
    }

    fn to(&self, port: u16) -> Option<TcpStream> {
        let data = TcpStream::connect((self.host.as_str(), port)).ok()?;
        data.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
        Some(data)
    }

    /// What the data connection carried, and everything that was said.
    fn fetch(&mut self) -> (Vec<u8>, String) {
        let mut said = self.reply();
        if said.starts_with("120 ") {
            said += &self.reply();
        }
        for line in ["USER a", "PASS b", "CWD pub", "TYPE I", "SIZE a.bin", "MDTM a.bin"] {
            said += &self.ask(line);
        }
        let Some(mut data) = self.data() else { return (Vec::new(), said) };
        said += &self.ask("RETR a.bin");
        let mut octets = Vec::new();
        let _ = data.read_to_end(&mut octets);
        drop(data);
        said += &self.reply();
        (octets, said)
    }
}

#[test]
fn every_fault_has_a_name_of_its_own() {
    let names: HashSet<_> = FTP_FAULTS.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), FTP_FAULTS.len());
    assert!(names.len() >= 150, "{}", names.len());
    for fault in FTP_FAULTS {
        assert!(fault.accepts(fault.expect) && !(fault.keeps_part && fault.expect == 0), "{}", fault.name);
        let is_good = fault.cert == FtpFaultCert::Good;
        assert!(is_good || fault.transport != FtpTransport::Plain, "{}", fault.name);
    }
}

/// Plays one fault and holds what came against what the table promises.
fn is_played(fault: &FtpFault, cert: &ServerCert) {
    let setting = setting();
    let (server, _) = fault.serve(&setting, cert).unwrap();
    let (octets, said) = Naive::new(&server).fetch();
    let told = || format!("{}: {} octets, {said}", fault.name, octets.len());
    let silent = ["stall_greeting", "greeting_close", "greeting_reset"].contains(&fault.name);
    assert_eq!(said.is_empty(), silent, "{}", told());
    if fault.keeps_part {
        assert!(!octets.is_empty() && setting.content.starts_with(&octets), "{}", told());
    }
    // With these a naive client gets out of step.
    let odd = ["one_at_a_time", "cwd_other_code_inside", "greeting_look_alikes"].contains(&fault.name);
    if fault.expect == 0 && !odd {
        assert_eq!(octets, setting.content, "{}", told());
    }
}

#[test]
fn a_kept_part_is_a_true_prefix_and_a_success_is_whole() {
    let cert = ServerCert::good().unwrap();
    let plain: Vec<_> = FTP_FAULTS.iter().filter(|fault| fault.transport == FtpTransport::Plain).collect();
    assert!(plain.len() > 100, "{}", plain.len());
    std::thread::scope(|scope| {
        for part in plain.chunks(plain.len().div_ceil(16)) {
            scope.spawn(|| part.iter().for_each(|fault| is_played(fault, &cert)));
        }
    });
}

#[test]
fn a_mended_server_is_honest() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    for fault in FTP_FAULTS.iter().filter(|fault| fault.keeps_part && fault.transport == FtpTransport::Plain)
    {
        let (server, _) = fault.serve(&setting, &cert).unwrap();
        server.mend();
        let (octets, said) = Naive::new(&server).fetch();
        assert_eq!(octets, setting.content, "{}: {said}", fault.name);
    }
}

#[test]
fn certificates_are_as_wrong_as_they_are_called() {
    let (setting, cert) = (setting(), ServerCert::good().unwrap());
    for fault in FTP_FAULTS.iter().filter(|fault| fault.cert != FtpFaultCert::Good) {
        let (server, ca) = fault.serve(&setting, &cert).unwrap();
        let shown_is_trusted = ca == cert.ca_pem();
        let own_ca =
            matches!(fault.cert, FtpFaultCert::Expired | FtpFaultCert::NotYetValid | FtpFaultCert::WrongName);
        assert_eq!(shown_is_trusted, !own_ca, "{}", fault.name);
        let scheme = if fault.transport == FtpTransport::Implicit { "ftps://" } else { "ftp://" };
        assert!(fault.url(&server).starts_with(scheme) && fault.url(&server).ends_with(fault.path));
    }
}
