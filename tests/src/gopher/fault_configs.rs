//! The server configurations that the rows of the Gopher fault tables use.

use crate::fault::row::FaultFixture;
use crate::gopher::config::GopherConfig;
use crate::gopher::form::{GopherAsk, GopherForm};
use crate::gopher::item::{GopherItem, GopherLength};
use crate::gopher::rule::{GopherAction, GopherTrigger};
use crate::server::plain_or_tls_connection::Ending;

/// The repetitions of an endless response: too many for any client to read.
pub(crate) const ENDLESS: u64 = 1 << 24;
/// The first line of most errors: code 1 and the administrator.
const CODE_1: &str = "1 Admin <admin@example.org>\r\n";

/// A correct server of plain Gopher with the binary item `/a` and the text `/t`.
pub(crate) fn correct(fixture: &FaultFixture) -> GopherConfig {
    let binary = GopherItem::binary("/a", fixture.content.clone());
    GopherConfig::new().item(binary).item(GopherItem::text("/t", fixture.text.clone()))
}

/// The same server with Gopher+.
pub(crate) fn plus(fixture: &FaultFixture) -> GopherConfig {
    correct(fixture).plus()
}

/// The same server with Gopher+; `length` is the form in which it announces lengths.
pub(crate) fn with_length(fixture: &FaultFixture, length: GopherLength) -> GopherConfig {
    let binary = GopherItem::binary("/a", fixture.content.clone()).length(length);
    let text = GopherItem::text("/t", fixture.text.clone()).length(length);
    GopherConfig::new().plus().item(binary).item(text)
}

/// Sends exactly these bytes as every response.
pub(crate) fn answer(bytes: impl Into<Vec<u8>>) -> GopherConfig {
    GopherConfig::new().answer(bytes)
}

/// Closes cleanly after this many bytes.
pub(crate) fn short(fixture: &FaultFixture, bytes: usize) -> GopherConfig {
    correct(fixture).cut(bytes, Ending::Close)
}

/// Resets after this many bytes.
pub(crate) fn reset(fixture: &FaultFixture, bytes: usize) -> GopherConfig {
    correct(fixture).cut(bytes, Ending::Reset)
}

/// Stalls after this many bytes.
pub(crate) fn stall(fixture: &FaultFixture, bytes: usize) -> GopherConfig {
    correct(fixture).cut(bytes, Ending::Stall(fixture.stall))
}

/// Sends FIN without close_notify after this many bytes.
pub(crate) fn without_close_notify(fixture: &FaultFixture, bytes: usize) -> GopherConfig {
    correct(fixture).cut(bytes, Ending::Fin)
}

/// Sends `start`, then `again` endlessly.
pub(crate) fn endless(start: &str, again: &str) -> GopherConfig {
    answer(start).on(GopherTrigger::Any, GopherAction::Flood(again.into(), ENDLESS))
}

/// Ends the connection before anything is read.
pub(crate) fn end_at_accept(fixture: &FaultFixture, ending: Ending) -> GopherConfig {
    correct(fixture).on(GopherTrigger::Accept, GopherAction::End(ending))
}

/// Sends these bytes before anything is read, then closes. Under TLS there is no handshake.
pub(crate) fn plaintext_at_accept(fixture: &FaultFixture, bytes: &str) -> GopherConfig {
    let sent = GopherAction::Before(bytes.into());
    let config = correct(fixture).on(GopherTrigger::Accept, sent);
    config.on(GopherTrigger::Accept, GopherAction::End(Ending::Close))
}

/// Returns the correct text with its terminating dot.
pub(crate) fn terminated_text(fixture: &FaultFixture) -> Vec<u8> {
    [fixture.text.as_slice(), b".\r\n"].concat()
}

/// Gopher+: sends this status line before the content.
pub(crate) fn status(fixture: &FaultFixture, line: &str) -> GopherConfig {
    plus(fixture).status(line)
}

/// Returns the first bytes of the content.
pub(crate) fn first(fixture: &FaultFixture, bytes: usize) -> Vec<u8> {
    fixture.content[..bytes].to_vec()
}

/// Returns the first bytes of the text.
pub(crate) fn first_text(fixture: &FaultFixture, bytes: usize) -> Vec<u8> {
    fixture.text[..bytes].to_vec()
}

/// A Gopher+ error with this first line and this message, terminated by a dot.
pub(crate) fn error(first: &str, message: &str) -> GopherConfig {
    answer(format!("--1\r\n{first}\r\n{message}\r\n.\r\n"))
}

/// A Gopher+ error of code 1 with this message.
pub(crate) fn error_1(message: &str) -> GopherConfig {
    answer(format!("--1\r\n{CODE_1}{message}\r\n.\r\n"))
}

/// Gopher+: `/a` has moved to the item of this line.
pub(crate) fn update(fixture: &FaultFixture, line: &str) -> GopherConfig {
    let response = format!("--1\r\n3 Admin <admin@example.org>\r\n{line}\r\n.\r\n");
    let new = GopherItem::binary("/new", fixture.content.clone());
    correct(fixture).item(new).plus().on("/a", GopherAction::Answer(response.into_bytes()))
}

/// An item with a form. The response to its answers is the text.
pub(crate) fn form(fixture: &FaultFixture) -> GopherConfig {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?").ask(GopherAsk::AskL, "Tell us");
    let form = form.reply(fixture.text.clone());
    GopherConfig::new().plus().item(GopherItem::text("/f", "").form(form))
}

/// Sends these attributes after this status line.
pub(crate) fn attributes(status: &str, blocks: &str) -> GopherConfig {
    let info = "+INFO: 9a\t/a\tlocalhost\t70\t+\r\n";
    answer(format!("{status}{info}{blocks}"))
}
