//! Exchanges with Gopher servers, played complete, byte by byte and cut at every position.

use fetch_url_core::{Url, parse};
use fetch_url_proto::gopher::{DotStuffing, Exchange, GopherRequest};
use fetch_url_proto::{Details, Event, Machine, RecvBuffer, Step, WireError};

/// How the connection ends after the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    Closed,
    Lost,
    /// It stays open: the end must follow from the response itself.
    Open,
}

/// Returns the events as words: `body:…`, `entry:…`, `head:N`, `note`, `refused:CODE:…`, `unmarked` (the terminator is
/// missing), and the end: `done`, `cut`, `limit` or `waits`.
fn play(url: &str, dots: DotStuffing, is_raw: bool, pieces: &[&[u8]], after: After) -> Vec<String> {
    let Url::Gopher(url) = parse(url).expect("a URL").url else { panic!("{url}") };
    let request = GopherRequest::from_url(&url).expect("it can be sent");
    let mut answer = Exchange::new(&request, url.gtype(), dots, is_raw, None);
    let (mut buffer, mut body, mut events) = (RecvBuffer::new(), String::new(), Vec::new());
    let mut pieces = pieces.iter();
    let end = loop {
        match answer.step(&mut buffer) {
            Ok(Step::Send(bytes)) => assert_eq!(bytes, request.bytes()),
            Ok(Step::Emit(Event::Body(bytes))) => body.push_str(&bytes.escape_ascii().to_string()),
            Ok(Step::Emit(event)) => events.push(word(event)),
            Ok(Step::Done) => break "done",
            Ok(Step::NeedMore) => match (pieces.next(), after) {
                (Some(piece), _) => buffer.push(piece),
                (None, After::Closed) => buffer.mark_closed(),
                (None, After::Lost) => buffer.mark_lost(),
                (None, After::Open) => break "waits",
            },
            Ok(step) => panic!("{step:?}"),
            Err(WireError::UnexpectedEnd { .. }) => break "cut",
            Err(WireError::LimitExceeded { .. }) => break "limit",
            Err(error) => panic!("{error}"),
        }
    };
    if !body.is_empty() {
        events.push(format!("body:{body}"));
    }
    events.push(end.to_owned());
    events
}

fn word(event: Event) -> String {
    match event {
        Event::Entry(entry) => {
            let Details::MenuItem(item, attributes) = &entry.details else { panic!("{entry:?}") };
            let name = item.name.escape_ascii();
            let url = entry.url.as_deref().or(item.fault).unwrap_or("-");
            let blocks = attributes.iter().flat_map(|attributes| &attributes.blocks);
            let blocks: String = blocks.map(|block| format!(" +{}", block.name.escape_ascii())).collect();
            format!("entry:{}{name} {url}{blocks}", char::from(item.gtype))
        }
        Event::Head(head) => format!("head:{}", head.size.map_or("-".to_owned(), |size| size.to_string())),
        Event::Note(_) => "note".to_owned(),
        Event::Rejected(refused) => {
            let code = refused.code.map_or("-".to_owned(), |code| code.to_string());
            let moved = refused.moved_to.and_then(|item| item.url(None)).unwrap_or_default();
            format!("refused:{code}:{}{moved}", refused.text.escape_ascii())
        }
        Event::UnterminatedEnd(_) => "unmarked".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Checks that the events are the same however the response is cut.
#[track_caller]
fn check(url: &str, answer: &[u8], after: After, expected: &[&str]) {
    check_as(url, DotStuffing::Detect, false, answer, after, expected);
}

#[track_caller]
fn check_as(url: &str, dots: DotStuffing, is_raw: bool, answer: &[u8], after: After, expected: &[&str]) {
    let complete = play(url, dots, is_raw, &[answer], after);
    assert_eq!(complete, expected, "{url} {}", answer.escape_ascii());
    let single: Vec<&[u8]> = answer.chunks(1).collect();
    assert_eq!(play(url, dots, is_raw, &single, after), expected, "octet by octet: {url}");
    for at in 0..answer.len() {
        let (one, other) = answer.split_at(at);
        assert_eq!(play(url, dots, is_raw, &[one, other], after), expected, "{url} cut at {at}");
    }
}

const TEXT: &str = "gopher://h/0/a";
const BINARY: &str = "gopher://h/9/a";
const MENU: &str = "gopher://h/1/a";
const PLUS: &str = "gopher://h/0/a%09%09+";
const PLUS_MENU: &str = "gopher://h/1/a%09%09+";
const ATTRIBUTES: &str = "gopher://h/0/a%09%09!";

#[test]
fn text_ends_with_a_dot_or_with_the_connection() {
    use After::{Closed, Lost, Open};
    check(TEXT, b"a\r\n.\r\n", Closed, &["head:-", "body:a\\r\\n", "done"]);
    check(TEXT, b"a\r\n", Closed, &["head:-", "unmarked", "body:a\\r\\n", "done"]);
    check(TEXT, b"a\r\n.\r\n", Lost, &["head:-", "unmarked", "body:a\\r\\n", "done"]);
    check(TEXT, b"a\r\n", Lost, &["head:-", "body:a\\r\\n", "cut"]);
    check(TEXT, b"", Closed, &["head:-", "unmarked", "done"]);
    check(TEXT, b"a\r\n.\r\n", Open, &["head:-", "waits"]);
}

#[test]
fn dot_stuffing_option_overrides_detection() {
    let raw = |answer: &[u8], expected: &[&str]| {
        check_as(TEXT, DotStuffing::Raw, false, answer, After::Closed, expected);
    };
    raw(b"..\r\n.\r\n", &["head:-", "body:..\\r\\n.\\r\\n", "done"]);
    raw(b"..\r\n", &["head:-", "unmarked", "body:..\\r\\n", "done"]);
    check_as(
        TEXT,
        DotStuffing::Rfc1436,
        false,
        b"..\r\n.\r\n",
        After::Closed,
        &["head:-", "body:.\\r\\n", "done"],
    );
}

#[test]
fn binary_item_ends_with_the_connection() {
    check(BINARY, b"\x00\r\n.\r\n", After::Closed, &["head:-", "body:\\x00\\r\\n.\\r\\n", "done"]);
    check(BINARY, b"\x00\r\n.\r\n", After::Lost, &["head:-", "body:\\x00\\r\\n.\\r\\n", "cut"]);
    check(BINARY, b"", After::Closed, &["note", "head:-", "done"]);
    check(BINARY, b"", After::Lost, &["cut"]);
}

#[test]
fn single_line_of_type_3_is_a_refusal() {
    let line = b"3not here\t\terror.host\t1\r\n";
    for url in [TEXT, BINARY] {
        check(url, line, After::Closed, &["refused:-:not here", "done"]);
        check(url, &[line, &b".\r\n"[..]].concat(), After::Closed, &["refused:-:not here", "done"]);
    }
    check(MENU, line, After::Closed, &["head:-", "refused:-:not here", "done"]);
    // UMN gopherd reports errors with type 0, also for menus and to Gopher+ requests.
    let umn = b"0busy\t\terror.host\t1\r\n";
    for url in [TEXT, BINARY] {
        check(url, umn, After::Closed, &["refused:-:busy", "done"]);
    }
    check(PLUS, umn, After::Closed, &["note", "refused:-:busy", "done"]);
    check(MENU, umn, After::Closed, &["head:-", "refused:-:busy", "done"]);
    let footer = b"3not here\t\terror.host\t1\r\niby a server\tfake\t(NULL)\t0\r\n.\r\n";
    check(MENU, footer, After::Closed, &["head:-", "refused:-:not here", "done"]);
    let below = b"iHello\tfake\t(NULL)\t0\r\n3not here\t\terror.host\t1\r\n";
    check(MENU, below, After::Closed, &["head:-", "entry:iHello -", "refused:-:not here", "done"]);
    // Entries are emitted as soon as they are parsed, and an error item among other items is an entry.
    check(MENU, b"iHello\tfake\t(NULL)\t0\r\n", After::Open, &["head:-", "entry:iHello -", "waits"]);
    check(
        MENU,
        b"3not here\t\terror.host\t1\r\n0A\t/a\th\t70\r\n.\r\n",
        After::Closed,
        &["head:-", "entry:3not here -", "entry:0A gopher://h/0/a", "done"],
    );
    check(
        BINARY,
        b"3\t\terror.host\t1\r\nx",
        After::Closed,
        &["head:-", "body:3\\t\\terror.host\\t1\\r\\nx", "done"],
    );
}

#[test]
fn every_menu_line_becomes_an_entry() {
    check(
        MENU,
        b"iHello\tfake\t(NULL)\t0\r\n0A\t/a\th.example\t70\r\n1B\t/b c\th.example\t7070\t+\r\nodd\r\n\r\n.\r\n",
        After::Closed,
        &[
            "head:-",
            "entry:iHello -",
            "entry:0A gopher://h.example/0/a",
            "entry:1B gopher://h.example:7070/1/b%20c%09%09+",
            "entry:iodd fields are missing",
            "entry:i an empty line",
            "done",
        ],
    );
    check(
        MENU,
        b"0A\t/a\th\t70\r\n",
        After::Closed,
        &["head:-", "entry:0A gopher://h/0/a", "unmarked", "done"],
    );
    check(MENU, b"0A\t/a\th\t70", After::Closed, &["head:-", "entry:0A gopher://h/0/a", "unmarked", "done"]);
    check(MENU, b"0A\t/a\th\t70\r\n0B\t/", After::Lost, &["head:-", "entry:0A gopher://h/0/a", "cut"]);
    check(MENU, b"0A\t/a\th\t70\r\n", After::Lost, &["head:-", "entry:0A gopher://h/0/a", "cut"]);
    check(
        MENU,
        b"0A\t/a\th\t70\r\n.\r\n",
        After::Lost,
        &["head:-", "entry:0A gopher://h/0/a", "unmarked", "done"],
    );
    check(PLUS, b"+-1\r\na\r\n.\r\n", After::Lost, &["head:-", "body:a\\r\\n", "done"]);
    check(
        MENU,
        b".\r\n0A\t/a\th\t70\r\n.\r\n",
        After::Closed,
        &["head:-", "entry:i. fields are missing", "entry:0A gopher://h/0/a", "done"],
    );
    check(
        MENU,
        b"0A\t/a\th\t7x\r\n+B\t/b\th\t70\r\n.\r\n",
        After::Closed,
        &["head:-", "entry:i0A\\t/a\\th\\t7x not a port", "entry:+B gopher://h/1/b", "done"],
    );
    check_as(
        MENU,
        DotStuffing::Detect,
        true,
        b"0A\t/a\th\t70\r\n.\r\n",
        After::Closed,
        &["head:-", "body:0A\\t/a\\th\\t70\\r\\n.\\r\\n", "done"],
    );
}

#[test]
fn item_of_type_plus_has_the_type_of_the_item_before_it() {
    check(
        MENU,
        b"9A\t/a\th\t70\r\niinfo\t\t\t\r\n+B\t/b\tg\t70\r\n+C\t/c\tg\t70\r\n.\r\n",
        After::Closed,
        &[
            "head:-",
            "entry:9A gopher://h/9/a",
            "entry:iinfo -",
            "entry:+B gopher://g/9/b",
            "entry:+C gopher://g/9/c",
            "done",
        ],
    );
}

#[test]
fn items_with_invalid_hosts_have_no_url() {
    for (host, url) in [
        ("h.example", "gopher://h.example/0/a"),
        ("::1", "gopher://[::1]/0/a"),
        ("h/x", "-"),
        ("h?x", "-"),
        ("u@h", "-"),
        ("h:25", "-"),
        ("", "-"),
        ("a b", "-"),
        ("h\u{1}", "-"),
    ] {
        let line = format!("0A\t/a\t{host}\t70\r\n.\r\n");
        check(MENU, line.as_bytes(), After::Closed, &["head:-", &format!("entry:0A {url}"), "done"]);
    }
}

#[test]
fn url_links_are_resolved_except_file_urls() {
    for (selector, url) in [
        ("URL:http://x.example/", "http://x.example/"),
        ("/URL:https://x.example/a", "https://x.example/a"),
        ("URL:ftp://u@x.example/", "ftp://u@x.example/"),
        ("URL:ftp://u:p@x.example/", "gopher://h/hURL:ftp://u:p@x.example/"),
        ("URL:file:///etc/passwd", "gopher://h/hURL:file:///etc/passwd"),
        ("URL:javascript:x", "gopher://h/hURL:javascript:x"),
        ("URL:http://[bad/", "gopher://h/hURL:http://%5Bbad/"),
    ] {
        let line = format!("hA\t{selector}\th\t70\r\n.\r\n");
        check(MENU, line.as_bytes(), After::Closed, &["head:-", &format!("entry:hA {url}"), "done"]);
    }
}

#[test]
fn gopher_plus_body_ends_by_length_dot_or_close() {
    use After::{Closed, Lost, Open};
    check(PLUS, b"+3\r\nabc.\r\n", Open, &["head:3", "body:abc", "done"]);
    check(PLUS, b"+3\r\nabc", Lost, &["head:3", "body:abc", "done"]);
    check(PLUS, b"+4\r\nabc", Closed, &["head:4", "body:abc", "cut"]);
    check(PLUS, b"+0\r\n", Open, &["head:0", "done"]);
    check(PLUS, b"+-1\r\n..a\r\n.\r\n", Closed, &["head:-", "body:.a\\r\\n", "done"]);
    // UMN servers announce a final dot for HTML files, but do not send it.
    check(PLUS, b"+-1\r\na\r\n", Closed, &["head:-", "unmarked", "body:a\\r\\n", "done"]);
    check(PLUS, b"+-1\r\na.\r\n", Closed, &["head:-", "unmarked", "body:a.\\r\\n", "done"]);
    let html = "gopher://h/ha%09%09+";
    check(html, b"+-1\r\n<p>\n", Closed, &["head:-", "unmarked", "body:<p>\\n", "done"]);
    for binary in ["gopher://h/9a%09%09+", "gopher://h/Ia%09%09+", "gopher://h/0a%09%09+image/gif"] {
        check(binary, b"+-1\r\n\x01\n", Closed, &["head:-", "body:\\x01\\n", "cut"]);
    }
    check(PLUS, b"+-1\r\na\r\n", Lost, &["head:-", "body:a\\r\\n", "cut"]);
    check(PLUS, b"+-1\r\na", Closed, &["head:-", "body:a", "cut"]);
    check(PLUS, b"+-2\r\n..a\r\n.\r\n", Closed, &["head:-", "body:..a\\r\\n.\\r\\n", "done"]);
    check(PLUS, b"+-2\r\na", Lost, &["head:-", "body:a", "cut"]);
    check(PLUS_MENU, b"+17\r\n0A\t/a\th\t70\r\nmore", Open, &["head:-", "entry:0A gopher://h/0/a", "waits"]);
}

#[test]
fn requested_view_decides_whether_the_body_is_a_menu() {
    let html = b"+-1\r\n<p>\r\n.\r\n";
    check("gopher://h/1/a%09%09+text/html", html, After::Closed, &["head:-", "body:<p>\\r\\n", "done"]);
    let menu = b"+-1\r\n0A\t/a\th\t70\r\n.\r\n";
    for view in ["application/gopher-menu", "Application/Gopher+-menu%20En_US", "Directory/recursive"] {
        let url = format!("gopher://h/1/a%09%09+{view}");
        check(&url, menu, After::Closed, &["head:-", "entry:0A gopher://h/0/a", "done"]);
    }
}

#[test]
fn menu_of_known_length_ends_there() {
    let line = b"0A\t/a\th\t70\r\n";
    let answer = [format!("+{}\r\n", line.len()).as_bytes(), line, b".\r\n"].concat();
    check(PLUS_MENU, &answer, After::Open, &["head:-", "entry:0A gopher://h/0/a", "done"]);
    check(PLUS_MENU, &answer[..answer.len() - 5], After::Closed, &["head:-", "cut"]);
    check(
        PLUS_MENU,
        b"+-2\r\n0A\t/a\th\t70\r\n",
        After::Closed,
        &["head:-", "entry:0A gopher://h/0/a", "done"],
    );
    check(
        PLUS_MENU,
        b"+-1\r\n0A\t/a\th\t70\r\n",
        After::Closed,
        &["head:-", "entry:0A gopher://h/0/a", "cut"],
    );
}

#[test]
fn response_without_status_line_is_delivered_with_a_note() {
    check(PLUS, b"a\r\n.\r\n", After::Closed, &["note", "head:-", "body:a\\r\\n", "done"]);
    check(PLUS, b"+a\r\n.\r\n", After::Closed, &["note", "head:-", "body:+a\\r\\n", "done"]);
    check(PLUS, b"+-3\r\n.\r\n", After::Closed, &["note", "head:-", "body:+-3\\r\\n", "done"]);
    check(PLUS, b"", After::Closed, &["cut"]);
    check(
        PLUS,
        b"+99999999999999999999\r\n",
        After::Closed,
        &["note", "head:-", "unmarked", "body:+99999999999999999999\\r\\n", "done"],
    );
    check(
        ATTRIBUTES,
        b"the text\r\n",
        After::Closed,
        &["note", "head:-", "unmarked", "body:the text\\r\\n", "done"],
    );
    check(PLUS, b"3no\t\terror.host\t1\r\n", After::Closed, &["note", "refused:-:no", "done"]);
}

#[test]
fn gopher_plus_error_is_a_refusal_with_its_code() {
    for (answer, expected) in [
        (&b"--1\r\n1 Admin <a@b.example>\r\nNot here\r\n.\r\n"[..], "refused:1:Not here"),
        (b"--2\r\n2 Admin <a@b.example>\r\nTry later\r\n", "refused:2:Try later"),
        (b"--2\r\n3 Admin <a@b.example>\r\n0A\t/new\tg.example\t70\r\n", "gopher://g.example/0/new"),
    ] {
        for pieces in [vec![answer], answer.chunks(1).collect()] {
            let events = play(PLUS, DotStuffing::Detect, false, &pieces, After::Closed);
            assert!(events[0].contains(expected) && events[1..] == ["done"], "{events:?}");
        }
    }
    let events = play(PLUS, DotStuffing::Detect, false, &[b"--1\r\n1 a\r\nno\r\n.\r\n"], After::Open);
    assert_eq!(events.last().map(String::as_str), Some("done"), "a dot ends it: {events:?}");
}

#[test]
fn gopher_plus_error_ends_at_its_first_line_of_one_dot_wherever_it_is_cut() {
    for end in [After::Closed, After::Open] {
        let answer = b"--1\r\n1 Admin <a@b.example>\r\nNot here\n.\nbeyond\r\n.\r\n";
        check(PLUS, answer, end, &["refused:1:Not here", "done"]);
    }
    check(PLUS, b"--2\r\n1 Gone.\r\n", After::Closed, &["refused:1:Gone.", "done"]);
}

#[test]
fn item_attributes_become_one_entry_per_item() {
    let answer = b"+-1\r\n+INFO: 0A\t/a\th.example\t70\t+\r\n+ADMIN:\r\n Admin: x <y@z.example>\r\n\
        +VIEWS:\r\n text/plain: <1k>\r\n+INFO: 1B\t/b\th.example\t70\r\n.\r\n";
    check(
        ATTRIBUTES,
        answer,
        After::Closed,
        &[
            "head:-",
            "entry:0A gopher://h.example/0/a%09%09+ +ADMIN +VIEWS",
            "entry:1B gopher://h.example/1/b",
            "done",
        ],
    );
    check(
        ATTRIBUTES,
        b"+-1\r\n+INFO: 0A\t/a\th\t70\r\n",
        After::Closed,
        &["head:-", "entry:0A gopher://h/0/a", "cut"],
    );
}

#[test]
fn endless_menu_line_exceeds_the_limit() {
    let mut pieces = vec![&[b'1'; 4096][..]; 1000];
    pieces.push(b"\r\n");
    let events = play(MENU, DotStuffing::Detect, false, &pieces, After::Closed);
    assert_eq!(events, ["head:-", "limit"]);
}

/// Returns the machine of a request for `url`.
fn exchange(url: &str) -> Exchange {
    let Url::Gopher(url) = parse(url).expect("a URL").url else { panic!("{url}") };
    let request = GopherRequest::from_url(&url).expect("it can be sent");
    Exchange::new(&request, url.gtype(), DotStuffing::Detect, false, None)
}

/// The answer arrives byte by byte. The line of one dot counts only where it is the end of what has arrived.
#[test]
fn final_dot_is_recognised_while_the_connection_is_open() {
    for (url, answer, expected) in [
        ("gopher://h/0x", "a\r\n.\r\n", true),
        ("gopher://h/0x", ".\n", true),
        ("gopher://h/0x", "a\r\n.", false),
        ("gopher://h/0x", "a\r\n", false),
        ("gopher://h/0x", "a.\r\n", false),
        ("gopher://h/0x", "a\r\n.\r\nb\r\n", false),
        ("gopher://h/1x", "iA\t\th\t70\r\n.\r\n", true),
        ("gopher://h/0x%09%09+", "+-1\r\na\r\n.\r\n", true),
        ("gopher://h/9x%09%09+", "+-1\r\na\r\n.\r\n", true),
        ("gopher://h/0x%09%09+", "+-2\r\na\r\n.\r\n", false),
        ("gopher://h/0x%09%09+", "+9\r\na\r\n.\r\n", false),
        ("gopher://h/9x", "a\r\n.\r\n", false),
        ("gopher://h/0x", "3no\t\terror.host\t1\r\n.\r\n", true),
        ("gopher://h/9x", "3no\t\terror.host\t1\r\n.\r\n", true),
    ] {
        let (mut machine, mut buffer) = (exchange(url), RecvBuffer::new());
        for end in 0..=answer.len() {
            while machine.step(&mut buffer).expect("a step") != Step::NeedMore {}
            let at_end = end == answer.len();
            let has_end = machine.has_final_dot(&buffer);
            assert_eq!(has_end && at_end, expected && at_end, "{answer:?} at {end}");
            assert!(!has_end || answer[..end].ends_with(".\r\n") || answer[..end].ends_with(".\n"));
            buffer.push(answer.as_bytes().get(end..=end).unwrap_or_default());
        }
    }
}
