//! The row of an entry: its link, and the text of its line that may contain time and size.

use memchr::{memchr, memrchr};

use super::row_metadata::RowMetadata;
use crate::html_tokens::text_of;
use crate::{Entry, EntryKind};

/// Maximum number of bytes before and after a link that are searched for time and size.
pub(super) const MAX_METADATA_BYTES: usize = 512;

/// A link and the text around it.
pub(super) struct OpenRow {
    pub(super) entry: Entry,
    /// The text before the link on its line.
    before: String,
    /// The text after the link.
    after: String,
}

impl OpenRow {
    pub(super) const fn new(entry: Entry, before: String) -> Self {
        Self { entry, before, after: String::new() }
    }

    /// Adds text after the link.
    pub(super) fn add_text(&mut self, text: &[u8]) {
        push_limited(&mut self.after, text);
    }

    /// Returns the entry, with the time and size of the row. Text before the link is used if the text after it has no time.
    pub(super) fn finish(self) -> Entry {
        let Self { mut entry, before, after } = self;
        let mut found = RowMetadata::parse(&after);
        if found.modified.is_none() {
            let earlier = RowMetadata::parse_before_link(&before);
            if earlier.modified.is_some() || found.size.is_none() {
                found = earlier;
            }
        }
        entry.modified = entry.modified.or(found.modified);
        entry.size = entry.size.or(found.size).filter(|_| entry.kind == EntryKind::File);
        entry
    }
}

/// The text of a line of a `pre` element before its first link, where webfsd, thttpd and IIS write time and size.
#[derive(Default)]
pub(super) struct LineStart {
    text: String,
    has_link: bool,
}

impl LineStart {
    /// Adds text of the line. Text after a link is ignored.
    pub(super) fn add_text(&mut self, text: &[u8]) {
        if !self.has_link {
            push_limited(&mut self.text, text);
        }
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self) {
        self.text.clear();
        self.has_link = false;
    }

    /// Returns the text before a link, which is empty unless the link is the first one of the line.
    pub(super) fn begin_link(&mut self) -> String {
        self.has_link = true;
        std::mem::take(&mut self.text)
    }
}

/// Appends the part of a text that fits into [`MAX_METADATA_BYTES`].
pub(super) fn push_limited(target: &mut String, text: &[u8]) {
    let remaining = MAX_METADATA_BYTES.saturating_sub(target.len());
    target.push_str(&text_of(&text[..text.len().min(remaining)]));
}

/// Returns the part of a text that belongs to the current line, and the part of the last line that begins in the text.
pub(super) fn split_lines(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match (memchr(b'\n', text), memrchr(b'\n', text)) {
        (Some(first), Some(last)) => (&text[..first], Some(&text[last + 1..])),
        _ => (text, None),
    }
}
