//! Runs a plan: takes an idle connection or opens one, starts the transfer, and builds the response.

use std::fmt;
use std::sync::Arc;

use fetch_url_proto::ftp::Operation;

use super::body::Transfer;
use super::driver_error::{DriverError, range_refused, unexpected_step_error};
use super::listing;
use super::plan::FtpPlan;
use super::recovery::{Recovery, may_be_caused_by_reuse, recover};
use super::server_cache::{PooledConnection, ServerCache};
use super::start_transfer::{TransferStart, check_active_mode, start_transfer};
use crate::driver::RunFuture;
use crate::{Body, Code, Content, Error, Meta, Outcome, Phase, Plan, Proof, Resend, Response, RunContext};

/// A plan together with the driver's connections, ready to run. `Display` shows the plan.
pub(super) struct FtpRun {
    plan: FtpPlan,
    servers: Arc<ServerCache>,
}

impl FtpRun {
    /// Returns `plan`, ready to run over the connections of `servers`.
    pub(super) const fn new(plan: FtpPlan, servers: Arc<ServerCache>) -> Self {
        Self { plan, servers }
    }
}

impl Plan for FtpRun {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(async move { run_plan(self, &ctx).await })
    }

    fn has_own_trace(&self) -> bool {
        true
    }
}

impl fmt::Display for FtpRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

/// Runs the plan on the suitable idle connections, one after another, then on a new one.
async fn run_plan(mut run: Box<FtpRun>, ctx: &RunContext) -> Result<Outcome, Error> {
    let FtpRun { plan, servers } = &mut *run;
    plan.fallbacks.pasv_only |= servers.known.needs_pasv(&plan.host, plan.port);
    plan.check_range_supported()?;
    check_active_mode(plan, ctx)?;
    let key = servers.pool_key(plan, ctx);
    loop {
        let idle = servers.take_ready(&key, &plan.ftp_request).await;
        let is_reused = idle.is_some();
        let mut pooled = match idle {
            Some(pooled) => pooled,
            // In a box, here and below: these paths are rare, and their futures are large.
            None => Box::pin(servers.open(key.clone(), plan, ctx)).await?,
        };
        match start_transfer(&mut pooled.connection, plan, ctx).await {
            Ok(start) => {
                return build_response(start, pooled, plan, servers, ctx).await.map(Outcome::Response);
            }
            Err(error) if is_reused && may_be_caused_by_reuse(&error) => {}
            Err(error) => return Box::pin(recovered_outcome(error, pooled, run, ctx)).await,
        }
    }
}

/// Returns the outcome of a request that failed with `error`.
async fn recovered_outcome(
    error: DriverError,
    pooled: PooledConnection,
    run: Box<FtpRun>,
    ctx: &RunContext,
) -> Result<Outcome, Error> {
    let FtpRun { plan, servers } = *run;
    recover(error, pooled, plan, ctx).await.map(|recovery| outcome_of(recovery, servers))
}

/// Converts a recovery to the outcome for the engine.
fn outcome_of(recovery: Recovery, servers: Arc<ServerCache>) -> Outcome {
    match recovery {
        Recovery::Respond(response) => Outcome::Response(*response),
        Recovery::Resend(plan) => {
            let rejection = Response::new(Meta::new(plan.url.clone()), Content::Head);
            Outcome::Resend(Resend::new(rejection, Box::new(FtpRun { plan: *plan, servers })))
        }
    }
}

/// Builds the response. The connection moves into its body, or returns to the pool if there is none.
async fn build_response(
    start: TransferStart,
    mut pooled: PooledConnection,
    plan: &FtpPlan,
    servers: &Arc<ServerCache>,
    ctx: &RunContext,
) -> Result<Response, Error> {
    let (meta, stream, end) = match start {
        TransferStart::Complete(response) => {
            pooled.release();
            return Ok(*response);
        }
        TransferStart::EmptyListing(meta) => {
            return Box::pin(listing::empty_listing(meta, pooled, plan, ctx)).await;
        }
        TransferStart::Receiving { meta, stream, end } => (meta, stream, end),
    };
    if plan.fallbacks.pasv_only {
        servers.known.mark_pasv_only(&plan.host, plan.port);
    }
    let mut data = pooled.connection.secure_data_connection(stream, plan, ctx).await?;
    let overlap = plan.overlap_bytes(meta.offset);
    let comparison = async {
        let is_equal = data.strip_expected_prefix(overlap).await;
        is_equal.map_err(|error| Error::io(Code::Truncated, Phase::Body, "the data connection", error))
    };
    if !ctx.deadline.bound(Phase::Body, comparison).await? {
        let detail = "the server sends other data than expected at the offset of REST";
        return Err(range_refused(detail)
            .with_invalid_body()
            .with_hint("it ignores REST, or the known bytes are of another object"));
    }
    let stop = end.filter(|&end| meta.head.size != Some(end)).map(|end| end - meta.offset);
    let expected = end.map(|end| end - meta.offset);
    // After REST, some servers announce the size of the whole file, and others that of the rest.
    let announced = pooled.connection.announced_size.filter(|_| !plan.is_partial());
    let transfer = Transfer::new(data, pooled, ctx);
    let content = match &plan.ftp_request.operation {
        Operation::List { .. } if plan.options.raw_listing => {
            Content::Body(Body::from_source(transfer, None, Proof::Proven("the reply 226")))
        }
        Operation::List { name, verb } => {
            let name = name.as_deref();
            Content::Listing(listing::listing_from_transfer(transfer, name, *verb, plan, servers, ctx))
        }
        Operation::Retrieve { transfer_type, .. } => {
            let body = transfer.into_body(transfer_type, expected, stop, announced);
            Content::Body(match plan.is_partial() {
                true => body.reporting_surplus_as_truncated(),
                false => body.accepting_growth(),
            })
        }
        Operation::Stat { .. } | Operation::ChangeDir => return Err(unexpected_step_error()),
    };
    Ok(Response::new(meta, content))
}
