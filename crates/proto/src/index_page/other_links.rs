//! The links of an index page that are no entries of it, such as links to another server. The directory may have files of
//! their names although the page has no entry for them.

use fetch_url_core::PercentEncoded;

use super::link_target::OtherTarget;
use super::stray_text::is_link_text;
use crate::OtherLinkCounts;
use crate::html_tokens::text_of;

/// The maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 512;
/// The maximum memory for the names in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum number of query parameters whose values are read.
const MAX_PARAMETERS: usize = 8;

/// The names that these links may stand for.
#[derive(Default)]
pub(super) struct OtherLinks {
    names: Vec<Vec<u8>>,
    bytes: usize,
    is_too_large: bool,
    /// The text of the link that is being read.
    text: Option<String>,
    /// The target of this link.
    target: Option<OtherTarget>,
    /// The names in the reference of this link.
    own_names: Vec<Vec<u8>>,
    counts: OtherLinkCounts,
}

impl OtherLinks {
    /// Begins a link. `href` is its reference, if it has one.
    pub(super) fn begin(&mut self, href: Option<&str>, target: Option<OtherTarget>) {
        self.end();
        (self.text, self.target) = (Some(String::new()), target);
        let Some((path, query)) = href.map(split_reference) else { return };
        self.add_last_part(path);
        let values = query.split(['&', ';']).take(MAX_PARAMETERS).filter_map(|pair| pair.split_once('='));
        values.for_each(|(_, value)| self.add_last_part(value));
    }

    /// Adds the name in the reference of another element than a link.
    pub(super) fn add_reference(&mut self, reference: &str) {
        let (path, _) = split_reference(reference);
        self.add(&last_part(path));
    }

    /// Adds to the text of the open link.
    pub(super) fn read_text(&mut self, text: &[u8]) {
        if let Some(open) = &mut self.text {
            let remaining = MAX_NAME_BYTES.saturating_sub(open.len());
            open.push_str(&text_of(&text[..text.len().min(remaining)]));
        }
    }

    /// Ends the open link.
    pub(super) fn end(&mut self) {
        let names = std::mem::take(&mut self.own_names);
        let Some(text) = self.text.take() else { return };
        let text = text.trim().trim_end_matches('/');
        self.add(text.as_bytes());
        if names.iter().any(|name| is_link_text(text, name)) {
            match self.target {
                Some(OtherTarget::OtherServer) => self.counts.other_servers += 1,
                Some(OtherTarget::Outside) => self.counts.outside += 1,
                Some(OtherTarget::WithQuery) => self.counts.with_query += 1,
                None => {}
            }
        }
    }

    /// Returns the numbers of ended links that are named like entries.
    pub(super) const fn counts(&self) -> OtherLinkCounts {
        self.counts
    }

    /// Takes the names, or returns `None` if they need too much memory.
    pub(super) fn take_names(&mut self) -> Option<Vec<Vec<u8>>> {
        (!self.is_too_large).then(|| std::mem::take(&mut self.names))
    }

    fn add_last_part(&mut self, path: &str) {
        let name = last_part(path);
        self.add(&name);
        self.own_names.push(name);
    }

    fn add(&mut self, name: &[u8]) {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || self.is_too_large {
            return;
        }
        self.bytes += name.len() + size_of::<Vec<u8>>();
        self.is_too_large = self.bytes > MAX_BYTES;
        if self.is_too_large {
            self.names = Vec::new();
        } else {
            self.names.push(name.to_vec());
        }
    }
}

/// Returns the last segment of a path, decoded, without a slash at its end.
fn last_part(path: &str) -> Vec<u8> {
    let decoded = PercentEncoded::from(path).decode().into_owned();
    let end = decoded.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    decoded[..end].rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec()
}

/// Splits a reference into its path and its query, without its fragment.
fn split_reference(href: &str) -> (&str, &str) {
    let reference = href.split('#').next().unwrap_or_default();
    reference.split_once('?').unwrap_or((reference, ""))
}
