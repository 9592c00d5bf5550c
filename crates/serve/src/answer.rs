//! An answer before it is sent: status, header fields, content.

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, VARY};
use http::{Response, StatusCode};

use crate::answer_body::{ActiveAnswer, AnswerBody, AnswerContent};
use crate::memory::MemoryPermit;
use crate::security_headers::{ContentOrigin, add_security_headers};

/// The media type of the pages of this server.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// An answer before it is sent.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: AnswerContent,
    pub(crate) origin: ContentOrigin,
    /// The error that the answer reports, for the logs.
    pub(crate) error: Option<(&'static str, String)>,
    /// The memory that the answer may use until it is sent.
    pub(crate) memory: Option<MemoryPermit>,
}

impl Answer {
    /// Creates an answer of `origin` without content.
    pub(crate) fn new(status: StatusCode, origin: ContentOrigin) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            content: AnswerContent::None,
            origin,
            error: None,
            memory: None,
        }
    }

    /// Creates an answer with a page of this server.
    pub(crate) fn page(status: StatusCode, html: impl Into<Bytes>) -> Self {
        let mut answer =
            Self::new(status, ContentOrigin::Gateway).with(CONTENT_TYPE, HTML).with(VARY, "Accept");
        answer.content = AnswerContent::Whole(html.into());
        answer
    }

    /// Creates an answer with a page. `first` is sent at once; `source` streams the rest.
    pub(crate) fn page_stream(first: Bytes, source: impl ByteSource + 'static) -> Self {
        let mut answer = Self::page(StatusCode::OK, Bytes::new());
        answer.content = AnswerContent::Stream { first: Some(first), source: Box::pin(source), length: None };
        answer
    }

    /// Creates a redirect to a path of this server. Bytes of `location` that no URL has are encoded.
    pub(crate) fn redirect(status: StatusCode, location: &str) -> Self {
        let mut encoded = String::with_capacity(location.len());
        for byte in location.bytes() {
            match byte {
                b'!'..=b'~' => encoded.push(char::from(byte)),
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        Self::new(status, ContentOrigin::Gateway).with(LOCATION, &encoded)
    }

    /// Sets a field. A value that is no valid field value, because another server chose a part of it, is left out.
    #[must_use]
    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Returns the response for hyper. With `closes`, the connection is closed after it.
    pub(crate) fn into_response(self, mut active: ActiveAnswer, closes: bool) -> Response<AnswerBody> {
        let Self { status, mut headers, content, origin, error, memory } = self;
        add_security_headers(&mut headers, origin);
        if closes {
            headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        }
        active.record.status = status.as_u16();
        active.record.error = error;
        active.memory = memory;
        let mut response = Response::new(AnswerBody::new(content, active));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}
