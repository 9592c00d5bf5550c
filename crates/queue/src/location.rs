//! The address of a queue: `nats://HOST[:PORT]/NAME`.

use std::fmt;
use std::str::FromStr;

use fetch_url::Error;

use crate::error::usage_error;

/// The maximum length of a name. The names of streams are file names of the server.
const MAX_NAME_LENGTH: usize = 64;

/// The address of a queue: `nats://[USER@]HOST[:PORT]/NAME`, or `tls://…` to require TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub(crate) requires_tls: bool,
    pub(crate) user: Option<String>,
    /// Host and port.
    pub(crate) server: String,
    pub(crate) name: String,
}

impl Location {
    /// Returns the name of the queue.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the address of the server.
    pub(crate) fn server_url(&self) -> String {
        format!("{}://{}", if self.requires_tls { "tls" } else { "nats" }, self.server)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server_url(), self.name)
    }
}

impl FromStr for Location {
    type Err = Error;

    /// Parses an address.
    ///
    /// # Errors
    /// [`fetch_url::Code::Usage`] if the text is not an address of a queue, or contains a password.
    fn from_str(text: &str) -> Result<Self, Error> {
        // The text may contain a password, so no message contains the text.
        let wrong = |detail: &str| usage_error(format!("the address of the queue {detail}"));
        let shape = || wrong("must be nats://HOST[:PORT]/NAME, or tls:// with TLS");
        let (scheme, rest) = text.split_once("://").ok_or_else(shape)?;
        let requires_tls = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(shape()),
        };
        let (authority, name) = rest.split_once('/').ok_or_else(shape)?;
        let (user, server) = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => {
                return Err(wrong("contains a password, which other users of this computer can see")
                    .with_hint("use --nats-password-file, --nats-token-file or --nats-creds"));
            }
            Some((user, server)) => (Some(user.to_owned()), server),
            None => (None, authority),
        };
        let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(is_name) {
            return Err(wrong("must end with a name of 1 to 64 letters, digits, - and _"));
        }
        let is_host = |character: char| character.is_ascii_alphanumeric() || ".-_:[]".contains(character);
        if server.is_empty() || !server.chars().all(is_host) {
            return Err(shape());
        }
        Ok(Self { requires_tls, user, server: server.to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let location: Location = "nats://me@q.example:4222/corpus".parse().expect("an address");
        assert_eq!((location.user.as_deref(), location.name()), (Some("me"), "corpus"));
        assert_eq!(location.to_string(), "nats://q.example:4222/corpus");
        let location: Location = "tls://[::1]/a-b_1".parse().expect("an address");
        assert_eq!(location.server_url(), "tls://[::1]");
    }

    #[test]
    fn other_text_is_refused_and_a_password_is_not_repeated() {
        for text in [
            "corpus",
            "http://h/corpus",
            "nats://h",
            "nats://h/",
            "nats://h/a.b",
            "nats:///a",
            "nats://h/a/b",
        ] {
            assert!(text.parse::<Location>().is_err(), "{text}");
        }
        let error = "nats://me:secret@h/corpus".parse::<Location>().expect_err("a password");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
