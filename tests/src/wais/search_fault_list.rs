//! The fault table of searches.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::CutPoint;
use crate::wais::fault_configs::{
    always, answer, append_diagnostic, close, correct, digits, end_at_accept, flood, header, information,
    many, max_message_and, only_diagnostic, records, reset, stall, with_headline,
};
use crate::wais::faults::WaisFault;
use crate::wais::rule::{WaisAction, WaisLayer};

/// The faults of a server during a search, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static WAIS_SEARCH_FAULTS: &[WaisFault] = &[
    // Unusual but correct.
    WaisFault::search("search_correct", 0, correct),
    WaisFault::search("search_one", 0, correct).at("t?other").shows(&["The short text"]),
    WaisFault::search("search_src", 0, correct).at("t.src?word"),
    WaisFault::search("search_nothing_found", 0, correct).at("t?none").shows(&["Search produced no result"]),
    WaisFault::search("search_no_words", 0, correct).at("t?").shows(&["Information on database: t", "Catalog for database: t"]),
    WaisFault::search("search_database", 0, correct).at("t").shows(&["Information on database: t", "Catalog for database: t"]),
    WaisFault::search("search_syntax", 0, correct).or(&[78]).at("t?word%20and%20(").shows(&["Search produced no result"]),
    WaisFault::search("search_no_such_database", 78, correct).at("none?word").message(&["is not available"]),
    WaisFault::search("search_many", 0, |_| many()).shows(&["Number 0", "Number 199"]),
    WaisFault::search("search_drip", 0, |s| correct(s).drip(1, Duration::from_micros(500))),
    WaisFault::search("search_drip_too_slow", 28, |s| correct(s).drip(1, Duration::from_millis(50))).with(&["-m", "0.6"]),
    // Hostile document headers.
    WaisFault::search("search_hostile_headline", 0, |_| with_headline(b"Es\x1b[2Jcape\x07\r\nline\x9b1m\0", "TEXT")).shows(&["Es", "cape", "line"]),
    WaisFault::search("search_empty_headline", 0, |_| with_headline(b"", "TEXT")).shows(&["TEXT"]),
    WaisFault::search("search_long_headline", 0, |_| with_headline(&b"long ".repeat(10_000), "TEXT")).shows(&["long long"]),
    WaisFault::search("search_latin_1", 0, |_| with_headline(b"Caf\xe9 au lait", "TEXT")).shows(&["Caf", "au lait"]),
    WaisFault::search("search_link", 0, |_| with_headline(b"gopher://localhost/1/x", "URL")).shows(&["gopher://localhost/1/x"]),
    WaisFault::search("search_hostile_type", 0, |_| with_headline(b"A headline", "T/E\u{1b}[2JXT?#")).shows(&["A headline"]),
    WaisFault::search("search_no_type", 0, |_| with_headline(b"A headline", "")).shows(&["A headline"]),
    WaisFault::search("search_hostile_headline_json", 0, |_| with_headline(b"Es\x1b[2Jcape", "TEXT")).shows(&["Es", "cape"]).with(&["--format", "json"]),
    // Early ends.
    WaisFault::search("search_close_at_once", 52, |s| end_at_accept(s, Ending::Close)).or(&[18]),
    WaisFault::search("search_reset_at_once", 52, |s| end_at_accept(s, Ending::Reset)).or(&[7, 18]),
    WaisFault::search("search_close_0", 52, |s| close(s, CutPoint::After(0))).or(&[18]),
    WaisFault::search("search_close_1", 18, |s| close(s, CutPoint::After(1))),
    WaisFault::search("search_close_10", 18, |s| close(s, CutPoint::After(10))),
    WaisFault::search("search_close_24", 18, |s| close(s, CutPoint::After(24))),
    WaisFault::search("search_close_25", 18, |s| close(s, CutPoint::After(25))),
    WaisFault::search("search_close_26", 18, |s| close(s, CutPoint::After(26))),
    WaisFault::search("search_close_half", 18, |s| close(s, CutPoint::Half)),
    WaisFault::search("search_close_last", 18, |s| close(s, CutPoint::BeforeEnd(1))),
    WaisFault::search("search_reset_0", 52, |s| reset(s, CutPoint::After(0))).or(&[18]),
    WaisFault::search("search_reset_25", 18, |s| reset(s, CutPoint::After(25))),
    WaisFault::search("search_reset_half", 18, |s| reset(s, CutPoint::Half)),
    WaisFault::search("search_reset_last", 18, |s| reset(s, CutPoint::BeforeEnd(1))),
    WaisFault::search("search_reset_after", 0, |s| always(s, WaisAction::End(Ending::Reset))).or(&[18]),
    WaisFault::search("search_stall_0", 28, |s| stall(s, CutPoint::After(0))),
    WaisFault::search("search_stall_25", 28, |s| stall(s, CutPoint::After(25))),
    WaisFault::search("search_stall_last", 28, |s| stall(s, CutPoint::BeforeEnd(1))),
    WaisFault::search("search_stall_after", 0, |s| always(s, WaisAction::End(Ending::Stall(s.stall)))),
    // Refusals.
    WaisFault::search("search_nothing", 78, |s| always(s, WaisAction::EmptyMessage)).or(&[8]),
    WaisFault::search("search_no_information", 0, |s| always(s, WaisAction::NoInformation)).or(&[78]).shows(&[]),
    WaisFault::search("search_no_records", 0, |s| records(s, b"")).or(&[78]).shows(&[]),
    WaisFault::search("search_s1", 78, |s| only_diagnostic(s, b"S1", "It is broken")).message(&["It is broken"]),
    WaisFault::search("search_s2_for_now", 92, |s| only_diagnostic(s, b"S2", "Come back later")).or(&[78]).message(&["Come back later"]),
    WaisFault::search("search_t2_forbidden", 9, |s| only_diagnostic(s, b"T2", "Not for you")).or(&[78]).message(&["Not for you"]),
    WaisFault::search("search_hostile_words", 78, |s| only_diagnostic(s, b"S1", "\u{1b}[2J\u{7}\r\nfetch-url: done\u{9b}1m\u{202e}")).message(&["done"]),
    WaisFault::search("search_s1_beside", 0, |s| append_diagnostic(s, b"S1", "Almost no memory left")),
    WaisFault::search("search_beside_no_terminator", 8, |s| append_diagnostic(s, b"S1", "cut").always(WaisAction::NoTerminator)),
    // Too much data.
    WaisFault::search("search_twice", 0, |s| always(s, WaisAction::Duplicate)).or(&[8]),
    WaisFault::search("search_extra_byte", 0, |s| always(s, WaisAction::After(b"x".to_vec()))).or(&[8]),
    WaisFault::search("search_flood", 0, |s| flood(s, b"x")).or(&[8]),
    WaisFault::search("search_message_longest", 0, |s| max_message_and(s, 0)).or(&[63, 78]).shows(&[]),
    WaisFault::search("search_message_too_long", 63, |s| max_message_and(s, 1)),
    // The header.
    WaisFault::search("search_garbage", 8, |s| answer(s, b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    WaisFault::search("search_digits_letter", 8, |s| digits(s, "000000010x")),
    WaisFault::search("search_length_too_large", 63, |s| digits(s, "0001048577")),
    WaisFault::search("search_length_more_close", 18, |s| always(s, WaisAction::LengthOffset(1)).always(WaisAction::End(Ending::Close))),
    WaisFault::search("search_length_less", 8, |s| always(s, WaisAction::LengthOffset(-1))),
    WaisFault::search("search_compressed", 8, |s| header(s, 22, b"u")),
    // The APDU.
    WaisFault::search("search_hli_0", 8, |s| always(s, WaisAction::HeaderLength(0))),
    WaisFault::search("search_hli_too_long", 8, |s| always(s, WaisAction::HeaderLength(0xffff))),
    WaisFault::search("search_wrong_pdu", 8, |s| always(s, WaisAction::Pdu(21))),
    WaisFault::search("search_fixed_is_wrong", 0, |s| always(s, WaisAction::FixedPart(vec![0; 10]))),
    WaisFault::search("search_padded", 0, |s| always(s, WaisAction::PaddedLengths)),
    WaisFault::search("search_reversed", 0, |s| always(s, WaisAction::ReversedFields)),
    WaisFault::search("search_unknown_fields", 0, |s| always(s, WaisAction::UnknownFields)),
    WaisFault::search("search_field_too_long", 8, |s| always(s, WaisAction::OverstateLength(WaisLayer::Field, 1))),
    WaisFault::search("search_record_too_long", 8, |s| always(s, WaisAction::OverstateLength(WaisLayer::Record, 1))),
    WaisFault::search("search_information_too_long", 8, |s| always(s, WaisAction::OverstateLength(WaisLayer::Information, 1))),
    WaisFault::search("search_integer_endless", 8, |s| information(s, &[0xff; 64])),
    WaisFault::search("search_diagnostic_too_long", 8, |s| records(s, b"\x1c\xff\xffS1words\0\x1d")),
];
