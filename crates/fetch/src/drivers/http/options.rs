//! Options of the HTTP driver: method, headers, body, content coding, HTTP version, cookies.

use super::cookie_jar::CookieJar;
use super::request_body::RequestBody;

/// Options of the HTTP driver, set on a request with [`Request::with_extra`](crate::Request::with_extra).
///
/// The default is a GET request without a body, over HTTP/2 where the server offers it, without content codings and
/// cookies.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The request method (RFC 9110 §9). Default: POST with a body, HEAD for a request of metadata, or else GET. A
    /// name that is not a token fails with `Code::Usage`.
    pub method: Option<String>,
    /// Additional headers. They replace default headers of the same name. After a redirect to another origin, only
    /// headers that contain no secrets are sent, such as Accept-Language.
    pub headers: Vec<HeaderField>,
    /// The body of the request. It is not sent again after a redirect that changes the method to GET. Default: none.
    pub body: Option<RequestBody>,
    /// Offers content codings (gzip, deflate, br, zstd) and decodes the response (RFC 9110 §8.4). A decoded response
    /// has no known size and cannot be resumed. More than 16 MiB of decoded data with a compression ratio above 200
    /// fail with `Code::LimitReached`. Default: off.
    pub compressed: bool,
    /// The HTTP versions that may be used. Default: HTTP/1.1 and HTTP/2.
    pub version: HttpVersion,
    /// When user and password are sent, and with which authentication schemes. Default: with the first request, for
    /// Basic.
    pub auth: AuthMode,
    /// Reads an HTML page as the listing of a directory ([`IndexPage`](fetch_url_proto::IndexPage)), up to 32 MiB. A
    /// response that is not an index page fails with `Code::NotFound`. Default: off.
    pub index_as_listing: bool,
    /// Which pages [`index_as_listing`](Self::index_as_listing) reads as listings. Default: all pages with links.
    pub index_rule: IndexRule,
    /// Delivers the body of a response with a status code of 400 or above, and keeps the error in
    /// [`Response::status_error`](crate::Response::status_error). Default: the request fails with the error.
    pub deliver_error_body: bool,
    /// Sends the previous URL as Referer after a redirect, without user, password and fragment, and not from https to
    /// http. It replaces a Referer in `headers`. Default: off.
    pub referer_follows_redirects: bool,
    /// Delivers the body as received: neither its content codings nor its transfer codings are decoded, so that a
    /// chunked body contains the sizes of its chunks. Not through an HTTP proxy without a tunnel. Default: off.
    pub raw: bool,
    /// Offers the transfer coding gzip and decodes it (RFC 9112 §7.2). Default: off.
    pub transfer_coding: bool,
    /// Ignores Content-Length: the body ends when the connection is closed, and its end is not proven. HTTP/2 is not
    /// used. Default: off.
    pub ignore_content_length: bool,
    /// The cookie jar of the request. Default: cookies are neither sent nor stored.
    pub cookies: Option<CookieJar>,
}

/// A header field of a request (RFC 9110 §5). `Debug` shows its name only.
#[derive(Clone, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a header field has a name and a value")]
pub struct HeaderField {
    /// The field name, in upper or lower case. A name that is not a token fails with `Code::Usage`.
    pub name: String,
    /// The field value, sent byte for byte; control characters fail with `Code::ForbiddenByte`. `None` removes the
    /// default header of this name; of `Authorization`, also the login.
    pub value: Option<Vec<u8>>,
}

/// Which HTML pages are listings of directories. The others are kept: they have no entries, and
/// [`DirectoryListing::ordinary_page`](crate::mirror::DirectoryListing::ordinary_page) has their content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexRule {
    /// Every page that has links or a title such as `Index of`. Other pages fail with `Code::NotFound`.
    #[default]
    AnyPage,
    /// Pages that the server has generated ([`IndexPage::is_directory_listing`](fetch_url_proto::IndexPage::is_directory_listing)).
    GeneratedPage,
    /// None: every page is kept.
    NoPage,
}

/// When user and password are sent to a server, and with which authentication schemes. It does not apply to proxies,
/// which get Basic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthMode {
    /// With the first request, for Basic (RFC 7617), in plain text. If the server rejects that and offers Digest, a
    /// second request uses Digest.
    #[default]
    Preemptive,
    /// Only after a 401 response, with the strongest scheme that it offers: Digest (RFC 7616), otherwise Basic. An
    /// attacker on the path can offer only Basic.
    AfterChallenge,
    /// Only after a 401 response that offers Digest, so that the password is never sent in plain text. Other 401
    /// responses fail with `Code::AuthNeeded`.
    DigestOnly,
}

/// The HTTP versions that may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/2 or HTTP/1.1 as negotiated in TLS; HTTP/1.1 without TLS.
    #[default]
    Any,
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/1.0 only. Each request has a connection of its own.
    Http10,
    /// HTTP/2 without TLS, for servers that are known to support it (RFC 9113 §3.3). With TLS, HTTP/2 or HTTP/1.1 as
    /// negotiated. A request that a proxy reads is sent by HTTP/1.1.
    Http2PriorKnowledge,
}

impl HeaderField {
    /// Returns a header that is sent with this value.
    pub fn new(name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), value: Some(value.into()) }
    }

    /// Returns a header that removes the default header of this name.
    pub fn without(name: impl Into<String>) -> Self {
        Self { name: name.into(), value: None }
    }
}

impl std::fmt::Debug for HeaderField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeaderField({})", self.name)
    }
}
