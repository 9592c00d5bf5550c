//! The control connection, read by suppaftp, in plain text or in TLS. Only this file and `control_stream.rs` use
//! suppaftp.
//!
//! Commands are written as bytes, several at once, without suppaftp's own command methods: those decode file names as
//! text, wait for each reply, and log passwords.

use std::future::Future as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::task::{Context, Poll};

use fetch_url_proto::RecvBuffer;
use fetch_url_proto::text::{Reply, ReplyReader};
use suppaftp::FtpError;
use suppaftp::tokio::ImplAsyncFtpStream;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use super::control_stream::{ControlStream, ControlTransport, ReadyConnector, WriteQueue};
use super::driver_error::{connection_closed_error, connection_lost_error};
use super::greeting;
use crate::net::server_stream::{RemoteEnd, ServerStream};
use crate::{Code, Deadline, Error, Phase};

/// Maximum number of lines of a reply.
const MAX_REPLY_LINES: usize = 1000;

type SuppaStream = ImplAsyncFtpStream<ControlStream>;

/// A control connection: sends lines, receives replies.
pub(super) struct ControlConnection {
    wire: Wire,
    /// The server's end of the connection.
    pub(super) remote: RemoteEnd,
    /// The client's end of the connection.
    pub(super) local: SocketAddr,
    /// A reply that was received before its caller waited for it.
    peeked: Option<Reply>,
    /// The error of [`Self::poll_reply`], which [`Self::receive_reply`] returns.
    failure: Option<Error>,
    /// Reads the replies. It keeps the lines of an incomplete reply if the caller stops waiting.
    reader: ReplyReader,
    /// Received bytes after a reply that suppaftp ended too early.
    buffer: RecvBuffer,
}

enum Wire {
    PlainBeforeGreeting(ServerStream),
    /// The reply is the greeting, if it was read before TLS started.
    TlsBeforeGreeting(Box<TlsStream<ServerStream>>, Option<Reply>),
    Plain(Box<SuppaStream>),
    /// TLS, plain text after a greeting that suppaftp rejects, or plain text through an https proxy. Lines to send are
    /// queued.
    Queued(Box<SuppaStream>, WriteQueue),
    Closed,
}

impl ControlConnection {
    /// Wraps a plain-text connection whose greeting was not read yet.
    pub(super) fn new_plain(stream: ServerStream) -> Result<Self, Error> {
        stream.set_keepalive();
        let endpoints = endpoints_of(&stream)?;
        Ok(Self::on_wire(Wire::PlainBeforeGreeting(stream), endpoints))
    }

    /// Wraps a TLS connection. `greeting` is the greeting that was read before AUTH TLS, if any.
    pub(super) fn new_tls(stream: TlsStream<ServerStream>, greeting: Option<Reply>) -> Result<Self, Error> {
        stream.get_ref().0.set_keepalive();
        let endpoints = endpoints_of(stream.get_ref().0)?;
        Ok(Self::on_wire(Wire::TlsBeforeGreeting(Box::new(stream), greeting), endpoints))
    }

    fn on_wire(wire: Wire, (remote, local): (RemoteEnd, SocketAddr)) -> Self {
        let (reader, buffer) = (ReplyReader::new(), RecvBuffer::new());
        Self { wire, remote, local, peeked: None, failure: None, reader, buffer }
    }

    /// Sends command lines.
    pub(super) async fn send(&mut self, lines: &[u8]) -> Result<(), Error> {
        match &mut self.wire {
            Wire::PlainBeforeGreeting(stream) => stream.write_all(lines).await.map_err(connection_lost_error),
            Wire::Plain(ftp) => write_all(ftp, lines).await.map_err(connection_lost_error),
            // The stream writes the queue before it reads the next reply.
            Wire::Queued(_, queue) => {
                queue.push(lines);
                Ok(())
            }
            Wire::TlsBeforeGreeting(..) | Wire::Closed => Err(connection_closed_error()),
        }
    }

    /// Receives the next reply; the first one is the greeting.
    pub(super) async fn receive_reply(&mut self) -> Result<Reply, Error> {
        if let Some(reply) = self.peeked.take() {
            return Ok(reply);
        }
        if let Some(failure) = self.failure.take() {
            // Some servers send a line that is no reply, and then the reply.
            return match Deadline::try_briefly(self.read_reply()).await {
                Some(Ok(reply)) => Ok(reply),
                _ => Err(failure),
            };
        }
        match self.wire {
            Wire::PlainBeforeGreeting(_) | Wire::TlsBeforeGreeting(..) => {
                // In a box, so that the other replies do not carry its large future.
                Box::pin(self.receive_greeting()).await
            }
            _ => self.read_reply().await,
        }
    }

    /// Reads the greeting, and passes the connection to suppaftp.
    async fn receive_greeting(&mut self) -> Result<Reply, Error> {
        match std::mem::replace(&mut self.wire, Wire::Closed) {
            Wire::PlainBeforeGreeting(mut stream) => {
                if greeting::must_read_greeting(&mut stream).await? {
                    let mut received = RecvBuffer::new();
                    let greeting = greeting::read_greeting(&mut stream, &mut received).await?;
                    self.start_queued(Either::Right(stream), greeting, &received).await
                } else {
                    self.start_plain(stream).await
                }
            }
            Wire::TlsBeforeGreeting(mut stream, greeting) => {
                let mut received = RecvBuffer::new();
                let greeting = match greeting {
                    Some(greeting) => greeting,
                    None => greeting::read_greeting(&mut stream, &mut received).await?,
                };
                self.start_queued(Either::Left(stream), greeting, &received).await
            }
            Wire::Plain(_) | Wire::Queued(..) | Wire::Closed => Err(connection_closed_error()),
        }
    }

    /// Passes a TCP connection to suppaftp, which reads the greeting.
    async fn start_plain(&mut self, stream: ServerStream) -> Result<Reply, Error> {
        match SuppaStream::connect_with_stream(stream.into_tcp()).await {
            Ok(ftp) => {
                let greeting = parse_reply(ftp.get_welcome_msg().unwrap_or("220 ").as_bytes())?;
                self.wire = Wire::Plain(Box::new(ftp));
                Ok(greeting)
            }
            // suppaftp has dropped the connection: only a rejection can be returned.
            Err(FtpError::UnexpectedResponse(response)) => {
                let reply = parse_reply(&response.body)?;
                let is_lost = reply.code == 220;
                if is_lost { Err(suppaftp_error(FtpError::BadResponse)) } else { Ok(reply) }
            }
            Err(error) => Err(suppaftp_error(error)),
        }
    }

    /// Passes a connection to suppaftp whose greeting was read already, and returns this greeting. `received` contains
    /// the bytes that the server sent after it.
    async fn start_queued(
        &mut self,
        stream: ControlTransport,
        greeting: Reply,
        received: &RecvBuffer,
    ) -> Result<Reply, Error> {
        if matches!(greeting.code, 220 | 230) {
            let queue = WriteQueue::default();
            let stream = ControlStream::new(stream, queue.clone(), received.bytes());
            let ftp = connect_on(stream).await?.map_err(suppaftp_error)?;
            self.wire = Wire::Queued(Box::new(ftp), queue);
        }
        Ok(greeting)
    }

    /// Reads one reply. A multi-line reply ends with a line of its own code (RFC 959 §4.2), but suppaftp ends it at a
    /// line of any code, and some servers do too. So a reply whose last line has another code continues only if more
    /// data is available at once.
    async fn read_reply(&mut self) -> Result<Reply, Error> {
        let (Wire::Plain(ftp) | Wire::Queued(ftp, _)) = &mut self.wire else {
            return Err(connection_closed_error());
        };
        let reader = &mut self.reader;
        if self.buffer.bytes().is_empty() && !reader.is_within_reply() {
            self.buffer.push(&read_suppaftp_response(ftp).await.map_err(suppaftp_error)?);
        }
        for _ in 0..MAX_REPLY_LINES {
            match reader.read_reply(&mut self.buffer) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(error) => {
                    *reader = ReplyReader::new();
                    return Err(error.into());
                }
            }
            match Deadline::try_briefly(read_suppaftp_response(ftp)).await {
                Some(Ok(more)) => self.buffer.push(&more),
                // suppaftp has dropped a line without a code.
                Some(Err(FtpError::BadResponse)) => {}
                Some(Err(error)) => return Err(suppaftp_error(error)),
                None => return reader.take_partial().ok_or_else(connection_closed_error),
            }
        }
        Err(reply_too_long())
    }

    /// Returns the next reply if it is available without waiting. [`Self::receive_reply`] returns it, or the error, again.
    pub(super) async fn peek_reply(&mut self) -> Result<Option<&Reply>, Error> {
        std::future::poll_fn(|cx| {
            self.poll_reply(cx);
            Poll::Ready(())
        })
        .await;
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.peeked.as_ref()),
        }
    }

    /// Returns the next reply if it is available. Wakes the task when a reply arrives. [`Self::receive_reply`] returns
    /// it again, or the error of a line that is no reply.
    pub(super) fn poll_reply(&mut self, cx: &mut Context<'_>) -> Option<&Reply> {
        if self.peeked.is_none() && self.failure.is_none() {
            let mut receiving = Box::pin(self.receive_reply());
            let received = receiving.as_mut().poll(cx);
            drop(receiving);
            match received {
                Poll::Ready(Ok(reply)) => self.peeked = Some(reply),
                Poll::Ready(Err(error)) => self.failure = Some(error),
                Poll::Pending => {}
            }
        }
        self.peeked.as_ref()
    }

    /// Drops the reply that [`Self::peek_reply`] returned.
    pub(super) fn discard_peeked(&mut self) {
        self.peeked = None;
    }
}

/// Reads one reply, with suppaftp's rule for its end.
async fn read_suppaftp_response(ftp: &mut SuppaStream) -> Result<Vec<u8>, FtpError> {
    match ftp.read_response_in(&[]).await {
        Ok(response) | Err(FtpError::UnexpectedResponse(response)) => Ok(response.body),
        Err(error) => Err(error),
    }
}

async fn write_all(ftp: &SuppaStream, mut lines: &[u8]) -> std::io::Result<()> {
    let stream = ftp.get_ref().await;
    while !lines.is_empty() {
        match stream.try_write(lines) {
            Ok(written) => lines = &lines[written..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Passes a stream to suppaftp; [`ReadyConnector`] explains the listener.
async fn connect_on(stream: ControlStream) -> Result<Result<SuppaStream, FtpError>, Error> {
    let unused = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(connection_lost_error)?;
    let address = unused.local_addr().map_err(connection_lost_error)?;
    Ok(SuppaStream::connect_secure_implicit(address, ReadyConnector::new(stream), "").await)
}

fn parse_reply(text: &[u8]) -> Result<Reply, Error> {
    let (mut reader, mut buffer) = (ReplyReader::new(), RecvBuffer::new());
    buffer.push(text);
    if !text.ends_with(b"\n") {
        buffer.push(b"\r\n");
    }
    reader.read_reply(&mut buffer)?.or_else(|| reader.take_partial()).ok_or_else(connection_closed_error)
}

fn endpoints_of(stream: &ServerStream) -> Result<(RemoteEnd, SocketAddr), Error> {
    let local = stream.tcp_ref().local_addr().map_err(connection_lost_error)?;
    Ok((stream.remote().clone(), local))
}

fn suppaftp_error(error: FtpError) -> Error {
    match error {
        FtpError::ConnectionError(error) if is_reply_too_large(&error) => reply_too_long(),
        FtpError::ConnectionError(error) => connection_lost_error(error),
        FtpError::BadResponse => Error::new(Code::PeerMisbehaved, Phase::Reply, "not an FTP reply"),
        other => Error::new(Code::PeerMisbehaved, Phase::Reply, other.to_string()),
    }
}

fn reply_too_long() -> Error {
    Error::new(Code::LimitReached, Phase::Reply, "the reply is too long")
}

fn is_reply_too_large(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<suppaftp::ReplyTooLarge>())
}
