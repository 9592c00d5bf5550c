//! `ftp:` and `ftps:` (RFC 1738 §3.2, RFC 959, RFC 2428, RFC 3659, RFC 4217).

mod body;
mod clear;
mod control;
mod data;
mod fault;
mod io;
mod line;
mod listing;
pub(crate) mod options;
mod plan;
mod refusal;
mod secrets;
mod secure;
mod serve;
mod servers;
mod wording;

use std::sync::Arc;

use crate::{Driver, Error, Plan, Request};

/// Speaks FTP; keeps control connections open between URLs.
#[derive(Default)]
pub(crate) struct FtpDriver {
    servers: Arc<servers::Servers>,
}

impl Driver for FtpDriver {
    fn id(&self) -> &'static str {
        "ftp"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["ftp", "ftps"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::FtpPlan::new(request, self.servers.clone())?))
    }
}
