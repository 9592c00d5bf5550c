//! Reads a request target: a URL for a proxy, a URL as a path, a host and port for CONNECT, or the start page.

use std::borrow::Cow;

use fetch_url::url::{HostPort, PercentEncoded, mask_password, parse};
use fetch_url_proto::text::sanitise;
use http::StatusCode;

use crate::link::Form;
use crate::request_head::{HeadFault, RequestHead};

/// The prefix of the names of query fields that belong to this server, in the URLs of its forms.
pub(crate) const FIELD_PREFIX: &str = "fetch-url-";
/// The beginning of the target of the start page's form, before the typed URL.
const START_PAGE_URL: &str = "/?url=";
/// The names of the paths that are never URLs: browsers ask for them without being told.
const NO_URLS: [&str; 3] = ["favicon.ico", "robots.txt", ".well-known"];

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestTarget {
    /// A tunnel to this host and port.
    Tunnel(HostPort<'static>),
    /// The start page, with the text of its URL field.
    StartPage(Option<String>),
    /// The object at a URL.
    Object(RequestedUrl),
}

/// A URL, and the form in which the client gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedUrl {
    pub(crate) form: Form,
    /// The text of the URL, without the fields of this server.
    pub(crate) text: String,
    /// The fields of a form of this server.
    pub(crate) fields: Vec<(String, String)>,
}

impl RequestTarget {
    /// Reads the target of `head`.
    ///
    /// # Errors
    /// A target that has none of the forms.
    pub(crate) fn from_head(head: &RequestHead) -> Result<Self, HeadFault> {
        let target = head.target.as_str();
        if head.method == "CONNECT" {
            let server = HostPort::parse(target).ok().filter(|server| server.port().is_some());
            let server = server.ok_or_else(|| bad_request("CONNECT needs HOST:PORT"))?;
            return Ok(Self::Tunnel(server));
        }
        match target.strip_prefix('/') {
            Some(path) => Self::from_path(path),
            None if target == "*" => Err(bad_request("the target * is for OPTIONS only")),
            None => Ok(Self::Object(RequestedUrl::new(Form::Proxy, target))),
        }
    }

    /// Reads a target in origin form, without its first slash.
    pub(crate) fn from_path(path: &str) -> Result<Self, HeadFault> {
        if path.is_empty() {
            return Ok(Self::StartPage(None));
        }
        if let Some(query) = path.strip_prefix('?') {
            let mut fields = form_urlencoded::parse(query.as_bytes());
            let url = fields.find(|(name, _)| name == "url").map(|(_, value)| value.into_owned());
            return Ok(Self::StartPage(url));
        }
        let first = path.split(['/', '?']).next().unwrap_or_default();
        if NO_URLS.contains(&first) {
            let detail =
                format!("this server has no {first}; a path here is a URL, such as /gopher://host/1/");
            return Err(HeadFault::new(StatusCode::NOT_FOUND, detail));
        }
        Ok(Self::Object(RequestedUrl::new(Form::Path, path)))
    }
}

impl RequestedUrl {
    /// Splits the fields of this server from the end of `target`.
    fn new(form: Form, target: &str) -> Self {
        let own = target.rsplit_once('?').filter(|(_, query)| query.starts_with(FIELD_PREFIX));
        let (text, fields) = match own {
            Some((text, query)) => {
                let fields = form_urlencoded::parse(query.as_bytes());
                let fields = fields.map(|(name, value)| (name.into_owned(), value.into_owned()));
                (text, fields.filter_map(without_prefix).collect())
            }
            None => (target, Vec::new()),
        };
        Self { form, text: text.to_owned(), fields }
    }

    /// Returns the value of a field, whose name is given without the prefix.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

fn without_prefix((name, value): (String, String)) -> Option<(String, String)> {
    name.strip_prefix(FIELD_PREFIX).map(|name| (name.to_owned(), value))
}

fn bad_request(detail: &str) -> HeadFault {
    HeadFault::new(StatusCode::BAD_REQUEST, detail)
}

/// Returns a target for a log: without passwords and control characters. The URL that was typed into the start page is
/// decoded; so is a path that is no URL, because it may have a password between encoded separators. Typed text that is
/// no URL is replaced by `***`.
pub(crate) fn target_for_log(target: &str) -> String {
    let path = target.strip_prefix('/');
    let (before, text) = match (path, path.map(RequestTarget::from_path)) {
        (_, Some(Ok(RequestTarget::StartPage(Some(url))))) => (START_PAGE_URL, Cow::Owned(url)),
        (Some(path), _) => ("/", Cow::Borrowed(path)),
        (None, _) => ("", Cow::Borrowed(target)),
    };
    let url = parse(&text).map(|parsed| parsed.url.redacted().to_string());
    let shown = url.unwrap_or_else(|_| {
        if before == START_PAGE_URL {
            return "***".to_owned();
        }
        let decoded = PercentEncoded::from(&*text).decode().into_owned();
        mask_password(&String::from_utf8_lossy(&decoded))
    });
    sanitise(format!("{before}{shown}").as_bytes()).replace(['"', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target_of(line: &str) -> Result<RequestTarget, HeadFault> {
        let text = format!("{line} HTTP/1.0\r\n\r\n");
        let (head, _) = RequestHead::parse(text.as_bytes())?.expect("complete");
        RequestTarget::from_head(&head)
    }

    fn object(form: Form, text: &str, fields: &[(&str, &str)]) -> RequestTarget {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        RequestTarget::Object(RequestedUrl { form, text: text.to_owned(), fields })
    }

    #[test]
    fn targets_of_all_forms_are_read() {
        for (line, expected) in [
            ("GET news:comp.x", object(Form::Proxy, "news:comp.x", &[])),
            ("GET wais://h/d?w", object(Form::Proxy, "wais://h/d?w", &[])),
            ("GET /news:comp.x", object(Form::Path, "news:comp.x", &[])),
            ("GET /http://h/a?b=c", object(Form::Path, "http://h/a?b=c", &[])),
            ("GET //h/a", object(Form::Path, "/h/a", &[])),
            (
                "GET /gopher://h/7/s?fetch-url-words=a+b%26",
                object(Form::Path, "gopher://h/7/s", &[("words", "a b&")]),
            ),
            ("GET /", RequestTarget::StartPage(None)),
            ("GET /?url=gopher%3A%2F%2Fh", RequestTarget::StartPage(Some("gopher://h".to_owned()))),
        ] {
            assert_eq!(target_of(line), Ok(expected), "{line}");
        }
        assert!(matches!(target_of("CONNECT h:70"), Ok(RequestTarget::Tunnel(_))));
        for line in ["CONNECT h", "CONNECT http://h:70/", "CONNECT /", "GET *", "GET /favicon.ico"] {
            assert!(target_of(line).is_err(), "{line}");
        }
    }

    #[test]
    fn passwords_are_masked_in_a_log() {
        for target in [
            "ftp://u:canary@h/a",
            "/ftp://u:canary@h/a",
            "/ftp://u:canary@h /a",
            "/http://u:canary@h:x/",
            "/http://u%3Acanary%40h/",
            "/?url=ftp%3A%2F%2Fu%3Acanary%40h%2Fa",
            "/?url=ftp://u:canary@h/a",
            "/?other=ftp%3A%2F%2Fu%3Acanary%40h",
        ] {
            let text = target_for_log(target);
            assert!(!text.contains("canary") && text.contains("h"), "{text}");
        }
        assert_eq!(target_for_log("/?url=ftp%3A%2F%2Fu%3Acanary%40h%2Fa"), "/?url=ftp://u:***@h/a");
        for typed in ["http%3A%2F%2Fu%3Acanary%40h%3Ax", "canary@h", "canary", "ftp://u:can/ary@h:x/"] {
            assert_eq!(target_for_log(&format!("/?other=1&url={typed}")), "/?url=***", "{typed}");
        }
        assert_eq!(target_for_log("/gopher://h/1/"), "/gopher://h/1/");
    }
}
