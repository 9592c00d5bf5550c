//! Gateways (RFC 1738 §4): URLs of a scheme are requested from another server, with a URL made from the
//! caller's template.

use std::collections::BTreeMap;

use fetch_url_core::{Url, mask_password, parse};

use crate::{Code, Error, Phase};

/// The placeholders of a template.
const PLACEHOLDERS: [&str; 5] = ["{url}", "{scheme}", "{host}", "{port}", "{path}"];

/// The gateways of a fetcher: one URL template per scheme.
#[derive(Clone, Debug, Default)]
pub struct Gateways(BTreeMap<String, String>);

impl Gateways {
    /// Sets the gateway for URLs of `scheme` to `template`: a URL with the placeholders `{url}`, `{scheme}`,
    /// `{host}`, `{port}` and `{path}`.
    ///
    /// `{path}` is the text after the slash that follows the host, with its percent-escapes kept; the other values
    /// are percent-encoded. A password in the URL is never sent to the gateway.
    ///
    /// # Errors
    /// `Code::Usage` if the template does not make a URL, takes its host from `{path}` or `{url}`, or
    /// contains an unknown placeholder.
    pub fn set(&mut self, scheme: &str, template: &str) -> Result<(), Error> {
        let usage_error = |detail: String| Err(Error::new(Code::Usage, Phase::Plan, detail));
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_scheme) {
            return usage_error(format!("--gateway: \"{scheme}\" is not a scheme name"));
        }
        let after_scheme = template.split_once("://").map_or("", |(_, rest)| rest);
        let server = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
        if server.contains("{path}") || server.contains("{url}") {
            return usage_error(format!(
                "the gateway {} takes its host from its path or URL, which is not allowed",
                mask_password(template)
            ));
        }
        let plain =
            PLACEHOLDERS.iter().fold(template.to_owned(), |text, placeholder| text.replace(placeholder, "1"));
        if plain.contains(['{', '}']) {
            return usage_error(format!(
                "unknown placeholder in the gateway {}; the placeholders are {}",
                mask_password(template),
                PLACEHOLDERS.join(" ")
            ));
        }
        if let Err(error) = parse(&plain) {
            return usage_error(format!("the gateway {} is not a URL: {error}", mask_password(template)));
        }
        self.0.insert(scheme.to_ascii_lowercase(), template.to_owned());
        Ok(())
    }

    /// Returns the gateway's URL for `url`, or `None` if its scheme has no gateway or `url` is on the gateway
    /// itself.
    ///
    /// # Errors
    /// `Code::BadUrl` if the template with its placeholders replaced is not a URL.
    pub(crate) fn gateway_url(&self, url: &Url<'_>) -> Option<Result<Url<'static>, Error>> {
        let template = self.0.get(url.scheme_name())?;
        let text = fill_template(template, url);
        let made = parse(&text).map(|parsed| parsed.into_owned().url).map_err(|error| {
            let detail = format!("the result of the gateway template for {} is not a URL", url.scheme_name());
            Error::new(Code::BadUrl, Phase::Plan, detail).with_source(error)
        });
        let is_on_gateway = made.as_ref().is_ok_and(|made| made.same_origin(url));
        (!is_on_gateway).then_some(made)
    }
}

/// Replaces the placeholders of `template` by the parts of `url`, without its password.
fn fill_template(template: &str, url: &Url<'_>) -> String {
    let shown = url.without_password().to_string();
    let rest = shown.split_once(':').map_or("", |(_, rest)| rest);
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.split_once('/').map_or("", |(_, path)| path),
        None => rest,
    };
    let host = url.host().map(|host| host.to_string()).unwrap_or_default();
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let value = |placeholder: &str| match placeholder {
        "{url}" => percent_encode(&shown),
        "{scheme}" => url.scheme_name().to_owned(),
        "{host}" => host.clone(),
        "{port}" => port.clone(),
        _ => encode_path(path),
    };
    // One pass over the template, so that braces in the URL are not treated as placeholders.
    let mut text = String::new();
    let mut left = template;
    while let Some((at, placeholder)) = next_placeholder(left) {
        text.push_str(&left[..at]);
        text.push_str(&value(placeholder));
        left = &left[at + placeholder.len()..];
    }
    text + left
}

fn next_placeholder(text: &str) -> Option<(usize, &'static str)> {
    PLACEHOLDERS.iter().filter_map(|placeholder| Some((text.find(placeholder)?, *placeholder))).min()
}

/// Percent-encodes every byte except the unreserved ones (RFC 3986 §2.3).
fn percent_encode(text: &str) -> String {
    percent_encode_except(text, b"-._~")
}

/// Percent-encodes a path, but keeps its slashes and percent-escapes.
fn encode_path(path: &str) -> String {
    percent_encode_except(path, b"-._~/%:@!$'()*,;=")
}

fn percent_encode_except(text: &str, unreserved: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || unreserved.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
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
        gateways.gateway_url(&url).map(|made| made.expect("a URL").to_string())
    }

    #[test]
    fn placeholders_are_replaced_by_encoded_parts_of_the_url() {
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
            // A URL on the gateway itself is not sent through it.
            ("prospero://gw/{path}", "prospero://GW:1525/a", None),
        ] {
            assert_eq!(through(template, url).as_deref(), made, "{template} {url}");
        }
    }

    #[test]
    fn invalid_schemes_and_templates_are_rejected() {
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
