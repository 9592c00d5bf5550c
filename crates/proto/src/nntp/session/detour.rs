//! Refusals that are no last word: the server wants a login, TLS, or to be told that we read.

use super::{Asked, Progress, Session, Stage};
use crate::nntp::command::Verb;

impl Session {
    /// Whether the first errand can be asked for once more after something else was said, which is then
    /// begun. Each is tried once, and only while nothing is asked for ahead.
    pub(super) fn goes_round(&mut self, code: u16) -> bool {
        // Neither STARTTLS nor a login is allowed on a compressed connection (RFC 8054 §2.2.2).
        if self.stage != Stage::New || self.known.is_deflated {
            return false;
        }
        self.known.wants_login |= code == 480;
        match code {
            480 if self.terms.login.is_some() && !self.known.is_logged_in => self.begin_login(),
            483 if self.can_start_tls() => self.begin(self.way_into_tls()),
            // The last is what servers say that take articles from other servers, too.
            401 | 480 | 500 if self.may_want_mode_reader() => self.begin(&[Verb::ModeReader]),
            // Nobody is asked for a password that may not go out then.
            480 if self.terms.may_ask && !self.terms.clear_login && self.can_start_tls() => {
                self.begin(self.way_into_tls())
            }
            _ => false,
        }
    }

    /// A login, in TLS where it may not go out in the clear (RFC 4643 §2.2).
    pub(super) fn begin_login(&mut self) -> bool {
        if self.terms.is_secure || self.terms.clear_login {
            return self.begin(&[Verb::User]);
        }
        if !self.can_start_tls() {
            return false;
        }
        self.begin(self.way_into_tls());
        self.first.push_back(Verb::User);
        true
    }

    /// The way into TLS: what the server was told before counts for nothing (RFC 4642 §2.2.2), and MODE READER may not
    /// follow a login.
    const fn way_into_tls(&self) -> &'static [Verb] {
        if self.known.said_mode_reader { &[Verb::StartTls, Verb::ModeReader] } else { &[Verb::StartTls] }
    }

    pub(super) const fn can_start_tls(&self) -> bool {
        !self.terms.is_secure && !self.known.said_starttls && !self.known.is_deflated
    }

    /// Whether it may be for the lack of MODE READER that the server does not understand.
    pub(super) fn may_want_mode_reader(&self) -> bool {
        self.stage == Stage::New && !self.known.said_mode_reader && !self.known.is_deflated
    }

    /// These come first, then the errand once more. The replies that are still to come are heard before.
    fn begin(&mut self, verbs: &[Verb]) -> bool {
        self.first.extend(verbs);
        self.progress = Progress::default();
        self.begun = 0;
        for asked in &mut self.asked {
            *asked = Asked::Before;
        }
        true
    }

    /// What the server has told is not known any more.
    pub(super) fn forget(&mut self) {
        self.known.capabilities = None;
        self.known.selected = None;
    }
}
