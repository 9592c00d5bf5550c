//! The gopher server against plain sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;
use crate::cert::client;
use crate::{
    Ending, GopherAsk, GopherEnd, GopherForm, GopherItem, GopherLength, GopherOn, GopherRule, pattern_vec,
};

fn connected(server: &GopherServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

/// What comes for a request, and how it ends.
fn heard(server: &GopherServer, request: &[u8]) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = connected(server);
    stream.write_all(request).unwrap();
    let mut octets = Vec::new();
    let end = stream.read_to_end(&mut octets).err().map(|error| error.kind());
    (octets, end)
}

/// The whole answer to a request line, with `{at}` for the server's host and port as menus tell them.
fn asked(server: &GopherServer, line: &str) -> String {
    let (octets, end) = heard(server, format!("{line}\r\n").as_bytes());
    assert_eq!(end, None, "{line}");
    let at = format!("127.0.0.1\t{}", server.addr().port());
    String::from_utf8(octets).unwrap().replace(&at, "{at}")
}

fn site() -> GopherSite {
    let found = |search: &[u8]| [b"0found ", search, b"\t/a.txt\thost\t70\r\n"].concat();
    GopherSite::new()
        .item(GopherItem::text("/a.txt", "one\r\n.\r\n..two").name("A text").modified("19941201123456"))
        .item(GopherItem::binary("/b", b"\0.\r\n\xff".as_slice()).without_mark())
        .item(GopherItem::menu("/pub", &["/b", "/far"]))
        .item(GopherItem::text("/far", "").at("far.example", 7070))
        .item(GopherItem::search("/search", found))
        .item(GopherItem::new('1', "/raw", "no menu at all\n"))
        .item(GopherItem::error('0', "/no", 2, "too busy"))
}

fn start(site: GopherSite) -> GopherServer {
    GopherServer::start(site).unwrap()
}

#[test]
fn plain_answers_end_as_rfc_1436_has_it() {
    let server = start(site());
    let rows = [
        ("/a.txt", "one\r\n..\r\n...two\r\n.\r\n"),
        ("/pub", "9b\t/b\t{at}\r\n0far\t/far\tfar.example\t7070\r\n.\r\n"),
        ("/far", ".\r\n"),
        ("/search\tthis  that", "0found this  that\t/a.txt\thost\t70\r\n.\r\n"),
        ("/raw", "no menu at all\n.\r\n"),
        ("/no", "3too busy\t\terror.host\t1\r\n.\r\n"),
        ("/none", "3'/none' does not exist\t\terror.host\t1\r\n.\r\n"),
        ("/a.txt\t+", "one\r\n..\r\n...two\r\n.\r\n"),
    ];
    for (line, answer) in rows {
        assert_eq!(asked(&server, line), answer, "{line}");
    }
    assert_eq!(heard(&server, b"/b\r\n").0, b"\0.\r\n\xff");
    assert_eq!(asked(&server, "").lines().count(), 8);
    assert_eq!((server.connections(), server.dialogue()[0].as_str()), (10, "/a.txt\r\n"));
    assert!(server.url("0/a").starts_with("gopher://127.0.0.1:"));
}

#[test]
fn texts_may_end_in_other_ways() {
    let text = |end| start(GopherSite::new().item(GopherItem::text("a", ".x").ends(end)));
    assert_eq!(asked(&text(GopherEnd::Dot), "a"), "..x\r\n.\r\n");
    assert_eq!(asked(&text(GopherEnd::LooseDot), "a"), ".x.\r\n");
    assert_eq!(asked(&text(GopherEnd::Nothing), "a"), ".x");
    let server = start(site().no_dot());
    assert_eq!(asked(&server, "/a.txt"), "one\r\n..\r\n...two");
}

#[test]
fn request_lines_are_taken_as_they_come() {
    let server = start(site());
    for request in [b"/far\n".as_slice(), b"/far\r\n"] {
        assert_eq!(heard(&server, request).0, b".\r\n");
    }
    let mut stream = connected(&server);
    stream.write_all(b"/far").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, ".\r\n");
    assert_eq!(server.requests()[2], b"/far");
    assert_eq!(heard(&server, b"/far\r\nQUIT\r\n").0, b".\r\n");
    assert_eq!(server.requests()[3], b"/far\r\nQUIT\r\n");
}

#[test]
fn gopher_plus_tells_lengths_and_views() {
    let views =
        GopherItem::text("v", "a\n.b").view("text/plain", Some("De_DE"), "c").view("image/gif", None, "GIF");
    let of = |length| start(GopherSite::new().plus().item(views.clone().length(length)));
    let server = of(GopherLength::Known);
    let rows = [
        ("v", "a\n..b\r\n.\r\n"),
        ("v\t+", "+4\r\na\n.b"),
        ("v\t+text/plain de_de", "+1\r\nc"),
        ("v\t+image/gif", "+3\r\nGIF"),
        ("v\t+image/png", "--1\r\n1 Test Admin <admin@example.org>\r\nno such view\r\n.\r\n"),
        ("x\t+", "--1\r\n1 Test Admin <admin@example.org>\r\n'x' does not exist\r\n.\r\n"),
    ];
    for (line, answer) in rows {
        assert_eq!(asked(&server, line), answer, "{line}");
    }
    assert_eq!(asked(&of(GopherLength::Dot), "v\t+"), "+-1\r\na\n..b\r\n.\r\n");
    assert_eq!(asked(&of(GopherLength::End), "v\t+"), "+-2\r\na\n.b");
    let ends = |length| start(site().plus().attributes_end(length));
    let words = "2 Test Admin <admin@example.org>\r\ntoo busy\r\n";
    assert_eq!(asked(&ends(GopherLength::End), "/no\t+"), format!("--2\r\n{words}"));
    assert_eq!(asked(&ends(GopherLength::Known), "/no\t!"), format!("-{}\r\n{words}", words.len()));
    let server = start(site().plus());
    assert_eq!(asked(&server, "/pub\t+"), "+-1\r\n9b\t/b\t{at}\r\n0far\t/far\tfar.example\t7070\t+\r\n.\r\n");
    let found = "+-1\r\n0found x\t/a.txt\thost\t70\r\n.\r\n";
    assert_eq!(asked(&server, "/search\tx\t+"), found);
}

#[test]
fn attributes_are_blocks_that_can_be_chosen() {
    let item = GopherItem::text("/d", "x".repeat(3000)).about(&["What it is,", "in two lines."]);
    let item = item.view("text/html", Some("En_US"), "").modified("19941201123456").block("SMELL", &["good"]);
    let site = GopherSite::new().plus().item(item).item(GopherItem::menu("/m", &["/d", "/d"]));
    let info = "+INFO: 0d\t/d\t{at}\t+\r\n";
    let admin =
        "+ADMIN:\r\n Admin: Test Admin <admin@example.org>\r\n Mod-Date: some day <19941201123456>\r\n";
    let views = "+VIEWS:\r\n text/plain: <2k>\r\n text/html En_US: <0k>\r\n";
    let about = "+ABSTRACT:\r\n What it is,\r\n in two lines.\r\n";
    let smell = "+SMELL:\r\n good\r\n";
    let all = format!("{info}{admin}{views}{about}{smell}");
    let server = start(site.clone());
    let rows = [
        ("/d\t!", all.clone()),
        ("/d\t!+ABSTRACT+smell", format!("{info}{about}{smell}")),
        ("/d\t!+NONE", info.to_owned()),
        ("/m\t$", all.repeat(2)),
        ("/m\t$+VIEWS", format!("{info}{views}").repeat(2)),
        ("/d\t$", String::new()),
    ];
    for (line, blocks) in rows {
        assert_eq!(asked(&server, line), format!("+-1\r\n{blocks}.\r\n"), "{line}");
    }
    let careless = start(site.without_filters().attributes_end(GopherLength::End));
    assert_eq!(asked(&careless, "/d\t!+ABSTRACT"), format!("+-2\r\n{all}"));
}

#[test]
fn forms_are_shown_and_answered() {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?\tnobody").ask(GopherAsk::AskL, "Tell us");
    let item = GopherItem::text("/f", "").form(form.clone());
    let thanked = GopherItem::text("/t", "").form(form.reply("thanks")).length(GopherLength::End);
    let server = start(GopherSite::new().plus().item(item).item(thanked));
    let shown = "+-1\r\n+INFO: 0f\t/f\t{at}\t?\r\n+ASK:\r\n Ask: Name?\tnobody\r\n AskL: Tell us\r\n.\r\n";
    assert_eq!(asked(&server, "/f\t!+ASK"), shown);
    assert_eq!(asked(&server, "/f\t+\t1\r\n+-1\r\nJoe\r\n2\r\n..a\r\nb\r\n."), "+9\r\nJoe\n.a\nb\n");
    assert_eq!(asked(&server, "/t\t+\t1\r\n+6\r\nJoe\n0"), "+-2\r\nthanks");
    let complaint = |why: &str| format!("--1\r\n1 Test Admin <admin@example.org>\r\n{why}\r\n.\r\n");
    assert_eq!(asked(&server, "/f\t+\t1\r\n+-1\r\nJoe\r\n."), complaint("no answer to AskL Tell us"));
    assert_eq!(asked(&server, "/f\t+\t1\r\nJoe"), complaint("Joe begins no data"));
    let first: &[&[u8]] = &[b"Joe", b".a\nb"];
    assert_eq!(server.answers(), [first, &[b"Joe", b""]]);
    assert_eq!(server.requests()[2], b"/t\t+\t1\r\n+6\r\nJoe\n0\r\n");
}

#[test]
fn answers_depart_as_the_rules_say() {
    let rows = [
        (site().answer("a{port}b{"), "a7b{"),
        (site().status("+5\r\n"), "+5\r\none\r\n.\r\n..two"),
        (site().status(""), "one\r\n.\r\n..two"),
        (site().on("/a.txt", GopherAct::Body(b"x".to_vec())), "+13\r\nx"),
        (site().on("/b", GopherAct::Body(b"x".to_vec())), "+13\r\none\r\n.\r\n..two"),
        (site().extra_dot(), "+13\r\none\r\n.\r\n..two.\r\n"),
        (site().on(GopherOn::Any, GopherAct::First(b"!".to_vec())), "!+13\r\none\r\n.\r\n..two"),
        (site().on(GopherOn::Any, GopherAct::Flood(b"ab".to_vec(), 3)), "+13\r\none\r\n.\r\n..twoababab"),
        (site().drip(1, Duration::from_micros(10)), "+13\r\none\r\n.\r\n..two"),
        (site().cut(6, Ending::Close), "+13\r\no"),
        (site().rule(GopherRule::on(GopherOn::Any, GopherAct::NoDot).nth(2)), "+13\r\none\r\n.\r\n..two"),
    ];
    for (site, answer) in rows {
        let server = start(site.plus());
        let expected = answer.replace("a7b", &format!("a{}b", server.addr().port()));
        assert_eq!(asked(&server, "/a.txt\t+"), expected);
        server.mend();
        assert_eq!(asked(&server, "/a.txt\t+"), "+13\r\none\r\n.\r\n..two");
    }
}

#[test]
fn connections_end_as_the_rules_say() {
    let reset = start(site().cut(3, Ending::Reset));
    assert_eq!(heard(&reset, b"/a.txt\r\n"), (b"one".to_vec(), Some(ErrorKind::ConnectionReset)));
    let begun = Instant::now();
    let slow = start(site().lingering(Duration::from_millis(60)));
    assert_eq!(asked(&slow, "/far"), ".\r\n");
    let pause = GopherAct::Pause(Duration::from_millis(60));
    assert_eq!(asked(&start(site().on("/far", pause)), "/far"), ".\r\n");
    assert!(begun.elapsed() > Duration::from_millis(120));
    let shut = |ending| start(site().on(GopherOn::Accept, GopherAct::End(ending)));
    assert_eq!(heard(&shut(Ending::Close), b"/far\r\n").0, b"");
    assert_eq!(heard(&shut(Ending::Reset), b"/far\r\n"), (Vec::new(), Some(ErrorKind::ConnectionReset)));
}

#[test]
fn large_items_are_made_as_they_are_sent() {
    let x = GopherItem::repeated('1', "/line", "i", b"x", 1 << 20);
    let site =
        GopherSite::new().item(GopherItem::pattern("/p", 3 << 20)).item(GopherItem::crowd("/c", 100_000));
    let server = start(site.item(x).plus());
    assert!(heard(&server, b"/p\r\n").0 == pattern_vec(0, 3 << 20));
    let crowd = asked(&server, "/c");
    assert!(crowd.lines().count() == 100_001 && crowd.contains("\t/entry-0099999\tlocalhost\t70\r\n.\r\n"));
    assert_eq!(asked(&server, "/line\t+").len(), "+-1\r\ni".len() + (1 << 20) + "\r\n.\r\n".len());
}

#[test]
fn tls_begins_at_once_and_ends_as_the_rules_say() {
    let cert = ServerCert::good().unwrap();
    for (ending, end) in [
        (None, None),
        (Some(Ending::Fin), Some(ErrorKind::UnexpectedEof)),
        (Some(Ending::Reset), Some(ErrorKind::ConnectionReset)),
    ] {
        let site = ending.map_or(site(), |ending| site().on(GopherOn::Any, GopherAct::End(ending)));
        let server = GopherServer::start_tls(site, &cert).unwrap();
        assert!(server.url("").starts_with("gophers://"));
        let mut tls = client(&cert, connected(&server));
        tls.write_all(b"/a.txt\r\n").unwrap();
        let mut octets = Vec::new();
        let seen = tls.read_to_end(&mut octets).err().map(|error| error.kind());
        assert_eq!((octets.as_slice(), seen), (b"one\r\n..\r\n...two\r\n.\r\n".as_slice(), end));
        assert_eq!(server.dialogue(), ["/a.txt\r\n"]);
    }
}
