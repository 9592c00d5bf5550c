//! An HTTP/2 connection, which several requests share.

use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

use super::connection_task::ConnectionTask;
use super::exchange::MAX_HEAD_SIZE;
use super::http2_stream::CheckedHttp2Stream;
use super::http2_uploads::Http2Uploads;
use super::interim::InterimCounter;
use super::request_body::OutgoingBody;
use super::transport_error::error_before_response;
use super::upload::UploadProgress;
use crate::net::connection_info::Endpoints;
use crate::{Error, Phase, RunContext};

/// A handle to an open connection.
#[derive(Clone)]
pub(super) struct Http2Connection {
    sender: http2::SendRequest<OutgoingBody>,
    _task: Arc<ConnectionTask>,
    endpoints: Endpoints,
    interim: InterimCounter,
    uploads: Http2Uploads,
}

impl Http2Connection {
    /// Opens HTTP/2 on a stream to the server of `plan`.
    pub(super) async fn open<S>(stream: S, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        // The flow-control windows are 64 KiB and grow to at most 16 MiB while the body is read as fast as it arrives,
        // so a body that is read slowly occupies little memory.
        builder.adaptive_window(true);
        builder.max_header_list_size(u32::try_from(MAX_HEAD_SIZE).unwrap_or(u32::MAX));
        let (interim, uploads) = (InterimCounter::default(), Http2Uploads::default());
        let stream = CheckedHttp2Stream::new(stream, interim.clone(), uploads.clone());
        let handshake =
            async { builder.handshake(TokioIo::new(stream)).await.map_err(error_before_response) };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, handshake).await?;
        let _task = Arc::new(ConnectionTask::spawn(connection));
        let endpoints = ctx.connector.connection_info().endpoints();
        Ok(Self { sender, _task, endpoints, interim, uploads })
    }

    /// Waits until the connection can send a request. Returns `false` if it is closed.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Returns the permit to send the body of a request, or `None` while another body is being sent.
    pub(super) fn upload_permit(&self) -> Option<OwnedSemaphorePermit> {
        self.uploads.permit()
    }

    /// Returns the counter of the interim responses to all requests.
    pub(super) fn interim_counter(&self) -> InterimCounter {
        self.interim.clone()
    }

    /// Returns the address of the server and the local address.
    pub(super) const fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    /// Sends a request and waits for the head of the response. `upload` is the progress of its body.
    pub(super) async fn send_request(
        &mut self,
        request: Request<OutgoingBody>,
        upload: Option<&UploadProgress>,
    ) -> Result<Response<Incoming>, TrySendError<Request<OutgoingBody>>> {
        upload.into_iter().for_each(|upload| self.uploads.begin(upload));
        self.sender.try_send_request(request).await
    }
}
