//! Converts articles to the format in which they are delivered.

use bytes::Bytes;
use fetch_url_proto::nntp::MboxConverter;

use super::options::ArticleFormat;
use crate::body::CrlfToLf;

/// Converts articles incrementally; the result does not depend on where chunks end.
pub(super) enum ArticleConverter {
    Raw,
    LocalLineEndings(CrlfToLf),
    Mbox(Box<MboxConverter>),
}

impl ArticleConverter {
    pub(super) fn new(format: ArticleFormat) -> Self {
        match format {
            ArticleFormat::Raw => Self::Raw,
            ArticleFormat::LocalLineEndings => Self::LocalLineEndings(CrlfToLf::default()),
            ArticleFormat::Mbox => Self::Mbox(Box::default()),
        }
    }

    /// Converts the next chunk of an article. The result may be empty, because bytes can be buffered.
    pub(super) fn push(&mut self, chunk: Bytes) -> Bytes {
        match self {
            Self::Raw => chunk,
            Self::LocalLineEndings(lines) => lines.convert(chunk),
            Self::Mbox(mbox) => mbox.push(&chunk).into(),
        }
    }

    /// Ends the article and returns the buffered bytes.
    pub(super) fn finish(&mut self) -> Bytes {
        match self {
            Self::Raw => Bytes::new(),
            Self::LocalLineEndings(lines) => lines.finish().unwrap_or_default(),
            Self::Mbox(mbox) => mbox.finish().into(),
        }
    }
}
