//! Sends one query and receives its response.

use fetch_url_proto::prospero::{AttributesQuery, AttributesResult, Query};
use fetch_url_proto::{Event, Machine, Rejection, Step};

use super::plan::ProsperoPlan;
use super::redirect::redirect_to_server;
use super::rejection::{mid_response_error, rejection_error};
use crate::net::datagram::DatagramSockets;
use crate::net::datagram_connection::{DatagramConnection, DatagramStep};
use crate::{Code, Error, Phase, Redirect, RunContext};

/// Why a query has no response.
pub(super) enum QueryError {
    /// Another server must be queried.
    Redirected(Box<Redirect>),
    Failed(Error),
}

impl From<Error> for QueryError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The response to a query for attributes, with the sockets for the next query.
pub(super) enum QueryReply {
    Found(AttributesResult, DatagramSockets),
    Rejected(Box<Rejection>, DatagramSockets),
}

/// Queries attributes of the object and reads the complete response.
pub(super) async fn query_attributes(
    query: &Query,
    datagrams: DatagramSockets,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<QueryReply, QueryError> {
    let mut connection = connect(AttributesQuery::new(query, &plan.object), datagrams, ctx);
    let rejection = match first_step(&mut connection, plan, ctx).await? {
        Step::Done => None,
        Step::Emit(Event::Rejected(rejection)) => Some(rejection),
        _ => return Err(unexpected_step_error().into()),
    };
    let (machine, datagrams) = connection.into_parts();
    Ok(match rejection {
        None => QueryReply::Found(machine.into_result(), datagrams),
        Some(rejection) => QueryReply::Rejected(rejection, datagrams),
    })
}

/// Sends the request of `machine` and waits until the response begins.
pub(super) async fn start_query<M: Machine>(
    machine: M,
    datagrams: DatagramSockets,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<DatagramConnection<M>, QueryError> {
    let mut connection = connect(machine, datagrams, ctx);
    match first_step(&mut connection, plan, ctx).await? {
        Step::Emit(Event::Head(_)) => Ok(connection),
        Step::Emit(Event::Rejected(rejection)) => Err(rejection_error(&rejection).into()),
        _ => Err(unexpected_step_error().into()),
    }
}

fn connect<M: Machine>(machine: M, datagrams: DatagramSockets, ctx: &RunContext) -> DatagramConnection<M> {
    DatagramConnection::new(machine, datagrams, ctx.deadline.reply_timeout(), ctx.connector.connection_info())
}

async fn first_step<M: Machine>(
    connection: &mut DatagramConnection<M>,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<Step, QueryError> {
    match ctx.deadline.bound_double_reply(Phase::Reply, connection.step()).await? {
        DatagramStep::Step(step) => Ok(step),
        DatagramStep::Redirect(address) => {
            Err(QueryError::Redirected(Box::new(redirect_to_server(address, plan))))
        }
    }
}

/// Returns the error that ends a response after its beginning, or `None` at its regular end.
pub(super) fn end_of_response(received: Result<DatagramStep, Error>) -> Option<Error> {
    match received {
        Ok(DatagramStep::Step(Step::Done)) => None,
        Ok(DatagramStep::Step(Step::Emit(Event::Rejected(rejection)))) => {
            Some(mid_response_error(&rejection))
        }
        Ok(DatagramStep::Step(_)) => Some(unexpected_step_error()),
        Ok(DatagramStep::Redirect(_)) => {
            let detail = "the server redirects to another server in the middle of its response";
            Some(Error::new(Code::PeerMisbehaved, Phase::Reply, detail))
        }
        Err(error) => Some(error),
    }
}

/// The error for a step that the driver does not expect: a bug in this program.
pub(super) fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Reply, "unexpected step of the Prospero machine")
}
