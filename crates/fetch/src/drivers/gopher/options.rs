//! Options of the gopher driver.

use fetch_url_proto::gopher::DotStuffing;

/// Options for `gopher:` and `gophers:` URLs, set by [`Request::gopher`](crate::Request::gopher).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GopherOptions {
    /// How the final dot line and doubled dots of a text are handled (RFC 1436 §3.2). Default: determined from the text
    /// itself.
    pub dots: DotStuffing,
    /// The Gopher+ view to request: a media type, optionally followed by a space and a language (RFC 1738 §3.4.8).
    /// Default: the view that the server prefers.
    pub view: Option<Vec<u8>>,
    /// Answers for a Gopher+ form (`+ASK`, RFC 1738 §3.4.9), as pairs of question and answer. A question is identified
    /// by its number, counted from 1, or by its text. The answers are dropped on a redirect to another server.
    pub answers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Return menus and attributes as the bytes that the server sent, instead of a [`Listing`](crate::Listing).
    /// Default: `false`.
    pub raw_menus: bool,
}
