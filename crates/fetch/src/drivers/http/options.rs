//! What only HTTP understands of a request: method, fields, body, coding, version.

use bytes::Bytes;

use super::cookies::CookieJar;

/// An extra for the HTTP driver.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Another method than GET (POST where there is a body).
    pub method: Option<String>,
    /// Fields beside, or instead of, our own. Away from the server that the caller named, only those
    /// that give nothing away are sent.
    pub fields: Vec<Field>,
    /// What goes with the request.
    pub body: Option<Bytes>,
    /// Lets the server compress what it sends, and undoes it.
    pub decode: bool,
    /// Which version may be spoken.
    pub version: HttpVersion,
    /// User and password are shown only when the server asks for them.
    pub waits_for_challenge: bool,
    /// A page of HTML is read as the listing of a directory: [`crate::proto::IndexPage`].
    pub lists_pages: bool,
    /// The body of an error is delivered like any other.
    pub delivers_errors: bool,
    /// Where cookies are kept.
    pub cookies: Option<CookieJar>,
}

/// A field of a request.
#[derive(Clone, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a field has a name and a value")]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value; with none, our own field of this name is not sent.
    pub value: Option<Vec<u8>>,
}

/// Which version of HTTP may be spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpVersion {
    /// What the server prefers in TLS; HTTP/1.1 without.
    #[default]
    Any,
    /// HTTP/1.1.
    Http1,
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), value: Some(value.into()) }
    }

    /// Our own field of this name is not sent.
    pub fn without(name: impl Into<String>) -> Self {
        Self { name: name.into(), value: None }
    }
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Field({})", self.name)
    }
}
