//! The plan for a `news:` URL without a server, when the caller has configured no news server.

use std::fmt;

use fetch_url_proto::nntp::ArticlePart;

use super::plan::{command_lines, operation_of_url};
use crate::driver::RunFuture;
use crate::{Code, Error, Hint, Phase, Plan, Request, RunContext, Want};

/// A plan that shows its commands, but fails with `Code::Usage` when it runs.
pub(super) struct MissingServer {
    commands: String,
    scheme: String,
}

impl MissingServer {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let url = request.url();
        let commands =
            command_lines(&operation_of_url(url)?, ArticlePart::Article, request.want() == Want::Head);
        Ok(Self { commands, scheme: url.scheme_name().to_owned() })
    }
}

impl Plan for MissingServer {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        let detail = format!("the {}: URL names no server", self.scheme);
        let error = Error::new(Code::Usage, Phase::Plan, detail).with_hint(Hint::NewsServer);
        Box::pin(std::future::ready(Err(error)))
    }

    fn has_own_trace(&self) -> bool {
        true
    }
}

impl fmt::Display for MissingServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.commands)
    }
}
