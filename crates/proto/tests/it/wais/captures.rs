//! Messages captured between real WAIS programs: the requests of fetch-url equal those of real clients, and the answers
//! of real servers are parsed.

use std::ops::Range;

use fetch_url_core::{Url, WaisResource, parse};
use fetch_url_proto::wais::{DocumentDetails, DocumentId, Retrieval, Search, WaisName};
use fetch_url_proto::{Details, Event, Machine, RecvBuffer, Step};

const CAPTURED: &str = include_str!("../../data/wais-vectors.txt");
const HEADER: usize = 25;
/// Tags of fields that contain fields: user information, header, text record, type block, query.
const GROUPS: [u64; 5] = [99, 150, 153, 132, 21];
const DIAGNOSTIC: u64 = 28;

/// Returns all messages of one side of an exchange.
fn captured(name: &str) -> Vec<Vec<u8>> {
    let lines = CAPTURED.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    lines.map(unhexed).collect()
}

fn only(name: &str) -> Vec<u8> {
    let mut all = captured(name);
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}

fn unhexed(hex: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.as_bytes().chunks(2).map(|pair| digits(pair).expect("hex")).collect()
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Diagnostic(Vec<u8>),
    Group(u64, Vec<Self>),
    Value(u64, Vec<u8>),
}

/// A message as a tree of fields.
#[derive(Clone, Debug, PartialEq)]
struct Message {
    pdu: u8,
    fixed: Vec<u8>,
    fields: Vec<Field>,
    information: Vec<Field>,
}

impl Message {
    /// Parses a message. Returns `None` for a message of length 0.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (header, apdu) = bytes.split_at(HEADER);
        assert_eq!(header, format!("{:010}z2wais        0", apdu.len()).as_bytes());
        let (length, apdu) = apdu.split_first_chunk()?;
        let (part, information) = apdu.split_at(usize::from(u16::from_be_bytes(*length)));
        let (&pdu, part) = part.split_first().expect("a PDU");
        let count = match pdu {
            20 => 0,
            21 => 1,
            22 | 23 => 10,
            24 => 6,
            _ => panic!("PDU {pdu}"),
        };
        let (fixed, fields) = part.split_at(count);
        let (fields, information) = (decode_fields(fields), decode_fields(information));
        Some(Self { pdu, fixed: fixed.to_vec(), fields, information })
    }

    fn encode(message: Option<&Self>) -> Vec<u8> {
        let mut apdu = Vec::new();
        if let Some(message) = message {
            let part = [&[message.pdu], &message.fixed[..], &encode_fields(&message.fields)].concat();
            apdu.extend_from_slice(&(part.len() as u16).to_be_bytes());
            apdu.extend(part);
            apdu.extend(encode_fields(&message.information));
        }
        [format!("{:010}z2wais        0", apdu.len()).as_bytes(), &apdu].concat()
    }

    /// Removes the fields with these tags, at the top level and in the user information.
    fn without(mut self, tags: &[u64]) -> Self {
        let keep = |field: &Field| !matches!(field, Field::Value(tag, _) if tags.contains(tag));
        self.fields.retain(keep);
        if let [Field::Group(99, fields)] = &mut self.information[..] {
            fields.retain(keep);
        }
        self
    }
}

fn decode_fields(mut rest: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = integer(&mut rest);
        let is_diagnostic = tag == DIAGNOSTIC;
        let count = match rest.first_chunk().filter(|_| is_diagnostic) {
            // The length has two bytes. The terminator is kept as part of the data.
            Some(length) => {
                rest = &rest[2..];
                usize::from(u16::from_be_bytes(*length)) + 1
            }
            None => integer(&mut rest) as usize,
        };
        let (value, behind) = rest.split_at(count);
        rest = behind;
        fields.push(match tag {
            DIAGNOSTIC => Field::Diagnostic(value.to_vec()),
            _ if GROUPS.contains(&tag) => Field::Group(tag, decode_fields(value)),
            _ => Field::Value(tag, value.to_vec()),
        });
    }
    fields
}

fn encode_fields(fields: &[Field]) -> Vec<u8> {
    let plain =
        |tag: u64, value: &[u8]| [&compressed(tag)[..], &compressed(value.len() as u64), value].concat();
    let encoded = fields.iter().map(|field| match field {
        Field::Diagnostic(value) => [&[28][..], &(value.len() as u16 - 1).to_be_bytes(), value].concat(),
        Field::Group(tag, fields) => plain(*tag, &encode_fields(fields)),
        Field::Value(tag, value) => plain(*tag, value),
    });
    encoded.collect::<Vec<_>>().concat()
}

fn integer(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    loop {
        let (byte, behind) = rest.split_first().expect("an integer");
        *rest = behind;
        value = value << 7 | u64::from(byte & 127);
        if byte & 128 == 0 {
            return value;
        }
    }
}

fn compressed(value: u64) -> Vec<u8> {
    let count = (1..).find(|count| value >> (7 * count) == 0).unwrap_or(1);
    let group = |at: u32| (value >> (7 * at)) as u8 & 127 | if at > 0 { 128 } else { 0 };
    (0..count).rev().map(group).collect()
}

fn database(name: &str) -> WaisName {
    let url = format!("wais://h/{name}");
    let Url::Wais(url) = parse(&url).expect("a URL").url else { panic!("{url}") };
    WaisName::database(&url).expect("a database")
}

fn search(name: &str, words: &str) -> Search {
    let url = format!("wais://h/{name}?{words}");
    let Url::Wais(url) = parse(&url).expect("a URL").url else { panic!("{url}") };
    let WaisResource::Search(words) = url.resource() else { panic!("{url:?}") };
    Search::new(&database(name), Some(words)).expect("words")
}

fn retrieval(name: &str, rest: &str, wanted: Range<u64>) -> Retrieval {
    let url = format!("wais://h/{name}/{rest}");
    let Url::Wais(url) = parse(&url).expect("a URL").url else { panic!("{url}") };
    let WaisResource::Document { wtype, wpath } = url.resource() else { panic!("{url:?}") };
    let (wtype, id) =
        (WaisName::wtype(wtype).expect("a type"), DocumentId::from_wpath(wpath).expect("an id"));
    Retrieval::new(database(name), wtype, id, wanted)
}

/// Returns the first request of a state machine.
fn sent(machine: &mut dyn Machine) -> Vec<u8> {
    match machine.step(&mut RecvBuffer::new()) {
        Ok(Step::Send(bytes)) => bytes.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Returns the events of an answer.
fn events_of(mut machine: impl Machine, answer: &[u8]) -> Vec<Event> {
    let (mut buffer, mut events) = (RecvBuffer::new(), Vec::new());
    sent(&mut machine);
    buffer.push(answer);
    loop {
        match machine.step(&mut buffer).expect("an answer") {
            Step::Emit(event) => events.push(event),
            Step::Done => return events,
            step => panic!("{step:?} {events:?}"),
        }
    }
}

#[test]
fn captured_messages_are_decoded_and_encoded_unchanged() {
    let lines = CAPTURED.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let (name, hex) = line.rsplit_once(' ').expect("a name and a message");
        let bytes = unhexed(hex);
        assert_eq!(Message::encode(Message::decode(&bytes).as_ref()), bytes, "{name}");
        count += 1;
    }
    assert_eq!(count, 59);
    for (value, bytes) in
        [(0, &[0][..]), (127, &[127]), (128, &[0x81, 0]), (16384, &[0x81, 0x80, 0]), (153, &[0x81, 0x19])]
    {
        assert_eq!(compressed(value), bytes);
    }
}

/// Lynx requests 200 documents, as fetch-url does.
#[test]
fn searches_equal_those_of_lynx() {
    let lynx = captured("lynx C>");
    assert_eq!(sent(&mut search("t", "gopher+tunnel")), lynx[0]);
    assert_eq!(sent(&mut search("t", "gopher%20tunnel")), lynx[0]);
    assert_eq!(sent(&mut search("nodb", "gopher")), lynx[5]);
}

#[test]
fn searches_equal_those_of_waissearch_except_the_maximum() {
    const MOST: u64 = 114;
    const REFERENCE: u64 = 2;
    let shell = captured("waissearch-gopher-doc1 C>");
    for (message, name, words) in [
        (&shell[1], "t", "gopher"),
        (&only("search-1hit C>"), "t", "garden"),
        (&only("search-ref C>"), "t", "garden"),
        (&only("search-empty C>"), "t", ""),
        (&only("search-nohit C>"), "t", "xylophone"),
        (&only("search-nodb C>"), "nodb", "garden"),
        (&only("search-syntax C>"), "t", "garden+and+("),
        (&only("search-gif C>"), "t", "gif"),
    ] {
        let own_message = Message::decode(&sent(&mut search(name, words))).expect("a message");
        let captured_message = Message::decode(message).expect("a message");
        assert_eq!(
            own_message.without(&[MOST]),
            captured_message.without(&[MOST, REFERENCE]),
            "{name} {words}"
        );
    }
    let none = &mut Search::new(&database("t"), None).expect("no words");
    assert_eq!(sent(none), sent(&mut search("t", "")));
}

const LONG: &str = "1=w.test%3A210;2=/srv/i/t;3=0%2024029%20/srv/d/long.txt;\
                    4=w.test%3A210;5=/srv/i/t;6=0%2024029%20/srv/d/long.txt;7=%00;";
const SHORT: &str = "TEXT/1=w.test%3A210;2=/srv/i/t;3=0%2078%20/srv/d/a.txt;";
const RAW: &str = "TEXT/%01%0Aw.test%3A210%02%08%2Fsrv%2Fi%2Ft%03%110%2078%20%2Fsrv%2Fd%2Fa.txt\
                   %04%0Aw.test%3A210%05%08%2Fsrv%2Fi%2Ft%06%110%2078%20%2Fsrv%2Fd%2Fa.txt%07%01%00";

/// Returns every captured retrieval of bytes, with the retrieval of the same document and range.
fn retrievals() -> Vec<(Vec<u8>, Retrieval)> {
    let (lynx, shell) = (captured("lynx C>"), captured("waissearch-gopher-doc1 C>"));
    let mut all = vec![(shell[2].clone(), retrieval("t", RAW, 0..78))];
    for (at, wanted) in [(1, 0..10_000), (2, 10_000..20_000), (3, 20_000..24_029)] {
        all.push((lynx[at].clone(), retrieval("t", &format!("TEXT/{LONG}"), wanted.clone())));
        all.push((lynx[at].clone(), retrieval("t", &format!("TEXT/24029/{LONG}"), wanted)));
    }
    all.push((lynx[4].clone(), retrieval("t", SHORT, 0..78)));
    for (name, rest, wanted) in [
        ("retr-exact C>", SHORT, 0..78),
        ("retr-first10 C>", SHORT, 0..10),
        ("retr-tail C>", SHORT, 70..80),
        ("retr-atend C>", SHORT, 78..88),
        ("retr-pastend C>", SHORT, 79..89),
        ("retr-badlocal C>", "TEXT/1=w.test%3A210;2=/srv/i/t;3=zzz;", 0..20),
        ("retr-gif C>", "GIF/306/1=w.test%3A210;2=/srv/i/t;3=0%20306%20/srv/d/p.gif;", 0..306),
        ("retr-catalog C>", "WSRC/2=t;3=0%200%20/srv/i/t.src;7=%00;", 0..u64::MAX),
    ] {
        all.push((only(name), retrieval("t", rest, wanted)));
    }
    all
}

/// Equal including element set names and reference id, which servers do not need (§9).
#[test]
fn retrievals_equal_those_of_real_clients() {
    for (captured_message, mut own_message) in retrievals() {
        assert_eq!(
            sent(&mut own_message).escape_ascii().to_string(),
            captured_message.escape_ascii().to_string()
        );
    }
}

/// fetch-url never retrieves by lines or without a range; such requests differ from its own only in the operands.
#[test]
fn retrievals_by_line_differ_in_the_query_only() {
    let own_message = Message::decode(&sent(&mut retrieval("t", SHORT, 0..78))).expect("a message");
    let [Field::Group(21, operands)] = &own_message.information[..] else { panic!("{own_message:?}") };
    for (name, same) in [("retr-lines C>", 5), ("retr-nochunk C>", 5)] {
        let captured_message = Message::decode(&only(name)).expect("a message");
        let [Field::Group(21, others)] = &captured_message.information[..] else {
            panic!("{captured_message:?}")
        };
        assert_eq!(operands[..same], others[..same], "{name}");
        assert_eq!(own_message.fixed, captured_message.fixed, "{name}");
    }
}

/// §14: the answers to searches.
#[test]
fn captured_search_results_are_decoded() {
    const FULL: &str =
        "\x01\nw.test:210\x02\x08/srv/i/t\x03LOCAL\x04\nw.test:210\x05\x08/srv/i/t\x06LOCAL\x07\x01\0";
    let full = |local: &str| FULL.replace("LOCAL", &format!("{}{local}", char::from(local.len() as u8)));
    let catalog = "\x02\x01t\x03\x100 0 /srv/i/t.cat\x07\x01\0";
    let none = "Search produced no result. Here's the Catalog for database: t";
    let a = format!("489 78 4 TEXT /srv/i/t 0 [Gopher burrows] {}", full("0 78 /srv/d/a.txt"));
    let b = |score| format!("{score} 88 4 TEXT /srv/i/t 0 [Prospero notes] {}", full("0 88 /srv/d/b.txt"));
    let long = full("0 24029 /srv/d/long.txt");
    let no_hit = format!("0 387 25 TEXT t  [{none}] {catalog}");
    let check = |answer: &[u8], expected: &[String]| {
        let found: Vec<_> = events_of(search("t", "x"), answer).into_iter().filter_map(document).collect();
        assert_eq!(found, expected);
    };
    check(&only("search-1hit S>"), std::slice::from_ref(&a));
    check(&only("search-ref S>"), std::slice::from_ref(&a));
    check(&captured("waissearch-gopher-doc1 S>")[1], &[a.replace("489", "450"), b("280")]);
    check(&only("waissearch-next-doc S>"), &[b("-")]);
    let third = format!("75 24029 455 TEXT /srv/i/t 0 [Long tunnel report] {long}");
    check(&captured("lynx S>")[0], &[a.replace("489", "750"), b("280"), third]);
    let source = catalog.replace(".cat", ".src");
    let described = format!("1000 350 18 WSRC t  [Information on database: t] {source}");
    let listed = format!("1000 387 25 TEXT t  [Catalog for database: t] {catalog}");
    check(&only("search-empty S>"), &[described, listed]);
    check(&only("search-nohit S>"), std::slice::from_ref(&no_hit));
    check(&only("search-syntax S>"), std::slice::from_ref(&no_hit));
    let gif = full("0 306 /srv/d/p.gif");
    check(&only("search-gif S>"), &[format!("1791 306 3 GIF /srv/i/t 0 [p.gif] {gif}")]);
}

fn document(event: Event) -> Option<String> {
    let Event::Entry(entry) = event else { return None };
    let Details::Document(details) = &entry.details else { panic!("{entry:?}") };
    assert_eq!((&entry.name, entry.size), (&details.headline, details.length));
    assert_eq!(details.city, b"");
    Some(described(details))
}

fn described(details: &DocumentDetails) -> String {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let text = String::from_utf8_lossy;
    let types: Vec<_> = details.types.iter().map(|name| text(name)).collect();
    format!(
        "{} {} {} {} {} {} [{}] {}",
        number(details.score),
        number(details.length),
        number(details.lines),
        types.join(","),
        text(&details.source),
        text(&details.date),
        text(&details.headline),
        text(details.id.as_bytes()),
    )
}

#[test]
fn captured_diagnostics_are_reported() {
    const NO_DATABASE: &str = "S1 The following database is not available: /srv/i/nodb";
    for answer in [only("search-nodb S>"), captured("lynx S>")[2].clone()] {
        assert_eq!(refusal(&events_of(search("nodb", "gopher"), &answer)), NO_DATABASE);
    }
    let events = events_of(search("t", "garden+and+("), &only("search-syntax S>"));
    let words = &b"S1 query syntax error: garden and ("[..];
    assert!(events.contains(&Event::Received(words.into())), "{events:?}");
    let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    let kinds =
        [count(|event| matches!(event, Event::Head(_))), count(|event| matches!(event, Event::Entry(_)))];
    assert_eq!(kinds, [1, 1], "{events:?}");
    let nothing = only("present-pdu S>");
    assert!(matches!(events_of(search("t", "x"), &nothing)[..], [Event::Rejected(_)]));
    assert!(matches!(events_of(retrieval("t", SHORT, 0..9), &nothing)[..], [Event::Rejected(_)]));
}

fn refusal(events: &[Event]) -> String {
    let [Event::Rejected(refused)] = events else { panic!("{events:?}") };
    assert_eq!((refused.command, refused.code, &refused.moved_to), (None, None, &None));
    String::from_utf8_lossy(&refused.text).into_owned()
}

/// §14: the answers to retrievals, each complete after one message.
#[test]
fn captured_texts_are_delivered() {
    const TEXT: &[u8] = b"Gopher burrows\n\nThe gopher digs a tunnel under the garden.\nLine four is here.\n";
    let whole_document = || retrieval("t", SHORT, 0..78);
    let check = |machine: Retrieval, answer: &[u8], expected: &[u8]| {
        let events = events_of(machine, answer);
        assert!(matches!(events[0], Event::Head(_)), "{events:?}");
        let bodies = events[1..].iter().map(|event| match event {
            Event::Body(bytes) => &bytes[..],
            // The length of a range of lines is unknown.
            Event::UnterminatedEnd(_) => b"",
            other => panic!("{other:?}"),
        });
        assert_eq!(bodies.collect::<Vec<_>>().concat(), expected);
    };
    check(retrieval("t", RAW, 0..78), &captured("waissearch-gopher-doc1 S>")[2], TEXT);
    check(whole_document(), &captured("lynx S>")[1], TEXT);
    check(whole_document(), &only("retr-exact S>"), TEXT);
    check(retrieval("t", SHORT, 0..10), &only("retr-first10 S>"), &TEXT[..10]);
    check(retrieval("t", SHORT, 70..80), &only("retr-tail S>"), &TEXT[70..]);
    check(whole_document(), &only("retr-lines S>"), &TEXT[..16]);
    let gif = Message::decode(&only("retr-gif S>")).expect("a message");
    check(retrieval("t", &wpath_of(&gif), 0..306), &only("retr-gif S>"), &text_of(&gif));
    let catalog = Message::decode(&only("retr-catalog S>")).expect("a message");
    let source = text_of(&catalog);
    assert!(source.starts_with(b"\n\n(:source \n   :version  3 \n") && source.len() == 350);
    check(retrieval("t", &wpath_of(&catalog), 0..u64::MAX), &only("retr-catalog S>"), &source);
    for (name, machine, words) in [
        ("retr-pastend S>", retrieval("t", SHORT, 79..89), "SF Request out of range"),
        ("retr-badlocal S>", whole_document(), "SF Missing DocID in request"),
        ("retr-nochunk S>", whole_document(), ""),
    ] {
        assert_eq!(refusal(&events_of(machine, &only(name))), words, "{name}");
    }
    let at_end = events_of(retrieval("t", SHORT, 78..88), &only("retr-atend S>"));
    assert_eq!(refusal(&at_end), "SF Request out of range");
}

/// Returns the type and the identifier of an answer as the path of a `wais:` URL (RFC 1738).
fn wpath_of(message: &Message) -> String {
    let [Field::Group(99, records)] = &message.information[..] else { panic!("{message:?}") };
    let Some(Field::Group(153, fields)) = records.first() else { panic!("{records:?}") };
    let Some(Field::Value(116, id)) = fields.first() else { panic!("{fields:?}") };
    let id: String = id.iter().map(|byte| format!("%{byte:02X}")).collect();
    format!("TEXT/{id}")
}

fn text_of(message: &Message) -> Vec<u8> {
    let [Field::Group(99, records)] = &message.information[..] else { panic!("{message:?}") };
    let Some(Field::Group(153, fields)) = records.first() else { panic!("{records:?}") };
    let Some(Field::Value(127, text)) = fields.last() else { panic!("{fields:?}") };
    text.clone()
}

/// An answer to another request is rejected.
#[test]
fn answer_to_another_request_is_rejected() {
    let inits = ["init-min S>", "init-small S>", "init-refused S>"].map(only);
    let requests = [only("search-1hit C>"), only("retr-exact C>"), only("present-pdu C>")];
    for message in inits.iter().chain(&requests) {
        let mut buffer = RecvBuffer::new();
        let mut machine = search("t", "x");
        sent(&mut machine);
        buffer.push(message);
        assert!(machine.step(&mut buffer).is_err());
    }
}
