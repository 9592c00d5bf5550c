//! The faults of texts as data: what the answers about an object, and those with its octets, can say.

use crate::prospero::attribute::ProsperoAttribute;
use crate::prospero::fault_sites::{
    SHORT, act, contents, contents_text, holding, honest, info_text, object, octets, text,
};
use crate::prospero::faults::ProsperoFault;
use crate::prospero::object::ProsperoObject;
use crate::prospero::rule::{ProsperoAct, ProsperoCut};
use crate::prospero::site::ProsperoSite;

/// What stands before the octets of a file.
const DATA: &[u8] = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA ";
/// An attribute of 36 octets that nobody asked for.
const ATTRIBUTE: &[u8] = b"ATTRIBUTE OBJECT APPLICATION X SEQUENCE x\n";
/// What a terminal would obey.
const HOSTILE: &[u8] = b"FAILURE NOT-FOUND '\x1b[2J\x07\r\nfetch-url: done\xc2\x9b1m\xe2\x80\xae'\n";

/// Every fault of texts, and some oddities that are none (exit status 0).
#[rustfmt::skip] // a table
pub static PROSPERO_TEXT_FAULTS: &[ProsperoFault] = &[
    // Octets of every kind.
    ProsperoFault::short("octets_none", 0, |_| octets(b"")).is(|_| Vec::new()),
    ProsperoFault::short("octets_one", 0, |_| octets(b"\n")).is(|_| b"\n".to_vec()),
    ProsperoFault::short("octets_quote", 0, |_| octets(b"'")).is(|_| b"'".to_vec()),
    ProsperoFault::short("octets_word", 0, |_| octets(b"word")).is(|_| b"word".to_vec()),
    ProsperoFault::short("octets_all", 0, |_| octets(&all_octets())).is(|_| all_octets()),
    ProsperoFault::short("octets_quotes", 0, |_| octets(&[b'\''; 3000])).is(|_| vec![b'\''; 3000]),
    ProsperoFault::short("octets_nul", 0, |_| octets(&[0; 3000])).is(|_| vec![0; 3000]),
    ProsperoFault::short("octets_lines", 0, |_| octets(&b"FAILURE NOT-FOUND\r\n".repeat(200))).is(|_| b"FAILURE NOT-FOUND\r\n".repeat(200)),
    ProsperoFault::short("octets_of_captured", 0, |_| octets(b"a\0b'c d\n\r\n\xff/+,end")).is(|_| b"a\0b'c d\n\r\n\xff/+,end".to_vec()),
    ProsperoFault::short("octets_1_mib", 0, |_| octets(&[b'x'; 1 << 20])).is(|_| vec![b'x'; 1 << 20]),
    // Names of every kind.
    ProsperoFault::short("name_blank_quote", 0, |_| holding("/srv/it's + a, name", ProsperoObject::file(SHORT))).at("/srv/it's%20+%20a,%20name"),
    ProsperoFault::short("name_latin_1", 0, |_| honest_at(b"/srv/caf\xe9")).at("/srv/caf%E9"),
    ProsperoFault::short("name_relative", 0, |_| honest_at(b"srv/short")).at("srv/short"),
    ProsperoFault::short("name_dots", 0, |_| honest_at(b"/srv/./a/../b")).at("/srv/./a/../b"),
    ProsperoFault::short("name_semicolon", 0, |_| honest_at(b"/srv/a;b")).at("/srv/a%3Bb"),
    ProsperoFault::short("name_long", 0, |_| honest_at(&[b'x'; 4000])).at(LONG_NAME),
    ProsperoFault::short("name_line_feed", 93, |_| honest_at(b"/srv/a\nb")).at("/srv/a%0Ab"),
    ProsperoFault::short("name_injected", 93, |_| honest_at(b"/srv/a")).at("/srv/a'%200%0D%0ASTATUS%0D%0A"),
    ProsperoFault::short("name_nul", 93, |_| honest_at(b"/srv/a\0b")).at("/srv/a%00b").or(&[8, 78]),
    ProsperoFault::short("version", 0, |_| versions()).at("/srv/short;version=3"),
    ProsperoFault::short("object_version", 0, |_| versions()).at("/srv/short;OBJECT-VERSION=3"),
    ProsperoFault::short("no_such_version", 78, |_| versions()).at("/srv/short;version=2"),
    ProsperoFault::short("other_field", 0, honest).at("/srv/short;colour=blue"),
    ProsperoFault::short("no_such_object", 78, honest).at("/srv/none"),
    ProsperoFault::short("not_served", 9, honest).at("/etc/passwd"),
    // Attributes of every kind.
    ProsperoFault::short("description", 0, |_| object(ProsperoObject::file(SHORT).description("it's\na '\x1b[2J' text"))),
    ProsperoFault::short("odd_attributes", 0, |_| object(ProsperoObject::file(SHORT).modified("yesterday").modes("?").size("many"))).or(&[8]),
    ProsperoFault::short("size_too_small", 0, |_| object(ProsperoObject::file(SHORT).size("5 bytes"))).or(&[8, 18]),
    ProsperoFault::short("size_too_large", 0, |_| object(ProsperoObject::file(SHORT).size("99999999999999999999999 bytes"))).or(&[8, 18, 63]),
    ProsperoFault::short("size_stored", 0, |_| object(ProsperoObject::file(SHORT).attribute(ProsperoAttribute::intrinsic("SIZE", &[b"5 bytes"])))).or(&[8, 18]),
    ProsperoFault::file("unknown_lines", 0, |s| act(s, ProsperoAct::Between(b"UNKNOWN line 'of\nwords'\n".to_vec()))),
    ProsperoFault::file("identification", 0, |s| act(s, ProsperoAct::Before(b"VERSION 5 P53.17May94b\nID REMOTE 5\nSUCCESS\n".to_vec()))),
    ProsperoFault::file("warnings", 0, |s| act(s, ProsperoAct::Before(b"WARNING OUT-OF-DATE\nWARNING MESSAGE 'old'\n".to_vec()))),
    ProsperoFault::file("many_attributes", 0, |s| act(s, ProsperoAct::Flood(ATTRIBUTE.to_vec(), 500))),
    ProsperoFault::file("a_million_attributes", 63, |s| act(s, ProsperoAct::Flood(ATTRIBUTE.to_vec(), 1_000_000))),
    ProsperoFault::file("a_line_of_a_mib", 63, |s| act(s, ProsperoAct::Flood(vec![b'x'; 9 << 20], 1))),
    ProsperoFault::file("nested_attribute", 0, |s| act(s, ProsperoAct::Before(b">ATTRIBUTE OBJECT FIELD ACCESS-METHOD AFTP x\n> > x\n".to_vec()))),
    ProsperoFault::short("other_case", 78, |s| text(s, b"failure not-found\n")),
    ProsperoFault::short("tabs", 78, |s| text(s, b"\tFAILURE \t NOT-FOUND \n")).or(&[8]),
    ProsperoFault::short("no_last_line_feed", 78, |s| text(s, b"FAILURE NOT-FOUND")).or(&[8]),
    // Refusals.
    ProsperoFault::short("not_found", 78, |s| text(s, b"FAILURE NOT-FOUND 'no such thing here'\n")).says(&["no such thing here"]),
    ProsperoFault::short("not_authorized", 9, |s| text(s, b"FAILURE NOT-AUTHORIZED\n")),
    ProsperoFault::short("not_a_directory", 78, |s| text(s, b"FAILURE NOT-A-DIRECTORY\n")).or(&[8]),
    ProsperoFault::short("already_exists", 8, |s| text(s, b"FAILURE ALREADY-EXISTS\n")).or(&[9, 78]),
    ProsperoFault::short("name_conflict", 8, |s| text(s, b"FAILURE NAME-CONFLICT\n")).or(&[9, 78]),
    ProsperoFault::short("authentication_required", 67, |s| text(s, b"FAILURE AUTHENTICATION-REQUIRED\n")),
    ProsperoFault::short("authentication_data", 67, |s| text(s, b"FAILURE AUTHENTICATION-DATA\n")),
    ProsperoFault::short("server_failed", 92, |s| text(s, b"FAILURE SERVER-FAILED 'disk on fire'\n")).says(&["disk on fire"]),
    ProsperoFault::short("too_many", 92, |s| text(s, b"FAILURE TOO-MANY\n")).or(&[8, 9, 63, 78]),
    ProsperoFault::short("ambiguous", 78, |s| text(s, b"FAILURE AMBIGUOUS\n")).or(&[8, 9]),
    ProsperoFault::short("bad_value", 8, |s| text(s, b"FAILURE BAD-VALUE\n")).or(&[9, 78]),
    ProsperoFault::short("filter_application", 8, |s| text(s, b"FAILURE FILTER-APPLICATION\n")).or(&[1, 9, 78, 92]),
    ProsperoFault::short("unimplemented", 1, |s| text(s, b"FAILURE UNIMPLEMENTED\n")),
    ProsperoFault::short("unknown_failure", 8, |s| text(s, b"FAILURE WHO-KNOWS\n")).or(&[9, 78, 92]),
    ProsperoFault::short("failure_of_nothing", 8, |s| text(s, b"FAILURE\n")).or(&[9, 78, 92]),
    ProsperoFault::short("error", 8, |s| text(s, b"ERROR Unknown message: 'BOGUS x'\n")).says(&["Unknown message"]),
    ProsperoFault::short("version_not_supported", 1, |s| text(s, b"VERSION-NOT-SUPPORTED TRY 1-5")).or(&[8]),
    ProsperoFault::short("hostile_words", 78, |s| text(s, HOSTILE)).says(&["done"]),
    ProsperoFault::short("many_words", 78, |s| text(s, &[b"FAILURE NOT-FOUND ".as_slice(), &b"word ".repeat(12_000), b"\n"].concat())).or(&[63]),
    ProsperoFault::short("failure_after_attributes", 92, |s| act(s, ProsperoAct::After(b"FAILURE SERVER-FAILED\n".to_vec()))).or(&[0]),
    ProsperoFault::short("contents_not_found", 78, |s| contents_text(s, b"FAILURE NOT-FOUND\n")),
    ProsperoFault::short("contents_not_authorized", 9, |s| contents_text(s, b"FAILURE NOT-AUTHORIZED\n")),
    ProsperoFault::short("contents_server_failed", 92, |s| contents_text(s, b"FAILURE SERVER-FAILED\n")),
    ProsperoFault::short("contents_unimplemented", 1, |s| contents_text(s, b"FAILURE UNIMPLEMENTED\n")),
    ProsperoFault::file("contents_then_failure", 92, |s| contents(s, ProsperoAct::After(b"FAILURE SERVER-FAILED\n".to_vec()))).or(&[0, 8, 18]),
    // Texts that cannot be read.
    ProsperoFault::short("garbage", 8, |s| text(s, b"\xff\xfe\0\x01garbage\0\n\x80")).or(&[52, 78]),
    ProsperoFault::short("open_quote", 8, |s| text(s, b"ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE '-rw-r--r--\n")).or(&[18]),
    ProsperoFault::short("open_quote_in_failure", 8, |s| text(s, b"FAILURE NOT-FOUND 'no such\n")).or(&[18, 78]),
    ProsperoFault::short("quote_alone", 8, |s| text(s, b"'")).or(&[18]),
    ProsperoFault::file("returns", 8, |s| act(s, ProsperoAct::CrLf)).or(&[0, 1, 18, 78]),
    ProsperoFault::short("returns_in_failure", 78, |s| text(s, b"FAILURE NOT-FOUND\r\n")).or(&[8]),
    ProsperoFault::short("nul_in_keyword", 8, |s| text(s, b"FAILURE\0 NOT-FOUND\n")).or(&[52, 78]),
    ProsperoFault::short("attribute_cut", 8, |s| info_text(s, b"ATTRIBUTE OBJECT\n")).or(&[1, 78]),
    ProsperoFault::short("attribute_without_value", 8, |s| info_text(s, b"ATTRIBUTE OBJECT FIELD ACCESS-METHOD\n")).or(&[1, 78]),
    ProsperoFault::short("empty_lines", 8, |s| text(s, b"\n\n\n")).or(&[52, 78]),
    ProsperoFault::short("modes_alone", 1, |s| info_text(s, b"ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE -rw-r--r--\n")).or(&[0, 8, 78]),
    ProsperoFault::short("none_found", 78, |s| text(s, b"NONE-FOUND\n")).or(&[0]).shows(&[]),
    ProsperoFault::short("info_cut", 8, |s| act(s, ProsperoAct::Cut(ProsperoCut::After(30)))).or(&[18, 78]),
    // Contents that are not whole, or not only that.
    ProsperoFault::file("contents_cut_0", 52, |s| contents(s, ProsperoAct::Cut(ProsperoCut::After(0)))).or(&[8, 18, 78]),
    ProsperoFault::file("contents_cut_40", 8, |s| contents(s, ProsperoAct::Cut(ProsperoCut::After(40)))).or(&[18]),
    ProsperoFault::file("contents_cut_512", 18, |s| contents(s, ProsperoAct::Cut(ProsperoCut::After(512)))).or(&[8]),
    ProsperoFault::file("contents_cut_half", 18, |s| contents(s, ProsperoAct::Cut(ProsperoCut::Half))).or(&[8]),
    ProsperoFault::short("contents_cut_last_quote", 18, |s| contents(s, ProsperoAct::Cut(ProsperoCut::Before(2)))).or(&[8]),
    ProsperoFault::short("contents_cut_line_feed", 0, |s| contents(s, ProsperoAct::Cut(ProsperoCut::Before(1)))).or(&[8, 18]),
    ProsperoFault::file("contents_empty", 0, |s| contents_text(s, &[DATA, b"''\n"].concat())).or(&[8, 18]).is(|_| Vec::new()),
    ProsperoFault::file("contents_without_octets", 8, |s| contents_text(s, DATA)).or(&[18]),
    ProsperoFault::file("contents_without_form", 8, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE\n")),
    ProsperoFault::file("contents_without_sequence", 0, |s| contents_text(s, b"ATTRIBUTE OBJECT FIELD CONTENTS DATA x\n")).or(&[8, 18]).is(|_| b"x".to_vec()),
    ProsperoFault::file("contents_two_tokens", 8, |s| contents_text(s, &[DATA, b"a b\n"].concat())),
    ProsperoFault::file("contents_tagged", 1, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED tag value\n")).or(&[8, 18]),
    ProsperoFault::file("contents_unknown_form", 1, |s| contents_text(s, b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE ZIPPED x\n")).or(&[8]),
    ProsperoFault::file("contents_twice", 8, |s| contents_text(s, &[DATA, b"a\n", DATA, b"b\n"].concat())).or(&[0, 18]).is(|_| b"a".to_vec()),
    ProsperoFault::file("contents_of_a_link", 8, |s| contents_text(s, b"LINK  L FILE x INTERNET-D x ASCII x 0\nATTRIBUTE LINK INTRINSIC CONTENTS SEQUENCE DATA x\n")).or(&[18, 78]),
    ProsperoFault::file("contents_missing", 8, |s| contents_text(s, ATTRIBUTE)).or(&[52, 78]),
    ProsperoFault::file("contents_none_found", 78, |s| contents_text(s, b"NONE-FOUND\n")).or(&[8]),
    ProsperoFault::file("contents_forwarded_ring", 47, |s| contents_text(s, b"FORWARDED INTERNET-D '' ASCII '/srv/file' 0\n")).or(&[8, 78]),
    ProsperoFault::file("contents_raw", 8, |s| contents_text(s, &s.content)).or(&[78]),
    ProsperoFault::file("contents_between", 0, |s| contents(s, ProsperoAct::Between(ATTRIBUTE.to_vec()))),
    ProsperoFault::file("contents_limit", 63, |_| holding("/srv/file", ProsperoObject::file(vec![b'x'; 9 << 20]))).or(&[0, 28]).is(|_| vec![b'x'; 9 << 20]),
];

/// A name of 4000 octets, so that the request takes four packets.
const LONG_NAME: &str = match std::str::from_utf8(&[b'x'; 4000]) {
    Ok(name) => name,
    Err(_) => "",
};

fn honest_at(hsoname: &[u8]) -> ProsperoSite {
    ProsperoSite::new().object(hsoname, ProsperoObject::file(SHORT))
}

/// The latest version has other octets.
fn versions() -> ProsperoSite {
    octets(b"the latest").version("/srv/short", 3, ProsperoObject::file(SHORT))
}

fn all_octets() -> Vec<u8> {
    (0..=255).cycle().take(3000).collect()
}
