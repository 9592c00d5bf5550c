//! Links of HTML pages.

use std::collections::VecDeque;

use bytes::Bytes;
use fetch_url_core::reference_text;
use html5gum::{StartTag, Token};

use super::css::CssLinks;
use super::elements::{AttributeKind, image_set, link_attributes, link_relation, refresh_target};
use super::{PageLink, resolve_link};
use crate::html_tokens::HtmlTokens;
use crate::index_page::sorts_columns;

/// The maximum number of references of one `srcset` attribute.
const MAX_IMAGES: usize = 1000;

/// Reads the links of an HTML page, including those of its `style` elements and attributes.
pub struct HtmlLinks {
    tokens: HtmlTokens,
    /// The URL against which references are resolved: that of the page, or of its first `<base href>`.
    base: String,
    has_base_element: bool,
    /// The text of the open `style` element.
    style: Option<Vec<u8>>,
    /// The style sheet that is being read.
    css: Option<CssLinks>,
    /// Links that were read and not returned yet.
    links: VecDeque<PageLink>,
}

impl HtmlLinks {
    /// Creates a reader of `page`; `url` is its URL.
    pub fn new(page: Bytes, url: &str) -> Self {
        Self {
            tokens: HtmlTokens::new(page),
            base: url.to_owned(),
            has_base_element: false,
            style: None,
            css: None,
            links: VecDeque::new(),
        }
    }

    /// Reads one token. Returns `None` at the end, and `Some(None)` if the token completed no link.
    ///
    /// Unlike [`Iterator::next`], it returns after a bounded amount of work even if the page has no links.
    pub fn process_token(&mut self) -> Option<Option<PageLink>> {
        if let Some(link) = self.links.pop_front() {
            return Some(Some(link));
        }
        if let Some(css) = &mut self.css {
            if let Some(token) = css.process_token() {
                return Some(token);
            }
            self.css = None;
        }
        match self.tokens.read() {
            Some(Token::StartTag(tag)) => self.handle_start_tag(&tag),
            Some(Token::String(text)) => {
                if let Some(style) = &mut self.style {
                    style.extend_from_slice(&text);
                }
            }
            Some(Token::EndTag(tag)) if &**tag.name == b"style" => self.end_style(),
            Some(_) => {}
            // The text of an open `style` element is read like that of a closed one.
            _ if self.style.is_some() => self.end_style(),
            _ => return None,
        }
        Some(self.links.pop_front())
    }

    fn end_style(&mut self) {
        if let Some(style) = self.style.take() {
            self.css = Some(CssLinks::new(style.into(), &self.base));
        }
    }

    fn handle_start_tag(&mut self, tag: &StartTag<()>) {
        let value =
            |name: &str| tag.attributes.get(name.as_bytes()).map(|value| reference_text(value).into_owned());
        match &**tag.name {
            b"base" => self.set_base(value("href")),
            b"style" => self.style = Some(Vec::new()),
            b"link" => {
                if let (Some(href), Some(kind)) =
                    (value("href"), link_relation(&value("rel").unwrap_or_default()))
                {
                    self.add(&href, kind);
                }
            }
            b"meta" => {
                let is_refresh =
                    value("http-equiv").is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"));
                let content = value("content").filter(|_| is_refresh);
                if let Some(target) = content.as_deref().and_then(refresh_target) {
                    self.add(target, AttributeKind::Link);
                }
            }
            element => {
                for (name, kind) in link_attributes(element) {
                    if let Some(value) = value(name) {
                        self.add(&value, *kind);
                    }
                }
            }
        }
        if let Some(style) = value("style") {
            self.css = Some(CssLinks::new(style.into_bytes().into(), &self.base));
        }
    }

    /// Sets the base URL from the first `<base href>` of the page.
    fn set_base(&mut self, href: Option<String>) {
        if let Some(href) = href.filter(|_| !self.has_base_element) {
            self.has_base_element = true;
            if let Some(base) = resolve_link(&self.base, &href) {
                self.base = base;
            }
        }
    }

    /// Adds the links of an attribute.
    fn add(&mut self, value: &str, kind: AttributeKind) {
        let is_requisite = kind != AttributeKind::Link;
        let link = |reference| Some(PageLink { url: resolve_link(&self.base, reference)?, is_requisite });
        match kind {
            AttributeKind::ImageSet => {
                self.links.extend(image_set(value).take(MAX_IMAGES).filter_map(link));
            }
            // Links that sort the columns lead to the same listing again.
            AttributeKind::Link if sorts_columns(value.trim()) => {}
            // An empty `src` loads nothing.
            AttributeKind::Requisite if value.trim().is_empty() => {}
            _ => self.links.extend(link(value)),
        }
    }
}

impl Iterator for HtmlLinks {
    type Item = PageLink;

    fn next(&mut self) -> Option<PageLink> {
        loop {
            if let Some(link) = self.process_token()? {
                return Some(link);
            }
        }
    }
}
