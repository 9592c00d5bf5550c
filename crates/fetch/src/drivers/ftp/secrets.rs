//! Passwords that must not appear in traces and errors: some servers repeat them in their replies.

use fetch_url_proto::text::{Reply, mask_secret};

use super::plan::FtpPlan;
use crate::Credential;
use crate::credentials::secret::SecretBytes;

/// The passwords and accounts sent on one connection.
pub(super) struct ReplySecrets(Vec<SecretBytes>);

impl ReplySecrets {
    /// Returns the secrets that the plan sends; the password of an anonymous login is not a secret.
    pub(super) fn for_plan(plan: &FtpPlan) -> Self {
        let password = plan.login.as_ref().and_then(Credential::expose_password);
        let known = password.into_iter().chain(plan.account());
        Self(known.map(|secret| secret.to_vec().into()).collect())
    }

    /// Adds a password that the user has typed.
    pub(super) fn add(&mut self, secret: &[u8]) {
        self.0.push(secret.to_vec().into());
    }

    /// Replaces the secrets in a reply by `***`.
    ///
    /// After the login, replies that are parsed for numbers (213, 227, 229) keep a secret made of digits, and a reply
    /// 257 is never changed, because the directory name in it is sent back to the server.
    pub(super) fn redact(&self, reply: &mut Reply, is_logged_in: bool) {
        let is_parsed = matches!(reply.code, 213 | 227 | 229) && is_logged_in;
        let is_directory_name = reply.code == 257;
        let is_hidden = |secret: &&[u8]| {
            !secret.is_empty()
                && !is_directory_name
                && (!is_parsed || secret.iter().any(u8::is_ascii_alphabetic))
        };
        for secret in self.0.iter().map(SecretBytes::expose).filter(is_hidden) {
            for line in &mut reply.lines {
                *line = mask_secret(line, secret);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_replies_keep_numbers_that_equal_a_secret() {
        let redacted = |code, text: &'static str, secret: &str| {
            let mut reply = Reply { code, lines: vec![text.into()] };
            ReplySecrets(vec![secret.as_bytes().to_vec().into()]).redact(&mut reply, true);
            String::from_utf8_lossy(&reply.lines[0]).into_owned()
        };
        assert_eq!(redacted(213, "1024", "1"), "1024");
        assert_eq!(redacted(213, "canary", "canary"), "***");
        assert_eq!(redacted(257, "\"/canary\"", "canary"), "\"/canary\"");
        assert_eq!(redacted(550, "no 1", "1"), "no ***");
    }
}
