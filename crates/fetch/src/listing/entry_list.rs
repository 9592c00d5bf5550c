//! The entries of a complete listing in compact form.

use std::iter::Flatten;
use std::vec;

use fetch_url_proto::{Details, Entry, EntryKind};

/// The number of entries that are stored together. Their memory is freed when the last of them has been taken.
const CHUNK_LENGTH: usize = 1024;

/// The entries of a directory, in the order of its listing. A directory may have several hundred thousand entries, so they
/// are stored in compact form: all texts in one buffer, and each URL without the start that it shares with the URL before it.
#[derive(Clone, Debug, Default)]
pub struct EntryList {
    chunks: Vec<Chunk>,
    length: usize,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    records: Vec<Record>,
    /// The name of each entry, followed by the end of its URL.
    texts: Vec<u8>,
    /// The details of the entries that have some.
    details: Vec<Details>,
    /// The URL of the last entry that has one.
    last_url: String,
}

/// An entry without its texts and details.
#[derive(Clone, Debug)]
struct Record {
    kind: EntryKind,
    has_details: bool,
    modified_nanoseconds: u32,
    size: Option<u64>,
    modified: Option<i64>,
    name_length: usize,
    url: Option<UrlLengths>,
}

/// The lengths of the two parts of a URL, in bytes.
#[derive(Clone, Copy, Debug)]
struct UrlLengths {
    /// The start, which is that of the URL before it in the chunk.
    shared: usize,
    rest: usize,
}

impl EntryList {
    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.length += 1;
        match self.chunks.last_mut() {
            Some(last) if last.records.len() < CHUNK_LENGTH => last.push(entry),
            full => {
                if let Some(full) = full {
                    full.shrink_to_fit();
                }
                let mut chunk = Chunk::default();
                chunk.push(entry);
                self.chunks.push(chunk);
            }
        }
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Returns `true` if there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns a copy of each entry.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.chunks.iter().cloned().flatten()
    }
}

impl FromIterator<Entry> for EntryList {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

impl IntoIterator for EntryList {
    type Item = Entry;
    type IntoIter = Entries;

    fn into_iter(self) -> Entries {
        Entries(self.chunks.into_iter().flatten())
    }
}

/// The entries of an [`EntryList`]; its iterator.
#[derive(Debug)]
pub struct Entries(Flatten<vec::IntoIter<Chunk>>);

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.0.next()
    }
}

impl Chunk {
    fn push(&mut self, entry: Entry) {
        let Entry { kind, name, size, modified, modified_nanoseconds, url, details } = entry;
        self.texts.extend_from_slice(&name);
        let url = url.map(|url| self.push_url(url));
        let has_details = details != Details::None;
        self.details.extend(has_details.then_some(details));
        let name_length = name.len();
        self.records.push(Record {
            kind,
            has_details,
            modified_nanoseconds,
            size,
            modified,
            name_length,
            url,
        });
    }

    fn push_url(&mut self, url: String) -> UrlLengths {
        let is_equal = |(one, other): &(u8, u8)| one == other;
        let shared = url.bytes().zip(self.last_url.bytes()).take_while(is_equal).count();
        let rest = &url.as_bytes()[shared..];
        self.texts.extend_from_slice(rest);
        let lengths = UrlLengths { shared, rest: rest.len() };
        self.last_url = url;
        lengths
    }

    fn shrink_to_fit(&mut self) {
        self.records.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.last_url = String::new();
    }
}

impl IntoIterator for Chunk {
    type Item = Entry;
    type IntoIter = ChunkReader;

    fn into_iter(self) -> ChunkReader {
        ChunkReader {
            records: self.records.into_iter(),
            texts: self.texts,
            start: 0,
            details: self.details.into_iter(),
            url: Vec::new(),
        }
    }
}

/// The entries of a chunk.
#[derive(Debug)]
struct ChunkReader {
    records: vec::IntoIter<Record>,
    texts: Vec<u8>,
    /// The position of the next text.
    start: usize,
    details: vec::IntoIter<Details>,
    /// The URL of the last entry that has one.
    url: Vec<u8>,
}

impl ChunkReader {
    fn next_text(&mut self, length: usize) -> &[u8] {
        let start = self.start;
        self.start += length;
        &self.texts[start..self.start]
    }

    fn next_url(&mut self, lengths: UrlLengths) -> Option<String> {
        let mut url = std::mem::take(&mut self.url);
        url.truncate(lengths.shared);
        url.extend_from_slice(self.next_text(lengths.rest));
        self.url.clone_from(&url);
        String::from_utf8(url).ok()
    }
}

impl Iterator for ChunkReader {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let record = self.records.next()?;
        let name = self.next_text(record.name_length).to_vec();
        let url = record.url.and_then(|lengths| self.next_url(lengths));
        let details = if record.has_details { self.details.next() } else { None };
        Some(Entry {
            kind: record.kind,
            name,
            size: record.size,
            modified: record.modified,
            modified_nanoseconds: record.modified_nanoseconds,
            url,
            details: details.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use fetch_url_proto::nntp::ArticleDetails;

    use super::*;

    /// Returns entries of which neighbours share all, a part, or nothing of their URLs, and some have details or no URL.
    fn entries(count: usize) -> Vec<Entry> {
        let entry = |number: usize| {
            let mut entry = Entry::new([EntryKind::File, EntryKind::Directory, EntryKind::Other][number % 3]);
            entry.name = "\u{e9}\n".repeat(number % 5).into_bytes();
            entry.name.extend(number.is_multiple_of(7).then_some(0xff));
            entry.size = number.is_multiple_of(2).then_some(number as u64);
            entry.modified = (number % 4 < 2).then_some(-(number as i64));
            entry.modified_nanoseconds = number as u32;
            entry.url = match number % 6 {
                0 => None,
                1 | 2 => Some(format!("ftp://h/d/{}", number / 6)),
                // The two letters begin with the same byte.
                3 => Some(format!("ftp://h/\u{e9}{number}")),
                4 => Some(format!("ftp://h/\u{e8}{number}")),
                _ => Some(String::new()),
            };
            if number.is_multiple_of(9) {
                let mut article = ArticleDetails::default();
                article.subject = number.to_string().into_bytes();
                entry.details = Details::Article(Box::new(article));
            }
            entry
        };
        (0..count).map(entry).collect()
    }

    #[test]
    fn entries_are_returned_unchanged_and_in_order() {
        for count in [0, 1, CHUNK_LENGTH - 1, CHUNK_LENGTH, CHUNK_LENGTH + 1, 3 * CHUNK_LENGTH + 7] {
            let entries = entries(count);
            let list: EntryList = entries.iter().cloned().collect();
            assert_eq!((list.len(), list.is_empty()), (count, count == 0));
            assert!(list.iter().eq(entries.iter().cloned()), "{count}");
            assert!(list.into_iter().eq(entries), "{count}");
        }
    }

    #[test]
    fn entry_of_a_large_directory_needs_little_more_than_its_name_twice() {
        let mut list = EntryList::default();
        let names = (0..20 * CHUNK_LENGTH).map(|number| format!("{number:030}"));
        for name in names {
            let url = Some(format!("ftp://server.example/pub/directory/{name}"));
            list.push(Entry { name: name.into(), url, ..Entry::new(EntryKind::File) });
        }
        list.chunks.iter_mut().for_each(Chunk::shrink_to_fit);
        let memory = |chunk: &Chunk| chunk.records.capacity() * size_of::<Record>() + chunk.texts.capacity();
        let memory: usize = list.chunks.iter().map(memory).sum();
        assert!(memory / list.len() < 120, "{}", memory / list.len());
    }
}
