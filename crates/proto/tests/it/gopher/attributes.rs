//! Attributes as servers send them: complete, byte by byte, cut at every position, and malformed.

use std::fmt::Write as _;

use fetch_url_proto::gopher_plus::{Admin, Attributes, AttributesReader, View};
use fetch_url_proto::{RecvBuffer, WireError};

/// The response of pygopherd for a file (`!`).
const FILE: &[u8] = b"+INFO: 0doc.txt\t/gplus/doc.txt\t127.0.0.1\t17071\t+\r\n\
    +ADMIN:\r\n Admin: Test Admin <admin@example.org>\r\n \
    Mod-Date: Sat Nov 21 00:35:43 2026 <20261121003543>\r\n\
    +VIEWS:\r\n text/plain: <0k>\r\n\
    +ABSTRACT:\r\n What the document is about,\r\n in two lines.\r\n\
    +KEYWORDS:\r\n gopher plus test\r\n";

const FILE_SAYS: &str = "info 0doc.txt\\x09/gplus/doc.txt\\x09127.0.0.1\\x0917071\\x09+\n\
    ADMIN\n  Admin: Test Admin <admin@example.org>\n  \
    Mod-Date: Sat Nov 21 00:35:43 2026 <20261121003543>\n\
    VIEWS\n  text/plain: <0k>\n\
    ABSTRACT\n  What the document is about,\n  in two lines.\n\
    KEYWORDS\n  gopher plus test\n";

/// The response of pygopherd for the items of a menu (`$`).
const MENU: &[u8] = b"+INFO: iWhat the document is about,\tfake\t(NULL)\t0\r\n\
    +ADMIN:\r\n Admin: Test Admin <admin@example.org>\r\n\
    +INFO: 1A link elsewhere\t1/pub\t127.0.0.1\t17071\r\n\
    +ADMIN:\r\n Admin: Test Admin <admin@example.org>\r\n\
    +INFO: 0ask\t/gplus/ask.txt\t127.0.0.1\t17071\t+\r\n\
    +VIEWS:\r\n text/plain: <0k>\r\n\
    +ASK:\r\n Note: a form\r\n Ask: Your name?\tanonymous\r\n Select: News?:0\r\n\
    +INFO: 0r\xe9sum\xe9\t/odd/caf\xe9/r\xe9sum\xe9.txt\t127.0.0.1\t17071\t+\r\n";

const MENU_SAYS: &str = "info iWhat the document is about,\\x09fake\\x09(NULL)\\x090\n\
    ADMIN\n  Admin: Test Admin <admin@example.org>\n\
    info 1A link elsewhere\\x091/pub\\x09127.0.0.1\\x0917071\n\
    ADMIN\n  Admin: Test Admin <admin@example.org>\n\
    info 0ask\\x09/gplus/ask.txt\\x09127.0.0.1\\x0917071\\x09+\n\
    VIEWS\n  text/plain: <0k>\n\
    ASK\n  Note: a form\n  Ask: Your name?\\x09anonymous\n  Select: News?:0\n\
    info 0r\\xE9sum\\xE9\\x09/odd/caf\\xE9/r\\xE9sum\\xE9.txt\\x09127.0.0.1\\x0917071\\x09+\n";

fn format_item(item: &Attributes) -> String {
    let text = |bytes: &[u8]| fetch_url_proto::text::sanitise(bytes);
    let mut formatted = format!("info {}\n", text(&item.info));
    for block in &item.blocks {
        let inline =
            if block.inline.is_empty() { String::new() } else { format!(" = {}", text(&block.inline)) };
        let _ = writeln!(formatted, "{}{inline}", text(&block.name));
        block.lines.iter().for_each(|line| formatted.push_str(&format!("  {}\n", text(line))));
    }
    formatted
}

/// Parses `pieces`, received one after another. Returns the items and how the parser ended.
fn play(pieces: &[&[u8]]) -> (Vec<Attributes>, Result<(), WireError>) {
    let (mut reader, mut buffer) = (AttributesReader::new(), RecvBuffer::new());
    let (mut parsed, mut pieces) = (Vec::new(), pieces.iter());
    loop {
        match reader.read(&mut buffer) {
            Ok(Some(item)) => parsed.push(item),
            Ok(None) if buffer.is_ended() => break,
            Ok(None) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Err(error) => return (parsed, Err(error)),
        }
    }
    assert_eq!(reader.read(&mut buffer), Ok(None), "the end comes once");
    assert!(buffer.bytes().is_empty());
    (parsed, Ok(()))
}

/// Checks that a body is parsed as `expected`, however it is cut into pieces.
fn check_cuts(bytes: &[u8], expected: &str) {
    let parsed = |pieces: &[&[u8]]| {
        let (items, end) = play(pieces);
        (items.iter().map(format_item).collect::<String>(), end)
    };
    let expected = (expected.to_owned(), Ok(()));
    assert_eq!(parsed(&[bytes]), expected, "{:?}", String::from_utf8_lossy(bytes));
    assert_eq!(parsed(&bytes.chunks(1).collect::<Vec<_>>()), expected, "octet by octet");
    for (head, tail) in (0..bytes.len()).map(|at| bytes.split_at(at)) {
        assert_eq!(parsed(&[head, tail]), expected, "cut at {}", head.len());
        // A truncated body may return any items, but no error.
        assert_eq!(parsed(&[head]).1, Ok(()));
    }
}

/// Checks a body with every kind of line end, with and without a final dot, and without the last line end.
fn check(bytes: &[u8], expected: &str) {
    let text: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let line = |line: &[u8]| line.strip_suffix(b"\r\n").expect("the tables have CR LF").to_vec();
    let lines: Vec<Vec<u8>> = text.into_iter().map(line).collect();
    for end in [&b"\r\n"[..], b"\n"] {
        let body = lines.join(end);
        for last in [&b""[..], end, &[end, b"."].concat(), &[end, b".", end].concat()] {
            check_cuts(&[&body, last].concat(), expected);
        }
    }
}

#[test]
fn attributes_of_pygopherd_are_parsed() {
    check(FILE, FILE_SAYS);
    check(MENU, MENU_SAYS);
    check_cuts(&[MENU, FILE, MENU].concat(), &[MENU_SAYS, FILE_SAYS, MENU_SAYS].concat());
    check_cuts(b"", "");
    check_cuts(b".\r\n", "");
    check_cuts(b"\r\n\r\n.", "");
}

#[test]
fn item_is_delivered_when_the_next_one_begins() {
    let (mut reader, mut buffer) = (AttributesReader::new(), RecvBuffer::new());
    buffer.push(b"+INFO: 0a\r\n+ADMIN:\r\n Admin: x\r\n");
    assert_eq!(reader.read(&mut buffer), Ok(None));
    buffer.push(b"+INFO: 0b\r\n");
    let item = reader.read(&mut buffer).expect("well formed").expect("whole");
    assert_eq!((&item.info[..], item.blocks.len()), (&b"0a"[..], 1));
    assert_eq!(reader.read(&mut buffer), Ok(None));
    buffer.mark_closed();
    assert_eq!(reader.read(&mut buffer).expect("well formed").expect("whole").info, "0b");
}

#[test]
fn unusual_attribute_blocks_are_parsed() {
    for (bytes, expected) in [
        // Blocks of an item without `+INFO`.
        (&b"+ADMIN:\r\n Admin: x\r\n"[..], "info \nADMIN\n  Admin: x\n"),
        (b"+VIEWS: text/plain: <1k>\r\n+INFO: 0a\r\n", "info \nVIEWS = text/plain: <1k>\ninfo 0a\n"),
        // Lines before the first block.
        (b"hello\r\n\r\n you\r\n", "info \n\n  hello\n  \n  you\n"),
        (b"\r\n+INFO: 0a\r\n\r\n x\r\n+B:\r\n", "info 0a\n\n  x\nB\n"),
        // One leading blank is removed. A line without a leading blank still belongs to the block.
        (b"+A:\r\n  two\r\nnone\r\n\ttab\r\n \r\n", "info \nA\n   two\n  none\n  \\x09tab\n  \n"),
        (b"+A:  b\r\n+B:c\r\n", "info \nA =  b\nB = c\n"),
        (b"+INFO:0a\r\n+info:  0b\r\n", "info 0a\ninfo  0b\n"),
        // Lines that begin with `+` but do not start a block.
        (b"+A:\r\n+ B:\r\n+:\r\n+\r\n+x y:\r\n +B:\r\n", "info \nA\n  + B:\n  +:\n  +\n  +x y:\n  +B:\n"),
        // A block name without its colon.
        (b"+INFO 0a\r\n+ASK\r\n Ask: b\r\n", "info 0a\nASK\n  Ask: b\n"),
        (b"+A:\r\n+INFORMATION\r\n+B\r\n+ASK\tme\r\n", "info \nA\n  +INFORMATION\n  +B\n  +ASK\\x09me\n"),
        // A dot that is not the terminator, and lines of blanks within blocks.
        (b"+A:\r\n.\r\nb\r\n", "info \nA\n  .\n  b\n"),
        (b"+A:\r\n.\r\n+INFO: 0a\r\n", "info \nA\n  .\ninfo 0a\n"),
        (b".\r\n+A:\r\n .\r\n", "info \n\n  .\nA\n  .\n"),
        (b"+A:\r\n..\r\n", "info \nA\n  ..\n"),
        (b"+A:\r\n\r\nb\r\n", "info \nA\n  \n  b\n"),
        // Names of real servers, and a duplicate block.
        (b"+Site-1.x_y:\r\n+Site-1.x_y:\r\n", "info \nSite-1.x_y\nSite-1.x_y\n"),
    ] {
        check(bytes, expected);
    }
    check_cuts(b"+A:\r\n b\rc\r\r\n", "info \nA\n  b\\x0Dc\\x0D\n");
}

#[test]
fn attributes_that_were_not_requested_are_dropped() {
    let item = || play(&[FILE]).0.remove(0);
    let names = |item: &Attributes| item.blocks.iter().map(|block| block.name.clone()).collect::<Vec<_>>();
    let mut kept = item();
    kept.retain_blocks(&["abstract", "Views", "SMELL"]);
    assert_eq!(names(&kept), ["VIEWS", "ABSTRACT"]);
    assert_eq!(kept.info, item().info);
    kept.retain_blocks(&[b"VIEW".to_vec()]);
    assert!(kept.blocks.is_empty() && !kept.info.is_empty());
    let (item, none) = (item(), [b""; 0]);
    let block = item.block("Abstract").expect("there is one");
    assert_eq!(block.lines, ["What the document is about,", "in two lines."]);
    assert!(item.block("ABSTRACTS").is_none() && item.block("").is_none());
    let mut item = item.clone();
    item.retain_blocks(&none);
    assert!(item.blocks.is_empty());
}

#[test]
fn admin_and_views_blocks_are_decoded() {
    let item = play(&[FILE]).0.remove(0);
    let admin = Admin::parse(&item.block("ADMIN").expect("there is one").lines);
    assert_eq!(admin.admin.as_deref(), Some(&b"Test Admin <admin@example.org>"[..]));
    assert_eq!(admin.modified, fetch_url_proto::calendar::to_timestamp(2026, 11, 21, 0, 35, 43));
    let view = View::parse(&item.block("VIEWS").expect("there is one").lines[0]).expect("a view");
    assert_eq!((&view.media_type[..], view.language, view.size), (&b"text/plain"[..], None, Some(0)));
}

#[test]
fn attributes_over_a_limit_are_rejected_with_its_name() {
    const LINE: usize = 64 * 1024;
    let line = |length: usize| [b" ", &b"x".repeat(length - 1)[..], b"\r\n"].concat();
    let blocks = |count: usize| b"+A:\n".repeat(count);
    let lines = |count: usize| [b"+A:\n", &b"\n".repeat(count - 1)[..]].concat();
    for (fits, exceeds, limit, most) in [
        (line(LINE), line(LINE + 1), "bytes in a line of attributes", LINE),
        (line(LINE).repeat(16), [line(LINE).repeat(16), line(1)].concat(), "bytes in an item", 16 * LINE),
        (blocks(1000), blocks(1001), "blocks in an item", 1000),
        (lines(65_536), lines(65_537), "lines in an item", 65_536),
    ] {
        let error = Err(WireError::LimitExceeded { quantity: limit, max: most });
        assert_eq!(play(&[&fits]).1, Ok(()), "{limit}");
        assert_eq!(play(&[&exceeds]).1, error, "{limit}");
    }
    // The limits apply to each item separately.
    let of_item = |below: Vec<u8>| [b"+INFO:\n", &below[..]].concat();
    for (fits, exceeds) in [
        (of_item(line(LINE).repeat(15)), of_item(line(LINE).repeat(16))),
        (of_item(blocks(1000)), of_item(blocks(1001))),
        (of_item(lines(65_535)), of_item(lines(65_536))),
    ] {
        assert_eq!(play(&[&fits.repeat(3)]).1, Ok(()));
        assert!(play(&[&fits, &exceeds]).1.is_err());
        assert_eq!(play(&[&fits, &exceeds]).0.len(), 1, "what came before is not lost");
    }
    for length in [LINE, LINE + 1] {
        for end in [&b""[..], b"\r"] {
            let (_, error) = play(&[&b"x".repeat(length), end]);
            assert_eq!(error.is_ok(), length == LINE, "{length} {end:?}");
        }
    }
    // An endless line is rejected before its end.
    let (mut reader, mut buffer) = (AttributesReader::new(), RecvBuffer::new());
    buffer.push(&b"x".repeat(2 * LINE));
    assert!(reader.read(&mut buffer).is_err());
}

/// Returns name and value if the line is a known block name without its colon.
fn bare_head(line: &str) -> Option<(&str, &str)> {
    let (name, inline) = line.strip_prefix('+')?.split_at(line.find(' ').unwrap_or(line.len()) - 1);
    let is_known = |known: &&str| name.eq_ignore_ascii_case(known);
    ["INFO", "ADMIN", "VIEWS", "ABSTRACT", "ASK"].iter().any(is_known).then_some((name, inline))
}

/// Parses a complete body with an independent implementation.
fn parse_reference(bytes: &[u8]) -> String {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    lines = lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let _ = lines.pop_if(|line| *line == b".");
    let (mut parsed, mut is_below, mut is_open) = (String::new(), false, false);
    for line in lines {
        let text = fetch_url_proto::text::sanitise(line);
        let head = text.strip_prefix('+').and_then(|rest| rest.split_once(':'));
        let is_of_name = |byte: char| byte.is_ascii_alphanumeric() || "-_.".contains(byte);
        let head = head.filter(|(name, _)| !name.is_empty() && name.chars().all(is_of_name));
        let head = head.or_else(|| bare_head(&text));
        if let Some((name, inline)) = head {
            let inline = inline.strip_prefix(' ').unwrap_or(inline);
            is_below = !name.eq_ignore_ascii_case("info");
            match (is_below, is_open, inline) {
                (false, ..) => parsed.push_str(&format!("info {inline}\n")),
                (true, false, "") => parsed.push_str(&format!("info \n{name}\n")),
                (true, false, _) => parsed.push_str(&format!("info \n{name} = {inline}\n")),
                (true, true, "") => parsed.push_str(&format!("{name}\n")),
                (true, true, _) => parsed.push_str(&format!("{name} = {inline}\n")),
            }
            is_open = true;
        } else if is_below || !line.is_empty() {
            parsed.push_str(if is_open { "" } else { "info \n" });
            parsed.push_str(if is_below { "" } else { "\n" });
            parsed.push_str(&format!("  {}\n", text.strip_prefix(' ').unwrap_or(&text)));
            (is_open, is_below) = (true, true);
        }
    }
    parsed
}

/// Bodies with random bytes changed, duplicated and removed, in pieces of any length.
#[test]
fn damaged_bodies_are_parsed_as_the_reference_does() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).expect("a small number")).expect("a small number")
    };
    let sources = [FILE, MENU, b"+INFO: 0a\n+ASK c\n\n d\n.\n+E:\nf\n.", b".\n\n x\n+INFO:\n.\n.\n"];
    for _ in 0..5_000 {
        let mut body = sources[next(sources.len())].to_vec();
        for _ in 0..next(12) {
            let at = next(body.len() + 1);
            match next(4) {
                0 if next(4) == 0 => body.truncate(at),
                1 => body.insert(at, u8::try_from(next(256)).expect("an octet")),
                0 | 2 => body.insert(at, b"\n\n\r. +:A"[next(8)]),
                _ if at < body.len() => drop(body.remove(at)),
                _ => {}
            }
        }
        let expected = parse_reference(&body);
        for length in [1 + next(9), body.len().max(1)] {
            let (items, end) = play(&body.chunks(length).collect::<Vec<_>>());
            let parsed: String = items.iter().map(format_item).collect();
            assert_eq!((parsed, end), (expected.clone(), Ok(())), "{:?}", String::from_utf8_lossy(&body));
        }
    }
}
