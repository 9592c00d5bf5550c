//! The two kinds of redirect, each with its own limit.

/// The kind of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectKind {
    /// A name service (Prospero) returned the address of the object. This is its normal response, so it has a
    /// separate limit.
    NameService,
    /// A server answered that the object has moved, such as with HTTP status 302.
    Redirect,
}
