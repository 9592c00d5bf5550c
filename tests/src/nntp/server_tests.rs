//! The news server against plain sockets.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::*;
use crate::cert::client;
use crate::nntp::deflate::Deflate;
use crate::{Ending, NntpAction, NntpArticle, NntpGroup, NntpRule, NntpTrigger};

/// A minimal news client.
struct Client<S: Read + Write>(BufReader<S>);

impl Client<TcpStream> {
    fn connected(server: &NntpServer) -> Self {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Self(BufReader::new(stream))
    }

    fn greeted(server: &NntpServer) -> Self {
        let mut client = Self::connected(server);
        assert!(client.line().starts_with("200 "));
        client
    }

    fn start_tls(self, cert: &ServerCert) -> Client<StreamOwned<ClientConnection, TcpStream>> {
        assert!(self.0.buffer().is_empty());
        Client(BufReader::new(client(cert, self.0.into_inner())))
    }
}

impl<S: Read + Write> Client<S> {
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).unwrap();
    }

    /// Reads a line with its end; empty at the end of the connection.
    fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line).unwrap();
        String::from_utf8_lossy(&line).into_owned()
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n"));
        self.line()
    }

    /// Sends a command and reads the reply up to the terminating dot, exactly as sent.
    fn block(&mut self, line: &str) -> String {
        let mut answer = self.ask(line);
        while !answer.ends_with("\r\n.\r\n") {
            let line = self.line();
            assert!(!line.is_empty(), "{answer}");
            answer += &line;
        }
        answer
    }

    fn rest(&mut self) -> (Vec<u8>, Option<ErrorKind>) {
        let mut bytes = Vec::new();
        let end = self.0.read_to_end(&mut bytes).err().map(|error| error.kind());
        (bytes, end)
    }
}

fn post(number: u64) -> NntpArticle {
    NntpArticle::post(&format!("{number}@test.invalid"), &format!("article {number}"), ".\r\nbody\r\n")
}

fn groups(config: NntpConfig) -> NntpConfig {
    let holes = NntpGroup::new("fetch.holes").article(1, post(1)).article(4, post(4)).article(5, post(5));
    config
        .group(holes.description("Gaps"))
        .group(NntpGroup::new("fetch.empty").posting("m"))
        .group(NntpGroup::new("private.secret").private().append(post(7)))
}

fn config() -> NntpConfig {
    groups(NntpConfig::new())
}

fn serve(config: NntpConfig) -> NntpServer {
    NntpServer::start(config).unwrap()
}

/// Sends commands and compares the replies. A reply that ends in a dot line is a multi-line reply.
fn check_replies(config: NntpConfig, rows: &[(&str, &str)]) {
    let server = serve(config);
    let mut client = Client::greeted(&server);
    for (command, expected) in rows {
        let has_block = expected.ends_with("\n.");
        let answer = if has_block { client.block(command) } else { client.ask(command) };
        assert_eq!(answer.replace("\r\n", "\n").trim_end_matches('\n'), *expected, "{command}");
    }
    let commands: Vec<&str> = rows.iter().map(|(command, _)| *command).collect();
    assert_eq!(server.received_text(), commands);
    assert_eq!((server.connections(), server.max_pending()), (1, 1));
}

#[test]
fn modern_server_replies_as_inn() {
    check_replies(
        config(),
        &[
            (
                "CAPABILITIES",
                "101 Capability list:\nVERSION 2\nIMPLEMENTATION fetch-url test server\nREADER\nOVER\nHDR\nLIST ACTIVE HEADERS NEWSGROUPS OVERVIEW.FMT\n.",
            ),
            ("mode reader", "200 fetch-url test server ready"),
            (
                "LIST",
                "215 Newsgroups in form \"group high low status\"\nfetch.holes 5 1 y\nfetch.empty 0 1 m\n.",
            ),
            ("LIST ACTIVE *.e*", "215 Newsgroups in form \"group high low status\"\nfetch.empty 0 1 m\n."),
            (
                "LIST NEWSGROUPS *.h*",
                "215 Newsgroup descriptions in form \"group description\"\nfetch.holes\tGaps\n.",
            ),
            ("LIST XYZ", "501 Unknown LIST keyword"),
            ("ARTICLE", "412 Not in a newsgroup"),
            ("ARTICLE 1", "412 Not in a newsgroup"),
            ("OVER 1-", "412 Not in a newsgroup"),
            ("GROUP nope.nope", "411 No such group nope.nope"),
            ("GROUP FETCH.HOLES", "411 No such group FETCH.HOLES"),
            ("GROUP fetch.holes extra", "501 Syntax is: GROUP newsgroup"),
            ("GROUP private.secret", "480 Read access denied"),
            ("STAT <7@test.invalid>", "480 Read access denied for this article"),
            ("GROUP fetch.empty", "211 0 1 0 fetch.empty"),
            ("STAT", "420 Current article number 0 is invalid"),
            ("STAT 1", "423 No such article number 1"),
            ("OVER 1-", "423 No articles in 1-"),
            ("GROUP  fetch.holes", "211 3 1 5 fetch.holes"),
            ("STAT", "223 1 <1@test.invalid> status"),
            ("NEXT", "223 4 <4@test.invalid> Article retrieved; request text separately"),
            ("NEXT", "223 5 <5@test.invalid> Article retrieved; request text separately"),
            ("NEXT", "421 No next to retrieve"),
            ("LAST", "223 4 <4@test.invalid> Article retrieved; request text separately"),
            ("BODY 5", "222 5 <5@test.invalid> body\n..\nbody\n."),
            ("stat", "223 5 <5@test.invalid> status"),
            ("ARTICLE 2", "423 No such article number 2"),
            ("STAT", "223 5 <5@test.invalid> status"),
            ("BODY <4@TEST.invalid>", "222 0 <4@test.invalid> body\n..\nbody\n."),
            ("STAT", "223 5 <5@test.invalid> status"),
            ("STAT <nope@nowhere>", "430 No such article"),
            ("STAT 4@test.invalid", "501 Syntax error in Message-ID"),
            ("LISTGROUP", "211 3 1 5 fetch.holes\n1\n4\n5\n."),
            ("LISTGROUP fetch.holes 2-4", "211 3 1 5 fetch.holes\n4\n."),
            ("LISTGROUP fetch.holes 9-", "211 3 1 5 fetch.holes\n."),
            (
                "OVER 2-4",
                "224 Overview information for 2-4 follows\n4\tarticle 4\tAlice <alice@test.invalid>\tThu, 01 Dec 1994 12:34:56 +0000\t<4@test.invalid>\t\t196\t2\n.",
            ),
            ("OVER <4@test.invalid>", "503 Overview by Message-ID unsupported"),
            (
                "HDR Subject 1-4",
                "225 Header or metadata information for Subject follows\n1 article 1\n4 article 4\n.",
            ),
            ("HDR :lines <5@test.invalid>", "225 Header or metadata information for :lines follows\n0 2\n."),
            ("OVER 4-2", "423 No articles in 4-2"),
            ("OVER a-b", "501 Syntax error in range"),
            ("DATE", "111 20261121003806"),
            ("POST", "440 Posting not permitted"),
            ("STARTTLS", "500 What?"),
            ("COMPRESS DEFLATE", "500 What?"),
            ("AUTHINFO USER x", "502 Already authenticated, or no need to"),
            ("XYZZY", "500 What?"),
            ("QUIT", "205 Bye!"),
        ],
    );
}

#[test]
fn sn_replies_as_rfc_977_server() {
    check_replies(
        groups(NntpConfig::sn()),
        &[
            ("CAPABILITIES", "500 unimplemented"),
            ("MODE READER", "200 Hi, you can post (sn version 0.3.8)"),
            ("DATE", "500 unimplemented"),
            ("LIST ACTIVE", "215 list follows\nfetch.holes 14 10 y\nfetch.empty 0 0 m\n."),
            ("LIST HEADERS", "503 LIST command not implemented"),
            ("ARTICLE", "412 No group selected"),
            ("GROUP nope.nope", "411 No such group nope.nope"),
            ("GROUP fetch.empty", "211 0 0 0 fetch.empty"),
            ("GROUP FETCH.HOLES", "211 3 10 14 fetch.holes"),
            ("STAT", "420 No article selected"),
            ("STAT 1", "430 No such article"),
            ("STAT 13", "223 13 <4@test.invalid> Request text separately"),
            ("STAT <5@test.invalid>", "223 14 <5@test.invalid> Request text separately"),
            ("STAT <5@TEST.invalid>", "430 No such article"),
            ("STAT 5@test.invalid", "501 Invalid range"),
            ("LISTGROUP fetch.holes 14-", "211 Article numbers follow\n10\n13\n14\n."),
            ("OVER 10-13", "500 unimplemented"),
            (
                "XOVER 14",
                "224 Overview information follows\n14\tarticle 5\tAlice <alice@test.invalid>\tThu, 01 Dec 1994 12:34:56 +0000\t<5@test.invalid>\t\t196\t2\n.",
            ),
            ("XOVER 1-3", "224 Overview information follows\n."),
            ("XHDR Subject 10", "221 Header or metadata information for Subject follows\n10 article 1\n."),
            ("AUTHINFO USER x", "500 unimplemented"),
            ("STARTTLS", "500 unimplemented"),
        ],
    );
    let server = serve(groups(NntpConfig::sn()));
    let mut client = Client::greeted(&server);
    assert_eq!(client.ask("ARTICLE 10"), "");
}

#[test]
fn pipelined_commands_are_executed_in_order() {
    let server = serve(config());
    let mut client = Client::connected(&server);
    client.send("GROUP fetch.holes\r\nSTAT 4\r\nBODY 5\r\nSTAT 2\r\nQUIT\r\nSTAT 1\r\n");
    let (bytes, end) = client.rest();
    let text = String::from_utf8(bytes).unwrap();
    let expected = "200 fetch-url test server ready\n211 3 1 5 fetch.holes\n223 4 <4@test.invalid> status\n\
                    222 5 <5@test.invalid> body\n..\nbody\n.\n423 No such article number 2\n205 Bye!\n";
    assert_eq!((text.replace("\r\n", "\n").as_str(), end), (expected, None));
    assert!(server.max_pending() >= 5, "{}", server.max_pending());
    assert_eq!(server.bytes_sent(), text.len() as u64);
}

#[test]
fn configuration_changes_capabilities() {
    let cert = ServerCert::good().unwrap();
    let bare = config().without("OVER").without("HDR").without("LIST NEWSGROUPS").without("XOVER");
    let list = "LIST ACTIVE HEADERS OVERVIEW.FMT";
    check_replies(
        bare,
        &[
            (
                "CAPABILITIES",
                &format!(
                    "101 Capability list:\nVERSION 2\nIMPLEMENTATION fetch-url test server\nREADER\n{list}\n."
                ),
            ),
            ("OVER 1-", "500 What?"),
            ("LIST NEWSGROUPS", "501 Unknown LIST keyword"),
        ],
    );
    let full =
        config().account("a", "b").supports_over_by_id().compress().starttls(&cert).requires_mode_reader();
    check_replies(
        full,
        &[
            (
                "CAPABILITIES",
                "101 Capability list:\nVERSION 2\nIMPLEMENTATION fetch-url test server\nMODE-READER\nSTARTTLS\nAUTHINFO USER\nCOMPRESS DEFLATE\n.",
            ),
            ("GROUP fetch.holes", "401 MODE-READER"),
            ("MODE READER", "200 fetch-url test server ready"),
            (
                "HDR Subject <1@test.invalid>",
                "225 Header or metadata information for Subject follows\n0 article 1\n.",
            ),
            (
                "OVER <1@test.invalid>",
                "224 Overview information for <1@test.invalid> follows\n0\tarticle 1\tAlice <alice@test.invalid>\tThu, 01 Dec 1994 12:34:56 +0000\t<1@test.invalid>\t\t196\t2\n.",
            ),
            ("OVER <2@test.invalid>", "430 No such article"),
        ],
    );
    check_replies(
        config().without("CAPABILITIES").without("MODE READER"),
        &[("CAPABILITIES", "500 What?"), ("MODE READER", "500 What?")],
    );
}

#[test]
fn login_needs_the_configured_credentials() {
    check_replies(
        config().account("alice", "p@ss w:rd").account("bob", "x"),
        &[
            ("AUTHINFO", "501 Syntax is: AUTHINFO USER name|PASS password"),
            ("AUTHINFO PASS x", "482 Authentication commands issued out of sequence"),
            ("AUTHINFO USER alice", "381 Enter password"),
            ("AUTHINFO PASS x", "481 Authentication failed"),
            ("AUTHINFO PASS p@ss w:rd", "482 Authentication commands issued out of sequence"),
            ("AUTHINFO USER alice", "381 Enter password"),
            ("authinfo pass p@ss w:rd", "281 Authentication succeeded"),
            ("AUTHINFO USER bob", "502 Already authenticated, or no need to"),
            ("GROUP private.secret", "211 1 1 1 private.secret"),
        ],
    );
    check_replies(
        config().account("a", "b").requires_login().requires_tls_for_login(),
        &[
            ("GROUP fetch.holes", "480 Authentication required"),
            ("AUTHINFO USER a", "483 Encryption or stronger authentication required"),
            ("DATE", "111 20261121003806"),
        ],
    );
}

#[test]
fn tls_starts_with_the_first_byte() {
    let cert = ServerCert::good().unwrap();
    let server = NntpServer::start_tls(config().account("a", "b").requires_tls_for_login(), &cert).unwrap();
    assert!(server.url("g/1").starts_with("nntps://127.0.0.1:") && server.url("g/1").ends_with("/g/1"));
    assert_eq!(server.news_url("*"), "snews:*");
    let mut client = Client::connected(&server).start_tls(&cert);
    assert!(client.line().starts_with("200 "));
    assert!(client.ask("AUTHINFO USER a").starts_with("381 "));
    assert!(client.block("CAPABILITIES").contains("\r\nAUTHINFO USER\r\n"));
    assert!(client.ask("QUIT").starts_with("205 "));
    assert_eq!(client.rest(), (Vec::new(), None));
    assert_eq!(server.received_text(), ["AUTHINFO USER a", "CAPABILITIES", "QUIT"]);
    assert_eq!(server.plaintext_commands(), [""; 0]);
}

#[test]
fn starttls_discards_the_plaintext_state() {
    let cert = ServerCert::good().unwrap();
    let server = serve(config().account("a", "b").requires_tls_for_login().starttls(&cert));
    let mut client = Client::greeted(&server);
    assert!(client.block("CAPABILITIES").contains("STARTTLS\r\nAUTHINFO\r\n"));
    assert!(client.ask("GROUP fetch.holes").starts_with("211 "));
    // Commands that are pipelined after STARTTLS are discarded.
    client.send("STARTTLS\r\nGROUP fetch.empty\r\n");
    assert_eq!(client.line(), "382 Begin TLS negotiation now\r\n");
    let mut client = client.start_tls(&cert);
    let capabilities = client.block("CAPABILITIES");
    assert!(!capabilities.contains("STARTTLS") && capabilities.contains("AUTHINFO USER\r\n"));
    assert!(client.ask("STAT").starts_with("412 "));
    assert!(client.ask("STARTTLS").starts_with("502 "));
    assert!(client.ask("AUTHINFO USER a").starts_with("381 "));
    assert_eq!(server.plaintext_commands(), ["CAPABILITIES", "GROUP fetch.holes", "STARTTLS"]);
    assert_eq!(server.received_text().len(), 7);
}

#[test]
fn injected_bytes_follow_the_reply_to_starttls() {
    let cert = ServerCert::good().unwrap();
    let server = serve(config().starttls(&cert).inject_after_starttls("200 forged\r\n"));
    let mut client = Client::greeted(&server);
    client.send("STARTTLS\r\n");
    assert_eq!(client.line() + &client.line(), "382 Begin TLS negotiation now\r\n200 forged\r\n");
    let mut client = client.start_tls(&cert);
    assert!(client.ask("DATE").starts_with("111 "));
}

#[test]
fn both_directions_are_compressed_after_compress() {
    let server = serve(config().compress());
    let mut client = Client::greeted(&server);
    assert!(client.ask("COMPRESS LZMA").starts_with("503 "));
    assert!(client.ask("COMPRESS DEFLATE").starts_with("206 "));
    let mut deflate = Deflate::new();
    let commands = deflate.compress(b"GROUP fetch.holes\r\nCOMPRESS DEFLATE\r\nBODY 1\r\nQUIT\r\n").unwrap();
    client.send(commands);
    let (bytes, end) = client.rest();
    let text = String::from_utf8(deflate.decompress(&bytes).unwrap()).unwrap();
    assert_eq!(end, None);
    assert!(
        text.starts_with("211 3 1 5 fetch.holes\r\n502 ") && text.ends_with("body\r\n.\r\n205 Bye!\r\n"),
        "{text}"
    );
    // Uncompressed bytes end the connection.
    let mut client = Client::greeted(&server);
    client.ask("COMPRESS DEFLATE");
    client.send("DATE\r\n");
    assert_eq!(client.rest().0, b"");
}

#[test]
fn generated_groups_and_articles_are_listed() {
    let server =
        serve(NntpConfig::new().generated_groups(3000).group(NntpGroup::new("big").generated(5, 2000)));
    let mut client = Client::greeted(&server);
    let list = client.block("LIST");
    assert_eq!(list.lines().count(), 3003);
    assert!(list.ends_with("many.g0002999 0000000000 0000000001 y\r\n.\r\n"));
    assert_eq!(client.block("LIST ACTIVE many.g000001?").lines().count(), 12);
    assert_eq!(client.ask("GROUP big"), "211 2000 5 2004 big\r\n");
    let overview = client.block("OVER 1-9");
    assert!(overview.contains("\n5\tentry 0000005\t") && overview.lines().count() == 7, "{overview}");
    assert_eq!(client.block("OVER 0-").lines().count(), 2002);
    assert!(client.ask("STAT <many-7@test.invalid>").starts_with("223 0 <many-7@"));
    assert!(client.ask("STAT 2005").starts_with("423 "));
}

#[test]
fn behaviour_is_as_configured() {
    let server =
        serve(config().no_posting().greeting("201 hello").split_replies().delay(Duration::from_millis(50)));
    let started = Instant::now();
    let mut client = Client::connected(&server);
    assert_eq!(client.line(), "201 hello\r\n");
    assert_eq!(client.ask("MODE READER"), "201 fetch-url test server ready (no posting)\r\n");
    assert!(started.elapsed() >= Duration::from_millis(100));
    let server = serve(config().ipv6());
    assert!(server.addr().is_ipv6() && server.url("g").starts_with("nntp://[::1]:"));
    assert!(Client::greeted(&server).ask(&"x".repeat(511)).starts_with("500 "));
}

/// Sends these bytes to a server. Returns what it sends, and the error at the end.
fn exchange(config: NntpConfig, bytes: &str) -> (String, Option<ErrorKind>) {
    let server = serve(config);
    let mut client = Client::connected(&server);
    client.send(bytes);
    let (bytes, end) = client.rest();
    (String::from_utf8_lossy(&bytes).replace("\r\n", "\n"), end)
}

const ASK: &str = "GROUP fetch.holes\r\nBODY 4\r\nQUIT\r\n";
const WHOLE: &str = "200 fetch-url test server ready\n211 3 1 5 fetch.holes\n222 4 <4@test.invalid> body\n..\nbody\n.\n205 Bye!\n";

#[test]
fn rules_change_replies() {
    let rows: [(NntpTrigger, NntpAction, &str, &str); 11] = [
        (
            "BODY".into(),
            NntpAction::Answer(b"423 no\r\n".to_vec()),
            "222 4 <4@test.invalid> body\n..\nbody\n.\n",
            "423 no\n",
        ),
        (
            "BODY 4".into(),
            NntpAction::ExecuteAs(b"STAT 5".to_vec()),
            "222 4 <4@test.invalid> body\n..\nbody\n.\n",
            "223 5 <5@test.invalid> status\n",
        ),
        ("BODY 5".into(), NntpAction::NoTerminator, "", ""),
        ("BODY".into(), NntpAction::Before(b"100 x\r\n".to_vec()), "222 4", "100 x\n222 4"),
        ("GROUP".into(), NntpAction::After(b"400 x\r\n".to_vec()), "222 4", "400 x\n222 4"),
        (
            "BODY".into(),
            NntpAction::StatusLine(b"220 5\r\n".to_vec()),
            "222 4 <4@test.invalid> body",
            "220 5",
        ),
        ("BODY".into(), NntpAction::StatusLine(Vec::new()), "222 4 <4@test.invalid> body\n", ""),
        ("BODY".into(), NntpAction::Block(b".raw".to_vec()), "..\nbody\n.\n", ".raw.\n"),
        ("BODY".into(), NntpAction::NoTerminator, "body\n.\n2", "body\n2"),
        ("GROUP".into(), NntpAction::Flood(b"ab".to_vec(), 3), "211", "ababab211"),
        (
            NntpTrigger::Greeting,
            NntpAction::Answer(b"200 hi\r\n".to_vec()),
            "200 fetch-url test server ready",
            "200 hi",
        ),
    ];
    for (on, act, from, to) in rows {
        let row = format!("{on:?} {act:?}");
        assert_eq!(exchange(config().on(on, act), ASK), (WHOLE.replacen(from, to, 1), None), "{row}");
    }
}

#[test]
fn rules_change_how_the_connection_ends() {
    let upto = |mark: &str, more: usize| WHOLE[..WHOLE.find(mark).unwrap() + more].to_owned();
    let before = upto("222", 0);
    let rows = [
        (NntpAction::End(Ending::Close), before.clone(), false),
        (NntpAction::End(Ending::Reset), before.clone(), true),
        (NntpAction::End(Ending::Stall(Duration::from_millis(30))), before.clone(), false),
        (NntpAction::Cut(0, Ending::Close), before, false),
        (NntpAction::Cut(3, Ending::Reset), upto("222", 3), true),
        (NntpAction::CutBlock(0, Ending::Close), upto("..", 0), false),
        (NntpAction::CutBlock(5, Ending::Fin), upto("..", 4), false),
        (NntpAction::CutBlock(10, Ending::Close), upto("\n.\n", 1), false),
        (NntpAction::CutBlock(13, Ending::Reset), upto("\n.\n", 3), true),
        (NntpAction::EndAfter(Ending::Close), upto("\n.\n", 3), false),
    ];
    for (act, expected, is_reset) in rows {
        let row = format!("{act:?}");
        let (text, end) = exchange(config().on("BODY", act), ASK);
        assert_eq!(text, expected, "{row}");
        assert_eq!(end, is_reset.then_some(ErrorKind::ConnectionReset), "{row}");
    }
    let greeted = exchange(config().on(NntpTrigger::Greeting, NntpAction::End(Ending::Reset)), "");
    assert_eq!(greeted, (String::new(), Some(ErrorKind::ConnectionReset)));
    assert_eq!(exchange(config().close_at(NntpTrigger::Accept), ""), (String::new(), None));
}

#[test]
fn end_after_fin_has_no_close_notify() {
    let cert = ServerCert::good().unwrap();
    for (ending, expected) in [(Ending::Close, None), (Ending::Fin, Some(ErrorKind::UnexpectedEof))] {
        let config = config().on("DATE", NntpAction::EndAfter(ending));
        let server = NntpServer::start_tls(config, &cert).unwrap();
        let mut client = Client::connected(&server).start_tls(&cert);
        client.send("DATE\r\n");
        assert_eq!(client.rest().1, expected, "{ending:?}");
    }
}

#[test]
fn held_replies_are_sent_in_reverse_order() {
    let reversed =
        |on: &str, answers| config().rule(NntpRule::on(on, NntpAction::ReverseReplies(answers)).nth(1));
    let (greeting, group) = ("200 fetch-url test server ready\n", "211 3 1 5 fetch.holes\n");
    let (body, bye) = ("222 4 <4@test.invalid> body\n..\nbody\n.\n", "205 Bye!\n");
    let (text, _) = exchange(reversed("GROUP", 2), ASK);
    assert_eq!(text, [greeting, body, group, bye].concat());
    let (text, _) = exchange(reversed("GROUP", 3), ASK);
    assert_eq!(text, [greeting, bye, body, group].concat());
    // A client that does not pipeline receives its replies, too, but later.
    let server = serve(reversed("GROUP", 2));
    let mut client = Client::greeted(&server);
    assert!(client.ask("GROUP fetch.holes").starts_with("211 "));
    assert!(client.ask("STAT").starts_with("223 "));
}

#[test]
fn nth_rule_applies_once_and_rules_can_be_disabled() {
    let server = serve(config().rule(NntpRule::on("DATE", NntpAction::Answer(b"400 x\r\n".to_vec())).nth(2)));
    let mut client = Client::greeted(&server);
    let answers = [client.ask("DATE"), client.ask("DATE"), client.ask("DATE")];
    assert_eq!(answers.map(|answer| answer[..3].to_owned()), ["111", "400", "111"]);
    let server = serve(config().answer("DATE", "400 x\r\n"));
    let mut client = Client::greeted(&server);
    assert!(client.ask("DATE").starts_with("400 "));
    server.disable_rules();
    assert!(client.ask("DATE").starts_with("111 "));
}
