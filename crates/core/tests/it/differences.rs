//! Differences between this parser and the crates `url` and `fluent-uri`, listed in `data/expected_differences.tsv`.
//!
//! An unlisted difference fails, and so does a listed difference that no longer exists: a program that checks a URL
//! with one parser and fetches it with another depends on these differences.

use std::collections::BTreeMap;
use std::fmt::Write;

use fetch_url_core::{Host, Url, parse};

/// The URLs that all parsers parse.
const URLS: &[&str] = &[
    // Regular URLs, on which all parsers agree.
    "http://example.com/",
    "http://example.com:8080/a/b?c=d",
    "http://192.0.2.1/a",
    "http://EXAMPLE.com/A",
    "http://example.com/a%20b?c%20d",
    "http://example.com/;:@&=",
    "https://example.com/a?b",
    "https://example.com:8443/",
    "ftp://example.com/a/b",
    "ftp://user:pass@example.com:2121/a",
    "ftp://example.com/a;type=i",
    "ftp://user@example.com/%2Fetc/motd",
    "gopher://example.com:70/1",
    "gopher://example.com/7/find%09words",
    "telnet://user:pass@example.com:23/",
    "nntp://example.com/comp.lang.c/123",
    "wais://example.com/db",
    "wais://example.com/db/TEXT/id",
    "prospero://example.com//a/b;VERSION=3",
    "file:///etc/motd",
    "file://example.com/a",
    "mailto:user@example.com",
    "news:comp.lang.c",
    "news:id@example.com",
    "news:*",
    "x-any://example.com/a",
    "urn:isbn:0451450523",
    "http://xn--bcher-kva.example/",
    "http://a--b.example/",
    "http://example.com//a//b",
    "http://u:p@example.com/",
    "http://[::1]/",
    "http://[2001:db8::1]:8080/a",
    "http://[2001:DB8:0:0:0:0:0:1]/",
    // Dots, slashes, case, default ports.
    "http://example.com/a/../b",
    "http://example.com/a/./b",
    "http://example.com/%2e%2e/a",
    "ftp://example.com/a/../b",
    "file:///a/../b",
    "http://example.com",
    "http://example.com:80/",
    "http://example.com:080/",
    "http://example.com:/",
    "http://example.com./",
    "http://example.com?a",
    "ftp://example.com?a",
    "ftp://example.com/a?b",
    "gopher://example.com/0a?b",
    "http://my_host.example/",
    "http://-a.example/",
    "http://a..b/",
    "http://a!b/",
    "http://a~b/",
    "http://a%41b/",
    "http://a%2fb/",
    "http://a%00b/",
    "http://%65xample.com/",
    // Numbers.
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://127.1/",
    "http://127.0.0.01/",
    "http://127.0.0.1./",
    "http://256.0.0.1/",
    "http://1.2.3.4.5/",
    "http://www.3com/",
    "ftp://127.1/a",
    "gopher://0x7f.1/1",
    "http://１２７.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::1%25eth0]/",
    "http://[v1.a]/",
    "http://[1.2.3.4]/",
    // Ports.
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:99999999999/",
    "http://example.com:+80/",
    "http://example.com:8a/",
    "gopher://example.com:0/1",
    // User information, and text that resembles it.
    "http://a@b@c/",
    "ftp://u:p@a@b/",
    "ftp://good.example?@evil.example",
    "http://good.example?@evil.example/",
    "http://@example.com/",
    "http://:@example.com/",
    "http://u:p:q@example.com/",
    "http://good.example#@evil.example/",
    "http://good.example\\@evil.example/",
    "http://good.example/\\evil",
    "http://good.example;evil.example/",
    "gopher://user@example.com/1",
    "wais://user@example.com/db",
    "nntp://user@example.com/a",
    "file://user@example.com/a",
    // Characters.
    "http://example.com/a b",
    " http://example.com/",
    "http://example.com/a\tb",
    "http://exam\nple.com/",
    "http://example.com/\0",
    "http://example.com/é",
    "http://example.com/%",
    "http://example.com/%zz",
    "http://example.com/a|b",
    "http://example.com/[a]",
    "http://example.com/~a",
    "http://example.com/a#b",
    "http://example.com/a?b#c",
    "ftp://example.com/a#b",
    "<http://example.com/>",
    "URL:http://example.com/",
    // Slashes and schemes.
    "http:/example.com/",
    "http:example.com/",
    "http:///example.com/",
    "http:\\\\example.com\\a",
    "HTTP://example.com/",
    "file:/a",
    "file://localhost/a",
    "file://example.com:80/a",
    "file:a",
    "ftp:///a",
    "telnet://example.com/a",
    "wais://example.com",
    "nntp://example.com/1a",
    "news:1a",
    "news:",
    "mailto:",
    "1http://example.com/",
    "example.com:80/a",
    "example.com/a",
    "",
];

/// Returns host, port and path as one line, or `refused` for an error.
fn ours(text: &str) -> String {
    let Ok(parsed) = parse(text) else { return "refused".to_owned() };
    let host = parsed.url.host().map(|host| match host {
        Host::Name(name) => name.to_ascii_lowercase(),
        other => other.to_string(),
    });
    line(host.as_deref(), parsed.url.port(), &our_path(&parsed.url))
}

/// Returns the path as RFC 3986 defines it: the text after the host without query and fragment.
fn our_path(url: &Url<'_>) -> String {
    let printed = url.to_string();
    let after = printed.split_once(':').map_or("", |(_, after)| after);
    let path =
        after.strip_prefix("//").map_or(after, |rest| rest.find(['/', '?']).map_or("", |at| &rest[at..]));
    path.split('?').next().unwrap_or_default().to_owned()
}

fn theirs_url(text: &str) -> String {
    let Ok(url) = url::Url::parse(text) else { return "refused".to_owned() };
    let port = url.port().or_else(|| default_port(url.scheme()));
    line(url.host_str().filter(|host| !host.is_empty()), port, url.path())
}

fn theirs_fluent(text: &str) -> String {
    let Ok(uri) = fluent_uri::Uri::parse(text) else { return "refused".to_owned() };
    let authority = uri.authority();
    let host =
        authority.map(|authority| authority.host().to_ascii_lowercase()).filter(|host| !host.is_empty());
    let written = authority.map_or(Ok(None), |authority| authority.port_to_u16());
    let Ok(written) = written else { return "port beyond 65535".to_owned() };
    let port = written.or_else(|| default_port(&uri.scheme().as_str().to_ascii_lowercase()));
    line(host.as_deref(), port, uri.path().as_str())
}

fn default_port(scheme: &str) -> Option<u16> {
    fetch_url_core::find_scheme(scheme).and_then(|row| row.default_port)
}

fn line(host: Option<&str>, port: Option<u16>, path: &str) -> String {
    let port = port.map_or_else(|| "-".to_owned(), |port| port.to_string());
    format!("{} {port} {}", host.unwrap_or("-"), if path.is_empty() { "-" } else { path })
}

/// Returns the differing results, by URL and parser: this parser's, a tab, the other parser's.
fn differences() -> BTreeMap<(String, &'static str), String> {
    let mut rows = BTreeMap::new();
    for text in URLS {
        let ours = ours(text);
        for (parser, theirs) in [("fluent-uri", theirs_fluent(text)), ("url", theirs_url(text))] {
            if theirs != ours {
                rows.insert((text.escape_debug().to_string(), parser), format!("{ours}\t{theirs}"));
            }
        }
    }
    rows
}

#[test]
fn differences_from_other_parsers_are_the_listed_ones() {
    assert!(URLS.len() >= 80);
    let found: Vec<_> =
        differences().iter().map(|((url, parser), rest)| format!("{url}\t{parser}\t{rest}")).collect();
    let listed: Vec<_> = include_str!("../data/expected_differences.tsv")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .collect();
    let mut report = String::new();
    for line in found.iter().filter(|line| !listed.contains(&line.as_str())) {
        let _ = writeln!(report, "+{line}");
    }
    for line in listed.iter().filter(|line| !found.iter().any(|row| row == *line)) {
        let _ = writeln!(report, "-{line}");
    }
    assert!(report.is_empty(), "unlisted (+) and obsolete (-) differences of {} URLs:\n{report}", URLS.len());
}
