//! The interface for drivers: a [`Driver`] makes a [`Plan`] of a request, and the plan runs.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use crate::body::ByteSource;
use crate::body::rate::SharedRate;
pub use crate::credentials::prompt::PasswordPrompt;
pub use crate::drivers::file::options::SpecialFiles;
pub use crate::engine::redirect_policy::RedirectPolicy;
pub use crate::fetcher::Explained;
pub use crate::net::connector::Connector;
pub use crate::net::server_stream::ServerStream;
pub use crate::redirect::{Redirect, RedirectKind};
pub use crate::registry::SchemeSupport;
pub use crate::request::Want;
pub use crate::time::deadline::Deadline;
use crate::{Error, NotFetchable, Request, Response};

/// Implements the access method of one or more schemes. A driver is registered with
/// [`FetcherBuilder::driver`](crate::FetcherBuilder::driver); the engine handles redirects, retries, limits
/// and policy.
pub trait Driver: Send + Sync {
    /// Returns the name of the driver for messages.
    fn id(&self) -> &'static str;

    /// Returns the schemes of the driver, in upper or lower case.
    fn schemes(&self) -> &'static [&'static str];

    /// Returns the plan for `request`. It must not open a connection or file.
    ///
    /// # Errors
    /// `Code::ForbiddenByte` if the URL contains a byte that the protocol cannot send, `Code::Unsupported`.
    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error>;
}

/// The future that [`Plan::run`] returns.
pub type RunFuture = Pin<Box<dyn Future<Output = Result<Outcome, Error>> + Send>>;

/// A prepared request. Its `Display` form shows what will be sent, one line per command, without secrets.
pub trait Plan: Display + Send {
    /// Runs the plan once. The engine handles retries and redirects, and drops the future one second after the total
    /// time is over. A plan that must clean up before that can wait with [`Deadline::bound_total`], which returns when
    /// the total time is over.
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture;

    /// Returns the advice that the plan returns instead of an object, without contacting a server.
    fn advice(&self) -> Option<&NotFetchable> {
        None
    }

    /// Returns `true` if the plan writes the wire trace while it runs. Otherwise the engine traces its `Display`
    /// form first.
    fn has_own_trace(&self) -> bool {
        false
    }
}

/// The environment of a running plan: connections, timeouts, prompts and policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunContext {
    /// Opens connections, subject to the caller's network policy.
    pub connector: Connector,
    /// The timeouts of the request.
    pub deadline: Deadline,
    /// Asks the user for a password.
    pub password_prompt: PasswordPrompt,
    /// The caller's rules for redirects.
    pub redirect_policy: RedirectPolicy,
    /// The rate limit that all transfers of the fetcher share.
    pub(crate) max_rate: Option<Arc<SharedRate>>,
}

/// The result of running a plan.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "the engine's loop knows every outcome")]
pub enum Outcome {
    /// A response.
    Response(Response),
    /// A redirect, which the engine checks before it follows it.
    Redirect(Redirect),
    /// The server requires the request in another form, such as with authentication.
    Resend(Resend),
}

/// A request that is sent again in another form, such as with authentication (RFC 9110 §11.6).
#[non_exhaustive]
pub struct Resend {
    /// The response to the first form, which is not returned to the caller.
    pub response: Response,
    /// The plan to run next.
    pub plan: Box<dyn Plan>,
}

impl Resend {
    /// Creates a resend of `plan` after `response`.
    pub fn new(response: Response, plan: Box<dyn Plan>) -> Self {
        Self { response, plan }
    }
}

impl std::fmt::Debug for Resend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Resend({:?})", self.response.meta.reply)
    }
}
