//! The login that a client sends, and for which server it is.
//!
//! All paths of this server are one host for a browser. A browser sends a login again for paths below the one that
//! asked for it (RFC 7617 §2.2), so each answer with status 401 has a path with its own server, and a login is bound to
//! the first server for which it was sent.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url::{Credential, Url};

use crate::link::Form;
use crate::request_head::RequestHead;

/// The maximum number of logins that are remembered; further ones are refused.
const MAX_LOGINS: usize = 10_000;

/// The server of each login that was sent in path form, until the process ends. Only hashes of the logins are kept.
#[derive(Debug, Default)]
pub(crate) struct KnownLogins {
    servers: Mutex<HashMap<u64, String>>,
    hasher: std::hash::RandomState,
}

impl KnownLogins {
    /// Returns `true` if `login` may be sent to `server`: it was sent to no other one.
    fn bind(&self, login: &str, server: &str) -> bool {
        use std::hash::BuildHasher as _;
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let key = self.hasher.hash_one(login);
        if servers.len() >= MAX_LOGINS && !servers.contains_key(&key) {
            return false;
        }
        servers.entry(key).or_insert_with(|| server.to_owned()) == server
    }
}

/// Returns the login of a request for `url`. A proxy's client sends it as for the server itself (RFC 9110 §11.6.2).
pub(crate) fn login_for(
    head: &RequestHead,
    form: Form,
    url: &Url<'_>,
    known: &KnownLogins,
) -> Option<Credential> {
    let encoded = head.text("authorization")?.strip_prefix("Basic ")?.trim();
    if form == Form::Path && !known.bind(encoded, &server_name(url)) {
        return None;
    }
    let decoded = STANDARD.decode(encoded).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = decoded.split_at_checked(colon)?;
    Some(Credential::login(user, password.get(1..)?))
}

/// Returns scheme, host and port of `url`: the realm of a login.
pub(crate) fn server_name(url: &Url<'_>) -> String {
    let host = url.host().map(|host| host.to_string()).unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}", url.scheme_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_is_sent_to_one_server_only() {
        let text = "GET / HTTP/1.0\r\nAuthorization: Basic bWU6c2VjcmV0\r\n\r\n";
        let (head, _) = RequestHead::parse(text.as_bytes()).expect("a head").expect("complete");
        let url = |text: &str| fetch_url::url::parse(text).expect(text).url.into_owned();
        let known = KnownLogins::default();
        let login = |form, text: &str| login_for(&head, form, &url(text), &known);
        let sent = login(Form::Path, "ftp://a.example/x").expect("the first server");
        assert_eq!((sent.user(), sent.expose_password()), (&b"me"[..], Some(&b"secret"[..])));
        assert!(login(Form::Path, "ftp://a.example/y").is_some());
        assert!(login(Form::Path, "ftp://b.example/x").is_none());
        assert!(login(Form::Path, "http://a.example/x").is_none());
        assert!(login(Form::Proxy, "ftp://b.example/x").is_some());
    }
}
