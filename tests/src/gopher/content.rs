//! The octets of a gopher item: at hand, or made as they are sent.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::pattern::pattern_part;

/// As much as goes into one write.
const BLOCK: usize = 64 * 1024;
/// So many lines of a crowd are made at once.
const LINES: u64 = 1000;

/// The lines that are found for words.
pub(crate) trait Search: Fn(&[u8]) -> Vec<u8> + Send + Sync {}

impl<F: Fn(&[u8]) -> Vec<u8> + Send + Sync> Search for F {}

/// What a client is sent, without what frames it.
#[derive(Clone)]
pub(crate) enum Content {
    /// Made of what was searched for.
    Answered(Arc<dyn Search>),
    /// So many lines of a menu.
    Crowd(u64),
    /// The lines of these items; without selectors, of all that the site has.
    Menu(Option<Vec<Vec<u8>>>),
    /// These.
    Octets(Arc<[u8]>),
    /// The first so many octets of [`pattern`](crate::pattern()).
    Pattern(u64),
    /// A beginning, and then the same so many times.
    Repeated(Arc<[u8]>, Arc<[u8]>, u64),
}

impl Content {
    pub(crate) fn octets(octets: impl Into<Vec<u8>>) -> Self {
        Self::Octets(Arc::from(octets.into()))
    }

    /// Its size, as far as it is known without the site.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Answered(_) | Self::Menu(_) => 0,
            Self::Crowd(lines) => lines * crowd_line(0).len() as u64,
            Self::Octets(octets) => octets.len() as u64,
            Self::Pattern(size) => *size,
            Self::Repeated(start, again, times) => start.len() as u64 + again.len() as u64 * times,
        }
    }

    /// All of it, block by block. What needs the site gives nothing here.
    pub(crate) fn blocks(&self) -> Box<dyn Iterator<Item = Cow<'_, [u8]>> + '_> {
        match self {
            Self::Answered(_) | Self::Menu(_) => Box::new(std::iter::empty()),
            Self::Crowd(lines) => {
                let block = |from: u64| {
                    (from..(from + LINES).min(*lines)).map(crowd_line).collect::<Vec<_>>().concat()
                };
                Box::new((0..*lines).step_by(LINES as usize).map(move |from| Cow::Owned(block(from))))
            }
            Self::Octets(octets) => Box::new(octets.chunks(BLOCK).map(Cow::Borrowed)),
            Self::Pattern(size) => {
                let size = *size;
                let mut at = 0;
                Box::new(std::iter::from_fn(move || {
                    let left = usize::try_from(size - at).unwrap_or(usize::MAX).min(BLOCK);
                    let part = pattern_part(at, left);
                    at += part.len() as u64;
                    (!part.is_empty()).then_some(Cow::Borrowed(part))
                }))
            }
            Self::Repeated(start, again, times) => {
                let in_block = (BLOCK / again.len().max(1)).max(1) as u64;
                let block = again.repeat(in_block as usize);
                let sizes = (0..*times).step_by(in_block as usize).map(move |at| in_block.min(times - at));
                let size = again.len();
                let rest = sizes.map(move |n| match n == in_block {
                    true => Cow::Owned(block.clone()),
                    false => Cow::Owned(block[..size * n as usize].to_vec()),
                });
                Box::new(std::iter::once(Cow::Borrowed(&start[..])).chain(rest))
            }
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Answered(_) => "Answered",
            Self::Crowd(_) => "Crowd",
            Self::Menu(_) => "Menu",
            Self::Octets(_) => "Octets",
            Self::Pattern(_) => "Pattern",
            Self::Repeated(..) => "Repeated",
        };
        write!(f, "{name}({} octets)", self.size())
    }
}

fn crowd_line(number: u64) -> Vec<u8> {
    format!("0entry {number:07}\t/entry-{number:07}\tlocalhost\t70\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern_vec;

    #[test]
    fn blocks_make_up_the_size() {
        let repeated = Content::Repeated(b"i".as_slice().into(), b"abc".as_slice().into(), 50_000);
        for content in [Content::Crowd(2001), Content::octets("x"), Content::Pattern(3 << 20), repeated] {
            let all = content.blocks().collect::<Vec<_>>().concat();
            assert_eq!(all.len() as u64, content.size(), "{content:?}");
            match &content {
                Content::Crowd(_) => {
                    assert!(all.ends_with(b"0entry 0002000\t/entry-0002000\tlocalhost\t70\r\n"))
                }
                Content::Pattern(_) => assert!(all == pattern_vec(0, 3 << 20)),
                Content::Repeated(..) => assert!(all.starts_with(b"iabcabc") && all.ends_with(b"abc")),
                _ => assert_eq!(all, b"x"),
            }
        }
        assert_eq!(Content::octets("").blocks().count(), 0);
    }
}
