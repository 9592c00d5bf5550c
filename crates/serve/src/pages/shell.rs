//! The frame of every page: title, URL field, breadcrumbs, landmarks.

use fetch_url::Url;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::style::STYLE;
use crate::field_text::display_text;
use crate::link::Form;

/// The place of the entries in a page whose entries arrive later. Escaped text cannot contain it.
const MARK: &str = "<!--entries-->";

/// The frame of a page.
pub(super) struct Shell<'a> {
    pub(super) title: &'a str,
    pub(super) form: Form,
    /// The URL of the page; `None` for the start page and for errors without one.
    pub(super) url: Option<&'a str>,
    pub(super) crumbs: Vec<(String, String)>,
}

impl<'a> Shell<'a> {
    /// Creates the frame of the page of `url`, whose text is `shown`: without a password.
    pub(super) fn of_url(title: &'a str, form: Form, url: &Url<'_>, shown: &'a str) -> Self {
        Self { title, form, url: Some(shown), crumbs: crumbs(url, form) }
    }

    /// Returns the page with `main`.
    pub(super) fn page(&self, main: &Markup) -> String {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " – fetch-url" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    header {
                        (self.url_field())
                        @if !self.crumbs.is_empty() { (self.breadcrumbs()) }
                    }
                    main #main { (main) }
                    footer { "Served by fetch-url. Pages of other servers are shown without scripts." }
                }
            }
        }
        .into_string()
    }

    /// Returns the parts of the page before and after the entries, for which `main` has [`entries_here`].
    pub(super) fn split_page(&self, main: &Markup) -> (String, String) {
        let page = self.page(main);
        match page.split_once(MARK) {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            None => (page, String::new()),
        }
    }

    /// Returns the field for the next URL. A proxy's client has one of its own.
    fn url_field(&self) -> Markup {
        html! {
            @if self.form == Form::Path {
                form action="/" method="get" role="search" {
                    a.home href="/" { "fetch-url" }
                    label for="url" { "URL" }
                    input #url type="text" name="url" value=[self.url] inputmode="url" autocapitalize="none"
                        autocomplete="off" spellcheck="false" placeholder="gopher://, ftp://, news:, wais://";
                    button { "Go" }
                }
            } @else if let Some(url) = self.url {
                p.muted { (url) }
            }
        }
    }

    fn breadcrumbs(&self) -> Markup {
        html! {
            nav aria-label="Breadcrumb" {
                ol {
                    @for (label, link) in &self.crumbs { li { a href=(link) { (label) } } }
                }
            }
        }
    }
}

/// Returns the place of the entries.
pub(super) const fn entries_here() -> PreEscaped<&'static str> {
    PreEscaped(MARK)
}

/// Returns labels and links of the directories above the object at `url`, and of the object.
fn crumbs(url: &Url<'_>, form: Form) -> Vec<(String, String)> {
    let host = url.host().map(|host| host.to_string());
    let text = url.redacted().to_string();
    let link = |text: &str| form.link(text);
    match url {
        Url::Ftp(_) | Url::File(_) | Url::Http(_) => path_crumbs(&text, form),
        Url::Gopher(gopher) => {
            let Some((root, _)) = split_root(&text) else { return Vec::new() };
            let mut crumbs = vec![(host.unwrap_or_default(), link(&root))];
            let selector = gopher.selector();
            if !selector.is_empty() {
                crumbs.push((display_text(&selector.decode()), link(&text)));
            }
            crumbs
        }
        Url::News(_) | Url::Nntp(_) => {
            let (base, name) = text.rsplit_once(['/', ':']).unwrap_or((&text, ""));
            let list = format!("{}*", &text[..text.len() - name.len()]);
            let label = host.unwrap_or_else(|| "newsgroups".to_owned());
            let list = if matches!(url, Url::Nntp(_)) { list_of_server(base) } else { list };
            vec![(label, link(&list)), (display_text(name.as_bytes()), link(&text))]
        }
        Url::Wais(_) | Url::Prospero(_) => {
            let Some((root, rest)) = split_root(&text) else { return Vec::new() };
            let first = rest.split(['/', '?']).next().unwrap_or_default();
            vec![(format!("{}/{first}", host.unwrap_or_default()), link(&format!("{root}{first}")))]
        }
        _ => Vec::new(),
    }
}

/// Returns the list of groups of the server of an nntp URL.
fn list_of_server(base: &str) -> String {
    let server = base.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    format!("news://{server}/*")
}

/// Splits `scheme://host/` from the rest.
fn split_root(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    Some((format!("{scheme}://{authority}/"), path))
}

fn path_crumbs(text: &str, form: Form) -> Vec<(String, String)> {
    let Some((root, path)) = split_root(text) else { return Vec::new() };
    let (scheme, host) = root.split_once("//").unwrap_or((&root, ""));
    let label = if host == "/" { scheme } else { host.trim_end_matches('/') };
    let mut crumbs = vec![(label.to_owned(), form.link(&root))];
    let mut so_far = root;
    let path = path.split(['?', ';']).next().unwrap_or_default();
    for segment in path.split_inclusive('/').filter(|segment| *segment != "/") {
        so_far.push_str(segment);
        crumbs.push((decoded(segment.trim_end_matches('/')), form.link(&so_far)));
    }
    crumbs
}

/// Returns the text of a path segment.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let pair = tail.get(..2).filter(|_| first == b'%').and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    display_text(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let url = fetch_url::url::parse(text).expect(text).url;
        let crumbs = crumbs(&url, Form::Path);
        crumbs.iter().map(|(label, link)| format!("{label}={link}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn crumbs_lead_to_the_directories_above() {
        for (url, expected) in [
            ("ftp://h/a%20b/c", "h=/ftp://h/ a b=/ftp://h/a%20b/ c=/ftp://h/a%20b/c"),
            ("ftp://h/", "h=/ftp://h/"),
            ("gopher://h/1/x", "h=/gopher://h/ /x=/gopher://h/1/x"),
            ("gopher://h/", "h=/gopher://h/"),
            ("news:a.b", "newsgroups=/news:* a.b=/news:a.b"),
            ("news://h/a.b", "h=/news://h/* a.b=/news://h/a.b"),
            ("nntp://h/a.b/1", "h=/news://h/* 1=/nntp://h/a.b/1"),
            ("wais://h/d?w", "h/d=/wais://h/d"),
            ("file:///a/b", "file:=/file:/// a=/file:///a/ b=/file:///a/b"),
            ("mailto:a@b", ""),
        ] {
            assert_eq!(shown(url), expected, "{url}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        assert!(!shown("ftp://u:canary@h/a/b").contains("canary"));
    }
}
