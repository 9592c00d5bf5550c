//! What a server may know and nobody else may read: there are servers that repeat what they were told.

use fetch_url_proto::text::{Reply, hidden};

use super::plan::FtpPlan;
use crate::Credential;
use crate::credentials::secret::SecretBytes;

/// Passwords and accounts of one line.
pub(super) struct Secrets(Vec<SecretBytes>);

impl Secrets {
    /// What the caller has given for this server alone.
    pub(super) fn of(plan: &FtpPlan) -> Self {
        let password = plan.login.as_ref().and_then(Credential::expose);
        let known = password.into_iter().chain(plan.account());
        Self(known.map(|secret| secret.to_vec().into()).collect())
    }

    /// What somebody has typed.
    pub(super) fn add(&mut self, secret: &[u8]) {
        self.0.push(secret.to_vec().into());
    }

    /// Hides them in a reply. What is read for its numbers keeps them, though a password may be such a
    /// number; and the name of a directory, which is sent back, may be a password too.
    pub(super) fn hide(&self, reply: &mut Reply, is_logged_in: bool) {
        let is_read = matches!(reply.code, 213 | 227 | 229) && is_logged_in;
        let is_name = reply.code == 257;
        let may_hide = |secret: &&[u8]| {
            !secret.is_empty() && !is_name && (!is_read || secret.iter().any(u8::is_ascii_alphabetic))
        };
        for secret in self.0.iter().map(SecretBytes::expose).filter(may_hide) {
            for line in &mut reply.lines {
                *line = hidden(line, secret);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_are() {
        let said = |code, text: &'static str, secret: &str| {
            let mut reply = Reply { code, lines: vec![text.into()] };
            Secrets(vec![secret.as_bytes().to_vec().into()]).hide(&mut reply, true);
            String::from_utf8_lossy(&reply.lines[0]).into_owned()
        };
        assert_eq!(said(213, "1024", "1"), "1024");
        assert_eq!(said(213, "canary", "canary"), "***");
        assert_eq!(said(257, "\"/canary\"", "canary"), "\"/canary\"");
        assert_eq!(said(550, "no 1", "1"), "no ***");
    }
}
