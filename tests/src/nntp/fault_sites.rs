//! The sites that `fault_list.rs` is made of.

use std::time::Duration;

use crate::ftp::rule::Ending;
use crate::nntp::article::NntpArticle;
use crate::nntp::faults::NntpFaultSetting;
use crate::nntp::group::NntpGroup;
use crate::nntp::rule::{NntpAct, NntpOn, NntpRule};
use crate::nntp::site::NntpSite;

/// The password of alice.
pub(crate) const SECRET: &str = "secret-7";
/// The first line of the answer to ARTICLE 1.
pub(crate) const FOUND: &str = "220 1 <plain@test.invalid> article\r\n";
/// So often that no client may wait for the end, and so little that it does not fill a disk.
const ENDLESS: u64 = 1 << 20;

/// Three articles, the first of them that of the setting; it is in a private group, too, by another message-id;
/// and no fault.
pub(crate) fn honest(setting: &NntpFaultSetting) -> NntpSite {
    let group = NntpGroup::new("fetch.test").next(NntpArticle::new(setting.article.clone()));
    let hidden = NntpArticle::new(setting.article.clone()).called("private@test.invalid");
    let private = NntpGroup::new("fetch.private").private().next(hidden);
    let site = NntpSite::new().account("alice", SECRET);
    site.group(group.next(second()).next(third())).group(private)
}

/// Number 2 of `fetch.test`.
pub(crate) fn second() -> NntpArticle {
    NntpArticle::post("second@test.invalid", "plain article 2", "This is another one.\r\n")
}

/// Number 3 of `fetch.test`.
pub(crate) fn third() -> NntpArticle {
    NntpArticle::post("third@test.invalid", "plain article 3", "And one more.\r\n")
}

/// All three, one after another.
pub(crate) fn all_three(setting: &NntpFaultSetting) -> Vec<u8> {
    [setting.article.clone(), second().octets(), third().octets()].concat()
}

/// The same of RFC 977 days, where the first article is number 10.
pub(crate) fn sn(setting: &NntpFaultSetting) -> NntpSite {
    let group = NntpGroup::new("fetch.test").next(NntpArticle::new(setting.article.clone()));
    NntpSite::sn().group(group.next(second()).next(third()))
}

/// A server whose article 1 is this one: the head of a post, and this body exactly.
pub(crate) fn body(octets: &[u8]) -> NntpSite {
    NntpSite::new().group(NntpGroup::new("fetch.test").next(post(octets)))
}

/// What [`body`] serves.
pub(crate) fn post(octets: &[u8]) -> NntpArticle {
    NntpArticle::post("plain@test.invalid", "plain article 1", octets)
}

/// Silence in the place of an answer.
pub(crate) fn silent(setting: &NntpFaultSetting, on: impl Into<NntpOn>) -> NntpSite {
    honest(setting).stall_at(on, setting.stall)
}

/// Another answer to a command, which is not carried out.
pub(crate) fn answer(setting: &NntpFaultSetting, on: impl Into<NntpOn>, octets: &str) -> NntpSite {
    honest(setting).answer(on, octets)
}

/// Another answer, and the end of the connection.
pub(crate) fn answer_and_close(
    setting: &NntpFaultSetting,
    on: impl Into<NntpOn> + Clone,
    octets: &str,
) -> NntpSite {
    answer(setting, on.clone(), octets).close_at(on)
}

/// A greeting instead of the honest one.
pub(crate) fn greeting(setting: &NntpFaultSetting, text: &str) -> NntpSite {
    honest(setting).greeting(text)
}

/// Another first line of the answer to ARTICLE, and the article.
pub(crate) fn named(setting: &NntpFaultSetting, line: &str) -> NntpSite {
    honest(setting).status("ARTICLE", line)
}

/// Something said before the honest answer.
pub(crate) fn before(setting: &NntpFaultSetting, on: impl Into<NntpOn>, octets: &str) -> NntpSite {
    honest(setting).on(on, NntpAct::Before(octets.into()))
}

/// Something said after the honest answer.
pub(crate) fn after(setting: &NntpFaultSetting, on: impl Into<NntpOn>, octets: &str) -> NntpSite {
    honest(setting).on(on, NntpAct::After(octets.into()))
}

/// A start and then the same again and again, in the place of an answer.
pub(crate) fn endless(
    setting: &NntpFaultSetting,
    on: impl Into<NntpOn> + Clone,
    start: &str,
    again: &str,
) -> NntpSite {
    let site = answer(setting, on.clone(), start);
    site.on(on, NntpAct::Flood(again.into(), ENDLESS))
}

/// The end of the connection in the place of an answer.
pub(crate) fn ended(setting: &NntpFaultSetting, on: impl Into<NntpOn>, how: Ending) -> NntpSite {
    honest(setting).on(on, NntpAct::End(how))
}

/// The article is cut after so many octets, its first line not counted.
pub(crate) fn cut(setting: &NntpFaultSetting, octets: usize, how: Ending) -> NntpSite {
    honest(setting).on("ARTICLE", NntpAct::CutBlock(octets as u64, how))
}

/// The article is whole, but for its final dot; then this happens.
pub(crate) fn undotted(setting: &NntpFaultSetting, how: Ending) -> NntpSite {
    honest(setting).on("ARTICLE", NntpAct::NoDot).on("ARTICLE", NntpAct::EndAfter(how))
}

/// The answer, and then this happens.
pub(crate) fn ended_after(setting: &NntpFaultSetting, on: impl Into<NntpOn>, how: Ending) -> NntpSite {
    honest(setting).on(on, NntpAct::EndAfter(how))
}

/// These exact octets in the place of the article; the final dot follows.
pub(crate) fn raw(setting: &NntpFaultSetting, octets: &[u8]) -> NntpSite {
    honest(setting).on("ARTICLE", NntpAct::Block(octets.to_vec()))
}

/// The answer comes in pieces.
pub(crate) fn dripped(setting: &NntpFaultSetting, piece: usize, pause: Duration) -> NntpSite {
    honest(setting).on("ARTICLE", NntpAct::Drip(piece, pause))
}

/// So many answers, from that to this command line on, in the reverse order.
pub(crate) fn reversed(setting: &NntpFaultSetting, on: &str, answers: usize) -> NntpSite {
    honest(setting).rule(NntpRule::on(on, NntpAct::Reversed(answers)).nth(1))
}

/// One command line is taken for another.
pub(crate) fn taken_for(setting: &NntpFaultSetting, on: &str, other: &str) -> NntpSite {
    honest(setting).on(on, NntpAct::As(other.into()))
}

/// Another answer to what asks for the overview, by either name.
pub(crate) fn overview(setting: &NntpFaultSetting, octets: &str) -> NntpSite {
    answer(setting, "OVER", octets).answer("XOVER", octets)
}
