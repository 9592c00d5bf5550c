//! The fault table of texts: responses with attributes and with contents.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::config::ProsperoConfig;
use crate::prospero::fault_configs::{
    SHORT, always, contents_text, correct, info_text, on_contents, text, with_content, with_object,
    with_short,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::object::ProsperoObject;
use crate::prospero::rule::ProsperoAction;
use crate::server::rule::CutPoint;

/// The text before the bytes of a file.
const DATA: &[u8] = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA ";
/// An attribute that was not requested.
const ATTRIBUTE: &[u8] = b"ATTRIBUTE OBJECT APPLICATION X SEQUENCE x\n";
/// A failure with terminal escape sequences.
const HOSTILE: &[u8] = b"FAILURE NOT-FOUND '\x1b[2J\x07\r\nfetch-url: done\xc2\x9b1m\xe2\x80\xae'\n";

/// The faults of a server in its texts, and unusual but correct behaviour (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_TEXT_FAULTS: &[ProsperoFault] = &[
    // Bytes of every kind.
    ProsperoFault::short("bytes_none", 0, |_| with_content(b"")).stores(|_| Vec::new()),
    ProsperoFault::short("bytes_one", 0, |_| with_content(b"\n")).stores(|_| b"\n".to_vec()),
    ProsperoFault::short("bytes_quote", 0, |_| with_content(b"'")).stores(|_| b"'".to_vec()),
    ProsperoFault::short("bytes_word", 0, |_| with_content(b"word")).stores(|_| b"word".to_vec()),
    ProsperoFault::short("bytes_all", 0, |_| with_content(&all_bytes())).stores(|_| all_bytes()),
    ProsperoFault::short("bytes_quotes", 0, |_| with_content(&[b'\''; 3000])).stores(|_| vec![b'\''; 3000]),
    ProsperoFault::short("bytes_nul", 0, |_| with_content(&[0; 3000])).stores(|_| vec![0; 3000]),
    ProsperoFault::short("bytes_lines", 0, |_| with_content(&b"FAILURE NOT-FOUND\r\n".repeat(200))).stores(|_| b"FAILURE NOT-FOUND\r\n".repeat(200)),
    ProsperoFault::short("bytes_of_captured", 0, |_| with_content(b"a\0b'c d\n\r\n\xff/+,end")).stores(|_| b"a\0b'c d\n\r\n\xff/+,end".to_vec()),
    ProsperoFault::short("bytes_1_mib", 0, |_| with_content(&[b'x'; 1 << 20])).stores(|_| vec![b'x'; 1 << 20]),
    // Names of every kind.
    ProsperoFault::short("name_blank_quote", 0, |_| with_object("/srv/it's + a, name", ProsperoObject::file(SHORT))).at("/srv/it's%20+%20a,%20name"),
    ProsperoFault::short("name_latin_1", 0, |_| correct_at(b"/srv/caf\xe9")).at("/srv/caf%E9"),
    ProsperoFault::short("name_relative", 0, |_| correct_at(b"srv/short")).at("srv/short"),
    ProsperoFault::short("name_dots", 0, |_| correct_at(b"/srv/./a/../b")).at("/srv/./a/../b"),
    ProsperoFault::short("name_semicolon", 0, |_| correct_at(b"/srv/a;b")).at("/srv/a%3Bb"),
    ProsperoFault::short("name_long", 0, |_| correct_at(&[b'x'; 4000])).at(LONG_NAME),
    ProsperoFault::short("name_line_feed", 93, |_| correct_at(b"/srv/a\nb")).at("/srv/a%0Ab"),
    ProsperoFault::short("name_injected", 93, |_| correct_at(b"/srv/a")).at("/srv/a'%200%0D%0ASTATUS%0D%0A"),
    ProsperoFault::short("name_nul", 93, |_| correct_at(b"/srv/a\0b")).at("/srv/a%00b").or(&[8, 78]),
    ProsperoFault::short("version", 0, |_| versions()).at("/srv/short;version=3"),
    ProsperoFault::short("object_version", 0, |_| versions()).at("/srv/short;OBJECT-VERSION=3"),
    ProsperoFault::short("no_such_version", 78, |_| versions()).at("/srv/short;version=2"),
    ProsperoFault::short("other_field", 0, correct).at("/srv/short;colour=blue"),
    ProsperoFault::short("no_such_object", 78, correct).at("/srv/none"),
    ProsperoFault::short("not_served", 9, correct).at("/etc/passwd"),
    // Attributes of every kind.
    ProsperoFault::short("description", 0, |_| with_short(ProsperoObject::file(SHORT).description("it's\na '\x1b[2J' text"))),
    ProsperoFault::short("odd_attributes", 0, |_| with_short(ProsperoObject::file(SHORT).modified("yesterday").modes("?").size("many"))).or(&[8]),
    ProsperoFault::short("size_too_small", 0, |_| with_short(ProsperoObject::file(SHORT).size("5 bytes"))).or(&[8, 18]),
    ProsperoFault::short("size_too_large", 0, |_| with_short(ProsperoObject::file(SHORT).size("99999999999999999999999 bytes"))).or(&[8, 18, 63]),
    ProsperoFault::short("size_stored", 0, |_| with_short(ProsperoObject::file(SHORT).attribute(ProsperoAttribute::intrinsic("SIZE", &[b"5 bytes"])))).or(&[8, 18]),
    ProsperoFault::file("unknown_lines", 0, |s| always(s, ProsperoAction::Between(b"UNKNOWN line 'of\nwords'\n".to_vec()))),
    ProsperoFault::file("identification", 0, |s| always(s, ProsperoAction::Before(b"VERSION 5 P53.17May94b\nID REMOTE 5\nSUCCESS\n".to_vec()))),
    ProsperoFault::file("warnings", 0, |s| always(s, ProsperoAction::Before(b"WARNING OUT-OF-DATE\nWARNING MESSAGE 'old'\n".to_vec()))),
    ProsperoFault::file("many_attributes", 0, |s| always(s, ProsperoAction::Flood(ATTRIBUTE.to_vec(), 500))),
    ProsperoFault::file("a_million_attributes", 63, |s| always(s, ProsperoAction::Flood(ATTRIBUTE.to_vec(), 1_000_000))),
    ProsperoFault::file("a_line_of_a_mib", 63, |s| always(s, ProsperoAction::Flood(vec![b'x'; 9 << 20], 1))),
    ProsperoFault::file("nested_attribute", 0, |s| always(s, ProsperoAction::Before(b">ATTRIBUTE OBJECT FIELD ACCESS-METHOD AFTP x\n> > x\n".to_vec()))),
    ProsperoFault::short("other_case", 78, |s| text(s, b"failure not-found\n")),
    ProsperoFault::short("tabs", 78, |s| text(s, b"\tFAILURE \t NOT-FOUND \n")).or(&[8]),
    ProsperoFault::short("no_last_line_feed", 78, |s| text(s, b"FAILURE NOT-FOUND")).or(&[8]),
    // Refusals.
    ProsperoFault::short("not_found", 78, |s| text(s, b"FAILURE NOT-FOUND 'no such thing here'\n")).message(&["no such thing here"]),
    ProsperoFault::short("not_authorized", 9, |s| text(s, b"FAILURE NOT-AUTHORIZED\n")),
    ProsperoFault::short("not_a_directory", 78, |s| text(s, b"FAILURE NOT-A-DIRECTORY\n")).or(&[8]),
    ProsperoFault::short("already_exists", 8, |s| text(s, b"FAILURE ALREADY-EXISTS\n")).or(&[9, 78]),
    ProsperoFault::short("name_conflict", 8, |s| text(s, b"FAILURE NAME-CONFLICT\n")).or(&[9, 78]),
    ProsperoFault::short("authentication_required", 67, |s| text(s, b"FAILURE AUTHENTICATION-REQUIRED\n")),
    ProsperoFault::short("authentication_data", 67, |s| text(s, b"FAILURE AUTHENTICATION-DATA\n")),
    ProsperoFault::short("server_failed", 8, |s| text(s, b"FAILURE SERVER-FAILED 'disk on fire'\n")).message(&["disk on fire"]),
    ProsperoFault::short("too_many", 92, |s| text(s, b"FAILURE TOO-MANY\n")).or(&[8, 9, 63, 78]),
    ProsperoFault::short("ambiguous", 78, |s| text(s, b"FAILURE AMBIGUOUS\n")).or(&[8, 9]),
    ProsperoFault::short("bad_value", 8, |s| text(s, b"FAILURE BAD-VALUE\n")).or(&[9, 78]),
    ProsperoFault::short("filter_application", 8, |s| text(s, b"FAILURE FILTER-APPLICATION\n")).or(&[1, 9, 78, 92]),
    ProsperoFault::short("unimplemented", 1, |s| text(s, b"FAILURE UNIMPLEMENTED\n")),
    ProsperoFault::short("unknown_failure", 8, |s| text(s, b"FAILURE WHO-KNOWS\n")).or(&[9, 78, 92]),
    ProsperoFault::short("failure_of_nothing", 8, |s| text(s, b"FAILURE\n")).or(&[9, 78, 92]),
    ProsperoFault::short("error", 8, |s| text(s, b"ERROR Unknown message: 'BOGUS x'\n")).message(&["Unknown message"]),
    ProsperoFault::short("version_not_supported", 1, |s| text(s, b"VERSION-NOT-SUPPORTED TRY 1-5")).or(&[8]),
    ProsperoFault::short("hostile_words", 78, |s| text(s, HOSTILE)).message(&["done"]),
    ProsperoFault::short("many_words", 78, |s| text(s, &[b"FAILURE NOT-FOUND ".as_slice(), &b"word ".repeat(12_000), b"\n"].concat())).or(&[63]),
    ProsperoFault::short("failure_after_attributes", 8, |s| always(s, ProsperoAction::After(b"FAILURE SERVER-FAILED\n".to_vec()))).or(&[0]),
    ProsperoFault::short("contents_not_found", 78, |s| contents_text(s, b"FAILURE NOT-FOUND\n")),
    ProsperoFault::short("contents_not_authorized", 9, |s| contents_text(s, b"FAILURE NOT-AUTHORIZED\n")),
    ProsperoFault::short("contents_server_failed", 8, |s| contents_text(s, b"FAILURE SERVER-FAILED\n")),
    ProsperoFault::short("contents_unimplemented", 1, |s| contents_text(s, b"FAILURE UNIMPLEMENTED\n")),
    ProsperoFault::file("contents_then_failure", 8, |s| on_contents(s, ProsperoAction::After(b"FAILURE SERVER-FAILED\n".to_vec()))).or(&[0, 18]),
    // Invalid texts.
    ProsperoFault::short("garbage", 8, |s| text(s, b"\xff\xfe\0\x01garbage\0\n\x80")).or(&[52, 78]),
    ProsperoFault::short("open_quote", 8, |s| text(s, b"ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE '-rw-r--r--\n")).or(&[18]),
    ProsperoFault::short("open_quote_in_failure", 8, |s| text(s, b"FAILURE NOT-FOUND 'no such\n")).or(&[18, 78]),
    ProsperoFault::short("quote_alone", 8, |s| text(s, b"'")).or(&[18]),
    ProsperoFault::file("returns", 8, |s| always(s, ProsperoAction::CrLf)).or(&[0, 1, 18, 78]),
    ProsperoFault::short("returns_in_failure", 78, |s| text(s, b"FAILURE NOT-FOUND\r\n")).or(&[8]),
    ProsperoFault::short("nul_in_keyword", 8, |s| text(s, b"FAILURE\0 NOT-FOUND\n")).or(&[52, 78]),
    ProsperoFault::short("attribute_cut", 8, |s| info_text(s, b"ATTRIBUTE OBJECT\n")).or(&[1, 78]),
    ProsperoFault::short("attribute_without_value", 8, |s| info_text(s, b"ATTRIBUTE OBJECT FIELD ACCESS-METHOD\n")).or(&[1, 78]),
    ProsperoFault::short("empty_lines", 8, |s| text(s, b"\n\n\n")).or(&[52, 78]),
    ProsperoFault::short("modes_alone", 1, |s| info_text(s, b"ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE -rw-r--r--\n")).or(&[0, 8, 78]),
    ProsperoFault::short("none_found", 78, |s| text(s, b"NONE-FOUND\n")).or(&[0]).shows(&[]),
    ProsperoFault::short("info_cut", 8, |s| always(s, ProsperoAction::Cut(CutPoint::After(30)))).or(&[18, 78]),
    // Contents that are incomplete or not alone.
    ProsperoFault::file("contents_cut_0", 52, |s| on_contents(s, ProsperoAction::Cut(CutPoint::After(0)))).or(&[8, 18, 78]),
    ProsperoFault::file("contents_cut_40", 8, |s| on_contents(s, ProsperoAction::Cut(CutPoint::After(40)))).or(&[18]),
    ProsperoFault::file("contents_cut_512", 18, |s| on_contents(s, ProsperoAction::Cut(CutPoint::After(512)))).or(&[8]),
    ProsperoFault::file("contents_cut_half", 18, |s| on_contents(s, ProsperoAction::Cut(CutPoint::Half))).or(&[8]),
    ProsperoFault::short("contents_cut_last_quote", 18, |s| on_contents(s, ProsperoAction::Cut(CutPoint::BeforeEnd(2)))).or(&[8]),
    ProsperoFault::short("contents_cut_line_feed", 0, |s| on_contents(s, ProsperoAction::Cut(CutPoint::BeforeEnd(1)))).or(&[8, 18]),
    ProsperoFault::file("contents_empty", 0, |s| contents_text(s, &[DATA, b"''\n"].concat())).or(&[8, 18]).stores(|_| Vec::new()),
    ProsperoFault::file("contents_without_bytes", 8, |s| contents_text(s, DATA)).or(&[18]),
    ProsperoFault::file("contents_without_form", 8, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE\n")),
    ProsperoFault::file("contents_without_sequence", 0, |s| contents_text(s, b"ATTRIBUTE OBJECT FIELD CONTENTS DATA x\n")).or(&[8, 18]).stores(|_| b"x".to_vec()),
    ProsperoFault::file("contents_two_tokens", 8, |s| contents_text(s, &[DATA, b"a b\n"].concat())),
    ProsperoFault::file("contents_tagged", 1, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED tag value\n")).or(&[8, 18]),
    ProsperoFault::file("contents_unknown_form", 1, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE ZIPPED x\n")).or(&[8]),
    ProsperoFault::file("contents_twice", 8, |s| contents_text(s, &[DATA, b"a\n", DATA, b"b\n"].concat())).or(&[0, 18]).stores(|_| b"a".to_vec()),
    ProsperoFault::file("contents_of_a_link", 8, |s| contents_text(s, b"LINK  L FILE x INTERNET-D x ASCII x 0\nATTRIBUTE LINK INTRINSIC CONTENTS SEQUENCE DATA x\n")).or(&[18, 78]),
    ProsperoFault::file("contents_missing", 8, |s| contents_text(s, ATTRIBUTE)).or(&[52, 78]),
    ProsperoFault::file("contents_none_found", 78, |s| contents_text(s, b"NONE-FOUND\n")).or(&[8]),
    ProsperoFault::file("contents_forwarded_ring", 47, |s| contents_text(s, b"FORWARDED INTERNET-D '' ASCII '/srv/file' 0\n")).or(&[8, 78]),
    ProsperoFault::file("contents_raw", 8, |s| contents_text(s, &s.content)).or(&[78]),
    ProsperoFault::file("contents_between", 0, |s| on_contents(s, ProsperoAction::Between(ATTRIBUTE.to_vec()))),
    ProsperoFault::file("contents_limit", 63, |_| with_object("/srv/file", ProsperoObject::file(vec![b'x'; 9 << 20]))).or(&[0, 28]).stores(|_| vec![b'x'; 9 << 20]),
];

/// A name of 4000 bytes, so that the request takes four packets.
const LONG_NAME: &str = match std::str::from_utf8(&[b'x'; 4000]) {
    Ok(name) => name,
    Err(_) => "",
};

fn correct_at(hsoname: &[u8]) -> ProsperoConfig {
    ProsperoConfig::new().object(hsoname, ProsperoObject::file(SHORT))
}

/// A server with the short text as version 3. The latest version has other bytes.
fn versions() -> ProsperoConfig {
    with_content(b"the latest").version("/srv/short", 3, ProsperoObject::file(SHORT))
}

fn all_bytes() -> Vec<u8> {
    (0..=255).cycle().take(3000).collect()
}
