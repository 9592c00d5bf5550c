//! The Gopher server against plain sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;
use crate::cert::client;
use crate::{
    Ending, GopherAsk, GopherEnd, GopherForm, GopherItem, GopherLength, GopherRule, GopherTrigger,
    pattern_vec,
};

fn connected(server: &GopherServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

/// Sends a request. Returns the response and the error at its end.
fn exchange(server: &GopherServer, request: &[u8]) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = connected(server);
    stream.write_all(request).unwrap();
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (bytes, end)
}

/// Returns the response to a request line, with `{at}` for the host and port of this server in menus.
fn response(server: &GopherServer, line: &str) -> String {
    let (bytes, end) = exchange(server, format!("{line}\r\n").as_bytes());
    assert_eq!(end, None, "{line}");
    let at = format!("127.0.0.1\t{}", server.addr().port());
    String::from_utf8(bytes).unwrap().replace(&at, "{at}")
}

fn config() -> GopherConfig {
    let found = |search: &[u8]| [b"0found ", search, b"\t/a.txt\thost\t70\r\n"].concat();
    GopherConfig::new()
        .item(GopherItem::text("/a.txt", "one\r\n.\r\n..two").name("A text").modified("19941201123456"))
        .item(GopherItem::binary("/b", b"\0.\r\n\xff".as_slice()).without_plus_marker())
        .item(GopherItem::menu("/pub", &["/b", "/far"]))
        .item(GopherItem::text("/far", "").at("far.example", 7070))
        .item(GopherItem::search("/search", found))
        .item(GopherItem::new('1', "/raw", "no menu at all\n"))
        .item(GopherItem::error('0', "/no", 2, "too busy"))
}

fn start(config: GopherConfig) -> GopherServer {
    GopherServer::start(config).unwrap()
}

#[test]
fn plain_response_ends_as_in_rfc_1436() {
    let server = start(config());
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
        assert_eq!(response(&server, line), answer, "{line}");
    }
    assert_eq!(exchange(&server, b"/b\r\n").0, b"\0.\r\n\xff");
    assert_eq!(response(&server, "").lines().count(), 8);
    assert_eq!((server.connections(), server.received_text()[0].as_str()), (10, "/a.txt\r\n"));
    assert!(server.url("0/a").starts_with("gopher://127.0.0.1:"));
}

#[test]
fn text_ends_as_configured() {
    let text = |end| start(GopherConfig::new().item(GopherItem::text("a", ".x").ending(end)));
    assert_eq!(response(&text(GopherEnd::Dot), "a"), "..x\r\n.\r\n");
    assert_eq!(response(&text(GopherEnd::LooseDot), "a"), ".x.\r\n");
    assert_eq!(response(&text(GopherEnd::Nothing), "a"), ".x");
    let server = start(config().no_dot());
    assert_eq!(response(&server, "/a.txt"), "one\r\n..\r\n...two");
}

#[test]
fn request_line_may_end_in_lf_or_eof() {
    let server = start(config());
    for request in [b"/far\n".as_slice(), b"/far\r\n"] {
        assert_eq!(exchange(&server, request).0, b".\r\n");
    }
    let mut stream = connected(&server);
    stream.write_all(b"/far").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, ".\r\n");
    assert_eq!(server.requests()[2], b"/far");
    assert_eq!(exchange(&server, b"/far\r\nQUIT\r\n").0, b".\r\n");
    assert_eq!(server.requests()[3], b"/far\r\nQUIT\r\n");
}

#[test]
fn gopher_plus_has_lengths_and_views() {
    let views =
        GopherItem::text("v", "a\n.b").view("text/plain", Some("De_DE"), "c").view("image/gif", None, "GIF");
    let of = |length| start(GopherConfig::new().plus().item(views.clone().length(length)));
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
        assert_eq!(response(&server, line), answer, "{line}");
    }
    assert_eq!(response(&of(GopherLength::Dot), "v\t+"), "+-1\r\na\n..b\r\n.\r\n");
    assert_eq!(response(&of(GopherLength::End), "v\t+"), "+-2\r\na\n.b");
    let ends = |length| start(config().plus().attributes_length(length));
    let error = "2 Test Admin <admin@example.org>\r\ntoo busy\r\n";
    assert_eq!(response(&ends(GopherLength::End), "/no\t+"), format!("--2\r\n{error}"));
    assert_eq!(response(&ends(GopherLength::Known), "/no\t!"), format!("-{}\r\n{error}", error.len()));
    let server = start(config().plus());
    assert_eq!(
        response(&server, "/pub\t+"),
        "+-1\r\n9b\t/b\t{at}\r\n0far\t/far\tfar.example\t7070\t+\r\n.\r\n"
    );
    let found = "+-1\r\n0found x\t/a.txt\thost\t70\r\n.\r\n";
    assert_eq!(response(&server, "/search\tx\t+"), found);
}

#[test]
fn attribute_filter_selects_blocks() {
    let item = GopherItem::text("/d", "x".repeat(3000)).abstract_text(&["What it is,", "in two lines."]);
    let item = item.view("text/html", Some("En_US"), "").modified("19941201123456").block("SMELL", &["good"]);
    let config = GopherConfig::new().plus().item(item).item(GopherItem::menu("/m", &["/d", "/d"]));
    let info = "+INFO: 0d\t/d\t{at}\t+\r\n";
    let admin =
        "+ADMIN:\r\n Admin: Test Admin <admin@example.org>\r\n Mod-Date: some day <19941201123456>\r\n";
    let views = "+VIEWS:\r\n text/plain: <2k>\r\n text/html En_US: <0k>\r\n";
    let about = "+ABSTRACT:\r\n What it is,\r\n in two lines.\r\n";
    let smell = "+SMELL:\r\n good\r\n";
    let all = format!("{info}{admin}{views}{about}{smell}");
    let server = start(config.clone());
    let rows = [
        ("/d\t!", all.clone()),
        ("/d\t!+ABSTRACT+smell", format!("{info}{about}{smell}")),
        ("/d\t!+NONE", info.to_owned()),
        ("/m\t$", all.repeat(2)),
        ("/m\t$+VIEWS", format!("{info}{views}").repeat(2)),
        ("/d\t$", String::new()),
    ];
    for (line, blocks) in rows {
        assert_eq!(response(&server, line), format!("+-1\r\n{blocks}.\r\n"), "{line}");
    }
    let unfiltered = start(config.ignores_attribute_filters().attributes_length(GopherLength::End));
    assert_eq!(response(&unfiltered, "/d\t!+ABSTRACT"), format!("+-2\r\n{all}"));
}

#[test]
fn form_is_shown_and_its_answers_are_logged() {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?\tnobody").ask(GopherAsk::AskL, "Tell us");
    let item = GopherItem::text("/f", "").form(form.clone());
    let with_reply = GopherItem::text("/t", "").form(form.reply("thanks")).length(GopherLength::End);
    let server = start(GopherConfig::new().plus().item(item).item(with_reply));
    let shown = "+-1\r\n+INFO: 0f\t/f\t{at}\t?\r\n+ASK:\r\n Ask: Name?\tnobody\r\n AskL: Tell us\r\n.\r\n";
    assert_eq!(response(&server, "/f\t!+ASK"), shown);
    assert_eq!(response(&server, "/f\t+\t1\r\n+-1\r\nJoe\r\n2\r\n..a\r\nb\r\n."), "+10\r\nJoe\n..a\nb\n");
    assert_eq!(response(&server, "/t\t+\t1\r\n+6\r\nJoe\n0"), "+-2\r\nthanks");
    let error = |why: &str| format!("--1\r\n1 Test Admin <admin@example.org>\r\n{why}\r\n.\r\n");
    assert_eq!(response(&server, "/f\t+\t1\r\n+-1\r\nJoe\r\n."), error("no answer to AskL Tell us"));
    assert_eq!(response(&server, "/f\t+\t1\r\nJoe"), error("Joe begins no data"));
    let first: &[&[u8]] = &[b"Joe", b"..a\nb"];
    assert_eq!(server.form_answers(), [first, &[b"Joe", b""]]);
    assert_eq!(server.requests()[2], b"/t\t+\t1\r\n+6\r\nJoe\n0\r\n");
}

#[test]
fn rules_change_responses() {
    let rows = [
        (config().answer("a{port}b{"), "a7b{"),
        (config().status("+5\r\n"), "+5\r\none\r\n.\r\n..two"),
        (config().status(""), "one\r\n.\r\n..two"),
        (config().on("/a.txt", GopherAction::Body(b"x".to_vec())), "+13\r\nx"),
        (config().on("/b", GopherAction::Body(b"x".to_vec())), "+13\r\none\r\n.\r\n..two"),
        (config().extra_dot(), "+13\r\none\r\n.\r\n..two.\r\n"),
        (config().on(GopherTrigger::Any, GopherAction::Before(b"!".to_vec())), "!+13\r\none\r\n.\r\n..two"),
        (
            config().on(GopherTrigger::Any, GopherAction::Flood(b"ab".to_vec(), 3)),
            "+13\r\none\r\n.\r\n..twoababab",
        ),
        (config().drip(1, Duration::from_micros(10)), "+13\r\none\r\n.\r\n..two"),
        (config().cut(6, Ending::Close), "+13\r\no"),
        (
            config().rule(GopherRule::on(GopherTrigger::Any, GopherAction::NoTerminator).nth(2)),
            "+13\r\none\r\n.\r\n..two",
        ),
    ];
    for (config, answer) in rows {
        let server = start(config.plus());
        let expected = answer.replace("a7b", &format!("a{}b", server.addr().port()));
        assert_eq!(response(&server, "/a.txt\t+"), expected);
        server.disable_rules();
        assert_eq!(response(&server, "/a.txt\t+"), "+13\r\none\r\n.\r\n..two");
    }
}

#[test]
fn rules_change_how_connections_end() {
    let reset = start(config().cut(3, Ending::Reset));
    assert_eq!(exchange(&reset, b"/a.txt\r\n"), (b"one".to_vec(), Some(ErrorKind::ConnectionReset)));
    let started = Instant::now();
    let slow = start(config().stay_open(Duration::from_millis(60)));
    assert_eq!(response(&slow, "/far"), ".\r\n");
    let pause = GopherAction::Pause(Duration::from_millis(60));
    assert_eq!(response(&start(config().on("/far", pause)), "/far"), ".\r\n");
    assert!(started.elapsed() > Duration::from_millis(120));
    let shut = |ending| start(config().on(GopherTrigger::Accept, GopherAction::End(ending)));
    assert_eq!(exchange(&shut(Ending::Close), b"/far\r\n").0, b"");
    assert_eq!(exchange(&shut(Ending::Reset), b"/far\r\n"), (Vec::new(), Some(ErrorKind::ConnectionReset)));
}

#[test]
fn generated_items_are_complete() {
    let x = GopherItem::repeated('1', "/line", "i", b"x", 1 << 20);
    let config = GopherConfig::new()
        .item(GopherItem::pattern("/p", 3 << 20))
        .item(GopherItem::generated_menu("/c", 100_000));
    let server = start(config.item(x).plus());
    assert!(exchange(&server, b"/p\r\n").0 == pattern_vec(0, 3 << 20));
    let menu = response(&server, "/c");
    assert!(menu.lines().count() == 100_001 && menu.contains("\t/entry-0099999\tlocalhost\t70\r\n.\r\n"));
    assert_eq!(response(&server, "/line\t+").len(), "+-1\r\ni".len() + (1 << 20) + "\r\n.\r\n".len());
}

#[test]
fn tls_ends_with_and_without_close_notify_and_with_reset() {
    let cert = ServerCert::good().unwrap();
    for (ending, end) in [
        (None, None),
        (Some(Ending::Fin), Some(ErrorKind::UnexpectedEof)),
        (Some(Ending::Reset), Some(ErrorKind::ConnectionReset)),
    ] {
        let config =
            ending.map_or(config(), |ending| config().on(GopherTrigger::Any, GopherAction::End(ending)));
        let server = GopherServer::start_tls(config, &cert).unwrap();
        assert!(server.url("").starts_with("gophers://"));
        let mut tls = client(&cert, connected(&server));
        tls.write_all(b"/a.txt\r\n").unwrap();
        let mut bytes = Vec::new();
        let seen = tls.read_to_end(&mut bytes).err().map(|error| error.kind());
        assert_eq!((bytes.as_slice(), seen), (b"one\r\n..\r\n...two\r\n.\r\n".as_slice(), end));
        assert_eq!(server.received_text(), ["/a.txt\r\n"]);
    }
}
