//! [`Component`]: one named component of a URL, for display.

use std::fmt::Display;

use crate::{Authority, HostPort};

/// One component of a URL: its name, its text and the rule that defines it. [`Url::components`](crate::Url::components)
/// returns them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// The name, in the words of the RFC: `scheme`, `host`, `cwd`, `selector`, `search`.
    pub name: &'static str,
    /// The text as it was written, percent-encoded. A password is `***`.
    pub value: String,
    /// The RFC section that defines the component, a colon, and the meaning in one line.
    pub rule: &'static str,
}

impl Component {
    pub(crate) fn new(name: &'static str, value: impl Display, rule: &'static str) -> Self {
        Self { name, value: value.to_string(), rule }
    }
}

/// Adds the components of `[user[:password]@]host[:port]`.
pub(crate) fn push_authority(authority: &Authority<'_>, components: &mut Vec<Component>) {
    if let Some(user) = authority.user() {
        let rule = "RFC 1738 §3.1: the user name; an empty name differs from no name";
        components.push(Component::new("user", user, rule));
    }
    if let Some(password) = authority.password() {
        let rule = "RFC 1738 §3.1: the password; an empty password differs from no password";
        components.push(Component::new("password", password, rule));
    }
    push_host_port(authority.host_port(), components);
}

/// Adds the components of `host[:port]`.
pub(crate) fn push_host_port(host_port: &HostPort<'_>, components: &mut Vec<Component>) {
    let rule = "RFC 1738 §3.1: a fully qualified domain name or an address";
    components.push(Component::new("host", host_port.host(), rule));
    if let Some(port) = host_port.port() {
        let rule = "RFC 1738 §3.1: the port, instead of the scheme's default port";
        components.push(Component::new("port", port, rule));
    }
}
