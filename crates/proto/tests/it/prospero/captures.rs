//! DatagramSockets captured between real Prospero programs: the requests of fetch-url equal those of real clients, and the
//! answers of real servers are parsed.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::time::Duration;

use crate::prospero::transcript::{
    CAPTURED, QueryKind, Side, captured, check, data, datagrams, object, text,
};
use fetch_url_proto::ardp::{Action, Exchange};
use fetch_url_proto::prospero::Query;

const PATIENCE: Duration = Duration::from_secs(60);

fn id(datagram: &[u8]) -> u16 {
    u16::from_be_bytes([datagram[1], datagram[2]])
}

fn exchange(id: u16, request: &[u8]) -> Exchange {
    Exchange::new(NonZeroU16::new(id).expect("an id"), request, PATIENCE, Duration::ZERO)
}

/// Passes these datagrams to an exchange with this id. Returns the text, the datagrams sent after the request, and the
/// last action.
fn receive_all(id: u16, datagrams: &[Vec<u8>]) -> (Vec<u8>, Vec<Vec<u8>>, Action) {
    let mut exchange = exchange(id, b"x");
    let (mut text, mut sent) = (Vec::new(), Vec::new());
    let last = drain(&mut exchange, &mut text, &mut sent);
    assert!(matches!(last, Action::Wait(_)));
    sent.clear();
    for datagram in datagrams {
        exchange.receive(datagram, Duration::ZERO).expect("an answer");
        let _ = drain(&mut exchange, &mut text, &mut sent);
    }
    let last = drain(&mut exchange, &mut text, &mut sent);
    (text, sent, last)
}

fn drain(exchange: &mut Exchange, text: &mut Vec<u8>, sent: &mut Vec<Vec<u8>>) -> Action {
    loop {
        match exchange.next(Duration::ZERO) {
            Action::Piece(bytes) => text.extend_from_slice(&bytes),
            Action::Send(datagram) => sent.push(datagram.to_vec()),
            other => return other,
        }
    }
}

/// Returns the datagrams of all captured answers, by name and id.
fn answers() -> BTreeMap<(&'static str, u16), Vec<Vec<u8>>> {
    let mut answers = BTreeMap::<_, Vec<_>>::new();
    let all = datagrams().into_iter().filter(|(name, side, _)| {
        *side == Side::Server && !name.starts_with("built") && *name != "hdr1-no-cid"
    });
    for (name, _, datagram) in all {
        answers.entry((name, id(&datagram))).or_default().push(datagram);
    }
    answers
}

/// The packet numbers are in the order in which the packets were captured.
#[test]
fn captured_packets_are_assembled_in_every_order() {
    let answers = answers();
    assert_eq!(answers.len(), 36);
    for ((name, id), datagrams) in &answers {
        let expected_text: Vec<u8> = datagrams.iter().flat_map(|datagram| data(datagram).to_vec()).collect();
        let is_all = |datagrams: &[Vec<u8>], how: &str| {
            let (text, _, last) = receive_all(*id, datagrams);
            assert_eq!(
                (text.escape_ascii().to_string(), last),
                (expected_text.escape_ascii().to_string(), Action::Done),
                "{name} {how}"
            );
        };
        is_all(datagrams, "in order");
        is_all(&datagrams.iter().rev().cloned().collect::<Vec<_>>(), "backwards");
        let twice = datagrams.iter().flat_map(|datagram| [datagram.clone(), datagram.clone()]);
        is_all(&twice.collect::<Vec<_>>(), "twice");
        for missing in 0..datagrams.len() {
            let mut some = datagrams.clone();
            some.remove(missing);
            let (text, _, last) = receive_all(*id, &some);
            assert!(
                expected_text.starts_with(&text) && matches!(last, Action::Wait(_)),
                "{name} without {missing}"
            );
        }
        let (text, sent, last) = receive_all(*id ^ 1, datagrams);
        assert!(text.is_empty() && sent.is_empty() && matches!(last, Action::Wait(_)), "{name} of another");
    }
}

#[test]
fn captured_windows_are_acknowledged_as_captured() {
    let acknowledged: Vec<_> = captured("window4", Side::Client).split_off(1);
    let answer = captured("window4", Side::Server);
    assert_eq!((acknowledged.len(), answer.len()), (3, 11));
    assert_eq!(receive_all(0x011a, &answer).1, acknowledged);
    let sixteen = captured("built-ack-thru-16", Side::Client);
    let mut packets: Vec<_> = (1..=16_u8).map(|at| vec![7, 1, 0x1a, 0, at, 0, 0, b'x']).collect();
    packets[15] = vec![12, 1, 0x1a, 0, 16, 0, 0, 0, 1, 0, 0, 0x80, b'x'];
    assert_eq!(receive_all(0x011a, &packets).1, sixteen);
}

/// An answer without an id is ignored, because all requests of fetch-url have one.
#[test]
fn answer_without_an_id_is_ignored() {
    let answer = captured("hdr1-no-cid", Side::Server);
    let (text, sent, last) = receive_all(1, &answer);
    assert!(text.is_empty() && sent.is_empty() && matches!(last, Action::Wait(_)));
}

fn attributes(names: &[&str]) -> Query {
    Query::Attributes(names.iter().map(|&name| name.to_owned()).collect())
}

/// Returns the captured requests for which fetch-url has a query.
fn requests() -> Vec<(&'static str, Query, &'static str)> {
    let (access_query, method) = (|| Query::AccessMethods, || attributes(&["ACCESS-METHOD"]));
    let sized = || attributes(&["ACCESS-METHOD", "SIZE"]);
    vec![
        ("list-all", Query::Links, "/srv/pub"),
        ("goi-access-method", method(), "/srv/pub/hello.txt"),
        ("goi-all", Query::All, "/srv/pub/hello.txt"),
        ("goi-native-only", method(), "/srv/pub/link.txt"),
        ("goi-native-size", sized(), "/srv/pub/link.txt"),
        ("goi-contents", Query::Contents, "/srv/pub/dir/x.txt"),
        ("goi-am-modes-native-file", access_query(), "/srv/pub/link.txt"),
        ("goi-am-modes-shadowed-file", access_query(), "/srv/pub/hello.txt"),
        ("goi-am-modes-dir", access_query(), "/srv/pub/dir"),
        ("goi-am-modes-nosuch", access_query(), "/srv/pub/nosuch"),
        ("goi-contents-binary-nul", Query::Contents, "/srv/pub/nul.dat"),
        ("goi-dir", sized(), "/srv/pub/dir"),
        ("goi-notfound", sized(), "/srv/pub/nosuch"),
        ("goi-notauth", method(), "/etc/passwd"),
    ]
}

/// Returns a captured request with the user name and the LIST option that fetch-url sends.
fn as_sent_by_fetch_url(request: &[u8]) -> Vec<u8> {
    let replace = |text: &[u8], old: &[u8], new: &[u8]| {
        let at = text.windows(old.len()).position(|window| window == old);
        at.map_or_else(|| text.to_vec(), |at| [&text[..at], new, &text[at + old.len()..]].concat())
    };
    replace(&replace(request, b" root\n", b" anonymous\n"), b"LIST ''", b"LIST ATTRIBUTES")
}

/// Requests are equal except for the name of the user and the option of LIST (§6).
#[test]
fn requests_equal_the_captured_ones() {
    for (name, question, of) in requests() {
        let captured_request = &captured(name, Side::Client)[0];
        let own_request = question.text(&object(of.as_bytes()));
        let sent = exchange(id(captured_request), &own_request).next(Duration::ZERO);
        assert_eq!(sent, Action::Send(as_sent_by_fetch_url(captured_request).into()), "{name}");
    }
    // The captured request is split where fetch-url would not split it, so only the text is compared.
    let captured_request: Vec<u8> =
        captured("request-in-2-packets", Side::Client).iter().flat_map(|at| data(at).to_vec()).collect();
    let own_request = attributes(&["SIZE"]).text(&object(b"/srv/pub/hello.txt"));
    assert_eq!(
        own_request.escape_ascii().to_string(),
        as_sent_by_fetch_url(&captured_request).escape_ascii().to_string()
    );
}

const AFTP: &str = "ftp://ftp.test/pub/hello.txt;type=i";
// With a type argument, the complete name is the selector (vcache.c).
const GOPHER: &str = "gopher://g.test:70/00/hello";
const NATIVE: &str = "contents | local /srv/pub/hello.txt";

#[test]
fn captured_attributes_are_parsed() {
    let stored = format!("description a tiny file | {AFTP} | {GOPHER} | {NATIVE} | done");
    let sized = format!("size 26 | {NATIVE} | done");
    let full = format!(
        "directory false | size 26 | modified 1795218939 | description a tiny file | {AFTP} | {GOPHER} | {NATIVE} | done"
    );
    for (name, expected) in [
        ("goi-access-method", &stored[..]),
        ("goi-all", &full),
        ("goi-native-only", "refused NOT-FOUND | done"),
        ("goi-native-size", &sized),
        ("goi-am-modes-native-file", &format!("directory false | {NATIVE} | done")),
        ("goi-am-modes-shadowed-file", &format!("directory false | {stored}")),
        ("goi-am-modes-dir", "directory true | done"),
        ("goi-am-modes-nosuch", "refused NOT-FOUND | done"),
        ("goi-dir", &format!("size 4096 | {NATIVE} | done")),
        ("goi-notfound", "refused NOT-FOUND | done"),
        ("goi-notauth", "refused NOT-AUTHORIZED | done"),
        ("request-in-2-packets", &format!("size 26 | description a tiny file | {AFTP} | {GOPHER} | done")),
        ("list-unresolved", "elsewhere INTERNET-D other.test(2525) /far/dir/a/b 0 | done"),
        ("list-nonefound", "done"),
        ("badversion", "refused VERSION-NOT-SUPPORTED TRY 1-5 | done"),
        ("unknowncmd", "unexpected"),
        ("badquote", "unexpected"),
        // A valid line that does not answer this query.
        ("version", "unexpected"),
    ] {
        // The server chooses the order of the attributes; the test uses a fixed order of words.
        check(QueryKind::Attributes, &text(name), expected);
    }
    let vget = captured("vls-vget", Side::Server);
    check(QueryKind::Attributes, data(&vget[3]), &stored);
}

#[test]
fn captured_contents_are_parsed() {
    check(QueryKind::Contents, &text("goi-contents"), "head | body in dir\\n | done");
    let bytes = b"a\0b'c d\n\r\n\xff/+,end".escape_ascii();
    check(QueryKind::Contents, &text("goi-contents-binary-nul"), &format!("head | body {bytes} | done"));
    check(QueryKind::Contents, &text("goi-am-modes-nosuch"), "refused NOT-FOUND | done");
    check(QueryKind::Contents, &text("goi-notauth"), "refused NOT-AUTHORIZED | done");
    check(QueryKind::Contents, &text("badversion"), "refused VERSION-NOT-SUPPORTED TRY 1-5 | done");
    check(QueryKind::Contents, &text("badquote"), "unexpected");
    check(QueryKind::Contents, &text("list-nonefound"), "refused | done");
}

const DIR: &str = "entry directory dir prospero://W.TEST//srv/pub/dir";
const GOPHER_LINK: &str = "entry link gopher.link gopher://g.test:70/00/about.txt";
const FTP_LINK: &str = "entry link ftp.link ftp://ftp.test/pub/it's%20+%20x.txt;type=a";
const WAIS_LINK: &str = "entry link wais.link wais://w.test:210/t/TEXT/%01%0Aw.test%3A210%02%01t%03%110%2078%20%2Fsrv%2Fd%2Fa.txt";
const QUOTED: &str = "entry file it's a file.txt prospero://W.TEST//srv/pub/it's%20a%20file.txt";

#[test]
fn captured_links_are_parsed() {
    let file = |name: &str| format!("entry file {name} prospero://W.TEST//srv/pub/{name}");
    let all = [
        "head".to_owned(),
        DIR.to_owned(),
        GOPHER_LINK.to_owned(),
        "entry directory many prospero://W.TEST//srv/pub/many".to_owned(),
        file("nul.dat"),
        file("hello.txt"),
        file("bin.dat"),
        file("link.txt"),
        QUOTED.replace('\'', "\\'").replacen("/it\\'s", "/it's", 1),
        FTP_LINK.to_owned(),
        "entry directory far prospero://other.test:2525//far/dir".to_owned(),
        WAIS_LINK.to_owned(),
        "entry link symb -".to_owned(),
        "done".to_owned(),
    ]
    .join(" | ");
    check(QueryKind::Links, &text("list-all"), &all);
    for (name, expected) in [
        ("list-dir", DIR),
        ("list-external-gopher", GOPHER_LINK),
        ("list-external-ftp", FTP_LINK),
        ("list-external-wais", WAIS_LINK),
        ("list-symbolic", "entry link symb -"),
    ] {
        check(QueryKind::Links, &text(name), &format!("head | {expected} | done"));
    }
    check(QueryKind::Links, &text("list-nonefound"), "head | done");
    let files = captured("window4", Side::Server).iter().flat_map(|at| data(at).to_vec()).collect::<Vec<_>>();
    let events = crate::prospero::transcript::events_of(QueryKind::Links, &files, &|at| at % 1250 == 0);
    let entries = events.iter().filter(|word| word.starts_with("entry file file-number-00"));
    assert_eq!((entries.count(), events.len()), (100, 102));
}

/// The first FAILURE ends the message (§6), so a rejected listing has no head.
#[test]
fn refused_listing_has_no_head() {
    let notdir = crate::prospero::transcript::events_of(QueryKind::Links, &text("list-notdir"), &|_| false);
    assert_eq!(notdir, ["refused NOT-A-DIRECTORY", "done"]);
}

/// Two lines of one exchange are equal if a datagram was retransmitted.
#[test]
fn capture_file_has_all_94_lines() {
    assert_eq!(CAPTURED.lines().filter(|line| !line.starts_with('#')).count(), 94);
    assert_eq!(captured("two-packets", Side::Server).len(), answers()[&("two-packets", 0x0118)].len());
}
