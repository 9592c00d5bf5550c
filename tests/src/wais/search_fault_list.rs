//! The faults of searches as data.

use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::wais::fault_sites::{
    act, alone, at_once, beside, close, digits, flood, header, headline, honest, information, longest_and,
    many, raw, records, reset, stall,
};
use crate::wais::faults::WaisFault;
use crate::wais::rule::{WaisAct, WaisCut, WaisLayer};

/// Every fault of a search, and some oddities that are none (exit status 0).
#[rustfmt::skip] // a table
pub static WAIS_SEARCH_FAULTS: &[WaisFault] = &[
    // Nothing wrong, however it looks.
    WaisFault::search("search_honest", 0, honest),
    WaisFault::search("search_one", 0, honest).at("t?other").shows(&["The short text"]),
    WaisFault::search("search_src", 0, honest).at("t.src?word"),
    WaisFault::search("search_nothing_found", 0, honest).at("t?none").shows(&["Search produced no result"]),
    WaisFault::search("search_no_words", 0, honest).at("t?").shows(&["Information on database: t", "Catalog for database: t"]),
    WaisFault::search("search_database", 0, honest).at("t").shows(&["Information on database: t", "Catalog for database: t"]),
    WaisFault::search("search_syntax", 0, honest).or(&[78]).at("t?word%20and%20(").shows(&["Search produced no result"]),
    WaisFault::search("search_no_such_database", 78, honest).at("none?word").says(&["is not available"]),
    WaisFault::search("search_many", 0, |_| many()).shows(&["Number 0", "Number 199"]),
    WaisFault::search("search_drip", 0, |s| honest(s).drip(1, Duration::from_micros(500))),
    WaisFault::search("search_drip_too_slow", 28, |s| honest(s).drip(1, Duration::from_millis(50))).with(&["-m", "0.6"]),
    // Headers that want to be more than that.
    WaisFault::search("search_hostile_headline", 0, |_| headline(b"Es\x1b[2Jcape\x07\r\nline\x9b1m\0", "TEXT")).shows(&["Es", "cape", "line"]),
    WaisFault::search("search_empty_headline", 0, |_| headline(b"", "TEXT")).shows(&["TEXT"]),
    WaisFault::search("search_long_headline", 0, |_| headline(&b"long ".repeat(10_000), "TEXT")).shows(&["long long"]),
    WaisFault::search("search_latin_1", 0, |_| headline(b"Caf\xe9 au lait", "TEXT")).shows(&["Caf", "au lait"]),
    WaisFault::search("search_link", 0, |_| headline(b"gopher://localhost/1/x", "URL")).shows(&["gopher://localhost/1/x"]),
    WaisFault::search("search_hostile_type", 0, |_| headline(b"A headline", "T/E\u{1b}[2JXT?#")).shows(&["A headline"]),
    WaisFault::search("search_no_type", 0, |_| headline(b"A headline", "")).shows(&["A headline"]),
    WaisFault::search("search_hostile_headline_json", 0, |_| headline(b"Es\x1b[2Jcape", "TEXT")).shows(&["Es", "cape"]).with(&["--format", "json"]),
    // An end, early.
    WaisFault::search("search_close_at_once", 52, |s| at_once(s, Ending::Close)).or(&[18]),
    WaisFault::search("search_reset_at_once", 52, |s| at_once(s, Ending::Reset)).or(&[7, 18]),
    WaisFault::search("search_close_0", 52, |s| close(s, WaisCut::After(0))).or(&[18]),
    WaisFault::search("search_close_1", 18, |s| close(s, WaisCut::After(1))),
    WaisFault::search("search_close_10", 18, |s| close(s, WaisCut::After(10))),
    WaisFault::search("search_close_24", 18, |s| close(s, WaisCut::After(24))),
    WaisFault::search("search_close_25", 18, |s| close(s, WaisCut::After(25))),
    WaisFault::search("search_close_26", 18, |s| close(s, WaisCut::After(26))),
    WaisFault::search("search_close_half", 18, |s| close(s, WaisCut::Half)),
    WaisFault::search("search_close_last", 18, |s| close(s, WaisCut::Before(1))),
    WaisFault::search("search_reset_0", 52, |s| reset(s, WaisCut::After(0))).or(&[18]),
    WaisFault::search("search_reset_25", 18, |s| reset(s, WaisCut::After(25))),
    WaisFault::search("search_reset_half", 18, |s| reset(s, WaisCut::Half)),
    WaisFault::search("search_reset_last", 18, |s| reset(s, WaisCut::Before(1))),
    WaisFault::search("search_reset_after", 0, |s| act(s, WaisAct::End(Ending::Reset))).or(&[18]),
    WaisFault::search("search_stall_0", 28, |s| stall(s, WaisCut::After(0))),
    WaisFault::search("search_stall_25", 28, |s| stall(s, WaisCut::After(25))),
    WaisFault::search("search_stall_last", 28, |s| stall(s, WaisCut::Before(1))),
    WaisFault::search("search_stall_after", 0, |s| act(s, WaisAct::End(Ending::Stall(s.stall)))),
    // Refusals.
    WaisFault::search("search_nothing", 78, |s| act(s, WaisAct::Nothing)).or(&[8]),
    WaisFault::search("search_no_information", 0, |s| act(s, WaisAct::NoInformation)).or(&[78]).shows(&[]),
    WaisFault::search("search_no_records", 0, |s| records(s, b"")).or(&[78]).shows(&[]),
    WaisFault::search("search_s1", 78, |s| alone(s, b"S1", "It is broken")).says(&["It is broken"]),
    WaisFault::search("search_s2_for_now", 92, |s| alone(s, b"S2", "Come back later")).or(&[78]).says(&["Come back later"]),
    WaisFault::search("search_t2_forbidden", 9, |s| alone(s, b"T2", "Not for you")).or(&[78]).says(&["Not for you"]),
    WaisFault::search("search_hostile_words", 78, |s| alone(s, b"S1", "\u{1b}[2J\u{7}\r\nfetch-url: done\u{9b}1m\u{202e}")).says(&["done"]),
    WaisFault::search("search_s1_beside", 0, |s| beside(s, b"S1", "Almost no memory left")),
    WaisFault::search("search_beside_no_terminator", 8, |s| beside(s, b"S1", "cut").always(WaisAct::NoTerminator)),
    // Too much.
    WaisFault::search("search_twice", 0, |s| act(s, WaisAct::Twice)).or(&[8]),
    WaisFault::search("search_extra_octet", 0, |s| act(s, WaisAct::Last(b"x".to_vec()))).or(&[8]),
    WaisFault::search("search_flood", 0, |s| flood(s, b"x")).or(&[8]),
    WaisFault::search("search_message_longest", 0, |s| longest_and(s, 0)).or(&[63, 78]).shows(&[]),
    WaisFault::search("search_message_too_long", 63, |s| longest_and(s, 1)),
    // The header.
    WaisFault::search("search_garbage", 8, |s| raw(s, b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    WaisFault::search("search_digits_letter", 8, |s| digits(s, "000000010x")),
    WaisFault::search("search_length_too_large", 63, |s| digits(s, "0001048577")),
    WaisFault::search("search_length_more_close", 18, |s| act(s, WaisAct::Length(1)).always(WaisAct::End(Ending::Close))),
    WaisFault::search("search_length_less", 8, |s| act(s, WaisAct::Length(-1))),
    WaisFault::search("search_compressed", 8, |s| header(s, 22, b"u")),
    // The APDU.
    WaisFault::search("search_hli_0", 8, |s| act(s, WaisAct::Hli(0))),
    WaisFault::search("search_hli_too_long", 8, |s| act(s, WaisAct::Hli(0xffff))),
    WaisFault::search("search_wrong_pdu", 8, |s| act(s, WaisAct::Pdu(21))),
    WaisFault::search("search_fixed_is_wrong", 0, |s| act(s, WaisAct::Fixed(vec![0; 10]))),
    WaisFault::search("search_padded", 0, |s| act(s, WaisAct::Padded)),
    WaisFault::search("search_reversed", 0, |s| act(s, WaisAct::Reversed)),
    WaisFault::search("search_unknown_fields", 0, |s| act(s, WaisAct::UnknownFields)),
    WaisFault::search("search_field_too_long", 8, |s| act(s, WaisAct::TooLong(WaisLayer::Field, 1))),
    WaisFault::search("search_record_too_long", 8, |s| act(s, WaisAct::TooLong(WaisLayer::Record, 1))),
    WaisFault::search("search_information_too_long", 8, |s| act(s, WaisAct::TooLong(WaisLayer::Information, 1))),
    WaisFault::search("search_integer_endless", 8, |s| information(s, &[0xff; 64])),
    WaisFault::search("search_diagnostic_too_long", 8, |s| records(s, b"\x1c\xff\xffS1words\0\x1d")),
];
