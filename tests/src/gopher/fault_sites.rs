//! The sites that the lists of gopher faults are made of.

use crate::ftp::rule::Ending;
use crate::gopher::faults::GopherFaultSetting;
use crate::gopher::form::{GopherAsk, GopherForm};
use crate::gopher::item::{GopherItem, GopherLength};
use crate::gopher::rule::{GopherAct, GopherOn};
use crate::gopher::site::GopherSite;

/// So often that no client may wait for the end.
pub(crate) const ENDLESS: u64 = 1 << 24;
/// An administrator's line with code 1, as most complaints have it.
const GONE: &str = "1 Admin <admin@example.org>\r\n";

/// The contents under their names, and no fault.
pub(crate) fn honest(setting: &GopherFaultSetting) -> GopherSite {
    let binary = GopherItem::binary("/a", setting.content.clone());
    GopherSite::new().item(binary).item(GopherItem::text("/t", setting.text.clone()))
}

/// The same by Gopher+.
pub(crate) fn plus(setting: &GopherFaultSetting) -> GopherSite {
    honest(setting).plus()
}

/// By Gopher+, and this is how lengths are told.
pub(crate) fn framed(setting: &GopherFaultSetting, length: GopherLength) -> GopherSite {
    let binary = GopherItem::binary("/a", setting.content.clone()).length(length);
    let text = GopherItem::text("/t", setting.text.clone()).length(length);
    GopherSite::new().plus().item(binary).item(text)
}

/// These exact octets in the place of every answer.
pub(crate) fn answer(octets: impl Into<Vec<u8>>) -> GopherSite {
    GopherSite::new().answer(octets)
}

/// A clean end after so many octets.
pub(crate) fn short(setting: &GopherFaultSetting, octets: usize) -> GopherSite {
    honest(setting).cut(octets, Ending::Close)
}

/// RST after so many octets.
pub(crate) fn reset(setting: &GopherFaultSetting, octets: usize) -> GopherSite {
    honest(setting).cut(octets, Ending::Reset)
}

/// Silence after so many octets.
pub(crate) fn silent(setting: &GopherFaultSetting, octets: usize) -> GopherSite {
    honest(setting).cut(octets, Ending::Stall(setting.stall))
}

/// The end of TCP without close_notify after so many octets.
pub(crate) fn unconfirmed(setting: &GopherFaultSetting, octets: usize) -> GopherSite {
    honest(setting).cut(octets, Ending::Fin)
}

/// A start, and then the same without end.
pub(crate) fn endless(start: &str, again: &str) -> GopherSite {
    answer(start).on(GopherOn::Any, GopherAct::Flood(again.into(), ENDLESS))
}

/// This happens before anything is read.
pub(crate) fn at_once(setting: &GopherFaultSetting, ending: Ending) -> GopherSite {
    honest(setting).on(GopherOn::Accept, GopherAct::End(ending))
}

/// These octets before anything is read, and a clean end: under TLS, no handshake.
pub(crate) fn in_clear(setting: &GopherFaultSetting, octets: &str) -> GopherSite {
    let said = GopherAct::First(octets.into());
    honest(setting).on(GopherOn::Accept, said).on(GopherOn::Accept, GopherAct::End(Ending::Close))
}

/// The octets of the honest text, and the lone dot.
pub(crate) fn dotted(setting: &GopherFaultSetting) -> Vec<u8> {
    [setting.text.as_slice(), b".\r\n"].concat()
}

/// Gopher+ with another status line before the content, which is followed by nothing.
pub(crate) fn status(setting: &GopherFaultSetting, line: &str) -> GopherSite {
    plus(setting).status(line)
}

/// The first octets of the content.
pub(crate) fn first(setting: &GopherFaultSetting, octets: usize) -> Vec<u8> {
    setting.content[..octets].to_vec()
}

/// The first octets of the text.
pub(crate) fn first_text(setting: &GopherFaultSetting, octets: usize) -> Vec<u8> {
    setting.text[..octets].to_vec()
}

/// A complaint by Gopher+ with this first line and these words, its end a dot.
pub(crate) fn complaint(first: &str, words: &str) -> GopherSite {
    answer(format!("--1\r\n{first}\r\n{words}\r\n.\r\n"))
}

/// A complaint of code 1 with this in the place of its words.
pub(crate) fn gone(words: &str) -> GopherSite {
    answer(format!("--1\r\n{GONE}{words}\r\n.\r\n"))
}

/// `/a` has moved: to where the line says.
pub(crate) fn moved(setting: &GopherFaultSetting, line: &str) -> GopherSite {
    let told = format!("--1\r\n3 Admin <admin@example.org>\r\n{line}\r\n.\r\n");
    let new = GopherItem::binary("/new", setting.content.clone());
    honest(setting).item(new).plus().on("/a", GopherAct::Answer(told.into_bytes()))
}

/// An item with a form whose reply is the text.
pub(crate) fn form(setting: &GopherFaultSetting) -> GopherSite {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?").ask(GopherAsk::AskL, "Tell us");
    let form = form.reply(setting.text.clone());
    GopherSite::new().plus().item(GopherItem::text("/f", "").form(form))
}

/// These attributes, told by this status line.
pub(crate) fn attributes(status: &str, blocks: &str) -> GopherSite {
    let info = "+INFO: 9a\t/a\tlocalhost\t70\t+\r\n";
    answer(format!("{status}{info}{blocks}"))
}
