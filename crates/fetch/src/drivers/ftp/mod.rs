//! The driver for `ftp:` and `ftps:` URLs (RFC 1738 §3.2, RFC 959, RFC 2428, RFC 3659, RFC 4217).
//!
//! `plan.rs` defines the plan, `run.rs` runs it: it takes a [`connection`], starts the transfer, and passes the data
//! connection to `body.rs` or `listing.rs`. `recovery.rs` decides what to do after a rejected command.

mod body;
mod connection;
mod control;
mod control_stream;
mod data_connection;
mod driver_error;
mod fallbacks;
mod greeting;
mod known_servers;
mod listing;
mod logins;
pub(crate) mod options;
mod plan;
mod recovery;
mod reply_text;
mod round_trip;
mod run;
mod secrets;
mod server_cache;
mod start_transfer;

use std::sync::Arc;

use crate::{Driver, Error, Plan, Request};

/// The FTP driver; it keeps control connections open between URLs.
#[derive(Default)]
pub(crate) struct FtpDriver {
    servers: Arc<server_cache::ServerCache>,
}

impl Driver for FtpDriver {
    fn id(&self) -> &'static str {
        "ftp"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["ftp", "ftps"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(run::FtpRun::new(plan::FtpPlan::new(request)?, self.servers.clone())))
    }
}
