//! What only Gopher understands.

use fetch_url_proto::gopher::Dots;

/// How a URL is fetched by Gopher: an extra of [`crate::Request`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GopherOptions {
    /// How the dots of a text are read.
    pub dots: Dots,
    /// The view that is wanted, by Gopher+: a media type, a blank and a language (RFC 1738 §3.4.8).
    pub view: Option<Vec<u8>>,
    /// What answers a form: the text of a question, or its number from 1, and the answer.
    pub answers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Menus and attributes are delivered as the server sends them.
    pub raw_menus: bool,
}
