//! The only way to a socket. Looks a host up once, judges every address, connects to what was
//! judged and to nothing else.

mod judge;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fetch_url_core::{Host, Url};
use rustls::pki_types::ServerName;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::address::AddressClass;
use super::contact::{Contact, Ends};
use super::lookup::look_up;
use super::proxy::{Proxy, ProxyKind};
use super::route::Interface;
use super::stream::Stream;
use super::{race, tls};
use crate::{Code, Deadline, Error, Phase, Reach, StartTls, TlsOptions};

/// What all hops of all requests share.
#[derive(Debug)]
pub(crate) struct Dialer {
    reach: Reach,
    tls: tls::Tls,
}

impl Dialer {
    pub(crate) const fn new(reach: Reach, tls: TlsOptions) -> Self {
        Self { reach, tls: tls::Tls::new(tls) }
    }

    /// The way to the server of `url`; `from_public` when an earlier one had a public address.
    pub(crate) fn hop(self: &Arc<Self>, url: &Url<'_>, from_public: bool) -> Dial {
        Dial {
            dialer: self.clone(),
            proxy: self.reach.proxies.proxy_for(url).cloned(),
            from_public,
            was_public: Arc::default(),
            contact: Contact::default(),
        }
    }
}

/// Opens connections, as far as the policy reaches.
#[derive(Clone, Debug)]
pub struct Dial {
    dialer: Arc<Dialer>,
    proxy: Option<Proxy>,
    from_public: bool,
    was_public: Arc<AtomicBool>,
    contact: Contact,
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
        let addresses = self.addresses(host, port, deadline).await?;
        addresses.iter().try_for_each(|address| self.check_address(host, address.ip()))?;
        let is_public = |address: &SocketAddr| AddressClass::of(address.ip()).is_public();
        self.was_public.fetch_or(addresses.iter().any(is_public), Ordering::Relaxed);
        Ok(addresses)
    }

    /// The addresses of `host`, by the caller's word or the resolver's, of the wanted family.
    async fn addresses(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<Vec<SocketAddr>, Error> {
        let routes = &self.dialer.reach.routes;
        let mut addresses = match (routes.pinned(host, port), host) {
            (Some(pinned), _) => pinned,
            (None, Host::V4(address)) => vec![SocketAddr::new(IpAddr::V4(*address), port)],
            (None, Host::V6(address)) => vec![SocketAddr::new(IpAddr::V6(*address), port)],
            (None, Host::Name(name)) => deadline.bound(Phase::Resolve, look_up(name, port)).await?,
        };
        addresses.retain(|address| routes.takes(address));
        self.contact.note(|facts| facts.resolved = Some(Instant::now()));
        if addresses.is_empty() {
            let detail = format!("{host} has no address of the family asked for");
            return Err(Error::new(Code::ResolveFailed, Phase::Resolve, detail));
        }
        Ok(addresses)
    }

    /// The addresses to ask `host` at, with nobody in between.
    ///
    /// # Errors
    /// As for [`Dial::approve`]; `unsupported` where the caller wants a proxy in between.
    pub(super) async fn ways(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<Vec<SocketAddr>, Error> {
        if let Some(proxy) = &self.proxy {
            let detail = format!("this scheme cannot go through the proxy {proxy}");
            return Err(Error::new(Code::Unsupported, Phase::Proxy, detail)
                .with_hint("--noproxy HOST asks a host directly"));
        }
        self.approve(host, port, deadline).await
    }

    /// The server that is asked for `host` and `port`.
    pub(super) fn detour<'h>(&'h self, host: &'h Host<'h>, port: u16) -> (&'h Host<'h>, u16) {
        self.dialer.reach.routes.detour(host, port)
    }

    /// A connection to `host`.
    ///
    /// # Errors
    /// As for [`Dial::approve`]; `connect_failed`; `timed_out`; `unsupported` where the caller wants a
    /// proxy in between.
    pub async fn connect(&self, host: &Host<'_>, port: u16, deadline: &Deadline) -> Result<TcpStream, Error> {
        let deadline = deadline.connecting();
        let (host, port) = self.detour(host, port);
        let addresses = self.ways(host, port, &deadline).await?;
        let interface = self.dialer.reach.routes.interface.as_ref();
        let connected = async {
            let won = race::race(&addresses, |address| open(address, interface)).await;
            won.unwrap_or_else(|| Err(std::io::ErrorKind::AddrNotAvailable.into())).map_err(|error| {
                Error::io(Code::ConnectFailed, Phase::Connect, &format!("{host}:{port}"), error)
            })
        };
        let stream = deadline.bound(Phase::Connect, connected).await?;
        // What is small goes out at once, too. It would be no error that it does not.
        let _ = stream.set_nodelay(true);
        self.contact.note(|facts| {
            facts.connected = Some(Instant::now());
            (facts.peer, facts.local) = (stream.peer_addr().ok(), stream.local_addr().ok());
            facts.opened += 1;
        });
        Ok(stream)
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
        let deadline = deadline.connecting();
        let stream = self.connect(host, port, &deadline).await?;
        let mut config = self.tls_config()?;
        if !alpn.is_empty() {
            let mut own = (*config).clone();
            own.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
            config = Arc::new(own);
        }
        let stream = self.secure(stream, host, config, &deadline).await?;
        self.contact.note(|facts| facts.secured = Some(Instant::now()));
        Ok(stream)
    }

    /// TLS with the server of `host` over a connection that is open.
    ///
    /// # Errors
    /// `tls_failed`; `timed_out`.
    pub(crate) async fn secure(
        &self,
        stream: TcpStream,
        host: &Host<'_>,
        config: Arc<rustls::ClientConfig>,
        deadline: &Deadline,
    ) -> Result<TlsStream<TcpStream>, Error> {
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

    /// How TLS is spoken with all servers alike.
    pub(crate) fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, Error> {
        self.dialer.tls.config()
    }

    /// When a protocol that begins in the clear is to go on in TLS.
    pub(crate) fn start_tls(&self) -> StartTls {
        self.dialer.tls.start_tls()
    }

    /// A connection that goes on in TLS, to be read in large pieces.
    ///
    /// # Errors
    /// `tls_failed`; `timed_out`.
    pub(crate) async fn start_tls_on(
        &self,
        stream: TcpStream,
        host: &Host<'_>,
        deadline: &Deadline,
    ) -> Result<Stream, Error> {
        let stream = self.secure(stream, host, self.tls_config()?, &deadline.connecting()).await?;
        self.contact.note(|facts| facts.secured = Some(Instant::now()));
        Ok(self.tls_stream(stream))
    }

    /// A connection in TLS, to be read in large pieces.
    pub(crate) fn tls_stream(&self, stream: TlsStream<TcpStream>) -> Stream {
        Stream::tls(stream, &self.contact, self.dialer.tls.allows_truncation())
    }

    /// The same in the clear.
    pub(crate) fn plain_stream(&self, stream: TcpStream) -> Stream {
        Stream::plain(stream, &self.contact)
    }

    /// Whether the caller allows ports of `port`'s kind.
    pub(super) fn allows_port(&self, port: u16) -> bool {
        self.dialer.reach.allowed_ports.contains(&port)
    }

    /// The proxy that the caller wants between us and the server.
    pub(crate) const fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    /// The addresses of the proxy: the caller chose it, so wherever it is, it may be asked.
    pub(crate) async fn proxy_addresses(
        &self,
        proxy: &Proxy,
        deadline: &Deadline,
    ) -> Result<Vec<SocketAddr>, Error> {
        let addresses = self.addresses(&proxy.host, proxy.port, deadline).await;
        addresses.map_err(|error| match error.code() {
            Code::ResolveFailed => {
                Error::new(Code::ResolveFailed, Phase::Proxy, proxy.host.to_string()).with_source(error)
            }
            _ => error,
        })
    }

    /// What connections go out from.
    pub(crate) fn interface(&self) -> Option<&Interface> {
        self.dialer.reach.routes.interface.as_ref()
    }

    /// A server that is to be asked in place of another cannot be asked through a proxy.
    pub(crate) fn check_no_detour(&self, host: &Host<'_>, port: u16) -> Result<(), Error> {
        let (to_host, to_port) = self.dialer.reach.routes.detour(host, port);
        if to_host == host && to_port == port {
            return Ok(());
        }
        let detail = "no other server can be asked in its place through a proxy";
        Err(Error::new(Code::Unsupported, Phase::Proxy, detail))
    }

    /// A connection that an earlier request opened is used again: its server counts as much as one
    /// that was looked up.
    pub(crate) fn uses(&self, (peer, local): Ends) {
        self.contact.note(|facts| (facts.peer, facts.local) = (peer, local));
        let is_public = peer.is_some_and(|peer| AddressClass::of(peer.ip()).is_public());
        self.was_public.fetch_or(is_public, Ordering::Relaxed);
    }

    /// What was met on the way.
    pub(crate) const fn contact(&self) -> &Contact {
        &self.contact
    }

    /// The TLS configuration for the way through `proxy` to a server.
    ///
    /// # Errors
    /// `unsupported` where what is meant for the server alone would hold for the proxy too.
    pub(crate) fn tls_config_behind(
        &self,
        proxy: &Proxy,
        is_tls: bool,
    ) -> Result<Arc<rustls::ClientConfig>, Error> {
        let to_proxy = proxy.kind == ProxyKind::Https;
        if to_proxy && self.dialer.tls.is_for_server_alone() {
            let detail =
                "through an https proxy, -k, a certificate of ours or a pinned key would be the proxy's too";
            return Err(Error::new(Code::Unsupported, Phase::Proxy, detail));
        }
        if is_tls || to_proxy { self.dialer.tls.config() } else { tls::no_tls().map(Arc::new) }
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that connects, to an approved address")]
pub(super) async fn open(address: SocketAddr, interface: Option<&Interface>) -> std::io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    match interface {
        None => {}
        Some(Interface::Address(from)) => socket.bind(SocketAddr::new(*from, 0))?,
        Some(Interface::Device(name)) => bind_device(&socket, name)?,
    }
    socket.connect(address).await
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &TcpSocket, name: &str) -> std::io::Result<()> {
    socket.bind_device(Some(name.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_: &TcpSocket, _: &str) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "no device can be chosen on this system"))
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
