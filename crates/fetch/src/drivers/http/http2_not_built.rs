//! HTTP/2 in a build without the feature `http2`: there is never such a connection.

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

use super::interim::InterimCounter;
use super::request_body::OutgoingBody;
use super::upload::UploadProgress;
use crate::net::connection_info::Endpoints;
use crate::{Code, Error, Phase, RunContext};

/// A connection that does not exist.
#[derive(Clone)]
pub(super) enum Http2Connection {}

impl Http2Connection {
    /// Fails with `Code::Unsupported`.
    #[allow(clippy::unused_async, reason = "as with the feature http2")]
    pub(super) async fn open<S>(_stream: S, _ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Err(Error::new(Code::Unsupported, Phase::Plan, "this build does not support HTTP/2 (feature http2)"))
    }

    #[allow(clippy::unused_async, reason = "as with the feature http2")]
    pub(super) async fn is_ready(&mut self) -> bool {
        match *self {}
    }

    pub(super) const fn upload_permit(&self) -> Option<OwnedSemaphorePermit> {
        match *self {}
    }

    pub(super) const fn interim_counter(&self) -> InterimCounter {
        match *self {}
    }

    pub(super) const fn endpoints(&self) -> Endpoints {
        match *self {}
    }

    #[allow(clippy::unused_async, reason = "as with the feature http2")]
    pub(super) async fn send_request(
        &mut self,
        _request: Request<OutgoingBody>,
        _upload: Option<&UploadProgress>,
    ) -> Result<Response<Incoming>, TrySendError<Request<OutgoingBody>>> {
        match *self {}
    }
}
