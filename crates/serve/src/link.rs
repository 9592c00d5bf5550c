//! Links in pages: as a path of this server, or as the URL itself for a client that uses the server as its proxy.

use fetch_url::Url;
use fetch_url::url::{SchemeFamily, parse};

/// The form in which a client asks for URLs. Links in its pages have the same form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `GET /gopher://host/1/`.
    Path,
    /// `GET gopher://host/1/`: the client uses the server as a proxy.
    Proxy,
}

impl Form {
    /// Returns the link to `url`.
    pub(crate) fn link(self, url: &str) -> String {
        match self {
            Self::Path => format!("/{url}"),
            Self::Proxy => url.to_owned(),
        }
    }

    /// Returns the link to a URL that a server sent, or `None` if a page must not contain it: only schemes that this
    /// server knows, and no local files, which a proxy's client would open on its own computer.
    pub(crate) fn untrusted_link(self, url: &str) -> Option<String> {
        let parsed = parse(url).ok()?.url;
        let is_known = !matches!(parsed.scheme().family, SchemeFamily::Other | SchemeFamily::File);
        is_known.then(|| self.link(&parsed.to_string()))
    }

    /// Returns the link to an entry of the directory at `base`. Files of the local directory link to each other.
    pub(crate) fn entry_link(self, base: &Url<'_>, url: &str) -> Option<String> {
        match (base, parse(url).ok()?.url) {
            (Url::File(_), url @ Url::File(_)) => Some(self.link(&url.to_string())),
            _ => self.untrusted_link(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_of_known_schemes_are_made() {
        for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "x", "", "//h/x"] {
            assert_eq!(Form::Proxy.untrusted_link(url), None, "{url}");
            assert_eq!(Form::Path.untrusted_link(url), None, "{url}");
        }
        assert_eq!(Form::Path.untrusted_link("gopher://h/1/").as_deref(), Some("/gopher://h/1/"));
        assert_eq!(Form::Proxy.untrusted_link("news:a.b").as_deref(), Some("news:a.b"));
    }

    #[test]
    fn files_are_linked_only_from_files() {
        let (file, http) = (parse("file:///a/").expect("a URL").url, parse("http://h/").expect("a URL").url);
        assert_eq!(Form::Path.entry_link(&file, "file:///a/b").as_deref(), Some("/file:///a/b"));
        assert_eq!(Form::Path.entry_link(&http, "file:///a/b"), None);
    }
}
