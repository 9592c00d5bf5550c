//! What a reply means.

use super::block::{Block, HeaderOf};
use super::say::verb_of;
use super::{Asked, Overview, Selected, Session};
use crate::nntp::command::Verb;
use crate::nntp::reply::{Reply, number};
use crate::nntp::{ArticleAt, Ask, GroupName, StartTls};
use crate::{Refused, Step, WireError};

/// The server closes the connection (RFC 3977 §3.2.1).
const CLOSING: u16 = 400;

impl Session {
    /// Takes in the reply to what was asked first.
    pub(super) fn take(&mut self, reply: &Reply) -> Result<(), WireError> {
        let Some(asked) = self.asked.pop_front() else { return Err(reply.is_no("the end")) };
        if self.refused.is_some() {
            // The refusal was the answer. What comes in spite of it is not understood.
            if reply.code <= CLOSING {
                self.give_up();
            }
            return Ok(());
        }
        if asked == Asked::Before && reply.code != CLOSING {
            return if reply.code < 400 { Err(reply.is_no("a refusal")) } else { Ok(()) };
        }
        if reply.code == CLOSING {
            self.refuse_for_good(&asked, reply);
            return Ok(());
        }
        match &asked {
            Asked::Greeting | Asked::Before => self.take_greeting(&asked, reply),
            Asked::Group(group) => self.take_group(group, &asked, reply),
            Asked::HeadOf(number) => self.take_head(*number, &asked, reply),
            Asked::Command(verb) => match verb {
                Verb::Article | Verb::Body | Verb::Head => self.take_article(*verb, &asked, reply),
                Verb::List | Verb::ListActive => self.take_list(*verb, &asked, reply),
                Verb::Over | Verb::Xover => self.take_overview(*verb, &asked, reply),
                Verb::Capabilities => self.take_capabilities(reply),
                Verb::Compress => self.take_compress(reply),
                Verb::ModeReader => self.take_mode_reader(&asked, reply),
                Verb::StartTls => self.take_starttls(&asked, reply),
                Verb::User | Verb::Pass => self.take_login(*verb, &asked, reply),
                Verb::Group => Err(reply.is_no("a reply")),
            },
        }
    }

    /// The errand comes to nothing, in these words.
    fn refuse(&mut self, asked: &Asked, reply: &Reply) {
        self.refused = Some(Refused::by(asked.words(), reply.code, reply.shown.clone()));
    }

    /// The same, and nothing more is said on this connection: what was to come first has failed.
    fn refuse_for_good(&mut self, asked: &Asked, reply: &Reply) {
        self.refuse(asked, reply);
        self.give_up();
    }

    /// No, unless a detour helps.
    fn refuse_errand(&mut self, asked: &Asked, reply: &Reply, what: &'static str) -> Result<(), WireError> {
        if reply.code < 400 {
            return Err(reply.is_no(what));
        }
        if !self.goes_round(reply.code) {
            self.refuse(asked, reply);
        }
        Ok(())
    }

    fn take_greeting(&mut self, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            200 | 201 => Ok(()),
            400.. => {
                self.refuse_for_good(asked, reply);
                Ok(())
            }
            _ => Err(reply.is_no("a greeting")),
        }
    }

    fn take_capabilities(&mut self, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            101 => self.block = Some(Block::capabilities()),
            // RFC 977 knows no such command, and some want a login before it.
            400.. => self.known.capabilities = Some(super::Capabilities::default()),
            _ => return Err(reply.is_no("a reply to CAPABILITIES")),
        }
        Ok(())
    }

    /// RFC 8054 §2.2.
    fn take_compress(&mut self, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            206 => {
                self.known.is_deflated = true;
                self.ready.push_back(Step::Deflate);
            }
            400.. => {}
            _ => return Err(reply.is_no("a reply to COMPRESS")),
        }
        Ok(())
    }

    fn take_mode_reader(&mut self, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            200 | 201 => {}
            502 => self.refuse_for_good(asked, reply),
            400.. => {}
            _ => return Err(reply.is_no("a reply to MODE READER")),
        }
        Ok(())
    }

    /// RFC 4642 §2.2: what the server said in the clear counts for nothing any more.
    fn take_starttls(&mut self, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        match reply.code {
            382 => {
                self.forget();
                self.known.said_mode_reader = false;
                self.terms.is_secure = true;
                self.ready.push_back(Step::Secure);
            }
            400.. if self.terms.start_tls == StartTls::Try && self.first.is_empty() => {}
            400.. => self.refuse_for_good(asked, reply),
            _ => return Err(reply.is_no("a reply to STARTTLS")),
        }
        Ok(())
    }

    /// RFC 4643 §2.3.
    fn take_login(&mut self, verb: Verb, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        match (verb, reply.code) {
            (_, 281) => {
                self.forget();
                self.known.is_logged_in = true;
                // RFC 4643 §2.2: not after a login.
                self.known.said_mode_reader = true;
            }
            (Verb::User, 381) => self.first.push_front(Verb::Pass),
            (Verb::User, 483) if self.can_start_tls() => self.first.extend([Verb::StartTls, Verb::User]),
            // Nobody wanted to know, and nobody understands.
            (Verb::User, 500..=503) if !self.known.wants_login => {}
            (_, 400..) => self.refuse_for_good(asked, reply),
            _ => return Err(reply.is_no("a reply to AUTHINFO")),
        }
        Ok(())
    }

    /// RFC 3977 §6.1.1.
    fn take_group(&mut self, group: &GroupName, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        if reply.code != 211 {
            return self.refuse_errand(asked, reply, "a reply to GROUP");
        }
        let words: Vec<&[u8]> = reply.words().collect();
        let [count, low, high, name @ ..] = words.as_slice() else { return Err(reply.is_no("a group")) };
        let is_other = name.first().is_some_and(|name| !name.eq_ignore_ascii_case(group.octets()));
        let (Some(count), Some(low), Some(high), false) =
            (number(count), number(low), number(high), is_other)
        else {
            return Err(reply.is_no("the group that was asked for"));
        };
        self.known.selected = Some(Selected { group: group.clone(), count, low, high });
        if matches!(self.asks.front(), Some(Ask::Group(_))) {
            self.finish_empty();
        }
        Ok(())
    }

    /// RFC 3977 §6.2.
    fn take_article(&mut self, verb: Verb, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        let Some(Ask::Article(at, part)) = self.asks.front() else { return Err(reply.is_no("a reply")) };
        let expected = match verb_of(*part) {
            Verb::Head => 221,
            Verb::Body => 222,
            _ => 220,
        };
        debug_assert_eq!(verb, verb_of(*part), "errands are answered in order");
        if reply.code != expected {
            return self.refuse_errand(asked, reply, "the article that was asked for");
        }
        if !is_named(at, reply) {
            return Err(reply.is_no("the article that was asked for"));
        }
        self.block = Some(Block::article(*part));
        self.tell_head();
        Ok(())
    }

    /// RFC 3977 §7.6.3.
    fn take_list(&mut self, verb: Verb, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        let Some(Ask::Groups(pattern, form)) = self.asks.front() else { return Err(reply.is_no("a reply")) };
        match reply.code {
            215 => {
                self.block = Some(Block::groups(pattern.clone(), *form));
                self.tell_head();
                Ok(())
            }
            // RFC 977 has no keywords; before that, a server may want MODE READER.
            500 | 501 | 503
                if verb == Verb::ListActive && !(reply.code == 500 && self.may_want_mode_reader()) =>
            {
                (self.progress.by_list, self.begun) = (true, 0);
                Ok(())
            }
            _ => self.refuse_errand(asked, reply, "a reply to LIST"),
        }
    }

    /// RFC 3977 §8.3.
    fn take_overview(&mut self, verb: Verb, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        let Some(Ask::Overview(_, _, form)) = self.asks.front() else { return Err(reply.is_no("a reply")) };
        match reply.code {
            224 => {
                self.block = Some(Block::overview(*form));
                self.tell_head();
                Ok(())
            }
            420 | 423 => {
                self.finish_empty();
                Ok(())
            }
            500..=503 => {
                let xover_is_next = verb == Verb::Over && reply.code != 503;
                self.progress.overview = Some(if xover_is_next { Overview::Xover } else { Overview::Heads });
                self.begun = 0;
                Ok(())
            }
            _ => self.refuse_errand(asked, reply, "a reply to OVER"),
        }
    }

    /// An article that is gone is none of the list.
    fn take_head(&mut self, number: u64, asked: &Asked, reply: &Reply) -> Result<(), WireError> {
        let Some(Ask::Overview(_, _, form)) = self.asks.front() else { return Err(reply.is_no("a reply")) };
        match reply.code {
            221 if names(reply, number) => {
                self.block = Some(Block::Header(HeaderOf::new(number, *form)));
                Ok(())
            }
            420 | 423 | 430 => Ok(()),
            _ => self.refuse_errand(asked, reply, "a reply to HEAD"),
        }
    }
}

/// Whether a reply names the article that was asked for; servers that name none are believed.
fn is_named(at: &ArticleAt, reply: &Reply) -> bool {
    match at {
        ArticleAt::Id(id) => reply.words().nth(1).is_none_or(|word| id.is(word)),
        ArticleAt::Number(_, wanted) => names(reply, *wanted),
    }
}

fn names(reply: &Reply, wanted: u64) -> bool {
    reply.words().next().is_none_or(|word| number(word) == Some(wanted))
}
