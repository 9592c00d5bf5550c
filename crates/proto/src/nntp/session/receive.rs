//! Processes the replies of the server.

use super::block::{Block, OverviewFromHeader};
use super::send_commands::verb_of;
use super::{Overview, PendingReply, Selected, Session};
use crate::nntp::command::Verb;
use crate::nntp::reply::{Reply, number};
use crate::nntp::{
    ArticleAddress, GroupName, MAX_ARTICLE_NUMBER, NewsRequest, StartTls, is_missing_article_code,
};
use crate::{Rejection, Step, WireError};

/// The code with which the server closes the connection (RFC 3977 §3.2.1).
const CLOSING: u16 = 400;

impl Session {
    /// Returns `true` if the last list of articles was made from their headers and lacks articles that may exist: the server
    /// replied to HEAD with an error other than 423 and 430.
    pub const fn lacks_heads(&self) -> bool {
        self.lacks_heads
    }

    /// Processes the reply to the oldest pending command.
    pub(super) fn process_reply(&mut self, reply: &Reply) -> Result<(), WireError> {
        let Some(asked) = self.pending.pop_front() else { return Err(reply.unexpected_error("the end")) };
        if self.rejection.is_some() {
            // The request was already refused, so this reply is ignored. An unexpected positive reply makes the
            // connection unusable.
            if reply.code <= CLOSING {
                self.close();
            }
            return Ok(());
        }
        if asked == PendingReply::Superseded && reply.code != CLOSING {
            return if reply.code < 400 { Err(reply.unexpected_error("a refusal")) } else { Ok(()) };
        }
        if reply.code == CLOSING {
            self.reject_request_and_close(&asked, reply);
            return Ok(());
        }
        match &asked {
            PendingReply::Greeting | PendingReply::Superseded => self.process_greeting(&asked, reply),
            PendingReply::SupersededArticle(verb) => self.process_superseded_article(*verb, reply),
            PendingReply::Group(group) => self.process_group(group, &asked, reply),
            PendingReply::HeadOf(number) => self.process_head(*number, &asked, reply),
            PendingReply::Command(verb) => match verb {
                Verb::Article | Verb::Body | Verb::Head => self.process_article(*verb, &asked, reply),
                Verb::List | Verb::ListActive => self.process_list(*verb, &asked, reply),
                Verb::Over | Verb::Xover => self.process_overview(*verb, &asked, reply),
                Verb::Capabilities => self.process_capabilities(reply),
                Verb::Compress => self.process_compress(reply),
                Verb::ModeReader => self.process_mode_reader(&asked, reply),
                Verb::StartTls => self.process_starttls(&asked, reply),
                Verb::User | Verb::Pass => self.process_login(*verb, &asked, reply),
                Verb::Group => Err(reply.unexpected_error("a reply")),
            },
        }
    }

    /// Rejects the current request with this reply.
    fn reject_request(&mut self, asked: &PendingReply, reply: &Reply) {
        self.rejection = Some(Rejection::of_command(asked.words(), reply.code, reply.shown.clone()));
    }

    /// Rejects the current request and marks the connection as unusable, because a preparing command failed.
    fn reject_request_and_close(&mut self, asked: &PendingReply, reply: &Reply) {
        self.reject_request(asked, reply);
        self.close();
    }

    /// Rejects the current request, unless TLS, a login or MODE READER may resolve it.
    fn reject_request_or_retry(
        &mut self,
        asked: &PendingReply,
        reply: &Reply,
        what: &'static str,
    ) -> Result<(), WireError> {
        if reply.code < 400 {
            return Err(reply.unexpected_error(what));
        }
        if !self.prepare_retry(reply.code) {
            self.reject_request(asked, reply);
        }
        Ok(())
    }

    fn process_greeting(&mut self, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            200 | 201 => Ok(()),
            400.. => {
                self.reject_request_and_close(asked, reply);
                Ok(())
            }
            _ => Err(reply.unexpected_error("a greeting")),
        }
    }

    fn process_capabilities(&mut self, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            101 => self.block = Some(Block::capabilities()),
            // RFC 977 has no CAPABILITIES, and some servers require a login for it.
            400.. => self.server.capabilities = Some(super::Capabilities::default()),
            _ => return Err(reply.unexpected_error("a reply to CAPABILITIES")),
        }
        Ok(())
    }

    /// Processes the reply to COMPRESS (RFC 8054 §2.2).
    fn process_compress(&mut self, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            206 => {
                self.server.is_deflated = true;
                self.ready.push_back(Step::StartDeflate);
            }
            400.. => {}
            _ => return Err(reply.unexpected_error("a reply to COMPRESS")),
        }
        Ok(())
    }

    /// Processes the reply to MODE READER. The capabilities before it are not those of a reader (RFC 3977 §5.3).
    fn process_mode_reader(&mut self, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            200 | 201 => self.forget(),
            502 => self.reject_request_and_close(asked, reply),
            400.. => {}
            _ => return Err(reply.unexpected_error("a reply to MODE READER")),
        }
        Ok(())
    }

    /// Processes the reply to STARTTLS. Earlier capabilities are discarded (RFC 4642 §2.2).
    fn process_starttls(&mut self, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            382 => {
                self.forget();
                // TLS resets the session (RFC 4642 §2.2.2). MODE READER may not follow a login, which is sent
                // afterwards.
                if std::mem::take(&mut self.server.is_mode_reader_done) {
                    self.preparing.push_front(Verb::ModeReader);
                }
                self.options.is_secure = true;
                self.ready.push_back(Step::StartTls);
            }
            // A server that switches modes offers STARTTLS to readers only (RFC 3977 §5.3).
            401 if self.may_need_mode_reader() => {
                self.preparing.push_front(Verb::StartTls);
                self.preparing.push_front(Verb::ModeReader);
            }
            400.. if self.options.start_tls == StartTls::Try && self.preparing.is_empty() => {}
            400.. => self.reject_request_and_close(asked, reply),
            _ => return Err(reply.unexpected_error("a reply to STARTTLS")),
        }
        Ok(())
    }

    /// Processes the reply to AUTHINFO (RFC 4643 §2.3).
    fn process_login(&mut self, verb: Verb, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        match (verb, reply.code) {
            (_, 281) => {
                self.forget();
                self.server.is_logged_in = true;
                // MODE READER may not follow a login (RFC 4643 §2.2).
                self.server.is_mode_reader_done = true;
            }
            (Verb::User, 381) => self.preparing.push_front(Verb::Pass),
            (Verb::User, 483) if self.can_start_tls() => self.preparing.extend([Verb::StartTls, Verb::User]),
            // The server did not require a login and does not support AUTHINFO.
            (Verb::User, 500..=503) if !self.server.requires_login => {}
            (_, 400..) => self.reject_request_and_close(asked, reply),
            _ => return Err(reply.unexpected_error("a reply to AUTHINFO")),
        }
        Ok(())
    }

    /// Processes the reply to GROUP (RFC 3977 §6.1.1).
    fn process_group(
        &mut self,
        group: &GroupName,
        asked: &PendingReply,
        reply: &Reply,
    ) -> Result<(), WireError> {
        if reply.code != 211 {
            return self.reject_request_or_retry(asked, reply, "a reply to GROUP");
        }
        let words: Vec<&[u8]> = reply.words().collect();
        let [count, low, high, name @ ..] = words.as_slice() else {
            return Err(reply.unexpected_error("a group"));
        };
        let is_other = name.first().is_some_and(|name| !name.eq_ignore_ascii_case(group.as_bytes()));
        let article_number = |word| number(word).filter(|number| *number <= MAX_ARTICLE_NUMBER);
        let (Some(count), Some(low), Some(high), false) =
            (number(count), article_number(low), article_number(high), is_other)
        else {
            return Err(reply.unexpected_error("the requested group"));
        };
        self.server.selected = Some(Selected { group: group.clone(), count, low, high });
        if matches!(self.requests.front(), Some(NewsRequest::Group(_))) {
            self.finish_empty();
        }
        Ok(())
    }

    /// Processes the reply to ARTICLE, HEAD or BODY (RFC 3977 §6.2).
    fn process_article(&mut self, verb: Verb, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        let Some(NewsRequest::Article(at, part)) = self.requests.front() else {
            return Err(reply.unexpected_error("a reply"));
        };
        let expected = article_code(verb_of(*part));
        debug_assert_eq!(verb, verb_of(*part), "replies arrive in the order of the commands");
        if reply.code != expected {
            return self.reject_request_or_retry(asked, reply, "the article that was asked for");
        }
        if !is_for_article(at, reply) {
            return Err(reply.unexpected_error("the article that was asked for"));
        }
        self.block = Some(Block::article(*part));
        self.progress.message_id = named_message_id(reply).map(<[u8]>::to_vec);
        self.emit_head();
        Ok(())
    }

    /// Discards the reply to an article that is requested again after a login.
    fn process_superseded_article(&mut self, verb: Verb, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            code if code == article_code(verb) => self.block = Some(Block::discarded_article()),
            400.. => {}
            _ => return Err(reply.unexpected_error("an article or a refusal")),
        }
        Ok(())
    }

    /// Processes the reply to LIST (RFC 3977 §7.6.3).
    fn process_list(&mut self, verb: Verb, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        let Some(NewsRequest::Groups(pattern, form)) = self.requests.front() else {
            return Err(reply.unexpected_error("a reply"));
        };
        match reply.code {
            215 => {
                self.block = Some(Block::groups(pattern.clone(), *form));
                self.emit_head();
                Ok(())
            }
            // RFC 977 has no LIST keywords. A 500 may also mean that MODE READER is needed, which is
            // tried first.
            500 | 501 | 503
                if verb == Verb::ListActive && !(reply.code == 500 && self.may_need_mode_reader()) =>
            {
                (self.progress.lacks_list_active, self.sent_requests) = (true, 0);
                Ok(())
            }
            _ => self.reject_request_or_retry(asked, reply, "a reply to LIST"),
        }
    }

    /// Processes the reply to OVER or XOVER (RFC 3977 §8.3).
    fn process_overview(&mut self, verb: Verb, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        let Some(NewsRequest::Overview(_, _, form)) = self.requests.front() else {
            return Err(reply.unexpected_error("a reply"));
        };
        match reply.code {
            224 => {
                self.block = Some(Block::overview(*form));
                self.emit_head();
                Ok(())
            }
            420 | 423 => {
                self.finish_empty();
                Ok(())
            }
            500..=503 => {
                let xover_is_next = verb == Verb::Over && reply.code != 503;
                self.progress.overview = Some(if xover_is_next { Overview::Xover } else { Overview::Heads });
                self.sent_requests = 0;
                Ok(())
            }
            _ => self.reject_request_or_retry(asked, reply, "a reply to OVER"),
        }
    }

    /// Processes the reply to HEAD for a list of articles. Missing articles are skipped, and those whose header the server
    /// cannot send.
    fn process_head(&mut self, number: u64, asked: &PendingReply, reply: &Reply) -> Result<(), WireError> {
        let Some(NewsRequest::Overview(_, _, form)) = self.requests.front() else {
            return Err(reply.unexpected_error("a reply"));
        };
        match reply.code {
            221 if is_for_number(reply, number) => {
                self.block = Some(Block::Header(OverviewFromHeader::new(number, *form)));
                Ok(())
            }
            // RFC 3977 §6.2.2: no article with this number; RFC 977: no such article.
            423 | 430 => Ok(()),
            code if is_missing_article_code(code.into()) => {
                self.lacks_heads = true;
                Ok(())
            }
            _ => self.reject_request_or_retry(asked, reply, "a reply to HEAD"),
        }
    }
}

/// Returns the code with which the article, its body or its header is sent (RFC 3977 §6.2).
const fn article_code(verb: Verb) -> u16 {
    match verb {
        Verb::Head => 221,
        Verb::Body => 222,
        _ => 220,
    }
}

/// Returns the message-id in the reply to ARTICLE, HEAD or BODY. A server that does not know it sends `<0>` or another
/// text.
fn named_message_id(reply: &Reply) -> Option<&[u8]> {
    reply.words().nth(1).filter(|word| word.starts_with(b"<") && word.ends_with(b">") && *word != b"<0>")
}

/// Returns `true` if the reply is for the requested article, or does not identify an article.
fn is_for_article(at: &ArticleAddress, reply: &Reply) -> bool {
    match at {
        ArticleAddress::Id(id) => reply.words().nth(1).is_none_or(|word| id.is(word)),
        ArticleAddress::Number(_, wanted) => is_for_number(reply, *wanted),
    }
}

fn is_for_number(reply: &Reply, wanted: u64) -> bool {
    reply.words().next().is_none_or(|word| number(word) == Some(wanted))
}
