//! Resume data of a partial download: number of bytes, version and resource.

use std::fmt;

use fetch_url_core::Url;

/// The state of a partial download, which is continued only if the object on the server has not changed.
///
/// [`FileSink`](crate::output::FileSink) writes it next to the `.part` file; it can also be built from the
/// [`Meta`](crate::Meta) of an earlier response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Number of bytes already received.
    pub offset: u64,
    /// Size of the whole object in bytes, if known.
    pub size: Option<u64>,
    /// The validator of the version that was received.
    pub validator: Validator,
    /// The URL of the response, without credentials and query: a validator is valid for one resource only.
    /// `None` skips this check.
    pub resource: Option<String>,
    /// The last received bytes, up to 64. They are requested again and compared, because validators and offsets that
    /// servers report may be wrong.
    pub tail: Vec<u8>,
}

impl Resume {
    /// Number of bytes kept in `tail`.
    pub(crate) const TAIL: usize = 64;

    /// Returns the bytes that are requested again. The request always starts above offset 0: a response from offset 0
    /// is the whole object.
    pub(crate) fn overlap(&self) -> &[u8] {
        let most = usize::try_from(self.offset.saturating_sub(1)).unwrap_or(usize::MAX);
        &self.tail[self.tail.len().saturating_sub(most)..]
    }

    /// Returns the offset of the first byte to request.
    pub(crate) fn request_offset(&self) -> u64 {
        self.offset - self.overlap().len() as u64
    }
}

/// Identifies one version of an object (RFC 9110 §8.8). Its `Display` form is a line for [`Validator::from_text`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validator {
    /// A strong entity tag with its quotes (RFC 9110 §8.8.3).
    ETag(String),
    /// A modification time in the form that the server sent, such as `Last-Modified` or the reply to MDTM.
    Modified(String),
}

impl Validator {
    /// Parses the `Display` form. Returns `None` for other text and for control characters.
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

/// Returns the key of the resource for which validators are comparable: the URL without credentials. The
/// query is left out, because the query of a signed URL changes with each redirect.
pub(crate) fn resource_key(url: &Url<'_>) -> String {
    let text = url.redacted().to_string();
    match url {
        Url::Http(_) => text.split('?').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}
