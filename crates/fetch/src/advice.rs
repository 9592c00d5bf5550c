//! Advice for URLs that do not name a data object, such as `mailto:` and `telnet:`.

use fetch_url_core::Host;

use crate::Hint;

/// Instructions for a URL that does not name a data object (RFC 1738 §3.5, §3.8), as text and as values. The
/// content of the response is [`Content::Advice`](crate::Content::Advice).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotFetchable {
    /// Text for people, at most 80 columns wide.
    pub text: String,
    /// The same information as names and values, for programs.
    pub values: Vec<(&'static str, AdviceValue)>,
    /// The setting that applies to the URL, such as [`Hint::Connect`].
    pub hint: Option<Hint>,
}

/// A value of [`NotFetchable::values`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdviceValue {
    /// The URL does not contain this value.
    Absent,
    /// A boolean.
    Flag(bool),
    /// A number.
    Number(u64),
    /// Names and values, in the order of the URL.
    Pairs(Vec<(String, String)>),
    /// A string.
    Text(String),
    /// A list of strings.
    Words(Vec<String>),
}

impl NotFetchable {
    /// Creates advice with `text` and without values.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: Vec::new(), hint: None }
    }

    /// Returns the advice for a `tn3270:` URL (RFC 1738 §4): the command that opens the session.
    pub(crate) fn for_tn3270(url: &str) -> Self {
        let address = url.trim_start_matches("tn3270://").trim_end_matches('/');
        let command = format!("tn3270 {}", address.replacen(':', " ", 1));
        let text = format!("This is a tn3270 session, not an object that can be fetched.\n  {command}\n");
        Self::new(text).with_value("command", command)
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Adds a value.
    #[must_use]
    pub fn with_value(mut self, name: &'static str, value: impl Into<AdviceValue>) -> Self {
        self.values.push((name, value.into()));
        self
    }
}

impl From<bool> for AdviceValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u16> for AdviceValue {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for AdviceValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<String>> for AdviceValue {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// Returns the host as programs such as `telnet` expect it: an IPv6 address without the brackets of the URL, and its
/// zone after `%` instead of `%25` (RFC 4007 §11).
pub(crate) fn command_host(host: &Host<'_>) -> String {
    match host {
        Host::V6(address) => address.to_string(),
        Host::V6Zone(address, zone) => format!("{address}%{zone}"),
        host => host.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use fetch_url_core::parse;

    use super::*;

    #[test]
    fn commands_have_ipv6_addresses_without_brackets() {
        for (host, expected) in [
            ("h.example", "h.example"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[fe80::1%25eth0]", "fe80::1%eth0"),
        ] {
            let url = format!("gopher://{host}/");
            let parsed = parse(&url).expect("a URL");
            assert_eq!(command_host(&parsed.url.host().expect("a host")), expected);
        }
    }
}
