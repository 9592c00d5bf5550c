//! Arbitrary bytes as a listing: no panic; the result does not depend on where it is cut; every name is a part of its
//! line.
//!
//! The first byte selects the listing command.
#![no_main]

use fetch_url_proto::ftp_list::{ListFormat, ListLine, ListReader, parse_mlst_line};
use fetch_url_proto::{RecvBuffer, WireError, calendar};
use libfuzzer_sys::fuzz_target;

const NOW: i64 = 1_800_000_000;

fuzz_target!(|data: &[u8]| {
    let Some((&first, bytes)) = data.split_first() else { return };
    let reader = || match first {
        b'l' => ListReader::new(ListFormat::List, Some(NOW)),
        b'm' => ListReader::new(ListFormat::Mlsd, None),
        b'a' => ListReader::nlst(Some(b"pub".to_vec())),
        b'p' => ListReader::nlst(None).with_path(b"/pub".to_vec()),
        b'n' => ListReader::nlst(None),
        _ => ListReader::new(ListFormat::List, None),
    };
    let whole = play(reader(), bytes, bytes.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(reader(), bytes, length), whole);
    }
    whole.0.iter().for_each(|listed| check(bytes, listed));
    for line in bytes.split(|&byte| byte == b'\n') {
        let _ = parse_mlst_line(line);
        if let Some(seconds) = calendar::parse_time_val(line) {
            let (year, month, day, hour, minute, second) = calendar::from_timestamp(seconds);
            assert_eq!(calendar::to_timestamp(year, month, day, hour, minute, second), Some(seconds));
        }
    }
});

fn play(mut reader: ListReader, bytes: &[u8], length: usize) -> (Vec<ListLine>, Result<(), WireError>) {
    let (mut buffer, mut said, mut pieces) = (RecvBuffer::new(), Vec::new(), bytes.chunks(length));
    loop {
        match reader.next_line(&mut buffer) {
            Ok(Some(listed)) => said.push(listed),
            Ok(None) if buffer.is_ended() => return (said, Ok(())),
            Ok(None) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Err(error) => return (said, Err(error)),
        }
    }
}

fn check(bytes: &[u8], listed: &ListLine) {
    let text: &[u8] = match listed {
        ListLine::Entry(entry) => &entry.name,
        ListLine::Unparsed(line) => line,
    };
    assert!(!text.is_empty() && !text.contains(&b'\n'));
    assert!(bytes.windows(text.len()).any(|part| part == text));
    if let ListLine::Entry(entry) = listed {
        let last = entry.name.rsplit(|&byte| byte == b'/').next();
        assert!(last != Some(b".") && last != Some(b".."), "{entry:?}");
    }
}
