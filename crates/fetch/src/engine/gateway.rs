//! Gateways (RFC 1738 §4): somebody else is asked for the URLs of a scheme, by a URL that the caller's template makes
//! of them.

use std::collections::BTreeMap;

use fetch_url_core::{Url, parse};

use crate::{Code, Error, Phase};

/// What a template may hold, and what it stands for.
const PLACES: [&str; 5] = ["{url}", "{scheme}", "{host}", "{port}", "{path}"];

/// A template for each scheme that has a gateway.
#[derive(Clone, Debug, Default)]
pub struct Gateways(BTreeMap<String, String>);

impl Gateways {
    /// URLs of `scheme` are asked for by `template`: a URL with `{url}`, `{scheme}`, `{host}`, `{port}` and `{path}` in
    /// it. `{path}` is what stands behind the slash after the host, its escapes as they are; the others are escaped as
    /// text is.
    ///
    /// # Errors
    /// `usage`: the template makes no URL, or holds something else in braces.
    pub fn set(&mut self, scheme: &str, template: &str) -> Result<(), Error> {
        let wrong = |detail: String| Err(Error::new(Code::Usage, Phase::Plan, detail));
        let is_scheme = |octet: u8| octet.is_ascii_alphanumeric() || b"+.-".contains(&octet);
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_scheme) {
            return wrong(format!("a gateway is for a scheme: \"{scheme}\" is none"));
        }
        let behind = template.split_once("://").map_or("", |(_, rest)| rest);
        let server = behind.split(['/', '?', '#']).next().unwrap_or_default();
        if server.contains("{path}") || server.contains("{url}") {
            return wrong(format!("the gateway {template} has its server named by the path of a URL"));
        }
        let plain = PLACES.iter().fold(template.to_owned(), |text, place| text.replace(place, "1"));
        if plain.contains(['{', '}']) {
            return wrong(format!("the gateway {template} holds none of {} in its braces", PLACES.join(" ")));
        }
        if let Err(error) = parse(&plain) {
            return wrong(format!("the gateway {template} makes no URL: {error}"));
        }
        self.0.insert(scheme.to_ascii_lowercase(), template.to_owned());
        Ok(())
    }

    /// The URL to be asked for in place of `url`; none where it is asked for itself, such as on the gateway.
    ///
    /// # Errors
    /// `bad_url`: no URL came out.
    pub(crate) fn through(&self, url: &Url<'_>) -> Option<Result<Url<'static>, Error>> {
        let template = self.0.get(url.scheme_name())?;
        let text = filled(template, url);
        let made = parse(&text).map(|parsed| parsed.into_owned().url).map_err(|error| {
            let detail = format!("the gateway for {} makes no URL of it", url.scheme_name());
            Error::new(Code::BadUrl, Phase::Plan, detail).with_source(error)
        });
        let is_on_gateway = made.as_ref().is_ok_and(|made| super::gate::is_same_server(made, url));
        (!is_on_gateway).then_some(made)
    }
}

/// The template with the parts of the URL in their places. A password stays with us.
fn filled(template: &str, url: &Url<'_>) -> String {
    let shown = url.without_password().to_string();
    let rest = shown.split_once(':').map_or("", |(_, rest)| rest);
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.split_once('/').map_or("", |(_, path)| path),
        None => rest,
    };
    let host = url.host().map(|host| host.to_string()).unwrap_or_default();
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let value = |place: &str| match place {
        "{url}" => encoded(&shown),
        "{scheme}" => url.scheme_name().to_owned(),
        "{host}" => host.clone(),
        "{port}" => port.clone(),
        _ => escapes_kept(path),
    };
    // Place by place, so that nothing of the URL is taken for a place.
    let mut text = String::new();
    let mut left = template;
    while let Some((at, place)) = next_place(left) {
        text.push_str(&left[..at]);
        text.push_str(&value(place));
        left = &left[at + place.len()..];
    }
    text + left
}

fn next_place(text: &str) -> Option<(usize, &'static str)> {
    PLACES.iter().filter_map(|place| Some((text.find(place)?, *place))).min()
}

/// Every octet that a gateway could read as something else is escaped: decoded once, it is the text again.
fn encoded(text: &str) -> String {
    escaped_but(text, b"-._~")
}

/// A path keeps its slashes and the escapes that it has.
fn escapes_kept(path: &str) -> String {
    escaped_but(path, b"-._~/%:@!$'()*,;=")
}

fn escaped_but(text: &str, plain: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() || plain.contains(&octet) {
            escaped.push(char::from(octet));
        } else {
            escaped.push_str(&format!("%{octet:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(template: &str, url: &str) -> Option<String> {
        let url = parse(url).expect("a URL").url;
        let mut gateways = Gateways::default();
        gateways.set(url.scheme_name(), template).expect("a template");
        gateways.through(&url).map(|made| made.expect("a URL").to_string())
    }

    #[test]
    fn each_part_has_its_place() {
        for (template, url, made) in [
            (
                "http://gw/{host}:{port}/{path}",
                "wais://h.example/db/TEXT/%03%01a?b",
                Some("http://gw/h.example:210/db/TEXT/%03%01a%3Fb"),
            ),
            ("http://gw/?u={url}", "wais://h/db?a+b", Some("http://gw/?u=wais%3A%2F%2Fh%2Fdb%3Fa%2Bb")),
            ("http://gw/?u={url}", "ftp://u:secret@h/%2Fx", Some("http://gw/?u=ftp%3A%2F%2Fu%40h%2F%252Fx")),
            ("http://gw/{scheme}/{path}", "mid:a%23b@c", Some("http://gw/mid/a%23b@c")),
            ("http://gw/{host}{port}/{path}", "x-new:{path}", Some("http://gw//%7Bpath%7D")),
            (
                "prospero://gw:2525/{path}",
                "prospero://h//a;VERSION=3",
                Some("prospero://gw:2525//a;VERSION=3"),
            ),
            ("http://gw/?u={url}", "x-foo://u:secret@h/p", Some("http://gw/?u=x-foo%3A%2F%2Fu%40h%2Fp")),
            ("http://gw/?u={url}", "x-foo:u:v@h", Some("http://gw/?u=x-foo%3Au%3Av%40h")),
            // On the gateway itself there is none.
            ("prospero://gw/{path}", "prospero://GW:1525/a", None),
        ] {
            assert_eq!(through(template, url).as_deref(), made, "{template} {url}");
        }
    }

    #[test]
    fn what_is_no_template() {
        let mut gateways = Gateways::default();
        for (scheme, template) in [
            ("wais", ""),
            ("wais", "gw/{path}"),
            ("wais", "http://gw/{user}"),
            ("wais", "http://gw/{path"),
            ("wais", "http://gw.example{path}"),
            ("1x", "http://gw/"),
            ("", "http://gw/"),
            ("a b", "http://gw/"),
        ] {
            assert!(gateways.set(scheme, template).is_err(), "{scheme} {template}");
        }
    }
}
