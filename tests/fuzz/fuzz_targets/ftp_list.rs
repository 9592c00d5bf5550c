//! Any octets as a listing: no panic; where it is cut changes nothing; every name stands in its line.
//!
//! The first octet says what was asked.
#![no_main]

use fetch_url_proto::ftp_list::{ListForm, ListReader, Listed, mlst, time_val};
use fetch_url_proto::{Inbox, WireError, calendar};
use libfuzzer_sys::fuzz_target;

const NOW: i64 = 1_800_000_000;

fuzz_target!(|data: &[u8]| {
    let Some((&first, octets)) = data.split_first() else { return };
    let reader = || match first {
        b'l' => ListReader::new(ListForm::List, Some(NOW)),
        b'm' => ListReader::new(ListForm::Mlsd, None),
        b'a' => ListReader::nlst(Some(b"pub".to_vec())),
        b'n' => ListReader::nlst(None),
        _ => ListReader::new(ListForm::List, None),
    };
    let whole = play(reader(), octets, octets.len().max(1));
    for length in [1, 2, 7] {
        assert_eq!(play(reader(), octets, length), whole);
    }
    whole.0.iter().for_each(|listed| check(octets, listed));
    for line in octets.split(|&octet| octet == b'\n') {
        let _ = mlst(line);
        if let Some(seconds) = time_val(line) {
            let (year, month, day, hour, minute, second) = calendar::civil(seconds);
            assert_eq!(calendar::seconds(year, month, day, hour, minute, second), Some(seconds));
        }
    }
});

fn play(mut reader: ListReader, octets: &[u8], length: usize) -> (Vec<Listed>, Result<(), WireError>) {
    let (mut inbox, mut said, mut pieces) = (Inbox::new(), Vec::new(), octets.chunks(length));
    loop {
        match reader.read(&mut inbox) {
            Ok(Some(listed)) => said.push(listed),
            Ok(None) if inbox.is_ended() => return (said, Ok(())),
            Ok(None) => match pieces.next() {
                Some(piece) => inbox.push(piece),
                None => inbox.end(),
            },
            Err(error) => return (said, Err(error)),
        }
    }
}

fn check(octets: &[u8], listed: &Listed) {
    let text: &[u8] = match listed {
        Listed::Entry(entry) => &entry.name,
        Listed::Note(line) => line,
    };
    assert!(!text.is_empty() && !text.contains(&b'\n'));
    assert!(octets.windows(text.len()).any(|part| part == text));
    if let Listed::Entry(entry) = listed {
        let last = entry.name.rsplit(|&octet| octet == b'/').next();
        assert!(last != Some(b".") && last != Some(b".."), "{entry:?}");
    }
}
