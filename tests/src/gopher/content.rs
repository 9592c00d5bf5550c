//! The content of a Gopher item: bytes, or generated while it is sent.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::pattern::pattern_blocks;
use crate::server::text::repeated;

/// Maximum number of bytes in one write.
const BLOCK: usize = 64 * 1024;
/// How many menu lines are generated for one write.
const LINES: u64 = 1000;

/// A search: returns menu lines for the words of a query.
pub(crate) trait SearchFn: Fn(&[u8]) -> Vec<u8> + Send + Sync {}

impl<F: Fn(&[u8]) -> Vec<u8> + Send + Sync> SearchFn for F {}

/// The content, without status line and terminator.
#[derive(Clone)]
pub(crate) enum Content {
    /// The result of a search.
    Search(Arc<dyn SearchFn>),
    Bytes(Arc<[u8]>),
    /// A menu of this many generated lines.
    GeneratedMenu(u64),
    /// A menu of the items with these selectors. `None`: of all items.
    Menu(Option<Vec<Vec<u8>>>),
    /// The first bytes of [`pattern`](crate::pattern()).
    Pattern(u64),
    /// A start, and then the same bytes this many times.
    Repeated(Arc<[u8]>, Arc<[u8]>, u64),
}

impl Content {
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(Arc::from(bytes.into()))
    }

    /// Returns the size, or 0 if it depends on the request.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Menu(_) | Self::Search(_) => 0,
            Self::GeneratedMenu(lines) => lines * menu_line(0).len() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pattern(size) => *size,
            Self::Repeated(start, again, times) => start.len() as u64 + again.len() as u64 * times,
        }
    }

    /// Returns the content in blocks. Menus and searches are empty here.
    pub(crate) fn blocks(&self) -> Box<dyn Iterator<Item = Cow<'_, [u8]>> + '_> {
        match self {
            Self::Menu(_) | Self::Search(_) => Box::new(std::iter::empty()),
            Self::GeneratedMenu(lines) => {
                let block = |from: u64| {
                    (from..(from + LINES).min(*lines)).map(menu_line).collect::<Vec<_>>().concat()
                };
                Box::new((0..*lines).step_by(LINES as usize).map(move |from| Cow::Owned(block(from))))
            }
            Self::Bytes(bytes) => Box::new(bytes.chunks(BLOCK).map(Cow::Borrowed)),
            Self::Pattern(size) => Box::new(pattern_blocks(0..*size, BLOCK)),
            Self::Repeated(start, again, times) => {
                Box::new(std::iter::once(Cow::Borrowed(&start[..])).chain(repeated(again, *times)))
            }
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Bytes(_) => "Bytes",
            Self::GeneratedMenu(_) => "GeneratedMenu",
            Self::Menu(_) => "Menu",
            Self::Pattern(_) => "Pattern",
            Self::Repeated(..) => "Repeated",
            Self::Search(_) => "Search",
        };
        write!(f, "{name}({} bytes)", self.size())
    }
}

fn menu_line(number: u64) -> Vec<u8> {
    format!("0entry {number:07}\t/entry-{number:07}\tlocalhost\t70\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_vec;

    #[test]
    fn blocks_have_the_announced_size() {
        let repeated = Content::Repeated(b"i".as_slice().into(), b"abc".as_slice().into(), 50_000);
        for content in
            [Content::GeneratedMenu(2001), Content::bytes("x"), Content::Pattern(3 << 20), repeated]
        {
            let all = content.blocks().collect::<Vec<_>>().concat();
            assert_eq!(all.len() as u64, content.size(), "{content:?}");
            match &content {
                Content::GeneratedMenu(_) => {
                    assert!(all.ends_with(b"0entry 0002000\t/entry-0002000\tlocalhost\t70\r\n"))
                }
                Content::Pattern(_) => assert!(all == pattern_vec(0, 3 << 20)),
                Content::Repeated(..) => assert!(all.starts_with(b"iabcabc") && all.ends_with(b"abc")),
                _ => assert_eq!(all, b"x"),
            }
        }
        assert_eq!(Content::bytes("").blocks().count(), 0);
    }
}
