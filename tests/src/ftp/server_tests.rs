//! The FTP server against plain sockets.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::*;
use crate::{EmptyCwd, Ending, FtpRule, FtpTrigger, pattern_vec};

/// A minimal FTP client.
struct Client<S: Read + Write> {
    stream: BufReader<S>,
}

impl Client<TcpStream> {
    /// Connects and reads the greeting.
    fn connected(server: &FtpServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut client = Self { stream: BufReader::new(stream) };
        assert_eq!(client.reply(), "220 fetch-url test server, executes commands in order like vsFTPd\r\n");
        client
    }

    fn logged_in(server: &FtpServer) -> Self {
        let mut client = Self::connected(server);
        client.log_in();
        client
    }
}

impl<S: Read + Write> Client<S> {
    fn log_in(&mut self) {
        assert!(self.ask("USER a").starts_with("331 "));
        assert!(self.ask("PASS b").starts_with("230 "));
        assert!(self.ask("TYPE I").starts_with("200 "));
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Reads one reply with all its lines; empty at the end of the connection.
    fn reply(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            reply.push_str(&line);
            let is_last = line.as_bytes().get(3) == Some(&b' ') && line[..3].parse::<u16>().is_ok();
            if is_last && line[..3] == reply[..3] || line.is_empty() {
                return reply;
            }
        }
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n").as_bytes());
        self.reply()
    }

    fn data_port(&mut self) -> u16 {
        let reply = self.ask("EPSV");
        reply.split('|').nth(3).unwrap_or_else(|| panic!("{reply}")).parse().unwrap()
    }

    /// Runs a transfer. Returns the data, the error at its end, and both replies.
    fn transfer(&mut self, line: &str) -> (Vec<u8>, Option<ErrorKind>, String) {
        let port = self.data_port();
        let mut data = TcpStream::connect(("127.0.0.1", port)).unwrap();
        data.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        self.send(format!("{line}\r\n").as_bytes());
        let mut bytes = Vec::new();
        let end = data.read_to_end(&mut bytes).err().map(|e| e.kind());
        drop(data);
        let replies = self.reply() + &self.reply();
        (bytes, end, replies)
    }

    fn text(&mut self, line: &str) -> String {
        String::from_utf8(self.transfer(line).0).unwrap()
    }
}

fn test_config() -> FtpConfig {
    FtpConfig::new().file("/a/b.txt", "one\ntwo\n").pattern("/big", 3 << 20).dir("/empty")
}

/// Retrieves `/a/b.txt`. Returns the data, the error at its end, and both replies.
fn retrieve(config: FtpConfig) -> (String, Option<ErrorKind>, String) {
    let server = FtpServer::start(config).unwrap();
    let (bytes, end, replies) = Client::logged_in(&server).transfer("RETR /a/b.txt");
    (String::from_utf8(bytes).unwrap(), end, replies)
}

const PRELIMINARY: &str = "150 Opening data connection (8 bytes).\r\n";

#[test]
fn retr_and_listings_return_the_file() {
    let server = FtpServer::start(test_config().modified("/a/b.txt", "19941201123456")).unwrap();
    let mut client = Client::logged_in(&server);
    assert_eq!(client.ask("PWD"), "257 \"/\" is the current directory\r\n");
    assert_eq!(client.ask("CWD a"), "250 Directory changed.\r\n");
    assert_eq!(client.ask("SIZE b.txt"), "213 8\r\n");
    assert_eq!(client.ask("MDTM b.txt"), "213 19941201123456\r\n");
    let done = format!("{PRELIMINARY}226 Transfer complete.\r\n");
    assert_eq!(client.transfer("RETR b.txt"), (b"one\ntwo\n".to_vec(), None, done));
    assert_eq!(client.ask("REST 4"), "350 Restart position accepted (4).\r\n");
    assert_eq!(client.text("RETR b.txt"), "two\n");
    assert_eq!(client.text("RETR b.txt"), "one\ntwo\n");
    assert_eq!(client.text("NLST"), "b.txt\r\n");
    assert_eq!(client.text("NLST /a"), "/a/b.txt\r\n");
    assert_eq!(client.text("NLST /empty"), "");
    assert!(client.text("LIST").ends_with(" 8 Dec 01  1994 b.txt\r\n"));
    assert!(client.text("MLSD").ends_with("type=file;size=8;modify=19941201123456; b.txt\r\n"));
    let facts = "250-Listing\r\n type=file;size=8;modify=19941201123456; /a/b.txt\r\n250 End\r\n";
    assert_eq!(client.ask("MLST b.txt"), facts);
    client.ask("TYPE A");
    assert_eq!(client.text("RETR b.txt"), "one\r\ntwo\r\n");
    assert!(client.ask("SIZE b.txt").starts_with("550 "));
    assert_eq!(client.ask("QUIT"), "221 Goodbye.\r\n");
    assert_eq!(client.reply(), "");
    assert_eq!((server.connections(), server.data_connections()), (1, 9));
    assert_eq!(server.commands()[0][0], b"USER a");
    assert!(server.url("/a").starts_with("ftp://127.0.0.1:"));
}

#[test]
fn missing_paths_and_unknown_commands_are_refused() {
    let server = FtpServer::start(test_config().without("MDTM").empty_cwd(EmptyCwd::Rejected550)).unwrap();
    let mut client = Client::connected(&server);
    assert!(client.ask("CWD a").starts_with("530 "));
    assert!(client.ask("PASS a").starts_with("503 "));
    assert!(client.ask("AUTH TLS").starts_with("500 "));
    client.log_in();
    for (line, code) in [
        ("CWD x", "550"),
        ("CWD ", "550"),
        ("RETR x", "550"),
        ("RETR a", "550"),
        ("RETR big", "425"),
        ("MDTM big", "500"),
        ("STOR x", "550"),
        ("XYZZY", "500"),
        ("TYPE E", "504"),
        ("EPSV 2", "522"),
        ("PORT 127,0,0,2,20,20", "500"),
        ("PORT 127,0,0,1,0,25", "500"),
        ("PORT 127,0,0,1,0", "501"),
        ("EPRT |1|192.0.2.1|6000|", "500"),
        ("EPRT |1|127.0.0.1|x|", "501"),
        ("EPSV ALL", "200"),
        ("PASV", "550"),
        ("\u{0}", "500"),
    ] {
        let reply = client.ask(line);
        assert_eq!(&reply[..3], code, "{line}: {reply}");
    }
    assert!(!client.ask("FEAT").contains("MDTM") && client.ask("FEAT").contains(" SIZE\r\n"));
}

#[test]
fn active_mode_connects_to_the_client() {
    let server = FtpServer::start(test_config()).unwrap();
    let mut client = Client::logged_in(&server);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for line in [format!("EPRT |1|127.0.0.1|{port}|"), format!("PORT 127,0,0,1,{},{}", port >> 8, port & 255)]
    {
        assert!(client.ask(&line).starts_with("200 "));
        client.send(b"RETR a/b.txt\r\n");
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), client.reply() + &client.reply()), ("one\ntwo\n", done()));
    }
}

fn done() -> String {
    format!("{PRELIMINARY}226 Transfer complete.\r\n")
}

#[test]
fn login_needs_the_configured_credentials() {
    let server =
        FtpServer::start(test_config().anonymous().user("me", "secret").account("x").login_directory("/a"))
            .unwrap();
    let mut client = Client::connected(&server);
    for (line, code) in [
        ("USER me", "331"),
        ("PASS wrong", "530"),
        ("USER me", "331"),
        ("PASS secret", "332"),
        ("ACCT y", "530"),
        ("USER anonymous", "331"),
        ("PASS a@b", "332"),
        ("PWD", "530"),
        ("ACCT x", "230"),
        ("SIZE b.txt", "550"),
        ("TYPE I", "200"),
        ("SIZE b.txt", "213"),
        ("CDUP", "250"),
        ("CWD ", "250"),
        ("SIZE b.txt", "213"),
    ] {
        assert_eq!(&client.ask(line)[..3], code, "{line}");
    }
    let server = FtpServer::start(test_config().without_passwords()).unwrap();
    assert!(Client::connected(&server).ask("USER me").starts_with("230 "));
}

#[test]
fn byte_ff_in_a_path_is_read_literally_or_as_telnet() {
    for (config, line, code) in [
        (FtpConfig::new(), &b"SIZE \xff\r\n"[..], "213"),
        (FtpConfig::new(), b"SIZE \xff\xff\r\n", "550"),
        (FtpConfig::new().unescapes_telnet(), b"SIZE \xff\xff\r\n", "213"),
        (FtpConfig::new(), b"\xff\xf4\xff\xf2SIZE \xff\r\n", "213"),
    ] {
        let server = FtpServer::start(config.file(b"/\xff", "x")).unwrap();
        let mut client = Client::logged_in(&server);
        client.send(line);
        assert_eq!(&client.reply()[..3], code, "{line:?}");
        assert_eq!(server.commands()[0].last().unwrap(), &line[..line.len() - 2]);
    }
}

#[test]
fn pipelined_commands_are_executed_unless_dropped() {
    let lines = b"USER a\r\nPASS b\r\nCWD a\r\nTYPE I\r\nSIZE b.txt\r\n";
    let server = FtpServer::start(test_config()).unwrap();
    let mut client = Client::connected(&server);
    client.send(lines);
    let codes: Vec<String> = (0..5).map(|_| client.reply()[..3].to_owned()).collect();
    assert_eq!(codes, ["331", "230", "250", "200", "213"]);

    let server = FtpServer::start(test_config().drops_pipelined_commands()).unwrap();
    let mut client = Client::connected(&server);
    client.send(lines);
    assert!(client.reply().starts_with("331 "));
    assert!(client.ask("PASS b").starts_with("230 "));
    assert_eq!(server.received_text(), ["USER a", "PASS b"]);
}

#[test]
fn rules_change_replies() {
    let started = Instant::now();
    let config = test_config()
        .split_replies()
        .delay(Duration::from_millis(5))
        .rule(FtpRule::on("NOOP", FtpAction::Before(b"120-x\r\n".to_vec())).nth(2))
        .rule(FtpRule::on("NOOP", FtpAction::Flood(b"1\r\n".to_vec(), 3)).nth(3))
        .on("NOOP", FtpAction::After(b"200 again\r\n".to_vec()))
        .answer("CWD a", "421 no\r\n")
        .replace_reply(FtpTrigger::Matches(|line| line.ends_with(b"d")), "250 {port}ok\r\n")
        .close_at("QUIT");
    let server = FtpServer::start(config).unwrap();
    let mut client = Client::logged_in(&server);
    client.send(b"NOOP\r\nNOOP\r\nNOOP\r\nCWD a\r\nCWD /empty/../a/../a\r\nPWd\r\nQUIT\r\n");
    let mut received = String::new();
    client.stream.read_to_string(&mut received).unwrap();
    let noop = "200 NOOP ok.\r\n200 again\r\n";
    let rest = "421 no\r\n250 Directory changed.\r\n250 {port}ok\r\n";
    assert_eq!(received, format!("{noop}120-x\r\n{noop}1\r\n1\r\n1\r\n{noop}{rest}"));
    assert!(started.elapsed() > Duration::from_millis(30));
}

#[test]
fn rules_change_the_passive_address() {
    let config = test_config()
        .pasv_address([192, 0, 2, 1])
        .rule(FtpRule::on("EPSV", FtpAction::ReplaceReply(b"229 at {port} {host}\r\n".to_vec())).nth(1))
        .rule(FtpRule::on("EPSV", FtpAction::ClosedPort).nth(2));
    let server = FtpServer::start(config).unwrap();
    let mut client = Client::logged_in(&server);
    assert!(client.ask("PASV").starts_with("227 Entering Passive Mode (192,0,2,1,"));
    assert!(client.ask("EPSV").ends_with(" 127,0,0,1\r\n"));
    let port = client.data_port();
    let refused = TcpStream::connect(("127.0.0.1", port)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(client.ask("RETR big").starts_with("425 "));
    assert_eq!(client.text("RETR a/b.txt"), "one\ntwo\n");
}

#[test]
fn rules_change_how_transfers_end() {
    let reset = Some(ErrorKind::ConnectionReset);
    let aborted = format!("{PRELIMINARY}426 Connection closed; transfer aborted.\r\n");
    let both = |text: &str| format!("{PRELIMINARY}{text}\r\n");
    let row = |bytes: &str, end, replies: &str| (bytes.to_owned(), end, replies.to_owned());
    assert_eq!(retrieve(test_config().close_data_after(3)), row("one", None, &aborted));
    assert_eq!(retrieve(test_config().reset_data_after(3)), row("one", reset, &aborted));
    assert_eq!(retrieve(test_config().reset_data_after(0)), row("", reset, &aborted));
    assert_eq!(
        retrieve(test_config().reset_data_after(8).final_reply("226 x\r\n")),
        row("one\ntwo\n", reset, &both("226 x"))
    );
    assert_eq!(retrieve(test_config().final_reply("451 x\r\n")), row("one\ntwo\n", None, &both("451 x")));
    assert_eq!(retrieve(test_config().final_reply_first()), row("one\ntwo\n", None, &done()));
    assert_eq!(retrieve(test_config().final_after_client_closes()), row("one\ntwo\n", None, &done()));
    assert_eq!(
        retrieve(test_config().on("RETR", FtpAction::EndBeforeFinalReply(Ending::Close))),
        row("one\ntwo\n", None, PRELIMINARY)
    );
    assert_eq!(
        retrieve(test_config().on("RETR", FtpAction::PreliminaryReply(b"125 y\r\n".to_vec()))).2,
        "125 y\r\n226 Transfer complete.\r\n"
    );
    assert_eq!(
        retrieve(test_config().on("RETR", FtpAction::Data(b"xyz".to_vec()))),
        row("xyz", None, &done())
    );
    let more = test_config()
        .on("RETR", FtpAction::AppendData(b"xyz".to_vec()))
        .on("RETR", FtpAction::Drip(2, Duration::ZERO));
    assert_eq!(retrieve(more), row("one\ntwo\nxyz", None, &done()));
}

#[test]
fn control_connection_is_reset_before_final_reply() {
    let server = FtpServer::start(test_config().reset_control_before_final_reply()).unwrap();
    let mut client = Client::logged_in(&server);
    let mut data = TcpStream::connect(("127.0.0.1", client.data_port())).unwrap();
    client.send(b"RETR a/b.txt\r\n");
    let mut received = Vec::new();
    data.read_to_end(&mut received).unwrap();
    assert_eq!((received.len(), client.reply().as_str()), (8, PRELIMINARY));
    let end = client.stream.read(&mut [0]).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn generated_files_and_listings_are_complete() {
    let server = FtpServer::start(test_config().generated_dir("/many", 100_000).ipv6()).unwrap();
    let mut client = Client::logged_in(&server);
    assert!(client.ask("PASV").starts_with("550 "));
    let port = client.data_port();
    let mut data = TcpStream::connect(("::1", port)).unwrap();
    client.send(b"REST 1048570\r\nRETR big\r\nEPSV\r\n");
    let mut received = Vec::new();
    data.read_to_end(&mut received).unwrap();
    assert!(received == pattern_vec(1_048_570, (3 << 20) - 1_048_570));
    assert_eq!(server.bytes_sent(), received.len() as u64);
    let replies: Vec<String> = (0..3).map(|_| client.reply()).collect();
    assert!(replies[2].starts_with("226 "), "{replies:?}");
    let port: u16 = client.reply().split('|').nth(3).unwrap().parse().unwrap();
    let mut data = TcpStream::connect(("::1", port)).unwrap();
    client.send(b"NLST many\r\n");
    let mut text = String::new();
    data.read_to_string(&mut text).unwrap();
    assert!(text.lines().count() == 100_000 && text.ends_with("many/entry-0099999.txt\r\n"));
}

/// Returns a TLS configuration that trusts the certificate's CA and stores sessions.
fn tls_config(cert: &ServerCert) -> Arc<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(cert.ca_pem().as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

fn secured(config: &Arc<ClientConfig>, stream: TcpStream) -> StreamOwned<ClientConnection, TcpStream> {
    let name = ServerName::try_from("127.0.0.1").unwrap();
    StreamOwned::new(ClientConnection::new(Arc::clone(config), name).unwrap(), stream)
}

/// Starts TLS with AUTH and logs in.
fn log_in_after_auth(
    server: &FtpServer,
    config: &Arc<ClientConfig>,
) -> Client<StreamOwned<ClientConnection, TcpStream>> {
    let mut plain = Client::connected(server);
    assert_eq!(plain.ask("AUTH TLS"), "234 Proceed with negotiation.\r\n");
    let mut client = Client { stream: BufReader::new(secured(config, plain.stream.into_inner())) };
    assert!(client.ask("PBSZ 0").starts_with("200 "));
    assert!(client.ask("PROT P").starts_with("200 "));
    client.log_in();
    client
}

/// Retrieves `/a/b.txt` over TLS. Returns the data, the error at its end, and the final reply.
fn secure_transfer(
    client: &mut Client<StreamOwned<ClientConnection, TcpStream>>,
    config: &Arc<ClientConfig>,
) -> (String, Option<ErrorKind>, String) {
    let port = client.data_port();
    let data = TcpStream::connect(("127.0.0.1", port)).unwrap();
    data.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    client.send(b"RETR a/b.txt\r\n");
    let mut bytes = String::new();
    let end = secured(config, data).read_to_string(&mut bytes).err().map(|e| e.kind());
    assert_eq!(client.reply(), PRELIMINARY);
    (bytes, end, client.reply())
}

#[test]
fn data_connection_must_resume_the_tls_session() {
    let cert = ServerCert::good().unwrap();
    for cert in [cert.clone(), cert.only_tls12()] {
        let (config, whole) = (tls_config(&cert), "one\ntwo\n".to_owned());
        let server = FtpServer::start_tls(test_config().requires_session_reuse(), &cert).unwrap();
        let mut client = log_in_after_auth(&server, &config);
        let expected = (whole, None, "226 Transfer complete.\r\n".to_owned());
        assert_eq!(secure_transfer(&mut client, &config), expected);
        assert_eq!(secure_transfer(&mut client, &config), expected);
        assert_eq!(server.resumed_sessions(), [true, true]);
        let refused = (String::new(), None, REUSE.to_owned());
        assert_eq!(secure_transfer(&mut client, &tls_config(&cert)), refused);
        assert_eq!((client.reply().as_str(), server.resumed_sessions().len()), ("", 3));
    }
}

const REUSE: &str = "522 SSL connection failed: session reuse required\r\n";

#[test]
fn rules_change_how_tls_data_connections_end() {
    let cert = ServerCert::good().unwrap();
    let config = tls_config(&cert);
    for (ending, end) in [
        (Ending::Close, None),
        (Ending::Fin, Some(ErrorKind::UnexpectedEof)),
        (Ending::Reset, Some(ErrorKind::ConnectionReset)),
    ] {
        let server =
            FtpServer::start_tls(test_config().on("RETR", FtpAction::CutData(3, ending)), &cert).unwrap();
        let (bytes, seen, last) = secure_transfer(&mut log_in_after_auth(&server, &config), &config);
        assert_eq!((bytes.as_str(), seen, &last[..3]), ("one", end, "426"));
    }
    let plaintext = FtpServer::start_tls(test_config().on("PROT", FtpAction::PlaintextData), &cert).unwrap();
    let (bytes, end, _) = secure_transfer(&mut log_in_after_auth(&plaintext, &config), &config);
    assert!(bytes.is_empty() && end == Some(ErrorKind::InvalidData), "{end:?}");
}

#[test]
fn implicit_tls_leaves_data_in_plaintext_until_prot() {
    let cert = ServerCert::good().unwrap();
    let server = FtpServer::start_implicit(test_config(), &cert).unwrap();
    assert!(server.url("a").starts_with("ftps://"));
    let stream = secured(&tls_config(&cert), TcpStream::connect(server.addr()).unwrap());
    let mut client = Client { stream: BufReader::new(stream) };
    assert_eq!(client.reply(), "220 fetch-url test server, executes commands in order like vsFTPd\r\n");
    client.log_in();
    assert_eq!(client.text("RETR a/b.txt"), "one\ntwo\n");
    assert_eq!(server.resumed_sessions(), []);
}

#[test]
fn injected_bytes_follow_the_reply_to_auth() {
    let cert = ServerCert::good().unwrap();
    let server = FtpServer::start_tls(FtpConfig::new().inject_after_auth("230 in\r\n"), &cert).unwrap();
    let mut client = Client::connected(&server);
    client.ask("AUTH TLS");
    assert_eq!(client.stream.buffer(), b"230 in\r\n");
}
