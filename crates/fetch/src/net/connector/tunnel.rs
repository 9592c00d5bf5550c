//! Tunnels: connections to a server through a proxy, for every scheme over TCP.

use std::net::{IpAddr, SocketAddr};

use fetch_url_core::Host;
use fetch_url_proto::proxy::{HttpConnect, InvalidDestination, ProxyHandshake, ProxyLogin, Socks4, Socks5};
use fetch_url_proto::{Event, ForbiddenSet, Machine as _, RecvBuffer, Step};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Connector;
use super::tunnel_error::{destination_error, handshake_error, mask_login, mask_secret_field, refusal_error};
use crate::net::proxy::{Proxy, ProxyKind};
use crate::net::server_stream::{RemoteEnd, ServerStream};
use crate::net::trace;
use crate::time::Instant;
use crate::{Code, Deadline, Error, Hint, Phase};

/// Maximum number of addresses of a host that a proxy is asked to connect to, one after another.
const MAX_DESTINATIONS: usize = 4;

impl Connector {
    /// Opens a connection to `port` at `host` through `proxy`.
    ///
    /// # Errors
    /// `Code::Policy`; `Code::ResolveFailed`; `Code::ConnectFailed`; `Code::AuthNeeded` if the proxy requires a login;
    /// other codes if it breaks the protocol.
    pub(super) async fn connect_through(
        &self,
        proxy: &Proxy,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        self.check_no_connect_to(host, port)?;
        let destinations = self.destinations(proxy, host, port, deadline).await?;
        let mut first_error = None;
        for destination in destinations.into_iter().take(MAX_DESTINATIONS) {
            match self.open_tunnel(proxy, destination, port, deadline).await {
                // The proxy could not connect to this address: the next one is tried.
                Err(error) if error.code() == Code::ConnectFailed && error.reply().is_some() => {
                    first_error.get_or_insert(error);
                }
                result => return result,
            }
        }
        Err(first_error.unwrap_or_else(|| {
            let detail = format!("{host} has no IPv4 address, and SOCKS 4 ({proxy}) supports no other");
            Error::new(Code::ResolveFailed, Phase::Resolve, detail)
        }))
    }

    /// Opens another connection to the destination of a tunnel, for FTP data.
    pub(in crate::net) async fn connect_to_same_host(
        &self,
        destination: &Host<'static>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        match &self.proxy {
            Some(Ok(proxy)) => self.open_tunnel(proxy, destination.clone(), port, deadline).await,
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::new(Code::Internal, Phase::Proxy, "a tunnel without a proxy")),
        }
    }

    /// Checks that no proxy is configured for `host`: `scheme` uses UDP, which proxies do not carry.
    ///
    /// # Errors
    /// `Code::Unsupported`.
    pub(in crate::net) fn check_no_proxy(&self, host: &Host<'_>, scheme: &str) -> Result<(), Error> {
        let Some(proxy) = self.proxy_for(host)? else { return Ok(()) };
        let detail = format!("{scheme} uses UDP, which the proxy {proxy} does not carry");
        Err(Error::new(Code::Unsupported, Phase::Proxy, detail).with_hint(Hint::Direct))
    }

    /// Checks that `--connect-to` does not apply to `host` and `port`, because it cannot be used through a proxy.
    ///
    /// # Errors
    /// `Code::Unsupported`.
    pub(crate) fn check_no_connect_to(&self, host: &Host<'_>, port: u16) -> Result<(), Error> {
        let (to_host, to_port) = self.connect_to(host, port);
        if to_host == host && to_port == port {
            return Ok(());
        }
        let detail = "--connect-to cannot be used through a proxy";
        Err(Error::new(Code::Unsupported, Phase::Proxy, detail))
    }

    /// Returns the addresses of the proxy. Only the endpoints of the program itself are refused, because the caller chose
    /// the proxy.
    ///
    /// # Errors
    /// `Code::ResolveFailed`; `Code::Policy` if the program would be its own proxy.
    pub(crate) async fn proxy_addresses(
        &self,
        proxy: &Proxy,
        deadline: &Deadline,
    ) -> Result<Vec<SocketAddr>, Error> {
        let addresses = self.addresses(&proxy.host, proxy.port, deadline).await;
        if let Ok(addresses) = &addresses {
            addresses.iter().try_for_each(|address| self.check_endpoint(*address))?;
        }
        addresses.map_err(|error| match error.code() {
            Code::ResolveFailed => {
                Error::new(Code::ResolveFailed, Phase::Proxy, proxy.host.to_string()).with_source(error)
            }
            _ => error,
        })
    }

    /// Returns `true` if the caller wants HTTP requests to be sent through tunnels.
    pub(crate) fn uses_tunnel_for_http(&self) -> bool {
        self.network.policy.proxies.uses_tunnel()
    }

    /// Connects to the proxy for `host`, which reads the request itself.
    ///
    /// # Errors
    /// As for [`Connector::connect`].
    pub(crate) async fn connect_to_proxy(
        &self,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        let Some(proxy) = self.proxy_for(host)? else {
            return Err(Error::new(Code::Internal, Phase::Proxy, "there is no proxy for the request"));
        };
        self.check_no_connect_to(host, port)?;
        self.check_behind_proxy(host)?;
        self.open_proxy(proxy, host.clone().into_owned(), &deadline.connecting()).await
    }

    /// Returns what the proxy is asked to connect to: the host itself, or its addresses if the client resolves names.
    async fn destinations(
        &self,
        proxy: &Proxy,
        host: &Host<'_>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<Vec<Host<'static>>, Error> {
        if !proxy.kind.resolves_here() {
            self.check_behind_proxy(host)?;
            return Ok(vec![host.clone().into_owned()]);
        }
        if let Host::V6Zone(..) = host {
            return Err(destination_error(InvalidDestination::Zone, proxy));
        }
        let addresses = self.resolve_allowed(host, port, deadline).await?;
        let mut hosts = Vec::new();
        for address in addresses {
            match address.ip() {
                IpAddr::V4(address) => hosts.push(Host::V4(address)),
                IpAddr::V6(address) if proxy.kind != ProxyKind::Socks4 => hosts.push(Host::V6(address)),
                IpAddr::V6(_) => {}
            }
        }
        hosts.dedup();
        Ok(hosts)
    }

    /// Connects to `proxy` and asks it for a tunnel.
    async fn open_tunnel(
        &self,
        proxy: &Proxy,
        destination: Host<'static>,
        port: u16,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        let handshake = handshake_with(proxy, &destination, port)?;
        trace::note(&format_args!("through the proxy {proxy}: {destination}:{port}"));
        let mut stream = self.open_proxy(proxy, destination, deadline).await?;
        deadline.bound(Phase::Proxy, run_handshake(&mut stream, handshake, proxy)).await?;
        self.connection_info.update(|record| record.connected = Some(Instant::now()));
        Ok(stream)
    }

    /// Opens a connection to `proxy`, with TLS if it is an https proxy.
    async fn open_proxy(
        &self,
        proxy: &Proxy,
        destination: Host<'static>,
        deadline: &Deadline,
    ) -> Result<ServerStream, Error> {
        let addresses = self.proxy_addresses(proxy, deadline).await?;
        let name = format!("the proxy {proxy}");
        let tcp = self.connect_tcp(&addresses, Phase::Proxy, &name, deadline).await?;
        self.connection_info.update(|record| {
            record.connected = Some(Instant::now());
            (record.remote_addr, record.local_addr) = (tcp.peer_addr().ok(), tcp.local_addr().ok());
            record.opened += 1;
        });
        let remote = RemoteEnd::BehindProxy(destination);
        if proxy.kind != ProxyKind::Https {
            return Ok(ServerStream::tcp(tcp, remote));
        }
        let config = self.network.tls.proxy_config()?;
        let tls = self.handshake(tcp, &proxy.host, config, deadline).await;
        Ok(ServerStream::tls_to_proxy(tls.map_err(|error| error.about(&name))?, remote))
    }
}

/// Returns the state machine for the protocol of `proxy`.
fn handshake_with(proxy: &Proxy, host: &Host<'_>, port: u16) -> Result<ProxyHandshake, Error> {
    let login = proxy.login.as_ref();
    let socks_login =
        login.map(|login| ProxyLogin::new(login.user(), login.expose_password().unwrap_or_default()));
    let machine = match proxy.kind {
        ProxyKind::Http | ProxyKind::Https => {
            HttpConnect::new(host, port, proxy.authorization()?).map(ProxyHandshake::Http)
        }
        ProxyKind::Socks4 | ProxyKind::Socks4a => {
            Socks4::new(host, port, socks_login.as_ref()).map(ProxyHandshake::Socks4)
        }
        ProxyKind::Socks5 | ProxyKind::Socks5h => {
            Socks5::new(host, port, socks_login.as_ref()).map(ProxyHandshake::Socks5)
        }
    };
    machine.map_err(|error| destination_error(error, proxy))
}

/// Runs the exchange with the proxy. Reads no byte after it: those are the server's.
async fn run_handshake(
    stream: &mut ServerStream,
    mut machine: ProxyHandshake,
    proxy: &Proxy,
) -> Result<(), Error> {
    let (mut buffer, mut has_received, mut lost_error) = (RecvBuffer::new(), false, None);
    loop {
        match machine.step(&mut buffer) {
            Ok(Step::Send(bytes)) => {
                let sent = async {
                    stream.write_all(&bytes).await?;
                    stream.flush().await
                };
                // The proxy may have replied before it closed the connection, so the reply is read.
                lost_error = sent.await.err();
            }
            // One byte at a time: the next one may be the first one of the server.
            Ok(Step::NeedMore) => {
                let mut byte = [0];
                match stream.read(&mut byte).await {
                    Ok(0) => buffer.mark_closed(),
                    Ok(_) => {
                        has_received = true;
                        buffer.push(&byte);
                    }
                    Err(error) => {
                        lost_error = Some(error);
                        buffer.mark_lost();
                    }
                }
            }
            Ok(Step::Emit(Event::Sent(line))) => trace::sent(&line),
            Ok(Step::Emit(Event::Received(line))) => {
                trace::received(&mask_secret_field(mask_login(&line, proxy)));
            }
            Ok(Step::Done) => break,
            Ok(_) => return Err(Error::new(Code::Internal, Phase::Proxy, "an unexpected step of a proxy")),
            Err(error) => return Err(handshake_error(error, has_received, lost_error, proxy)),
        }
    }
    machine.refusal().map_or(Ok(()), |refusal| Err(refusal_error(refusal, proxy)))
}

impl Proxy {
    /// Returns the value of Proxy-Authorization for the Basic scheme (RFC 7617).
    pub(crate) fn authorization(&self) -> Result<Option<String>, Error> {
        use base64::Engine as _;
        let Some(login) = &self.login else { return Ok(None) };
        let user = ForbiddenSet::BASIC_USER.check("user of the proxy", login.user())?;
        let password = login.expose_password().unwrap_or_default();
        let password = ForbiddenSet::LINE.check("password of the proxy", password)?;
        let text = [user, b":", password].concat();
        Ok(Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))))
    }
}
