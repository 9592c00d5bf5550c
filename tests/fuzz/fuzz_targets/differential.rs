//! Arbitrary text to three URL parsers: fetch-url-core and the crates `url` (WHATWG) and `fluent-uri` (RFC 3986). Text
//! that two of them accept has the same host, port and path in both, because a program that checks a URL with one
//! parser and fetches it with another depends on it. `crates/core/tests/it/differences.rs` lists single differences;
//! these are the known kinds:
//!
//! | text | fetch-url-core | other parser |
//! |---|---|---|
//! | space or wrapper around the URL, `URL:` | removed | `fluent-uri`: error; `url`: space removed, `URL:` is a scheme |
//! | no path | none | `url`: `/` |
//! | `.` and `..` as segments, also `%2e` | kept | `url`: resolved |
//! | characters that URLs do not allow | percent-encoded | `url`: encodes fewer of them |
//! | `http://h?q` | path `/` | `fluent-uri`: no path |
//! | `file://localhost/`, `file://h/C:/` | kept | `url`: no host |
//! | host of a scheme that `url` does not know | lower case | `url`: case and percent-encoding kept |
//! | IPv6 address | shortest form, IPv4 part in decimal | `url`: hexadecimal; `fluent-uri`: as written |
//! | `file:` with several slashes before the path | kept | `url`: one slash |
//! | IPv6 address with a zone | accepted | error |
//! | `?` in the user name or password (RFC 1738 §5 `user`) | accepted | end of the host |
//! | unknown scheme without `//`, or with an authority that RFC 1738 does not allow | no host | accepted |
//! | `mailto://h`, `news://h` | no host, or a news server | a host |
//! | `ws`, `wss` | unknown schemes | `url`: as `http` |
//!
//! A URL that only one of them accepts is not compared.
#![no_main]

use std::net::Ipv6Addr;

use fetch_url_core::{Host, Url, find_scheme, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(parsed) = parse(text) else { return };
    if is_known_difference(&parsed.url) {
        return;
    }
    // Wrappers and corrections are the differences that the notes report. The printed URL has neither.
    let text = parsed.url.to_string();
    let ours = Parts::ours(&parsed.url);
    if let Ok(uri) = fluent_uri::Uri::parse(text.as_str()) {
        assert_eq!(Parts::of_fluent(&uri), Some(ours.clone()), "fluent-uri: {text}");
    }
    if let Ok(url) = url::Url::parse(&text) {
        let (mut theirs, mut ours) = (Parts::of_url(&url), ours.as_url_writes_it());
        if has_dot_segment(&ours.path) {
            (theirs.path, ours.path) = (String::new(), String::new());
        }
        assert_eq!(theirs, ours, "url: {text}");
    }
});

/// Returns `true` for the kinds of the table whose results cannot be compared.
fn is_known_difference(url: &Url<'_>) -> bool {
    let printed = url.to_string();
    let authority = printed.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let has_question_mark = authority
        .and_then(|authority| authority.rsplit_once('@'))
        .is_some_and(|(user_info, _)| user_info.contains('?'));
    match url {
        // Only the scheme can interpret the text of an unknown one (RFC 1738 §2.1); `url` knows `ws`.
        Url::Other(other) => {
            has_question_mark || other.authority().is_none() || matches!(other.scheme_name(), "ws" | "wss")
        }
        // A mail address and an article have no authority, even if they begin with two slashes.
        Url::Mailto(_) | Url::News(_) => printed.contains("://"),
        Url::File(_) => has_drive_letter(&printed),
        _ => has_question_mark,
    }
}

fn has_drive_letter(url: &str) -> bool {
    let letter =
        |part: &str| matches!(part.as_bytes(), [first, b':' | b'|', ..] if first.is_ascii_alphabetic());
    url.split('/').skip(2).any(letter)
}

/// The parts of a URL that select the server and the object.
#[derive(Clone, Debug, PartialEq)]
struct Parts {
    scheme: String,
    host: Option<String>,
    port: Option<u16>,
    path: String,
}

impl Parts {
    fn ours(url: &Url<'_>) -> Self {
        let host = url.host().map(|host| match host {
            Host::Name(name) => name.to_ascii_lowercase(),
            other => other.to_string(),
        });
        let printed = url.to_string();
        let after = printed.split_once(':').map_or("", |(_, after)| after);
        let path =
            after.strip_prefix("//").map_or(after, |rest| rest.find(['/', '?']).map_or("", |at| &rest[at..]));
        let path = path.split('?').next().unwrap_or_default().to_owned();
        Self { scheme: url.scheme_name().to_owned(), host: host.map(normal), port: url.port(), path }
    }

    /// Returns `None` for a port beyond 65535.
    fn of_fluent(uri: &fluent_uri::Uri<&str>) -> Option<Self> {
        let scheme = uri.scheme().as_str().to_ascii_lowercase();
        let (mut host, mut port) = (None, None);
        if let Some(authority) = uri.authority() {
            host = Some(normal(authority.host().to_ascii_lowercase())).filter(|host| !host.is_empty());
            port = authority.port_to_u16().ok()?;
        }
        let mut path = uri.path().as_str().to_owned();
        if path.is_empty() && uri.has_query() && matches!(&*scheme, "http" | "https") {
            path = "/".to_owned();
        }
        Some(Self { port: port.or_else(|| default_port(&scheme)), scheme, host, path })
    }

    fn of_url(url: &url::Url) -> Self {
        let host = url.host_str().filter(|host| !host.is_empty());
        Self {
            scheme: url.scheme().to_owned(),
            host: host.map(|host| normal(host.to_ascii_lowercase())),
            port: url.port().or_else(|| default_port(url.scheme())),
            path: url.path().to_owned(),
        }
    }

    /// Applies what `url` does to every URL.
    fn as_url_writes_it(mut self) -> Self {
        let is_special = matches!(&*self.scheme, "http" | "https" | "ftp" | "file");
        if self.path.is_empty() && is_special {
            self.path = "/".to_owned();
        }
        if self.scheme == "file" {
            self.path = format!("/{}", self.path.trim_start_matches('/'));
        }
        if self.scheme == "file" && self.host.as_deref() == Some("localhost") {
            self.host = None;
        }
        self
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    find_scheme(scheme).and_then(|row| row.default_port)
}

/// Returns an IPv6 address in one spelling.
fn normal(host: String) -> String {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    address
        .and_then(|text| text.parse::<Ipv6Addr>().ok())
        .map_or(host.clone(), |address| format!("[{address}]"))
}

/// Returns `true` for `.` and `..` as segments, percent-encoded or not, which `url` resolves.
fn has_dot_segment(path: &str) -> bool {
    path.split('/').any(|segment| matches!(&*segment.to_ascii_lowercase().replace("%2e", "."), "." | ".."))
}
