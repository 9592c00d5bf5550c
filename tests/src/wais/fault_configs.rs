//! The server configurations that the rows of the WAIS fault tables use.

use crate::fault::row::FaultFixture;
use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::CutPoint;
use crate::wais::config::WaisConfig;
use crate::wais::database::WaisDatabase;
use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::document::WaisDocument;
use crate::wais::field::field;
use crate::wais::rule::{WaisAction, WaisTrigger};

/// A text that is sent in one piece.
pub(crate) const SHORT: &[u8] = b"A short text.\nOf two lines.\n";
/// The repetitions of an endless response: too many for any client to read.
pub(crate) const ENDLESS: u64 = 1 << 24;
/// Maximum length of a message that the client accepts.
const MAX_MESSAGE: usize = 1 << 20;
/// The first part of a search response.
const FIRST_PART: &[u8] = b"\0\x0e\x17\0\0\0\0\0\0\0\0\0\0\x1b\x01\0";

/// A correct server with the document and the short text.
pub(crate) fn correct(fixture: &FaultFixture) -> WaisConfig {
    let long = WaisDocument::new("The long document", "word", "TEXT", fixture.content.clone());
    let short = WaisDocument::new("The short text", "word other", "TEXT", SHORT);
    with_documents(&[long.id(b"\x03\x01a"), short.id(b"\x03\x01s")])
}

/// A server with a database of these documents.
pub(crate) fn with_documents(documents: &[WaisDocument]) -> WaisConfig {
    let database = WaisDatabase::new("t");
    WaisConfig::new().database(documents.iter().cloned().fold(database, WaisDatabase::document))
}

/// A server with the document, which has this identifier.
pub(crate) fn with_id(fixture: &FaultFixture, id: &[u8]) -> WaisConfig {
    with_documents(&[WaisDocument::new("The long document", "word", "TEXT", fixture.content.clone()).id(id)])
}

/// A server with a document of these bytes.
pub(crate) fn with_content(bytes: &[u8]) -> WaisConfig {
    with_documents(&[WaisDocument::new("A document", "word", "TEXT", bytes).id(b"\x03\x01a")])
}

/// A server with one document, which has this headline.
pub(crate) fn with_headline(headline: &[u8], wtype: &str) -> WaisConfig {
    with_documents(&[WaisDocument::new(headline, "word", wtype, SHORT).id(b"\x03\x01a")])
}

/// Takes this action on every request.
pub(crate) fn always(fixture: &FaultFixture, action: WaisAction) -> WaisConfig {
    correct(fixture).always(action)
}

/// Takes this action on the second request.
pub(crate) fn second(fixture: &FaultFixture, action: WaisAction) -> WaisConfig {
    correct(fixture).nth(2, action)
}

/// Ends the connection before anything is read.
pub(crate) fn end_at_accept(fixture: &FaultFixture, ending: Ending) -> WaisConfig {
    correct(fixture).on(WaisTrigger::Accept, WaisAction::End(ending))
}

/// Sends these bytes before anything is read.
pub(crate) fn send_at_accept(fixture: &FaultFixture, bytes: &[u8]) -> WaisConfig {
    correct(fixture).on(WaisTrigger::Accept, WaisAction::Before(bytes.to_vec()))
}

/// Cuts every response and closes cleanly.
pub(crate) fn close(fixture: &FaultFixture, cut: CutPoint) -> WaisConfig {
    correct(fixture).cut(cut, Ending::Close)
}

/// Cuts every response and resets.
pub(crate) fn reset(fixture: &FaultFixture, cut: CutPoint) -> WaisConfig {
    correct(fixture).cut(cut, Ending::Reset)
}

/// Cuts every response and stalls.
pub(crate) fn stall(fixture: &FaultFixture, cut: CutPoint) -> WaisConfig {
    correct(fixture).cut(cut, Ending::Stall(fixture.stall))
}

/// Sends exactly these bytes as every response and closes cleanly.
pub(crate) fn answer(fixture: &FaultFixture, bytes: &[u8]) -> WaisConfig {
    always(fixture, WaisAction::Answer(bytes.to_vec())).always(WaisAction::End(Ending::Close))
}

/// Sends an APDU with exactly these bytes as its information part.
pub(crate) fn information(fixture: &FaultFixture, bytes: &[u8]) -> WaisConfig {
    always(fixture, WaisAction::Apdu([FIRST_PART, bytes].concat()))
}

/// Sends exactly these bytes as records.
pub(crate) fn records(fixture: &FaultFixture, bytes: &[u8]) -> WaisConfig {
    information(fixture, &field(99, bytes))
}

/// Sends a response of the maximum size and `more` bytes. It consists of an unknown field.
pub(crate) fn max_message_and(fixture: &FaultFixture, more: usize) -> WaisConfig {
    // The tags 99 and 200 take one and two bytes, both lengths three.
    let size = MAX_MESSAGE - FIRST_PART.len() - 9 + more;
    records(fixture, &field(200, &vec![0; size]))
}

/// Sends these digits as the length.
pub(crate) fn digits(fixture: &FaultFixture, digits: &str) -> WaisConfig {
    always(fixture, WaisAction::LengthDigits(digits.into()))
}

/// Puts these bytes at this position of the header.
pub(crate) fn header(fixture: &FaultFixture, at: usize, bytes: &[u8]) -> WaisConfig {
    always(fixture, WaisAction::PatchHeader(at, bytes.to_vec()))
}

/// Sends a diagnostic instead of records.
pub(crate) fn only_diagnostic(fixture: &FaultFixture, code: &[u8; 2], message: &str) -> WaisConfig {
    always(fixture, WaisAction::OnlyDiagnostic(WaisDiagnostic::new(*code, message)))
}

/// Sends a diagnostic after the correct records.
pub(crate) fn append_diagnostic(fixture: &FaultFixture, code: &[u8; 2], message: &str) -> WaisConfig {
    always(fixture, WaisAction::AppendDiagnostic(WaisDiagnostic::new(*code, message)))
}

/// Sends the correct response, then these bytes endlessly.
pub(crate) fn flood(fixture: &FaultFixture, bytes: &[u8]) -> WaisConfig {
    always(fixture, WaisAction::Flood(bytes.to_vec(), ENDLESS))
}

/// Returns the first piece of the document.
pub(crate) fn first_piece(fixture: &FaultFixture) -> Vec<u8> {
    fixture.content[..10_000].to_vec()
}

/// A server with more documents than clients request.
pub(crate) fn many() -> WaisConfig {
    let one = |number: usize| WaisDocument::new(format!("Number {number}"), "word", "TEXT", SHORT);
    with_documents(&(0..300).map(one).collect::<Vec<_>>())
}
