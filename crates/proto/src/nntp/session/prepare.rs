//! Handles refusals that TLS, a login or MODE READER can resolve.

use super::{ConnectionState, PendingReply, Progress, Session};
use crate::nntp::command::Verb;
use crate::nntp::{Login, NewsRequest};

impl Session {
    /// Returns `true` if a login could help after a 480 reply: no login was sent yet, and the connection allows one or
    /// STARTTLS is still possible.
    pub fn can_log_in(&self) -> bool {
        let is_permitted =
            self.options.is_secure || self.options.allow_plaintext_login || self.can_start_tls();
        let is_known = self.server.is_logged_in || self.options.login.is_some();
        self.state == ConnectionState::New && !is_known && is_permitted && !self.server.is_deflated
    }

    /// Sends a login, then `request` again, after the server has rejected `request` with 480.
    pub fn log_in(&mut self, login: Login, request: NewsRequest) {
        self.options.login = Some(login);
        self.requests.push_front(request);
        self.prepare_login();
    }

    /// Sends no login on this connection any more, because the server has rejected it elsewhere.
    pub const fn withhold_login(&mut self) {
        self.server.sent_login = true;
    }

    /// Queues the commands that can resolve a refusal with `code`. Returns `true` if there are any; the current request
    /// is then sent again. Each command is tried once, and only before requests are pipelined, except for a login.
    pub(super) fn prepare_retry(&mut self, code: u16) -> bool {
        // Neither STARTTLS nor a login is allowed on a compressed connection (RFC 8054 §2.2.2).
        if self.state == ConnectionState::Closed || self.server.is_deflated {
            return false;
        }
        if self.state == ConnectionState::Pipelining {
            return code == 480 && self.prepare_late_login();
        }
        self.server.requires_login |= code == 480;
        match code {
            480 if self.options.login.is_some() && !self.server.is_logged_in => self.prepare_login(),
            483 if self.can_start_tls() => self.prepare(&[Verb::StartTls]),
            // Servers whose main task is to exchange articles with other servers reply 500 before MODE READER.
            401 | 480 | 500 if self.may_need_mode_reader() => self.prepare(&[Verb::ModeReader]),
            // Do not prompt for a password that may not be sent in clear text.
            480 if self.options.can_prompt && !self.options.allow_plaintext_login && self.can_start_tls() => {
                self.prepare(&[Verb::StartTls])
            }
            _ => false,
        }
    }

    /// Queues a known login that the server requires after it has answered other requests (RFC 4643 §2.2). The pending
    /// requests are sent again after it, the first one alone.
    fn prepare_late_login(&mut self) -> bool {
        let is_sendable =
            self.options.login.is_some() && !self.server.sent_login && !self.progress.is_head_emitted;
        if !is_sendable || !self.prepare_login() {
            return false;
        }
        self.state = ConnectionState::New;
        self.server.requires_login = true;
        true
    }

    /// Queues a login, after STARTTLS if passwords may not be sent in clear text (RFC 4643 §2.2).
    pub(super) fn prepare_login(&mut self) -> bool {
        if self.options.is_secure || self.options.allow_plaintext_login {
            return self.prepare(&[Verb::User]);
        }
        if !self.can_start_tls() {
            return false;
        }
        self.prepare(&[Verb::StartTls, Verb::User])
    }

    pub(super) const fn can_start_tls(&self) -> bool {
        !self.options.is_secure && !self.server.sent_starttls && !self.server.is_deflated
    }

    /// Returns `true` if the server may have refused a command because it needs MODE READER first.
    pub(super) fn may_need_mode_reader(&self) -> bool {
        self.state == ConnectionState::New && !self.server.is_mode_reader_done && !self.server.is_deflated
    }

    /// Queues these commands and sends the current request again after them. Pending replies are read first
    /// and ignored.
    fn prepare(&mut self, verbs: &[Verb]) -> bool {
        self.preparing.extend(verbs);
        self.progress = Progress::default();
        self.sent_requests = 0;
        let is_pipelining = self.state == ConnectionState::Pipelining;
        for asked in &mut self.pending {
            *asked = match asked {
                PendingReply::Command(verb @ (Verb::Article | Verb::Body | Verb::Head)) if is_pipelining => {
                    PendingReply::SupersededArticle(*verb)
                }
                _ => PendingReply::Superseded,
            };
        }
        true
    }

    /// Drops the capabilities and the selected group, after TLS, a login or MODE READER.
    pub(super) fn forget(&mut self) {
        self.server.capabilities = None;
        self.server.selected = None;
    }
}
