//! The sites that the lists of WAIS faults are made of.

use crate::ftp::rule::Ending;
use crate::wais::database::WaisDatabase;
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::document::WaisDocument;
use crate::wais::faults::WaisFaultSetting;
use crate::wais::field::field;
use crate::wais::rule::{WaisAct, WaisCut, WaisOn};
use crate::wais::site::WaisSite;

/// A text that comes in one piece.
pub(crate) const SHORT: &[u8] = b"A short text.\nOf two lines.\n";
/// So often that no client may wait for the end.
pub(crate) const ENDLESS: u64 = 1 << 24;
/// The longest message that a client takes.
const LONGEST: usize = 1 << 20;
/// What stands in front of the information part of an answer.
const FIRST: &[u8] = b"\0\x0e\x17\0\0\0\0\0\0\0\0\0\0\x1b\x01\0";

/// The document, the text, and no fault.
pub(crate) fn honest(setting: &WaisFaultSetting) -> WaisSite {
    let long = WaisDocument::new("The long document", "word", "TEXT", setting.content.clone());
    let short = WaisDocument::new("The short text", "word other", "TEXT", SHORT);
    holding(&[long.id(b"\x03\x01a"), short.id(b"\x03\x01s")])
}

/// A database of these documents.
pub(crate) fn holding(documents: &[WaisDocument]) -> WaisSite {
    let database = WaisDatabase::new("t");
    WaisSite::new().database(documents.iter().cloned().fold(database, WaisDatabase::document))
}

/// The document has this identifier.
pub(crate) fn named(setting: &WaisFaultSetting, id: &[u8]) -> WaisSite {
    holding(&[WaisDocument::new("The long document", "word", "TEXT", setting.content.clone()).id(id)])
}

/// The document has these octets.
pub(crate) fn content(octets: &[u8]) -> WaisSite {
    holding(&[WaisDocument::new("A document", "word", "TEXT", octets).id(b"\x03\x01a")])
}

/// This is all that can be found.
pub(crate) fn headline(headline: &[u8], wtype: &str) -> WaisSite {
    holding(&[WaisDocument::new(headline, "word", wtype, SHORT).id(b"\x03\x01a")])
}

/// This happens at every request.
pub(crate) fn act(setting: &WaisFaultSetting, act: WaisAct) -> WaisSite {
    honest(setting).always(act)
}

/// This happens at the second request.
pub(crate) fn later(setting: &WaisFaultSetting, act: WaisAct) -> WaisSite {
    honest(setting).nth(2, act)
}

/// This happens before anything is read.
pub(crate) fn at_once(setting: &WaisFaultSetting, ending: Ending) -> WaisSite {
    honest(setting).on(WaisOn::Accept, WaisAct::End(ending))
}

/// These octets are said before anything is read.
pub(crate) fn unasked(setting: &WaisFaultSetting, octets: &[u8]) -> WaisSite {
    honest(setting).on(WaisOn::Accept, WaisAct::First(octets.to_vec()))
}

/// A clean end here.
pub(crate) fn close(setting: &WaisFaultSetting, cut: WaisCut) -> WaisSite {
    honest(setting).cut(cut, Ending::Close)
}

/// RST here.
pub(crate) fn reset(setting: &WaisFaultSetting, cut: WaisCut) -> WaisSite {
    honest(setting).cut(cut, Ending::Reset)
}

/// Silence from here on.
pub(crate) fn stall(setting: &WaisFaultSetting, cut: WaisCut) -> WaisSite {
    honest(setting).cut(cut, Ending::Stall(setting.stall))
}

/// These exact octets are every answer, and then a clean end.
pub(crate) fn raw(setting: &WaisFaultSetting, octets: &[u8]) -> WaisSite {
    act(setting, WaisAct::Answer(octets.to_vec())).always(WaisAct::End(Ending::Close))
}

/// An APDU with these exact octets in the place of its information part.
pub(crate) fn information(setting: &WaisFaultSetting, octets: &[u8]) -> WaisSite {
    act(setting, WaisAct::Message([FIRST, octets].concat()))
}

/// Records of these exact octets.
pub(crate) fn records(setting: &WaisFaultSetting, octets: &[u8]) -> WaisSite {
    information(setting, &field(99, octets))
}

/// An answer so many octets longer than the longest, all of them in a field that nobody knows.
pub(crate) fn longest_and(setting: &WaisFaultSetting, more: usize) -> WaisSite {
    // Tags 99 and 200 have one and two octets, both lengths three.
    let room = LONGEST - FIRST.len() - 9 + more;
    records(setting, &field(200, &vec![0; room]))
}

/// The length has these digits.
pub(crate) fn digits(setting: &WaisFaultSetting, digits: &str) -> WaisSite {
    act(setting, WaisAct::Digits(digits.into()))
}

/// These octets are at this place of the header.
pub(crate) fn header(setting: &WaisFaultSetting, at: usize, octets: &[u8]) -> WaisSite {
    act(setting, WaisAct::Header(at, octets.to_vec()))
}

/// A diagnostic and nothing else.
pub(crate) fn alone(setting: &WaisFaultSetting, code: &[u8; 2], words: &str) -> WaisSite {
    act(setting, WaisAct::Alone(WaisDiagnostic::new(*code, words)))
}

/// A diagnostic beside the true records.
pub(crate) fn beside(setting: &WaisFaultSetting, code: &[u8; 2], words: &str) -> WaisSite {
    act(setting, WaisAct::Beside(WaisDiagnostic::new(*code, words)))
}

/// The true answer, and the same again and again behind it.
pub(crate) fn flood(setting: &WaisFaultSetting, octets: &[u8]) -> WaisSite {
    act(setting, WaisAct::Flood(octets.to_vec(), ENDLESS))
}

/// The first piece of the document.
pub(crate) fn first_piece(setting: &WaisFaultSetting) -> Vec<u8> {
    setting.content[..10_000].to_vec()
}

/// More documents than clients ask for.
pub(crate) fn many() -> WaisSite {
    let one = |number: usize| WaisDocument::new(format!("Number {number}"), "word", "TEXT", SHORT);
    holding(&(0..300).map(one).collect::<Vec<_>>())
}
