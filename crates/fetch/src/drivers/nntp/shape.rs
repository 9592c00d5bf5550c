//! The shape in which articles are delivered.

use bytes::Bytes;
use fetch_url_proto::nntp::Mbox;

use super::options::ArticleShape;
use crate::body::LocalLines;

/// Turns the octets of articles into their shape, however they are cut.
pub(super) enum Shaper {
    AsItCame,
    LocalLines(LocalLines),
    Mbox(Box<Mbox>),
}

impl Shaper {
    pub(super) fn new(shape: ArticleShape) -> Self {
        match shape {
            ArticleShape::AsItCame => Self::AsItCame,
            ArticleShape::LocalLines => Self::LocalLines(LocalLines::default()),
            ArticleShape::Mbox => Self::Mbox(Box::default()),
        }
    }

    /// The next octets of an article.
    pub(super) fn turn(&mut self, octets: Bytes) -> Bytes {
        match self {
            Self::AsItCame => octets,
            Self::LocalLines(lines) => lines.turn(octets),
            Self::Mbox(mbox) => mbox.push(&octets).into(),
        }
    }

    /// The end of an article.
    pub(super) fn end(&mut self) -> Bytes {
        match self {
            Self::AsItCame => Bytes::new(),
            Self::LocalLines(lines) => lines.end().unwrap_or_default(),
            Self::Mbox(mbox) => mbox.finish().into(),
        }
    }
}
