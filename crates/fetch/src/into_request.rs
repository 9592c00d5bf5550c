//! Conversion to a request, from the text of a URL, a parsed URL, or a request with options.

use fetch_url_core::Url;

use crate::{Error, Request};

/// A value that [`Fetcher::get`](crate::Fetcher::get) and its relatives accept. It is implemented for text, [`Url`] and
/// [`Request`], and cannot be implemented outside this crate.
pub trait IntoRequest: sealed::Sealed {
    /// Returns the request.
    ///
    /// # Errors
    /// [`Code::BadUrl`](crate::Code::BadUrl) if the text is not a URL.
    fn into_request(self) -> Result<Request, Error>;
}

impl IntoRequest for &str {
    fn into_request(self) -> Result<Request, Error> {
        Request::new(self)
    }
}

impl IntoRequest for &String {
    fn into_request(self) -> Result<Request, Error> {
        Request::new(self)
    }
}

impl IntoRequest for String {
    fn into_request(self) -> Result<Request, Error> {
        Request::new(&self)
    }
}

impl IntoRequest for Url<'static> {
    fn into_request(self) -> Result<Request, Error> {
        Ok(Request::from_url(self))
    }
}

impl IntoRequest for Request {
    fn into_request(self) -> Result<Request, Error> {
        Ok(self)
    }
}

mod sealed {
    use super::{Request, Url};

    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for &String {}
    impl Sealed for String {}
    impl Sealed for Url<'static> {}
    impl Sealed for Request {}
}
