//! A URL taken apart for a reader: each part, as it was written, and the rule that names it.

/// One part of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the RFC calls it.
    pub name: &'static str,
    /// As it was written; a password is `***`.
    pub value: String,
    /// What it means, and the section that says so.
    pub rule: &'static str,
}

impl Part {
    pub(crate) fn new(name: &'static str, value: impl ToString, rule: &'static str) -> Self {
        Self { name, value: value.to_string(), rule }
    }
}

/// The parts of `[user[:password]@]host[:port]`.
pub(crate) fn login_parts(login: &crate::Login<'_>, parts: &mut Vec<Part>) {
    if let Some(user) = login.user() {
        parts.push(Part::new("user", user, "RFC 1738 §3.1: the user name; empty is not absent"));
    }
    if let Some(password) = login.password() {
        parts.push(Part::new("password", password, "RFC 1738 §3.1: the password; empty is not absent"));
    }
    host_parts(login.at(), parts);
}

/// The parts of `host[:port]`.
pub(crate) fn host_parts(at: &crate::HostPort<'_>, parts: &mut Vec<Part>) {
    parts.push(Part::new("host", at.host(), "RFC 1738 §3.1: a fully qualified domain name or an address"));
    if let Some(port) = at.port() {
        parts.push(Part::new("port", port, "RFC 1738 §3.1: the port, instead of the scheme's own"));
    }
}
