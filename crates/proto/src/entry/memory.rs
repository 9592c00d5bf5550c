//! Estimates the memory that an entry needs, for limits of complete listings.

use super::{Details, Entry};
use crate::gopher::MenuItem;
use crate::gopher_plus::{Attributes, Block};
use crate::nntp::{ArticleDetails, GroupDetails};
use crate::prospero::{Attribute, LinkDetails, ObjectName};
use crate::wais::DocumentDetails;

/// The bytes that an allocator needs for one allocation, in addition to its content.
const ALLOCATION_OVERHEAD: usize = 16;

impl Entry {
    /// Returns an estimate of the memory that the entry needs, in bytes: its own size and all its allocations. Memory that
    /// a gopher item shares with other items of its menu is counted for each item.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + heap(self.name.len())
            + heap(self.url.as_ref().map_or(0, String::len))
            + self.details.memory()
    }
}

impl Details {
    /// Returns an estimate of the memory outside the value itself, in bytes.
    fn memory(&self) -> usize {
        match self {
            Self::None => 0,
            Self::MenuItem(item, attributes) => {
                boxed::<MenuItem>()
                    + heap_sum(&[&item.name, &item.selector, &item.host])
                    + attributes.as_deref().map_or(0, attributes_memory)
            }
            Self::Newsgroup(group) => boxed::<GroupDetails>() + heap_sum(&[&group.posting]),
            Self::Article(article) => {
                let ArticleDetails { subject, from, date, message_id, references, .. } = &**article;
                boxed::<ArticleDetails>() + heap_sum(&[subject, from, date, message_id, references])
            }
            Self::Link(link) => link_memory(link),
            Self::Document(document) => {
                let DocumentDetails { id, types, source, date, headline, city, .. } = &**document;
                boxed::<DocumentDetails>()
                    + heap_sum(&[id.as_bytes(), source, date, headline, city])
                    + list(types, |name| heap(name.len()))
            }
        }
    }
}

fn attributes_memory(attributes: &Attributes) -> usize {
    let block_memory =
        |block: &Block| heap_sum(&[&block.name, &block.inline]) + list(&block.lines, |line| heap(line.len()));
    boxed::<Attributes>() + heap_sum(&[&attributes.info]) + list(&attributes.blocks, block_memory)
}

fn link_memory(link: &LinkDetails) -> usize {
    let ObjectName { host_type, host, name, version } = &link.object;
    let attribute_memory = |attribute: &Attribute| {
        heap_sum(&[&attribute.precedence, &attribute.nature, &attribute.name])
            + list(&attribute.values, |value| heap(value.len()))
    };
    boxed::<LinkDetails>()
        + heap_sum(&[&link.target, &link.name, host_type, host, name, version])
        + list(&link.metadata.attributes, attribute_memory)
}

/// Returns the memory of an allocation of `length` bytes.
const fn heap(length: usize) -> usize {
    if length == 0 { 0 } else { length + ALLOCATION_OVERHEAD }
}

/// Returns the memory of several allocations.
fn heap_sum(texts: &[&[u8]]) -> usize {
    texts.iter().map(|text| heap(text.len())).sum()
}

/// Returns the memory of a value in an allocation of its own.
const fn boxed<T>() -> usize {
    heap(size_of::<T>())
}

/// Returns the memory of the elements of a list, and of what they refer to.
fn list<T>(elements: &[T], memory: impl Fn(&T) -> usize) -> usize {
    heap(size_of_val(elements)) + elements.iter().map(memory).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use fetch_url_core::PercentEncoded;

    use super::*;
    use crate::EntryKind;
    use crate::prospero::ObjectMetadata;
    use crate::wais::DocumentId;

    const LENGTH: usize = 10_000;

    fn text() -> Vec<u8> {
        vec![b'x'; LENGTH]
    }

    fn memory(details: Details) -> usize {
        Entry { details, ..Entry::new(EntryKind::File) }.memory()
    }

    fn article(change: fn(&mut ArticleDetails)) -> usize {
        let mut article = ArticleDetails::default();
        change(&mut article);
        memory(Details::Article(Box::new(article)))
    }

    fn menu_item(line: &[u8], attributes: Option<Attributes>) -> usize {
        let item = MenuItem::parse(&Bytes::copy_from_slice(line));
        memory(Details::MenuItem(Box::new(item), attributes.map(Box::new)))
    }

    fn attributes(lines: Vec<Bytes>) -> Attributes {
        Attributes { info: Bytes::new(), blocks: vec![Block { lines, ..Block::default() }] }
    }

    fn link(name: Vec<u8>, values: Vec<Vec<u8>>) -> usize {
        let attribute = Attribute { precedence: Vec::new(), nature: Vec::new(), name: Vec::new(), values };
        memory(Details::Link(Box::new(LinkDetails {
            target: Vec::new(),
            name: Vec::new(),
            is_union: false,
            object: ObjectName::new("host", name, "0"),
            metadata: ObjectMetadata { attributes: vec![attribute] },
        })))
    }

    fn document(headline: Vec<u8>, types: Vec<Vec<u8>>) -> usize {
        memory(Details::Document(Box::new(DocumentDetails {
            id: DocumentId::from_wpath(&PercentEncoded::from("id")).expect("an identifier"),
            score: None,
            length: None,
            lines: None,
            types,
            source: Vec::new(),
            date: Vec::new(),
            headline,
            city: Vec::new(),
        })))
    }

    #[test]
    fn every_text_of_an_entry_is_counted() {
        let group = GroupDetails { low: 1, high: 2, posting: text() };
        let named = Entry { name: text(), ..Entry::new(EntryKind::File) };
        for (case, size) in [
            ("name", named.memory()),
            ("group", memory(Details::Newsgroup(Box::new(group)))),
            ("subject", article(|article| article.subject = text())),
            ("references", article(|article| article.references = text())),
            ("selector", menu_item(&[b"0x\t/", &text()[..], b"\thost\t70"].concat(), None)),
            ("attributes", menu_item(b"0x\t/\thost\t70", Some(attributes(vec![text().into()])))),
            ("object", link(text(), Vec::new())),
            ("value", link(Vec::new(), vec![text()])),
            ("headline", document(text(), Vec::new())),
            ("type", document(Vec::new(), vec![text()])),
        ] {
            assert!((LENGTH..LENGTH + 1000).contains(&size), "{case}: {size}");
        }
    }

    #[test]
    fn empty_elements_of_lists_are_counted() {
        let lines = attributes(vec![Bytes::new(); LENGTH]);
        assert!(menu_item(b"0x\t/\thost\t70", Some(lines)) > LENGTH * size_of::<Bytes>());
        assert!(link(Vec::new(), vec![Vec::new(); LENGTH]) > LENGTH * size_of::<Vec<u8>>());
        assert!(document(Vec::new(), vec![Vec::new(); LENGTH]) > LENGTH * size_of::<Vec<u8>>());
    }
}
