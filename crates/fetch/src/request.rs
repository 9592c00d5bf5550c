//! What is asked for: made once, handed down, never looked at again above the driver's plan.

use std::fmt;
use std::sync::Arc;

use fetch_url_core::{Url, parse};

use crate::Error;

/// One object to fetch.
#[derive(Clone, Debug)]
pub struct Request {
    url: Url<'static>,
    want: Want,
    range: Option<ByteRange>,
    resume: Option<Resume>,
    extras: Vec<Arc<dyn std::any::Any + Send + Sync>>,
}

/// The object, or only what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// What is known of the object.
    Head,
    /// The object.
    #[default]
    Object,
}

/// A part of an object, both ends included (RFC 9110 §14.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 9110 has these two")]
pub enum ByteRange {
    /// From `first` to `last`, or to the end.
    Span {
        /// The first octet.
        first: u64,
        /// The last octet.
        last: Option<u64>,
    },
    /// The last so many octets.
    Suffix(u64),
}

/// What is already there from an earlier try, and how to tell that it is still the same object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// How many octets are there.
    pub offset: u64,
    /// How many there were to be.
    pub size: Option<u64>,
    /// What the object was then.
    pub validator: Validator,
}

/// Tells one version of an object from another (RFC 9110 §8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validator {
    /// A strong entity tag, quotes included.
    ETag(String),
    /// A time of modification, in the words of whoever keeps the object.
    Modified(String),
}

impl Validator {
    /// Reads what Display wrote; nothing that no header field could hold.
    pub fn from_text(text: &str) -> Option<Self> {
        if text.chars().any(char::is_control) {
            return None;
        }
        match text.split_once(' ')? {
            ("etag", tag) => Some(Self::ETag(tag.to_owned())),
            ("modified", time) => Some(Self::Modified(time.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ETag(tag) => write!(f, "etag {tag}"),
            Self::Modified(time) => write!(f, "modified {time}"),
        }
    }
}

/// An extra for the file driver: FIFOs and devices may be read.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SpecialFiles {}

/// An extra for the HTTP driver: the body of an error is delivered like any other.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DeliverErrors {}

impl Request {
    /// Asks for the object that `text` names.
    ///
    /// # Errors
    /// `bad_url` when the text is not a URL.
    pub fn new(text: &str) -> Result<Self, Error> {
        Ok(Self::from_url(parse(text)?.into_owned().url))
    }

    /// Asks for the object that `url` names.
    pub const fn from_url(url: Url<'static>) -> Self {
        Self { url, want: Want::Object, range: None, resume: None, extras: Vec::new() }
    }

    /// Asks only for what is known of the object.
    #[must_use]
    pub const fn head(mut self) -> Self {
        self.want = Want::Head;
        self
    }

    /// Asks for a part of the object.
    #[must_use]
    pub const fn range(mut self, range: ByteRange) -> Self {
        self.range = Some(range);
        self
    }

    /// Asks for what is missing, if the object is still the same; for all of it otherwise.
    #[must_use]
    pub fn resuming(mut self, resume: Option<Resume>) -> Self {
        self.resume = resume;
        self
    }

    /// Something that one driver understands, such as [`SpecialFiles`].
    #[must_use]
    pub fn with_extra<T: Send + Sync + 'static>(mut self, extra: T) -> Self {
        self.extras.push(Arc::new(extra));
        self
    }

    /// The URL.
    pub const fn url(&self) -> &Url<'static> {
        &self.url
    }

    /// The object, or only what is known of it.
    pub const fn want(&self) -> Want {
        self.want
    }

    /// The part that is wanted.
    pub const fn wanted_range(&self) -> Option<ByteRange> {
        self.range
    }

    /// What is already there.
    pub const fn resume(&self) -> Option<&Resume> {
        self.resume.as_ref()
    }

    /// The extra of type `T`, if it was given.
    pub fn extra<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extras.iter().find_map(|extra| extra.downcast_ref())
    }

    /// The same request for another URL.
    pub(crate) fn moved_to(mut self, url: Url<'static>) -> Self {
        self.url = url;
        self
    }
}
