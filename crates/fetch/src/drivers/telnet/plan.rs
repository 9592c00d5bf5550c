//! The host, the port and the advice of a `telnet:` URL. No I/O.

use std::fmt;

use fetch_url_core::{Host, Url};
use fetch_url_proto::check_sendable;

use super::advice::telnet_advice;
use super::options::Connect;
use crate::{Error, NotFetchable, Request, Want};

/// A request for one telnet session, or for the advice about it.
pub(super) struct TelnetPlan {
    pub(super) url: Url<'static>,
    pub(super) host: Host<'static>,
    pub(super) port: u16,
    pub(super) advice: NotFetchable,
    /// The caller requests the session itself.
    pub(super) connects: bool,
}

impl TelnetPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Telnet(url) = request.url() else {
            return Err(Error::unsupported("the telnet driver supports telnet URLs only"));
        };
        // Rejects bytes that Telnet would interpret as a command or a line end.
        check_sendable(request.url())?;
        let port = request.url().port().unwrap_or_default();
        Ok(Self {
            url: request.url().clone(),
            host: url.authority().host_port().host().clone().into_owned(),
            port,
            advice: telnet_advice(url, port),
            connects: request.extra::<Connect>().is_some() && request.want() == Want::Object,
        })
    }
}

impl fmt::Display for TelnetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.connects {
            write!(
                f,
                "(an interactive session with {}:{}; all Telnet options are refused)",
                self.host, self.port
            )
        } else {
            f.write_str(self.advice.text.trim_end())
        }
    }
}
