//! The server configurations that the rows of the news fault tables use.

use std::time::Duration;

use crate::fault::row::FaultFixture;
use crate::nntp::article::NntpArticle;
use crate::nntp::config::NntpConfig;
use crate::nntp::group::NntpGroup;
use crate::nntp::rule::{NntpAction, NntpRule, NntpTrigger};
use crate::server::plain_or_tls_connection::Ending;

/// The password of `alice`.
pub(crate) const SECRET: &str = "secret-7";
/// The status line of the reply to ARTICLE 1.
pub(crate) const FOUND: &str = "220 1 <plain@test.invalid> article\r\n";
/// The repetitions of an endless reply: too many for any client to read, too few to fill a disk.
const ENDLESS: u64 = 1 << 20;

/// A correct server with three articles in `fetch.test`. The first one has the content of the fixture and
/// is also in the group `fetch.private`, which requires a login, with another message-id.
pub(crate) fn correct(fixture: &FaultFixture) -> NntpConfig {
    let group = NntpGroup::new("fetch.test").append(NntpArticle::new(fixture.content.clone()));
    let private = NntpArticle::new(fixture.content.clone()).with_id("private@test.invalid");
    let private = NntpGroup::new("fetch.private").private().append(private);
    let config = NntpConfig::new().account("alice", SECRET);
    config.group(group.append(second()).append(third())).group(private)
}

/// Article 2 of `fetch.test`.
pub(crate) fn second() -> NntpArticle {
    NntpArticle::post("second@test.invalid", "plain article 2", "This is another one.\r\n")
}

/// Article 3 of `fetch.test`.
pub(crate) fn third() -> NntpArticle {
    NntpArticle::post("third@test.invalid", "plain article 3", "And one more.\r\n")
}

/// Returns the bytes of all three articles.
pub(crate) fn all_three(fixture: &FaultFixture) -> Vec<u8> {
    [fixture.content.clone(), second().bytes(), third().bytes()].concat()
}

/// The three articles on an RFC 977 server, where the first number is 10.
pub(crate) fn sn(fixture: &FaultFixture) -> NntpConfig {
    let group = NntpGroup::new("fetch.test").append(NntpArticle::new(fixture.content.clone()));
    NntpConfig::sn().group(group.append(second()).append(third()))
}

/// A server whose article 1 has common headers and exactly this body.
pub(crate) fn body(bytes: &[u8]) -> NntpConfig {
    NntpConfig::new().group(NntpGroup::new("fetch.test").append(post(bytes)))
}

/// The article of [`body`].
pub(crate) fn post(bytes: &[u8]) -> NntpArticle {
    NntpArticle::post("plain@test.invalid", "plain article 1", bytes)
}

/// Stalls instead of replying.
pub(crate) fn stall(fixture: &FaultFixture, on: impl Into<NntpTrigger>) -> NntpConfig {
    correct(fixture).stall_at(on, fixture.stall)
}

/// Sends these bytes instead of executing the command.
pub(crate) fn answer(fixture: &FaultFixture, on: impl Into<NntpTrigger>, bytes: &str) -> NntpConfig {
    correct(fixture).answer(on, bytes)
}

/// Sends these bytes and closes the connection.
pub(crate) fn answer_and_close(
    fixture: &FaultFixture,
    on: impl Into<NntpTrigger> + Clone,
    bytes: &str,
) -> NntpConfig {
    answer(fixture, on.clone(), bytes).close_at(on)
}

/// Sends this greeting.
pub(crate) fn greeting(fixture: &FaultFixture, text: &str) -> NntpConfig {
    correct(fixture).greeting(text)
}

/// Sends this status line in reply to ARTICLE, and the article.
pub(crate) fn article_status(fixture: &FaultFixture, line: &str) -> NntpConfig {
    correct(fixture).status("ARTICLE", line)
}

/// Sends these bytes before the correct reply.
pub(crate) fn before(fixture: &FaultFixture, on: impl Into<NntpTrigger>, bytes: &str) -> NntpConfig {
    correct(fixture).on(on, NntpAction::Before(bytes.into()))
}

/// Sends these bytes after the correct reply.
pub(crate) fn after(fixture: &FaultFixture, on: impl Into<NntpTrigger>, bytes: &str) -> NntpConfig {
    correct(fixture).on(on, NntpAction::After(bytes.into()))
}

/// Sends `start`, then `again` endlessly.
pub(crate) fn endless(
    fixture: &FaultFixture,
    on: impl Into<NntpTrigger> + Clone,
    start: &str,
    again: &str,
) -> NntpConfig {
    let config = answer(fixture, on.clone(), start);
    config.on(on, NntpAction::Flood(again.into(), ENDLESS))
}

/// Ends the connection instead of replying.
pub(crate) fn end_at(fixture: &FaultFixture, on: impl Into<NntpTrigger>, ending: Ending) -> NntpConfig {
    correct(fixture).on(on, NntpAction::End(ending))
}

/// Cuts the article after this many bytes, not counting the status line.
pub(crate) fn cut(fixture: &FaultFixture, bytes: usize, ending: Ending) -> NntpConfig {
    correct(fixture).on("ARTICLE", NntpAction::CutBlock(bytes as u64, ending))
}

/// Sends the article without its terminating dot, then ends the connection.
pub(crate) fn without_terminator(fixture: &FaultFixture, ending: Ending) -> NntpConfig {
    correct(fixture).on("ARTICLE", NntpAction::NoTerminator).on("ARTICLE", NntpAction::EndAfter(ending))
}

/// Ends the connection after the reply.
pub(crate) fn end_after(fixture: &FaultFixture, on: impl Into<NntpTrigger>, ending: Ending) -> NntpConfig {
    correct(fixture).on(on, NntpAction::EndAfter(ending))
}

/// Sends exactly these bytes as the article. The terminating dot follows.
pub(crate) fn block(fixture: &FaultFixture, bytes: &[u8]) -> NntpConfig {
    correct(fixture).on("ARTICLE", NntpAction::Block(bytes.to_vec()))
}

/// Sends the reply to ARTICLE in pieces.
pub(crate) fn drip(fixture: &FaultFixture, size: usize, pause: Duration) -> NntpConfig {
    correct(fixture).on("ARTICLE", NntpAction::Drip(size, pause))
}

/// Sends this many replies, from that to this command line, in reverse order.
pub(crate) fn reversed(fixture: &FaultFixture, on: &str, replies: usize) -> NntpConfig {
    correct(fixture).rule(NntpRule::on(on, NntpAction::ReverseReplies(replies)).nth(1))
}

/// Executes another command line.
pub(crate) fn execute_as(fixture: &FaultFixture, on: &str, other: &str) -> NntpConfig {
    correct(fixture).on(on, NntpAction::ExecuteAs(other.into()))
}

/// Sends these bytes in reply to OVER and XOVER.
pub(crate) fn overview(fixture: &FaultFixture, bytes: &str) -> NntpConfig {
    answer(fixture, "OVER", bytes).answer("XOVER", bytes)
}
