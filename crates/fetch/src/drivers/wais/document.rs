//! The bytes of a document as a body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::wais::Retrieval;
use fetch_url_proto::{Event, Step};

use super::exchange::unexpected_step_error;
use super::rejection::mid_transfer_error;
use crate::body::TerminatorCheck;
use crate::net::connection::Connection;
use crate::{Body, ByteSource, Error, Proof};

/// How the end of a document is known. If the document ends in another way, the machine reports a missing end, and the
/// proof becomes *assumed*.
const PROOF: Proof = Proof::Proven("the end reported by the server, or the length of the range");

/// Returns the body of a document whose first response has arrived.
pub(super) fn document_body(connection: Connection<Retrieval>) -> Body {
    let terminator_check = TerminatorCheck::default();
    let source = DocumentSource { connection: Some(connection), terminator_check: terminator_check.clone() };
    Body::from_source(source, None, PROOF).with_terminator_check(terminator_check)
}

/// The bytes of a document, as the responses contain them.
struct DocumentSource {
    /// `None` after the end.
    connection: Option<Connection<Retrieval>>,
    terminator_check: TerminatorCheck,
}

impl ByteSource for DocumentSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Some(connection) = &mut self.connection else { return Poll::Ready(None) };
            let error = match ready!(connection.poll_step(cx)) {
                Ok(Step::Emit(Event::Body(bytes))) => return Poll::Ready(Some(Ok(bytes))),
                // A diagnostic that came with bytes.
                Ok(Step::Emit(Event::Note(note))) => {
                    self.terminator_check.add_note(note);
                    continue;
                }
                Ok(Step::Emit(Event::UnterminatedEnd(missing))) => {
                    self.terminator_check.set_missing(missing);
                    continue;
                }
                Ok(Step::Emit(Event::Rejected(rejection))) => Some(mid_transfer_error(&rejection)),
                Ok(Step::Done) => None,
                Ok(_) => Some(unexpected_step_error()),
                Err(error) => Some(error),
            };
            self.connection = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
