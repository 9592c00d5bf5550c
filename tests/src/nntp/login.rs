//! Capabilities and logins of the news server: CAPABILITIES, AUTHINFO, STARTTLS, COMPRESS.

use crate::nntp::reply::{Next, Reply};
use crate::nntp::session::Session;

/// The state of the login.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Login {
    None,
    /// AUTHINFO USER was received.
    User(Vec<u8>),
    Done,
}

impl Login {
    pub(crate) fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

impl<'a> Session<'a> {
    pub(crate) fn capabilities(&self) -> Reply<'a> {
        let mut lines = vec!["VERSION 2".to_owned(), "IMPLEMENTATION fetch-url test server".to_owned()];
        let knows = |command: &str| !self.is_unknown(command, &[]);
        if self.is_reader {
            lines.push("READER".to_owned());
            lines.extend(knows("OVER").then(|| {
                format!("OVER{}", if self.config.behaviour.supports_over_by_id { " MSGID" } else { "" })
            }));
            lines.extend(knows("HDR").then(|| "HDR".to_owned()));
            lines.push(self.list_capability());
        } else {
            lines.push("MODE-READER".to_owned());
        }
        let can_start_tls = self.can_start_tls() && knows("STARTTLS");
        lines.extend(can_start_tls.then(|| "STARTTLS".to_owned()));
        let can_log_in = !self.config.accounts.is_empty() && !self.login.is_done() && knows("AUTHINFO");
        lines.extend(
            can_log_in.then(|| format!("AUTHINFO{}", if self.login_needs_tls() { "" } else { " USER" })),
        );
        let can_compress =
            self.config.behaviour.offers_compression && !self.is_compressed && knows("COMPRESS");
        lines.extend(can_compress.then(|| "COMPRESS DEFLATE".to_owned()));
        Reply::line("101 Capability list:")
            .with(lines.into_iter().map(|line| format!("{line}\r\n").into_bytes()))
    }

    fn list_capability(&self) -> String {
        let known = ["ACTIVE", "HEADERS", "NEWSGROUPS", "OVERVIEW.FMT"];
        let known = known.iter().filter(|keyword| !self.is_unknown("LIST", &[keyword.as_bytes()]));
        known.fold("LIST".to_owned(), |list, keyword| format!("{list} {keyword}"))
    }

    fn can_start_tls(&self) -> bool {
        self.config.starttls.is_some() && !self.is_tls
    }

    /// Returns `true` if a login needs TLS first.
    fn login_needs_tls(&self) -> bool {
        self.config.behaviour.requires_tls_for_login && !self.is_tls
    }

    pub(crate) fn authinfo(&mut self, line: &[u8], arguments: &[&[u8]]) -> Reply<'a> {
        let [kind, _, ..] = arguments else {
            return Reply::line("501 Syntax is: AUTHINFO USER name|PASS password");
        };
        if self.config.accounts.is_empty() || self.login.is_done() {
            return Reply::line("502 Already authenticated, or no need to");
        }
        if self.login_needs_tls() {
            return Reply::line("483 Encryption or stronger authentication required");
        }
        let value = after_two_words(line);
        match kind.to_ascii_uppercase().as_slice() {
            b"USER" => self.user(value),
            b"PASS" => self.pass(value),
            b"SASL" => Reply::line("503 no mechanism available"),
            _ => Reply::line("501 Syntax is: AUTHINFO USER name|PASS password"),
        }
    }

    fn user(&mut self, name: &[u8]) -> Reply<'a> {
        if self.config.accounts.iter().any(|(known, password)| known == name && password.is_empty()) {
            self.login = Login::Done;
            return Reply::line("281 Authentication succeeded");
        }
        self.login = Login::User(name.to_vec());
        Reply::line("381 Enter password")
    }

    fn pass(&mut self, password: &[u8]) -> Reply<'a> {
        let Login::User(name) = &self.login else {
            return Reply::line("482 Authentication commands issued out of sequence");
        };
        if self.config.accounts.iter().any(|(known, expected)| known == name && expected == password) {
            self.login = Login::Done;
            return Reply::line("281 Authentication succeeded");
        }
        self.login = Login::None;
        Reply::line("481 Authentication failed")
    }

    pub(crate) fn starttls(&self) -> Reply<'a> {
        if self.config.starttls.is_none() {
            return Reply::line("500 What?");
        }
        if self.is_tls || self.login.is_done() || self.is_compressed {
            return Reply::line("502 Already under TLS, or too late");
        }
        Reply::line("382 Begin TLS negotiation now").then(Next::Tls)
    }

    pub(crate) fn compress(&mut self, arguments: &[&[u8]]) -> Reply<'a> {
        if !self.config.behaviour.offers_compression {
            return Reply::line("500 What?");
        }
        if self.is_compressed {
            return Reply::line("502 Compression already active");
        }
        match arguments {
            [algorithm] if algorithm.eq_ignore_ascii_case(b"DEFLATE") => {
                self.is_compressed = true;
                Reply::line("206 Compression now active").then(Next::Deflate)
            }
            [_] => Reply::line("503 Compression algorithm not supported"),
            _ => Reply::line("501 Syntax is: COMPRESS DEFLATE"),
        }
    }
}

/// Returns the rest of the line after two words. A password may contain spaces.
fn after_two_words(line: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut rest = line.trim_ascii_start();
    for _ in 0..2 {
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        rest = &rest[end..];
        let start = rest.iter().position(|byte| !is_space(byte)).unwrap_or(rest.len());
        rest = &rest[start..];
    }
    rest
}
