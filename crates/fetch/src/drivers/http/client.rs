//! The reqwest clients: one for TLS, one without, each made when it is first needed.
//!
//! They connect only to addresses that `Dial` approved: their resolver looks nothing up, it knows
//! what was approved last for a name. Redirects, retries, referer and proxies of the environment
//! are off: the engine does what is to be done.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect, retry};

use crate::net::tls;
use crate::{Code, Ctx, Error, Phase};

/// HTTP/2: octets on their way per stream and connection, enough for 100 MB/s at 100 ms.
const WINDOW: u32 = 16 * 1024 * 1024;

/// Clients for journeys that may go anywhere, and others for those that must stay on public ground:
/// a connection that one of the first left open is never used by one of the second.
#[derive(Default)]
pub(super) struct Clients {
    anywhere: Family,
    public: Family,
}

impl Clients {
    pub(super) const fn of(&self, must_be_public: bool) -> &Family {
        if must_be_public { &self.public } else { &self.anywhere }
    }
}

#[derive(Default)]
pub(super) struct Family {
    approved: Approved,
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Family {
    /// The client for this kind of connection.
    pub(super) fn get(&self, is_tls: bool, ctx: &Ctx) -> Result<Client, Error> {
        let home = if is_tls { &self.secure } else { &self.plain };
        if let Some(client) = home.get() {
            return Ok(client.clone());
        }
        let config = if is_tls {
            let mut config = (*ctx.dial.tls_config()?).clone();
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            config
        } else {
            tls::no_tls()?
        };
        let client = self.build(config, ctx)?;
        Ok(home.get_or_init(|| client).clone())
    }

    fn build(&self, config: rustls::ClientConfig, ctx: &Ctx) -> Result<Client, Error> {
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(ctx.deadline.connect_timeout())
            .http2_initial_stream_window_size(WINDOW)
            .http2_initial_connection_window_size(WINDOW)
            .dns_resolver(Arc::new(self.approved.clone()))
            .build();
        client.map_err(|error| Error::new(Code::Internal, Phase::Plan, "the HTTP client").with_source(error))
    }

    /// From here on, `name` is at these addresses.
    pub(super) fn approve(&self, name: &str, addresses: Vec<SocketAddr>) {
        let mut table = self.approved.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert(name.to_ascii_lowercase(), addresses);
    }
}

#[derive(Clone, Default)]
struct Approved(Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>);

impl Resolve for Approved {
    fn resolve(&self, name: Name) -> Resolving {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let addresses = table.get(&name.as_str().to_ascii_lowercase()).cloned();
        Box::pin(async move {
            let addresses = addresses.ok_or("the address was not approved")?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
