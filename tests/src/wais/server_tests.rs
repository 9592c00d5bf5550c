//! The WAIS server against what freeWAIS-sf and its clients said to each other, and against plain sockets.

use std::io::{ErrorKind, Read, Write};

use super::*;
use crate::wais::asking::{answer, connected, framed, message, retrieval, search};
use crate::{
    Ending, WaisAct, WaisCut, WaisDatabase, WaisDiagnostic, WaisDocument, WaisLayer, WaisOn, WaisRule,
    pattern_vec,
};

/// `NAME C> HEX` and `NAME S> HEX`, as captured.
const VECTORS: &str = include_str!("../../../crates/proto/tests/data/wais-vectors.txt");
/// The text that was indexed as `a.txt`.
const A_TXT: &str = "Gopher burrows\n\nThe gopher digs a tunnel under the garden.\nLine four is here.\n";

fn start(site: WaisSite) -> WaisServer {
    WaisServer::start(site).unwrap()
}

/// The messages of the capture: whose they are, and their octets.
fn captured() -> Vec<(&'static str, bool, Vec<u8>)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.filter_map(|line| Some((line.split_once(' ')?, line.rsplit_once(' ')?.1)));
    let octets = |hex: &str| {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    parts.map(|((name, rest), hex)| (name, rest.starts_with("C>"), octets(hex))).collect()
}

/// The text of the only record of a captured answer.
fn text(name: &str) -> Vec<u8> {
    let messages = captured();
    let (_, _, octets) = messages.iter().find(|(found, is_client, _)| *found == name && !is_client).unwrap();
    let record = decoded(octets).into_iter().find(|(tag, _)| *tag == 153).unwrap().1;
    fields(&record).pop().unwrap().1
}

/// The information part of an answer, field by field; a diagnostic is its code.
fn decoded(message: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let first = usize::from(message[25]) << 8 | usize::from(message[26]);
    fields(&fields(&message[27 + first..])[0].1)
}

fn fields(mut octets: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut found = Vec::new();
    while !octets.is_empty() {
        let tag = integer(&mut octets);
        if tag == 28 {
            let length = usize::from(octets[0]) << 8 | usize::from(octets[1]);
            assert_eq!(octets[2 + length], 0x1d);
            found.push((tag, octets[2..4].to_vec()));
            octets = &octets[3 + length..];
            continue;
        }
        let length = integer(&mut octets);
        found.push((tag, octets[..length].to_vec()));
        octets = &octets[length..];
    }
    found
}

fn integer(octets: &mut &[u8]) -> usize {
    let mut value = 0;
    loop {
        let octet = octets[0];
        *octets = &octets[1..];
        value = value << 7 | usize::from(octet & 127);
        if octet < 128 {
            return value;
        }
    }
}

/// So many lines of so many octets together.
fn lines(count: usize, octets: usize) -> Vec<u8> {
    let mut text = vec![b'x'; octets - count];
    text.resize(octets, b'\n');
    text
}

/// The server that was captured, as far as it is known.
fn of_old() -> WaisSite {
    let text = |headline: &str, file: &str, octets: Vec<u8>| {
        WaisDocument::new(headline, "", "TEXT", octets).file(&format!("/srv/d/{file}"))
    };
    let a = text("Gopher burrows", "a.txt", A_TXT.into());
    let b = text("Prospero notes", "b.txt", lines(4, 88));
    let long = text("Long tunnel report", "long.txt", lines(455, 24_029));
    let gif = WaisDocument::new("p.gif", "", "GIF", self::text("retr-gif")).file("/srv/d/p.gif");
    let database = WaisDatabase::new("t")
        .long_ids()
        .document(a.scored("gopher", 450).scored("garden", 489).scored("tunnel", 300))
        .document(b.scored("gopher", 280))
        .document(long.scored("tunnel", 75))
        .document(gif.scored("gif", 1791))
        .description(self::text("retr-catalog"))
        .catalogue(lines(25, 387));
    WaisSite::new().name("w.test:210").directory("/srv/i").database(database)
}

#[test]
fn what_was_captured_is_what_is_said() {
    let server = start(of_old());
    let messages = captured();
    let mut count = 0;
    for (at, (name, is_client, request)) in messages.iter().enumerate() {
        if !is_client {
            continue;
        }
        let (said, _) = answer(server.addr(), request);
        match messages.get(at + 1) {
            Some((_, false, expected)) => {
                // It counted 18 lines in the description, which has 16.
                let miscounted =
                    expected.windows(8).position(|window| window == b"\x81\x03\x01\x12\x81\x04\x07\x81");
                let mut expected = expected.clone();
                if let Some(at) = miscounted {
                    expected[at + 3] = 16;
                }
                let told = format!("{name}\n{}\n{}", said.escape_ascii(), expected.escape_ascii());
                assert!(said == expected, "{told}");
                count += 1;
            }
            // The answers to Lynx's retrievals of the long text are not in the capture.
            _ => assert_eq!(decoded(&said)[0].0, 153, "{name}"),
        }
    }
    assert!(count >= 25, "{count}");
    assert_eq!(server.connections(), count + 3);
}

fn site() -> WaisSite {
    let database = WaisDatabase::new("t")
        .document(WaisDocument::new("One", "apple pear", "TEXT", "one\n\nend").also("HTML"))
        .document(
            WaisDocument::new("Two", "apple", "TEXT", "two")
                .also_as("PS", "%!PS")
                .city("Ulm")
                .date("19941201"),
        )
        .document(WaisDocument::new("Own", "plum", "URL", "own").id(b"\xff\0/".as_slice()).untyped());
    WaisSite::new().database(database).database(WaisDatabase::new("other"))
}

/// What the records of the answer to a request are: headlines, texts, codes.
fn records(server: &WaisServer, request: &[u8]) -> Vec<String> {
    let (octets, end) = answer(server.addr(), request);
    assert_eq!(end, None);
    let record = |(tag, octets): &(usize, Vec<u8>)| match tag {
        150 => {
            let fields = fields(octets);
            // The C programs of old take for 121 whatever stands behind 132.
            assert!(fields.windows(2).any(|pair| pair[0].0 == 132 && pair[1].0 == 121));
            fields.into_iter().find(|(tag, _)| *tag == 123).unwrap().1
        }
        153 => fields(octets).pop().unwrap().1,
        _ => octets.clone(),
    };
    decoded(&octets).iter().map(|found| String::from_utf8_lossy(&record(found)).into_owned()).collect()
}

#[test]
fn searches_find_what_freewais_finds() {
    let server = start(site());
    let nothing = "Search produced no result. Here's the Catalog for database: t";
    let own = ["Information on database: t", "Catalog for database: t"];
    let rows: [(&str, &str, u8, &[&str]); 12] = [
        ("t", "apple", 9, &["One", "Two"]),
        ("t", "PEAR or\r\nplum", 9, &["One", "Own"]),
        ("t", "apple", 1, &["One"]),
        ("t", "apple", 0, &[]),
        ("t.src", "plum", 9, &["Own"]),
        ("/wais/t", "plum", 9, &["Own"]),
        ("t\x1fother", "plum", 9, &["Own"]),
        ("t", "none", 9, &[nothing]),
        ("t", "", 9, &own),
        ("t", "(plum", 9, &[nothing, "S1"]),
        ("T", "plum", 9, &["S1"]),
        ("none", "plum", 9, &["S1"]),
    ];
    for (database, words, most, expected) in rows {
        let request = search(database.as_bytes(), words.as_bytes(), most);
        assert_eq!(records(&server, &request), expected, "{database} {words}");
    }
    assert_eq!(server.dialogue()[1], "SEARCH t 9 PEAR or\\r\\nplum");
    let first = WaisRequest::Search { database: b"t".to_vec(), words: b"apple".to_vec(), most: 9 };
    assert_eq!((&server.requests()[0], server.connections(), server.most_waiting()), (&first, 12, 1));
}

#[test]
fn ranges_end_as_freewais_ends_them() {
    let server = start(site());
    let id = b"\x01\x0dlocalhost:210\x02\x07/wais/t\x03\x0d0 8 /docs/One";
    let rows: [(u64, u64, &[&str]); 7] = [
        (0, 8, &["one\n\nend"]),
        (0, 3, &["one"]),
        (5, 10, &["end", "SF"]),
        (8, 10, &["", "SF"]),
        (9, 10, &["SF"]),
        (3, 1, &[]),
        (0, 10_000, &["one\n\nend", "SF"]),
    ];
    for (from, to, expected) in rows {
        let request = retrieval(b"t", id, b"TEXT", from, to);
        assert_eq!(records(&server, &request), expected, "{from} {to}");
    }
    let url = server.document_url("t", "One").unwrap();
    let path = "t/TEXT/%01%0Dlocalhost%3A210%02%07%2Fwais%2Ft%03%0D0%208%20%2Fdocs%2FOne";
    assert_eq!(url, server.url(path));
    assert_eq!(server.document_url("t", "None"), None);
    assert!(server.dialogue()[0].starts_with("RETRIEVE t TEXT 0-8 \\x01\\rlocalhost:210\\x02"));
}

#[test]
fn identifiers_are_taken_as_freewais_takes_them() {
    let server = start(site());
    let two = b"\x02\x07/wais/t\x03\x0d0 3 /docs/Two".as_slice();
    let hung_up: &[&str] = &[];
    let rows: [(&str, &[u8], &str, &[&str]); 11] = [
        ("t", two, "TEXT", &["two"]),
        ("t", two, "PS", &["%!P"]),
        ("t", two, "PS;x", &["%!P"]),
        ("t", two, "GIF", &["two"]),
        ("t", b"\xff\0/", "URL", &["own"]),
        ("t", b"\x02\x01t\x03\x0f0 0 /wais/t.cat", "TEXT", &["One"]),
        ("t", b"zzz", "TEXT", &["SF"]),
        ("t", b"\x02\x01t\x03\x03zzz", "TEXT", &["SF"]),
        ("t", b"\x03\x03zzz", "TEXT", hung_up),
        ("t", b"", "TEXT", hung_up),
        ("t.src", two, "TEXT", hung_up),
    ];
    for (database, id, wtype, expected) in rows {
        let request = retrieval(database.as_bytes(), id, wtype.as_bytes(), 0, 3);
        let told = format!("{database} {} {wtype}", id.escape_ascii());
        if expected.is_empty() {
            assert_eq!(answer(server.addr(), &request), (Vec::new(), None), "{told}");
        } else {
            assert_eq!(records(&server, &request), expected, "{told}");
        }
    }
}

#[test]
fn what_is_not_served_gets_nothing() {
    let server = start(site());
    let nothing = b"0000000000z2wais        0".as_slice();
    // A message that is not understood, then a type-0 query.
    for apdu in [
        b"\0\x07\x18\0\0\x01\0\0\x01".as_slice(),
        b"\xff\xff\x16",
        b"\0\x0e\x16\0\0\0\0\0\0\0\0\0\0\x14\x01\x30",
    ] {
        assert_eq!(answer(server.addr(), &framed(apdu)).0, nothing);
    }
    // A search without date factor and number of documents, and a version that nobody knows.
    let deadly = b"\0\x0e\x16\0\0\0\0\0\0\0\0\0\0\x14\x01\x33\x63\x03\x6a\x01a";
    let future = b"0000000000z3wais        0";
    for request in [framed(deadly).as_slice(), future, b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"] {
        assert_eq!(answer(server.addr(), request), (Vec::new(), None));
    }
    assert_eq!(server.dialogue(), ["PDU 24", "PDU 22", "PDU 22", "PDU 22", "PDU 0", "PDU 0"]);
}

#[test]
fn answers_have_to_fit() {
    let long = WaisDocument::new("Long", "long", "TEXT", pattern_vec(0, 200_000)).id(b"l".as_slice());
    let server = start(WaisSite::new().database(WaisDatabase::new("t").document(long)));
    let length = |end| answer(server.addr(), &retrieval(b"t", b"l", b"TEXT", 0, end)).0.len();
    assert_eq!((length(90_000), length(100_000)), (90_060, 25));
    let mut stream = connected(server.addr());
    stream.write_all(&framed(b"\0\x0f\x14\x03\x01\x80\x04\x01\x80\x05\x02\x07\xd0\x06\x02\x07\xd0")).unwrap();
    assert_eq!(message(&mut stream).0[28], 1);
    for (end, length) in [(1900, 1957), (2000, 25)] {
        stream.write_all(&retrieval(b"t", b"l", b"TEXT", 0, end)).unwrap();
        assert_eq!(message(&mut stream).0.len(), length, "{end}");
    }
    assert_eq!(server.connections(), 3);
}

#[test]
fn what_comes_together_is_dropped() {
    let server = start(site().nth(1, WaisAct::Pause(Duration::from_millis(30))));
    let request = search(b"t", b"plum", 1);
    let mut stream = connected(server.addr());
    stream.write_all(&request).unwrap();
    stream.write_all(&request).unwrap();
    stream.write_all(&request[..30]).unwrap();
    let (first, _) = message(&mut stream);
    assert_eq!((server.most_waiting(), server.requests().len()), (3, 1));
    // Octet by octet is no matter.
    for octet in &request {
        stream.write_all(&[*octet]).unwrap();
    }
    assert_eq!(message(&mut stream).0, first);
    assert_eq!((server.requests().len(), server.octets_sent()), (2, 2 * first.len() as u64));
}

#[test]
fn answers_depart_as_the_rules_say() {
    let sf = WaisDiagnostic::out_of_range;
    let rows: [(WaisAct, &[u8]); 21] = [
        (WaisAct::Answer(b"x".to_vec()), b"x"),
        (WaisAct::Message(b"x".to_vec()), b"0000000001z2wais        0x"),
        (WaisAct::Nothing, b"0000000000z2wais        0"),
        (WaisAct::Digits(b"x".to_vec()), b"xz2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x63\x0e\x81\x19\x0b\x74\x01w\x75\x01\0\x7f\x03two"),
        (WaisAct::Length(-2), b"0000000030z2wais        0\0\x0e\x17"),
        (WaisAct::Header(22, b"u".to_vec()), b"0000000032z2wais      u 0\0\x0e\x17"),
        (WaisAct::Hli(7), b"0000000032z2wais        0\0\x07\x17"),
        (
            WaisAct::Reference(b"r".to_vec()),
            b"0000000035z2wais        0\0\x11\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x02\x01r\x63",
        ),
        (WaisAct::Pdu(25), b"0000000032z2wais        0\0\x0e\x19"),
        (WaisAct::Fixed(b"x".to_vec()), b"0000000023z2wais        0\0\x05\x17x\x1b\x01\0\x63"),
        (WaisAct::NoInformation, b"0000000016z2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0"),
        (WaisAct::Alone(sf()), b"0000000045z2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x63\x1b\x1c\0\x17SFRequest out of range\x01\x1d"),
        (WaisAct::Beside(sf()), b"0000000059z2wais        0\0\x0e\x17\0\0\0\0\0\0\x02\0\0\0\x1b\x01\0\x63\x29\x81\x19\x0b\x74\x01w\x75\x01\0\x7f\x03two\x1c\0"),
        (WaisAct::Endless(b'x'), b"0000000032z2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x63\x0e\x81\x19\x0b\x74\x01w\x75\x01\0\x7f\x03xxx"),
        (WaisAct::MoreText(b'x', 2), b"0000000034z2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x63\x10\x81\x19\x0d\x74\x01w\x75\x01\0\x7f\x05twoxx"),
        (WaisAct::TooLong(WaisLayer::Field, 1), b"0000000032z2wais        0\0\x0e\x17\0\0\0\0\0\0\x01\0\0\0\x1b\x01\0\x63\x0e\x81\x19\x0b\x74\x01w\x75\x01\0\x7f\x04two"),
        (WaisAct::First(b"y".to_vec()), b"y0000000032z2wais        0"),
        (WaisAct::Cut(WaisCut::After(3), Ending::Close), b"000"),
        (WaisAct::Cut(WaisCut::Half, Ending::Close), b"0000000032z2wais        0\0\x0e\x17"),
        (WaisAct::Drip(1, Duration::from_micros(10)), b"0000000032z2wais        0\0\x0e\x17"),
        (WaisAct::Last(b"0".repeat(25)), b"0000000032z2wais        0\0\x0e\x17"),
    ];
    let document = WaisDocument::new("Two", "two", "TEXT", "two").id(b"w".as_slice());
    let site = WaisSite::new().database(WaisDatabase::new("t").document(document));
    let request = retrieval(b"t", b"w", b"TEXT", 0, 3);
    for (act, expected) in rows {
        let told = format!("{act:?}");
        let server = start(site.clone().always(act).always(WaisAct::End(Ending::Close)));
        let mut stream = connected(server.addr());
        stream.write_all(&request).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        assert!(said.starts_with(expected), "{told}: {}", said.escape_ascii());
        assert_eq!(server.octets_sent(), said.len() as u64, "{told}");
        server.mend();
        assert_eq!(answer(server.addr(), &request).0.len(), 25 + 32, "{told}");
    }
}

#[test]
fn rules_hold_at_their_time_and_connections_end_as_they_say() {
    let (apple, two) = (search(b"t", b"apple", 9), retrieval(b"t", b"\xff\0/", b"TEXT", 0, 3));
    let nothing = |on| WaisRule::on(on, WaisAct::Nothing).nth(2);
    let server = start(site().rule(nothing(WaisOn::Search)).rule(nothing(WaisOn::Retrieve)));
    let mut stream = connected(server.addr());
    let lengths = [&apple, &two, &two, &apple, &apple].map(|request| {
        stream.write_all(request).unwrap();
        message(&mut stream).0.len() > 25
    });
    assert_eq!(lengths, [true, true, false, false, true]);
    let cut = |ending| answer(start(site().cut(WaisCut::After(9), ending)).addr(), &apple);
    assert_eq!((cut(Ending::Close).0.len(), cut(Ending::Close).1), (9, None));
    assert_eq!(cut(Ending::Reset).1, Some(ErrorKind::ConnectionReset));
    assert_eq!(cut(Ending::Stall(Duration::from_millis(5))).1, None);
    let at_once = |ending| answer(start(site().on(WaisOn::Accept, WaisAct::End(ending))).addr(), &apple);
    assert_eq!(at_once(Ending::Close).0, b"");
    assert_eq!(at_once(Ending::Reset), (Vec::new(), Some(ErrorKind::ConnectionReset)));
    let flood =
        start(site().always(WaisAct::Flood(b"ab".to_vec(), 100_000)).always(WaisAct::End(Ending::Close)));
    let mut stream = connected(flood.addr());
    stream.write_all(&two).unwrap();
    let mut octets = Vec::new();
    stream.read_to_end(&mut octets).unwrap();
    assert_eq!(octets.len() as u64, flood.octets_sent());
    assert!(octets.len() > 200_000 && octets.ends_with(b"abab"));
}
