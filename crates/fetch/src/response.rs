//! A response: metadata about the object, and the object itself as a body, a listing or advice.

use bytes::Bytes;
use fetch_url_core::Url;
pub use fetch_url_proto::{Details, Head};

pub use crate::body::reader::BodyReader;
pub use crate::resume::Validator;
pub use crate::timings::Timings;
use crate::{Body, Code, Error, Listing, Meta, NotFetchable, Phase, Session};

/// The response to a [`Request`](crate::Request).
///
/// The body is not read yet. Read it with one of [`bytes`](Self::bytes), [`text`](Self::text),
/// [`bytes_stream`](Self::bytes_stream) and [`reader`](Self::reader), or match on [`content`](Self::content).
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// The metadata of the object and of the request.
    pub meta: Box<Meta>,
    /// The object.
    pub content: Content,
    /// The error of an error response whose body the caller requested (`HttpOptions::deliver_error_body`).
    pub status_error: Option<Error>,
}

/// The object of a response.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content {
    /// Instructions for a URL that does not name a data object (`telnet:`, `mailto:`).
    Advice(NotFetchable),
    /// The bytes of the object.
    Body(Body),
    /// Only the metadata was requested ([`Request::head`](crate::Request::head)).
    Head,
    /// A directory, a menu, or a list of groups or articles.
    Listing(Listing),
    /// An interactive session with a server ([`Request::open_session`](crate::Request::open_session)).
    Session(Box<Session>),
    /// The condition of the request is not met, for example because the caller's copy is current.
    Unchanged,
}

impl Response {
    /// Creates a response, for drivers.
    pub fn new(meta: impl Into<Box<Meta>>, content: Content) -> Self {
        Self { meta: meta.into(), content, status_error: None }
    }

    /// Returns the URL of the response, after all redirects.
    pub fn url(&self) -> &Url<'static> {
        &self.meta.url
    }

    /// Returns the size of the complete object in bytes, if the server reported it.
    pub fn size(&self) -> Option<u64> {
        self.meta.head.size
    }

    /// Returns the media type as the server sent it, such as `text/html; charset=utf-8`.
    pub fn content_type(&self) -> Option<&str> {
        self.meta.media_type.as_deref()
    }

    /// Returns the modification time in seconds since 1970-01-01 UTC, if the server reported it.
    pub fn last_modified(&self) -> Option<i64> {
        self.meta.head.modified
    }

    /// Returns the strong entity tag, quotes included (RFC 9110 §8.8.3), if the server sent one.
    pub fn etag(&self) -> Option<&str> {
        match &self.meta.validator {
            Some(Validator::ETag(tag)) => Some(tag),
            _ => None,
        }
    }

    /// Reads the whole body into memory. A listing becomes its names, one per line.
    ///
    /// The size is limited by [`Limits::max_size`](crate::Limits::max_size), which has no default.
    ///
    /// # Errors
    /// [`Code::Truncated`], [`Code::TimedOut`] or [`Code::LimitReached`] if the body breaks off, stalls or is too
    /// large; [`Code::Usage`] for an interactive session.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        self.into_body()?.bytes().await
    }

    /// Reads the whole body into memory, as text. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// As for [`bytes`](Self::bytes).
    pub async fn text(self) -> Result<String, Error> {
        let bytes = self.bytes().await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the body as a stream of chunks: a `Stream<Item = Result<Bytes, Error>>`.
    ///
    /// # Errors
    /// [`Code::Usage`] for an interactive session.
    pub fn bytes_stream(self) -> Result<Body, Error> {
        self.into_body()
    }

    /// Returns the body as a [`tokio::io::AsyncRead`] and [`tokio::io::AsyncBufRead`].
    ///
    /// # Errors
    /// [`Code::Usage`] for an interactive session.
    pub fn reader(self) -> Result<BodyReader, Error> {
        self.into_body().map(BodyReader::new)
    }

    /// Returns the entries of a directory, menu or list.
    ///
    /// # Errors
    /// [`Code::NotFound`] if the object is not a listing.
    pub fn into_listing(self) -> Result<Listing, Error> {
        match self.content {
            Content::Listing(listing) => Ok(listing),
            _ => Err(Error::new(Code::NotFound, Phase::Reply, "the response is not a listing")
                .with_url(&self.meta.url)),
        }
    }

    /// Returns the object as a body. A listing becomes its names, one per line; a response without an object
    /// has an empty body.
    pub(crate) fn into_body(self) -> Result<Body, Error> {
        self.into_meta_and_body().map(|(_, body)| body)
    }

    /// Returns the metadata and the object as a body, see [`Self::into_body`].
    pub(crate) fn into_meta_and_body(self) -> Result<(Meta, Body), Error> {
        let Self { meta, content, .. } = self;
        let body = match content {
            Content::Advice(advice) => Body::from_bytes(advice.text),
            Content::Body(body) => body,
            Content::Head | Content::Unchanged => Body::from_bytes(Bytes::new()),
            Content::Listing(listing) => listing.into_body(|entry| [&entry.name[..], b"\n"].concat()),
            Content::Session(_) => {
                let detail = "an interactive session is not a data object";
                return Err(Error::new(Code::Usage, Phase::Deliver, detail).with_url(&meta.url));
            }
        };
        Ok((*meta, body))
    }
}
