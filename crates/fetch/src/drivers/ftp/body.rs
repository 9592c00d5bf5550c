//! The content of an FTP transfer. It is complete when the data connection has ended and the server has then replied
//! 226 or 250; the `Body` around it compares the size.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use fetch_url_proto::ftp::{SessionStep, TransferType};
use tokio::net::TcpStream;

use super::data_connection::DataConnection;
use super::server_cache::PooledConnection;
use crate::body::{CrlfToLf, TerminatorCheck};
use crate::time::timer::QuietPeriod;
use crate::{Body, ByteSource, Code, Error, Phase, Proof, RunContext};

/// Maximum time without data after the server has reported a failure. The reply may arrive before the last data, and
/// this data is kept for a resume.
const MAX_DELAY_OF_DATA: Duration = Duration::from_millis(500);

type CompletionFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A running transfer.
pub(super) struct Transfer {
    state: State,
    /// Set if the final reply states that the data is incomplete.
    terminator_check: TerminatorCheck,
    /// The time without data since the server reported a failure.
    late_data: QuietPeriod,
    /// The number of bytes, if SIZE states it and the whole file is requested.
    expected: Option<u64>,
    received: u64,
    ctx: RunContext,
}

enum State {
    Receiving(Box<(DataConnection, PooledConnection)>),
    /// The data connection has ended; the final reply is awaited.
    Completing(CompletionFuture),
    Finished,
}

impl Transfer {
    /// Returns the content of `data`; `pooled` is the control connection that announced it.
    pub(super) fn new(data: DataConnection, pooled: PooledConnection, ctx: &RunContext) -> Self {
        Self {
            state: State::Receiving(Box::new((data, pooled))),
            terminator_check: TerminatorCheck::default(),
            late_data: QuietPeriod::default(),
            expected: None,
            received: 0,
            ctx: ctx.clone(),
        }
    }

    /// Returns the check that is set if the final reply states that a listing is incomplete. The reply to a file may contain
    /// the words of such replies in its name.
    pub(super) fn terminator_check(&self) -> TerminatorCheck {
        self.terminator_check.clone()
    }

    /// Returns the body of a file: `expected` bytes if the size is known, and only the first `stop` bytes if the caller
    /// requested a range that ends inside the file. `announced` is the size in the reply to RETR.
    pub(super) fn into_body(
        mut self,
        transfer_type: &TransferType,
        expected: Option<u64>,
        stop: Option<u64>,
        announced: Option<u64>,
    ) -> Body {
        match (transfer_type, stop, expected) {
            (TransferType::Ascii, ..) => {
                let proof = Proof::Assumed("the server does not report the size of a text (TYPE A)");
                Body::from_source(TextFile { transfer: self, lines: CrlfToLf::default() }, None, proof)
            }
            (_, Some(stop), _) => {
                let proof = Proof::Assumed("the server does not prove the offset of the range");
                Body::from_source(LeadingBytes { transfer: self, left: stop }, expected, proof)
            }
            (_, None, Some(size)) => {
                let proof = Proof::Proven("SIZE and the reply 226");
                self.expected = Some(size);
                Body::from_source(self, Some(size), proof)
            }
            _ => {
                let proof = match announced {
                    Some(_) => "the server states the size only in the reply 150",
                    None => "the server does not report the size",
                };
                Body::from_source(self, announced, Proof::Assumed(proof))
            }
        }
    }

    /// Waits for the final reply. The data connection is closed first, because some servers send the final reply only
    /// after that.
    fn complete(&self, mut pooled: PooledConnection) -> CompletionFuture {
        let (ctx, terminator_check) = (self.ctx.clone(), self.terminator_check.clone());
        Box::pin(async move {
            match pooled.connection.run_until_event(&ctx).await {
                Ok(SessionStep::Done) => {}
                Ok(_) => {
                    return Err(Error::new(Code::Internal, Phase::Body, "the FTP session has not ended"));
                }
                Err(error) => {
                    let is_out_of_order = pooled.record_out_of_order_reply(&error);
                    let error = error.into();
                    return Err(if is_out_of_order {
                        pipelining_abort_error(&error)
                    } else {
                        unconfirmed_transfer_error(error)
                    });
                }
            }
            if pooled.connection.reported_incomplete() {
                terminator_check.set_missing("the confirmation that the listing is complete");
            }
            if pooled.connection.prefetch_data_connection(&ctx.connector).await {
                pooled.release();
            }
            Ok(())
        })
    }

    /// Closes the data connection and begins to wait for the final reply.
    fn begin_completion(&mut self) -> Poll<Option<Result<Bytes, Error>>> {
        if let State::Receiving(receiving) = std::mem::replace(&mut self.state, State::Finished) {
            let (data, pooled) = *receiving;
            drop(data);
            self.state = State::Completing(self.complete(pooled));
        }
        Poll::Ready(None)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let State::Receiving(receiving) = &mut self.state else { return Poll::Ready(None) };
        let (data, pooled) = &mut **receiving;
        let Poll::Ready(received) = data.poll_bytes(cx) else {
            if pooled.connection.poll_failure_reply(cx) {
                // The server has ended the transfer, but may leave the data connection open.
                ready!(self.late_data.poll_end(MAX_DELAY_OF_DATA, cx));
                return self.begin_completion();
            }
            let Err(error) = pooled.connection.poll_repeated_preliminary(cx) else { return Poll::Pending };
            self.state = State::Finished;
            return Poll::Ready(Some(Err(error.into())));
        };
        self.late_data.restart();
        match received {
            Ok(bytes) if !bytes.is_empty() => {
                self.received += bytes.len() as u64;
                Poll::Ready(Some(Ok(bytes)))
            }
            Ok(_) => self.begin_completion(),
            // TLS ended without close_notify. SIZE and the final reply, over the protected control connection, prove that
            // the data is complete.
            Err(error)
                if error.kind() == io::ErrorKind::UnexpectedEof && self.expected == Some(self.received) =>
            {
                self.begin_completion()
            }
            Err(error) => {
                self.state = State::Finished;
                let error = Error::io(Code::Truncated, Phase::Body, "the data connection", error);
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}

impl ByteSource for Transfer {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(received) = ready!(self.poll_receive(cx)) {
            return Poll::Ready(Some(received));
        }
        let State::Completing(completion) = &mut self.state else { return Poll::Ready(None) };
        let completed = ready!(completion.as_mut().poll(cx));
        self.state = State::Finished;
        Poll::Ready(completed.err().map(Err))
    }

    fn direct_connection(&self) -> Option<&TcpStream> {
        match &self.state {
            State::Receiving(receiving) => receiving.0.direct_tcp(),
            State::Completing(_) | State::Finished => None,
        }
    }
}

/// Returns the error for a transfer that the server aborted because of a pipelined command. A retry sends one command
/// at a time.
fn pipelining_abort_error(error: &Error) -> Error {
    let detail = format!("the server aborted the transfer because of a pipelined command: {error}");
    Error::new(Code::Truncated, Phase::Body, detail).with_restart_allowed()
}

/// Returns the error for a transfer that the server did not confirm: the content may be incomplete.
fn unconfirmed_transfer_error(error: Error) -> Error {
    match error.code() {
        Code::EmptyReply | Code::Busy | Code::Denied | Code::NotFound => {
            let detail = format!("the server did not confirm that the transfer is complete: {error}");
            Error::new(Code::Truncated, Phase::Body, detail)
        }
        _ => error,
    }
}

/// The first bytes of a transfer; the connection is closed after them.
struct LeadingBytes {
    transfer: Transfer,
    left: u64,
}

impl ByteSource for LeadingBytes {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.left == 0 {
            self.transfer.state = State::Finished;
            return Poll::Ready(None);
        }
        let received = ready!(Pin::new(&mut self.transfer).poll_chunk(cx));
        Poll::Ready(received.map(|received| {
            received.map(|mut bytes| {
                bytes.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= bytes.len() as u64;
                bytes
            })
        }))
    }
}

/// A text transferred with TYPE A; its CRLF line ends become line ends of this system.
struct TextFile {
    transfer: Transfer,
    lines: CrlfToLf,
}

impl ByteSource for TextFile {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.transfer).poll_chunk(cx)) {
                Some(Ok(bytes)) => match self.lines.convert(bytes) {
                    // A single CR is held back until the next byte is known.
                    converted if converted.is_empty() => continue,
                    converted => Some(Ok(converted)),
                },
                Some(Err(error)) => Some(Err(error)),
                None => self.lines.finish().map(Ok),
            });
        }
    }
}
