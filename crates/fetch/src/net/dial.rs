//! The only way to a socket. Looks a host up once, judges every address, connects to what was
//! judged and to nothing else.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fetch_url_core::{Host, Url};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::address::AddressClass;
use super::{ports, race, tls};
use crate::{Code, Deadline, Error, Phase, Reach, Trust};

/// What all hops of all requests share.
#[derive(Debug)]
pub(crate) struct Dialer {
    reach: Reach,
    tls: tls::Tls,
}

impl Dialer {
    pub(crate) const fn new(reach: Reach, trust: Trust) -> Self {
        Self { reach, tls: tls::Tls::new(trust) }
    }

    /// The way to the next server; `from_public` when an earlier one had a public address.
    pub(crate) fn hop(self: &Arc<Self>, from_public: bool) -> Dial {
        Dial { dialer: self.clone(), from_public, was_public: Arc::default() }
    }
}

/// Opens connections, as far as the policy reaches.
#[derive(Clone, Debug)]
pub struct Dial {
    dialer: Arc<Dialer>,
    from_public: bool,
    was_public: Arc<AtomicBool>,
}

impl Dial {
    /// The addresses of `host` that may be asked, in the resolver's order.
    ///
    /// # Errors
    /// `resolve_failed`; `policy` when one of the addresses is out of reach.
    pub async fn approve(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<Vec<SocketAddr>, Error> {
        let addresses = match host {
            Host::V4(address) => vec![SocketAddr::new(IpAddr::V4(*address), port)],
            Host::V6(address) => vec![SocketAddr::new(IpAddr::V6(*address), port)],
            Host::Name(name) => deadline.bound(Phase::Resolve, look_up(name, port)).await?,
        };
        addresses.iter().try_for_each(|address| self.check_address(host, address.ip()))?;
        let is_public = |address: &SocketAddr| AddressClass::of(address.ip()).is_public();
        self.was_public.fetch_or(addresses.iter().any(is_public), Ordering::Relaxed);
        Ok(addresses)
    }

    /// A connection to `host`.
    ///
    /// # Errors
    /// As for [`Dial::approve`]; `connect_failed`; `timed_out`.
    pub async fn connect(&self, host: &Host<'_>, port: u16, deadline: &Deadline) -> Result<TcpStream, Error> {
        let addresses = self.approve(host, port, deadline).await?;
        let connected = async {
            let won = race::race(&addresses, open).await;
            won.unwrap_or_else(|| Err(std::io::ErrorKind::AddrNotAvailable.into())).map_err(|error| {
                Error::io(Code::ConnectFailed, Phase::Connect, &format!("{host}:{port}"), error)
            })
        };
        deadline.bound(Phase::Connect, connected).await
    }

    /// A connection to `host` in TLS from its first octet; `alpn` names what will be spoken.
    ///
    /// # Errors
    /// As for [`Dial::connect`]; `tls_failed`.
    pub async fn connect_tls(
        &self,
        host: &Host<'_>,
        port: u16,
        alpn: &[&[u8]],
        deadline: &Deadline,
    ) -> Result<TlsStream<TcpStream>, Error> {
        let stream = self.connect(host, port, deadline).await?;
        let mut config = self.dialer.tls.config()?;
        if !alpn.is_empty() {
            let mut own = (*config).clone();
            own.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
            config = Arc::new(own);
        }
        let name = server_name(host)?;
        let handshake = async {
            TlsConnector::from(config).connect(name, stream).await.map_err(|error| {
                match tls::inside(&error) {
                    Some(inside) => tls::error(inside),
                    None => Error::io(Code::TlsFailed, Phase::Tls, "the handshake", error),
                }
            })
        };
        deadline.bound(Phase::Tls, handshake).await
    }

    /// The TLS configuration that all connections share.
    pub(crate) fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, Error> {
        self.dialer.tls.config()
    }

    /// Whether only public addresses may be asked now.
    pub(crate) fn must_be_public(&self) -> bool {
        let reach = &self.dialer.reach;
        reach.public_only || (self.from_public && !reach.allow_private)
    }

    /// Whether an address that was approved is public.
    pub(crate) fn was_public(&self) -> bool {
        self.was_public.load(Ordering::Relaxed)
    }

    /// Ports of another protocol are refused (RFC 1738 §6), and where only public addresses may be
    /// asked, so are the files of this machine.
    pub(crate) fn check_url(&self, url: &Url<'_>) -> Result<(), Error> {
        if self.dialer.reach.public_only && matches!(url, Url::File(_)) {
            return Err(Error::new(Code::Policy, Phase::Plan, "a file of this machine is not public"));
        }
        let Some(port) = url.port().filter(|_| url.host().is_some()) else { return Ok(()) };
        if ports::is_allowed(url.scheme(), port) || self.dialer.reach.allowed_ports.contains(&port) {
            return Ok(());
        }
        let detail = format!("port {port} belongs to another protocol");
        Err(Error::new(Code::Policy, Phase::Connect, detail)
            .with_hint(format!("--allow-port {port} allows it")))
    }

    fn check_address(&self, host: &Host<'_>, address: IpAddr) -> Result<(), Error> {
        let class = AddressClass::of(address);
        if class.is_public() || !self.must_be_public() {
            return Ok(());
        }
        let detail = match host {
            Host::Name(_) => format!("{host} is {address}, a {} address", class.word()),
            _ => format!("{address} is a {} address", class.word()),
        };
        let error = Error::new(Code::Policy, Phase::Connect, detail);
        Err(if self.dialer.reach.public_only {
            error
        } else {
            error.with_hint("--allow-private allows a hop from a public address to it")
        })
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that connects, to an approved address")]
async fn open(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn look_up(name: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let failed = |error| Error::io(Code::ResolveFailed, Phase::Resolve, name, error);
    let addresses: Vec<_> = tokio::net::lookup_host((name, port)).await.map_err(failed)?.collect();
    if addresses.is_empty() {
        return Err(Error::new(Code::ResolveFailed, Phase::Resolve, format!("{name} has no address")));
    }
    Ok(addresses)
}

fn server_name(host: &Host<'_>) -> Result<ServerName<'static>, Error> {
    match host {
        Host::V4(address) => Ok(ServerName::IpAddress(IpAddr::V4(*address).into())),
        Host::V6(address) => Ok(ServerName::IpAddress(IpAddr::V6(*address).into())),
        Host::Name(name) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            ServerName::try_from(name)
                .map_err(|error| Error::new(Code::TlsFailed, Phase::Tls, error.to_string()))
        }
    }
}
