//! The login that a client sends, and for which server it is.
//!
//! All paths of this server are one host for a browser. A browser sends a login again for paths below the one that
//! asked for it (RFC 7617 §2.2), so each answer with status 401 has a path with its own server, and a login of a client
//! is bound to the first server for which the client sent it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch_url::{Credential, Url};

use crate::link::Form;
use crate::request_head::RequestHead;

/// The maximum number of logins that are remembered. For a further one, the client with the most logins loses the one that
/// it did not send for the longest time: a client that sends many logins displaces its own.
const MAX_LOGINS: usize = 10_000;

/// The server of each login that a client sent in path form. Only hashes are kept.
#[derive(Debug, Default)]
pub(crate) struct KnownLogins {
    bindings: Mutex<Bindings>,
    hasher: std::hash::RandomState,
}

#[derive(Debug, Default)]
struct Bindings {
    /// The logins of each client.
    clients: HashMap<IpAddr, HashMap<u64, Binding>>,
    /// The number of logins of all clients.
    count: usize,
    /// The number of requests with a login so far.
    requests: u64,
}

#[derive(Debug)]
struct Binding {
    server: u64,
    /// The number of the last request with the login.
    last_request: u64,
}

impl KnownLogins {
    /// Returns `true` if `login` of `client` may be sent to `server`: it was sent to no other one.
    fn bind(&self, client: IpAddr, login: &str, server: &str) -> bool {
        use std::hash::BuildHasher as _;
        let (login, server) = (self.hasher.hash_one(login), self.hasher.hash_one(server));
        let mut bindings = self.bindings.lock().unwrap_or_else(PoisonError::into_inner);
        bindings.requests += 1;
        let last_request = bindings.requests;
        let known = bindings.clients.get_mut(&client).and_then(|logins| logins.get_mut(&login));
        if let Some(binding) = known {
            // A refused request counts, too: it must not make the login one that is forgotten.
            binding.last_request = last_request;
            return binding.server == server;
        }
        if bindings.count >= MAX_LOGINS {
            bindings.remove_oldest();
        }
        bindings.clients.entry(client).or_default().insert(login, Binding { server, last_request });
        bindings.count += 1;
        true
    }
}

impl Bindings {
    /// Removes the login that was not sent for the longest time from the client with the most logins.
    fn remove_oldest(&mut self) {
        let Some(logins) = self.clients.values_mut().max_by_key(|logins| logins.len()) else { return };
        let oldest = logins.iter().min_by_key(|(_, binding)| binding.last_request).map(|(login, _)| *login);
        if oldest.and_then(|login| logins.remove(&login)).is_some() {
            self.count -= 1;
        }
        if logins.is_empty() {
            self.clients.retain(|_, logins| !logins.is_empty());
        }
    }
}

/// Returns the login of a request of `client` for `url`. A proxy's client sends it as for the server itself (RFC 9110 §11.6.2).
pub(crate) fn login_for(
    client: IpAddr,
    head: &RequestHead,
    form: Form,
    url: &Url<'_>,
    known: &KnownLogins,
) -> Option<Credential> {
    let (scheme, encoded) = head.text("authorization")?.split_once(' ')?;
    // Case does not matter (RFC 9110 §11.1).
    let encoded = scheme.eq_ignore_ascii_case("basic").then(|| encoded.trim())?;
    if form == Form::Path && !known.bind(client, encoded, &server_name(url)) {
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

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn client_with_many_logins_displaces_its_oldest_ones_only() {
        let (known, other) = (KnownLogins::default(), IpAddr::from([192, 0, 2, 1]));
        assert!(known.bind(other, "own", "ftp://a") && known.bind(CLIENT, "first", "ftp://a"));
        for number in 0..MAX_LOGINS {
            assert!(known.bind(CLIENT, &format!("login {number}"), "ftp://a"));
            // A login that is in use stays, even if its requests are refused.
            assert!(!known.bind(CLIENT, "login 0", "ftp://b"));
        }
        assert!(!known.bind(other, "own", "ftp://b"), "the login of another client is bound");
        assert!(known.bind(CLIENT, "first", "ftp://b"), "the oldest login is forgotten");
        assert!(!known.bind(CLIENT, &format!("login {}", MAX_LOGINS - 1), "ftp://b"));
        let bindings = known.bindings.lock().expect("no panic");
        assert_eq!(bindings.clients.values().map(HashMap::len).sum::<usize>(), MAX_LOGINS);
        assert_eq!(bindings.count, MAX_LOGINS);
    }

    fn head(authorization: &str) -> RequestHead {
        let text = format!("GET / HTTP/1.0\r\nAuthorization: {authorization}\r\n\r\n");
        RequestHead::parse(text.as_bytes()).expect("a head").expect("complete").0
    }

    #[test]
    fn login_is_read_in_each_spelling_of_its_scheme() {
        let url = fetch_url::url::parse("ftp://a.example/x").expect("a URL").url;
        for (value, expected) in [
            ("Basic bWU6c2VjcmV0", true),
            ("basic bWU6c2VjcmV0", true),
            ("BASIC  bWU6c2VjcmV0", true),
            ("Bearer bWU6c2VjcmV0", false),
            ("Basic", false),
            ("Basic!bWU6c2VjcmV0", false),
        ] {
            let known = KnownLogins::default();
            let login = login_for(CLIENT, &head(value), Form::Path, &url, &known);
            assert_eq!(login.is_some(), expected, "{value}");
        }
    }

    #[test]
    fn login_is_sent_to_one_server_only() {
        let head = head("Basic bWU6c2VjcmV0");
        let url = |text: &str| fetch_url::url::parse(text).expect(text).url.into_owned();
        let known = KnownLogins::default();
        let login = |form, text: &str| login_for(CLIENT, &head, form, &url(text), &known);
        let sent = login(Form::Path, "ftp://a.example/x").expect("the first server");
        assert_eq!((sent.user(), sent.expose_password()), (&b"me"[..], Some(&b"secret"[..])));
        assert!(login(Form::Path, "ftp://a.example/y").is_some());
        assert!(login(Form::Path, "ftp://b.example/x").is_none());
        assert!(login(Form::Path, "http://a.example/x").is_none());
        assert!(login(Form::Proxy, "ftp://b.example/x").is_some());
    }
}
