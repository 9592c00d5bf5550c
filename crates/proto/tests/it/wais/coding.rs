//! WAIS answers in the encodings of real servers, valid and invalid.

use crate::wais::transcript::{
    ID, answer, check, check_retrieval, check_search, database, description, diagnostic, field, framed, full,
    group, play, response, retrieval,
};
use crate::wais::transcript::{search, sf, text};
use fetch_url_core::{Url, WaisResource, parse};
use fetch_url_proto::wais::{DocumentId, Search, WaisName};
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};

/// Encodes the header of one document.
fn header(fields: &[Vec<u8>]) -> Vec<u8> {
    group(150, fields)
}

fn id(bytes: &[u8]) -> Vec<u8> {
    field(116, bytes)
}

fn types(names: &[&str]) -> Vec<u8> {
    let names: Vec<_> = names.iter().map(|name| field(133, name.as_bytes())).collect();
    group(132, &names)
}

#[test]
fn search_results_are_decoded() {
    let check = |records: &[Vec<u8>], expected: &str| check_search(&group(99, records), expected);
    check(&[], "head | done");
    check_search(b"", "head | done");
    check(&[header(&[id(b"a")])], "head | entry a  None  | done");
    let two = [header(&[id(b"a"), field(123, b"A")]), header(&[id(b"b"), field(120, b"\x01\x83")])];
    check(&two, "head | entry a A None  | entry b  Some(387)  | done");
    check(&[header(&[id(b"a"), types(&["TEXT", "GIF"])])], "head | entry a  None TEXT,GIF | done");
    check(&[header(&[id(b"a"), types(&[])])], "head | entry a  None  | done");
    // A document without an identifier cannot be retrieved, so it has no entry.
    check(&[header(&[field(123, b"A")]), header(&[id(b"b")])], "head | entry b  None  | done");
    check(&[header(&[])], "head | done");
    for tag in [150, 151, 152] {
        check(&[group(tag, &[id(b"a")])], "head | entry a  None  | done");
    }
}

#[test]
fn empty_answer_to_a_search_without_words_is_a_refusal() {
    check(&description, &[answer(&[])], "search | refused | done");
    check(&description, &[answer(&[header(&[id(b"a")])])], "search | head | entry a  None  | done");
}

/// Documents whose identifiers are these numbers.
fn documents(numbers: std::ops::Range<u32>) -> Vec<u8> {
    answer(&numbers.map(|number| header(&[id(number.to_string().as_bytes())])).collect::<Vec<_>>())
}

fn entries(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!(" | entry {number}  None ")).collect()
}

#[test]
fn full_answer_repeats_the_search_with_a_larger_maximum() {
    let first = format!("search | head{} | search", entries(0..200));
    let events = |answers: &[Vec<u8>]| play(&search, answers, &|_| false, None).join(" | ");
    let check_retrieval = events(&[documents(0..200), documents(0..1000)]);
    assert_eq!(check_retrieval, format!("{first}{} | done", entries(200..1000)));
    // The order of documents may differ; no document is returned twice.
    let moved = events(&[documents(0..200), documents(150..360)]);
    assert_eq!(moved, format!("{first}{} | done", entries(200..360)));
    assert_eq!(events(&[documents(0..200), documents(0..200)]), format!("{first} | done"));
    assert!(!events(&[documents(0..199)]).contains("search | done"));
}

#[test]
fn unanswered_larger_search_marks_the_result_unterminated() {
    let first = format!("search | head{} | search", entries(0..200));
    let events = |answers: &[Vec<u8>]| play(&search, answers, &|_| false, None).join(" | ");
    let empty = || framed(b"");
    let smaller = events(&[documents(0..200), empty(), empty(), documents(0..300)]);
    assert_eq!(smaller, format!("{first} | search | search{} | unmarked | done", entries(200..300)));
    let refused = events(&[documents(0..200), empty(), empty(), empty()]);
    assert_eq!(refused, format!("{first} | search | search | unmarked | done"));
    let closed = play(&search, &[documents(0..200)], &|_| false, Some(documents(0..200).len())).join(" | ");
    assert_eq!(closed, format!("{first} | unmarked | done"));
    let fewer = events(&[documents(0..200), documents(0..100)]);
    assert_eq!(fewer, format!("{first} | unmarked | done"));
}

/// Semantics 8.6: a server that has cut its result says so by a diagnostic, such as SZ "resources exhausted".
#[test]
fn diagnostic_beside_documents_marks_the_result_unterminated() {
    let exhausted = || diagnostic("SZresources exhausted");
    let found = |numbers: std::ops::Range<u32>| {
        let headers = numbers.map(|number| header(&[id(number.to_string().as_bytes())]));
        answer(&headers.chain([exhausted()]).collect::<Vec<_>>())
    };
    let noted = "received SZ resources exhausted | note";
    let one = format!("search | {noted} | head{} | unmarked | done", entries(0..2));
    check(&search, &[found(0..2)], &one);
    check_search(
        &group(99, &[header(&[id(b"a")]), sf()]),
        "received SF Request out of range | note | head | entry a  None  | done",
    );

    let events = |answers: &[Vec<u8>]| play(&search, answers, &|_| false, None).join(" | ");
    let first = format!("search | head{} | search", entries(0..200));
    let second = events(&[documents(0..200), found(0..250)]);
    assert_eq!(second, format!("{first} | {noted}{} | unmarked | done", entries(200..250)));
    let empty = events(&[documents(0..200), answer(&[exhausted()])]);
    assert_eq!(empty, format!("{first} | {noted} | unmarked | done"));
    let both = format!("search | {noted} | head{} | search", entries(0..200));
    let cut_first = events(&[found(0..200), documents(0..250)]);
    assert_eq!(cut_first, format!("{both}{} | unmarked | done", entries(200..250)));
}

#[test]
fn fields_in_any_order_and_unknown_fields_are_accepted() {
    let unknown =
        || [field(200, b"xyz"), field(16_384, b""), field(124, b"city"), field(117, b"\0")].concat();
    let fields =
        [id(b"a"), field(120, b"\x4e"), types(&["TEXT"]), field(123, b"A"), unknown(), field(118, b"\x05")];
    for turn in 0..fields.len() {
        let mut turned = fields.clone();
        turned.rotate_left(turn);
        for reversed in [false, true] {
            if reversed {
                turned.reverse();
            }
            let records =
                [unknown(), header(&turned), unknown(), group(154, &[id(b"b")]), group(155, &[id(b"c")])];
            let information = [unknown(), group(99, &records), unknown()].concat();
            check_search(&information, "head | entry a A Some(78) TEXT | done");
        }
    }
    let record = group(153, &[field(127, b"abc"), unknown(), field(117, b"\0"), id(ID)]);
    let answer = response(&[unknown(), group(99, &[unknown(), record, unknown()])].concat());
    check_retrieval(&[answer], "ask 0-10000 | head | body abc | unmarked | done");
}

/// A header should have one type block; several are accepted.
#[test]
fn several_type_blocks_are_accepted() {
    let mut machine = search();
    let mut buffer = RecvBuffer::new();
    assert!(matches!(machine.step(&mut buffer), Ok(Step::Send(_))));
    let fields = [id(b"a"), types(&["TEXT"]), types(&["GIF"])];
    buffer.push(&response(&group(99, &[header(&fields)])));
    assert!(matches!(machine.step(&mut buffer), Ok(Step::Emit(Event::Head(_)))));
    let Ok(Step::Emit(Event::Entry(entry))) = machine.step(&mut buffer) else { panic!() };
    let fetch_url_proto::Details::Document(details) = &entry.details else { panic!("{entry:?}") };
    assert!(!details.types.is_empty() && details.types.iter().all(|name| name == b"TEXT" || name == b"GIF"));
}

/// Encodes a value with a tag and a length that are longer than necessary.
fn padded(tag: &[u8], value: &[u8], zeros: usize) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("short");
    assert!(length < 128);
    let zeros = vec![0x80; zeros];
    [&zeros[..], tag, &zeros, &[length], value].concat()
}

#[test]
fn padded_tags_and_lengths_are_accepted_up_to_5_bytes() {
    for zeros in 0..=3 {
        let fields =
            [padded(&[116], b"a", zeros), padded(&[123], b"A", zeros), padded(&[0x81, 5], b"x", zeros)];
        let record = padded(&[0x81, 0x16], &fields.concat(), zeros);
        check_search(&padded(&[99], &record, zeros), "head | entry a A None  | done");
    }
    // A length has at most five bytes.
    check_search(&padded(&[99], &header(&[id(b"a")]), 4), "head | entry a  None  | done");
    check_search(&padded(&[99], &header(&[id(b"a")]), 5), "unexpected");
    let two = [&[0x81, 0x16, 0x80, 5, 116, 0x80, 2][..], b"ab"].concat();
    check_search(&group(99, &[two]), "head | entry ab  None  | done");
}

#[test]
fn diagnostics_are_a_refusal_only_without_documents() {
    let check = |records: &[Vec<u8>], expected: &str| check_search(&group(99, records), expected);
    check(&[diagnostic("S1no such database")], "refused S1 no such database | done");
    check(&[diagnostic("T2")], "refused T2 | done");
    check(&[diagnostic("S1a"), diagnostic("S2b")], "refused S1 a | done");
    let (one, other, document) = (diagnostic("S1x"), diagnostic("T2y"), header(&[id(b"a")]));
    for records in [[&one, &other, &document], [&one, &document, &other], [&document, &one, &other]] {
        let records: Vec<_> = records.into_iter().cloned().collect();
        let mut events = play(&search, &[response(&group(99, &records))], &|_| false, None);
        events.sort();
        assert_eq!(
            events,
            [
                "done",
                "entry a  None ",
                "head",
                "note",
                "received S1 x",
                "received T2 y",
                "search",
                "unmarked"
            ]
        );
    }
}

#[test]
fn malformed_diagnostics_are_rejected() {
    for bad in [
        &b"\x1c"[..],
        b"\x1c\0",
        b"\x1c\0\0\x1d",
        b"\x1c\0\x01\x01\x1d",
        b"\x1c\0\x02S1\x1d",
        b"\x1c\0\x03S1\x01",
        b"\x1c\0\x03S1\x01\x1e",
        b"\x1c\0\x04S1\x01\x1d",
        b"\x1c\0\x05S1\x01\x1d",
        b"\x1c\xff\xffS1x\x01\x1d",
    ] {
        check_search(&field(99, bad), "unexpected");
        let answer = [response(&group(99, &[text(b"a"), bad.to_vec()]))];
        check_retrieval(&answer, "ask 0-10000 | unexpected");
    }
}

/// §13: each field ends within its group, each group within the message.
#[test]
fn lengths_beyond_the_end_are_rejected() {
    for bad in [
        &b"\x63"[..],
        b"\x63\x01",
        b"\x63\x80",
        b"\x63\xff\xff\xff\xff\x7f",
        b"\x63\x88\x80\x80\x80\x00",
        b"\x63\x87\xff\xff\xff\x7f",
        b"\x63\xff\xff\xff\xff\xff\xff\x7f",
        b"\x63\x02\x74\x01",
        b"\x63\x01\x74",
        b"\x63\x04\x81\x16\x05\x74",
        b"\x63\x05\x81\x16\x02\x74\x01",
        b"\x63\x05\x81\x19\x02\x7f\x01",
        b"\x63\x08\x81\x16\x05\x81\x04\x02\x81\x05",
        b"\x63\x00\x80",
        b"\x63\x00\xff\xff\xff\xff\xff\x01\x00",
    ] {
        check_search(bad, "unexpected");
        check_retrieval(&[response(bad)], "ask 0-10000 | unexpected");
    }
}

#[test]
fn malformed_apdus_are_rejected() {
    for bad in [
        &b"\0"[..],
        b"\0\0",
        b"\0\x01",
        b"\0\x01\x17",
        b"\0\x0a\x17\0\0\0\0\0\0\0\0\0",
        b"\0\x0c\x17\0\0\0\0\0\0\0\0\0\0",
        b"\xff\xff\x17\0\0\0\0\0\0\0\0\0\0",
        b"\0\x0b\x16\0\0\0\0\0\0\0\0\0\0",
        b"\0\x0b\x15\0\0\0\0\0\0\0\0\0\0",
        b"\0\x0b\x19\0\0\0\0\0\0\0\0\0\0",
    ] {
        check(&search, &[framed(bad)], "search | unexpected");
        check_retrieval(&[framed(bad)], "ask 0-10000 | unexpected");
    }
    let least = b"\0\x0b\x17\0\0\0\0\0\0\0\0\0\0";
    check(&search, &[framed(least)], "search | head | done");
    check_retrieval(&[framed(least)], "ask 0-10000 | refused | done");
}

/// §2: the header of a message.
#[test]
fn malformed_message_headers_are_rejected() {
    let answer = response(&group(99, &[header(&[id(b"a")])]));
    let changed = |at: usize, bytes: &[u8]| {
        let mut answer = answer.clone();
        answer[at..at + bytes.len()].copy_from_slice(bytes);
        [answer]
    };
    for (at, bytes) in [
        (10, &b"Z"[..]),
        (11, b"1"),
        (11, b"0"),
        (12, b"          "),
        (12, b"elsewhere!"),
        (12, b"\0\xff\r\n0000000"),
        (24, b"x"),
    ] {
        let bytes = bytes.get(..10.min(bytes.len())).unwrap_or_default();
        check(&search, &changed(at, bytes), "search | head | entry a  None  | done");
    }
    for (at, bytes) in [
        (0, &b"x"[..]),
        (0, b"+"),
        (0, b"-"),
        (0, b" "),
        (9, b" "),
        (9, b"\0"),
        (10, b"a"),
        (10, b"n"),
        (10, b"\xfa"),
        (22, b"u"),
        (22, b"\0"),
        (23, b"h"),
    ] {
        check(&search, &changed(at, bytes), "search | unexpected");
        check(&retrieval(0..9), &changed(at, bytes), "ask 0-9 | unexpected");
    }
}

/// §2: a message that is too long is rejected when its header was read.
#[test]
fn message_over_the_limit_is_rejected_after_its_header() {
    for length in ["0001048577", "0099999999", "4294967295", "4294967321", "9999999999"] {
        let header = format!("{length}z2wais        0").into_bytes();
        check(&search, std::slice::from_ref(&header), "search | limit");
        check_retrieval(std::slice::from_ref(&header), "ask 0-10000 | limit");
        // The limit also applies to later messages.
        let answers = [response(&group(99, &[full(b'a')])), header];
        check_retrieval(&answers, "ask 0-10000 | ask 10000-20000 | head | body 10000*a | limit");
    }
    let records = group(99, &[header(&[id(b"a")])]);
    let room = 1024 * 1024 - (response(&records).len() - 25) - 5;
    let longest = [records, field(200, &vec![0; room])].concat();
    let answer = response(&longest);
    assert!(answer.starts_with(b"0001048576z"), "{}", answer[..25].escape_ascii());
    let events = play(&search, &[answer], &|at| at.is_multiple_of(65_536), None);
    assert_eq!(events, ["search", "head", "entry a  None ", "done"]);
    let header = [b"0001048576z2wais        0".to_vec()];
    check(&search, &header, "search | waits");
}

/// A small field takes ten times its size in memory.
#[test]
fn response_with_too_many_small_fields_is_rejected() {
    let typed = |count| group(99, &[header(&[id(b"a"), types(&vec![""; count])])]);
    check_search(&typed(64), &format!("head | entry a  None {} | done", ",".repeat(63)));
    check_search(&typed(65), "limit");
    for record in [diagnostic("S1"), group(153, &[field(127, b"")])] {
        let events = |count| {
            let records = [vec![header(&[id(b"a")])], vec![record.clone(); count]].concat();
            play(&search, &[answer(&records)], &|_| false, None)
        };
        assert_eq!(events(10_000).last().map(String::as_str), Some("done"));
        assert_eq!(events(10_001), ["search", "limit"]);
    }
    // The documents of the first response are kept.
    let larger = response(&typed(65));
    let events = play(&search, &[documents(0..200), larger], &|_| false, None).join(" | ");
    assert_eq!(events, format!("search | head{} | search | unmarked | done", entries(0..200)));
}

/// fetch-url requests 200 documents.
#[test]
fn surplus_documents_are_not_all_delivered() {
    let headers = vec![header(&[id(b"")]); 200_000];
    let events = play(&search, &[response(&group(99, &headers))], &|_| false, None);
    assert!(events.len() < 10_000, "{}", events.len());
}

/// §10: names that are too long are rejected before anything is sent; the longest valid names are encoded unchanged.
#[test]
fn names_over_the_limit_are_rejected() {
    let url = |name: &str, rest: &str| format!("wais://h/{name}{rest}");
    let with = |text: &str, take: &dyn Fn(&Url<'_>) -> bool| take(&parse(text).expect("a URL").url);
    let database_fits = |count| {
        with(&url(&"d".repeat(count), ""), &|url| {
            let Url::Wais(url) = url else { panic!("{url}") };
            WaisName::database(url).is_ok()
        })
    };
    assert!(database_fits(255) && !database_fits(256));
    let document_fits = |wtype: usize, id: usize| {
        let rest = format!("/{}/{}", "T".repeat(wtype), "i".repeat(id));
        with(&url("d", &rest), &|url| {
            let Url::Wais(url) = url else { panic!("{url}") };
            let WaisResource::Document { wtype, wpath } = url.resource() else { panic!("{url:?}") };
            WaisName::wtype(wtype).is_ok() && DocumentId::from_wpath(wpath).is_ok()
        })
    };
    assert!(document_fits(255, 8192) && !document_fits(256, 1) && !document_fits(1, 8193));
    // The longest words that a URL can have.
    let text = url("d", &format!("?{}", "w".repeat(65_536 - 11)));
    let Url::Wais(url) = parse(&text).expect("a URL").url else { panic!("{text}") };
    let WaisResource::Search(words) = url.resource() else { panic!("{url:?}") };
    let mut longest = Search::new(&database("d"), Some(words)).expect("it fits");
    let Ok(Step::Send(bytes)) = longest.step(&mut RecvBuffer::new()) else { panic!() };
    let behind = bytes.get(0x2e..).expect("user information");
    // Tag 106 and its length have four bytes, 111 and 114 three each.
    assert!(behind.starts_with(b"\x63\x83\xff\x7f\x6a\x83\xff\x75www"), "{}", behind[..20].escape_ascii());
    assert!(bytes.starts_with(format!("{:010}z2", bytes.len() - 25).as_bytes()));
}
