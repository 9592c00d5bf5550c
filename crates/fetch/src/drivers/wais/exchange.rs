//! Opens the connection, sends the request and waits for the first response.

use std::borrow::Cow;

use fetch_url_proto::{Event, Machine, Step};

use super::plan::WaisPlan;
use super::rejection::rejection_error;
use crate::net::connection::Connection;
use crate::{Code, Error, Phase, RunContext};

/// Connects, sends the request and waits until the first response is complete. Returns the connection and the notes for
/// the caller.
pub(super) async fn start_exchange<M: Machine>(
    machine: M,
    plan: &WaisPlan,
    ctx: &RunContext,
) -> Result<(Connection<M>, Vec<Cow<'static, str>>), Error> {
    let stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
    let mut connection =
        Connection::new(machine, ctx.connector.plain_stream(stream), ctx.connector.connection_info());
    let mut notes = Vec::new();
    loop {
        match first_response_step(&mut connection, ctx).await? {
            Step::Emit(Event::Head(_)) => return Ok((connection, notes)),
            Step::Emit(Event::Note(note)) => notes.push(note),
            Step::Emit(Event::Rejected(rejection)) => return Err(rejection_error(&rejection, plan)),
            _ => return Err(unexpected_step_error()),
        }
    }
}

/// Returns the next step. The machine needs the complete response, so the reply timeout begins again whenever bytes
/// arrive.
async fn first_response_step<M: Machine>(
    connection: &mut Connection<M>,
    ctx: &RunContext,
) -> Result<Step, Error> {
    let last_received = || ctx.connector.connection_info().snapshot().last_received;
    ctx.deadline.bound_reply(last_received, connection.step()).await
}

/// The error for a step that the driver does not expect: a bug in this program.
pub(super) fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Reply, "unexpected step of the WAIS machine")
}
