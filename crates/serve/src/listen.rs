//! Listens, accepts connections within the limits, and ends them when the server stops.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use fetch_url::{Code, Error, Phase};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use crate::access::is_client_allowed;
use crate::client_limit::{ClientLimit, ClientPermit};
use crate::connect::TunnelSlot;
use crate::handler::{Connection, answer};
use crate::head_stream::{HeadQueue, HeadStream};
use crate::options::ServeOptions;
use crate::shared::Shared;

/// The maximum size of hyper's buffers for a connection, in bytes.
const BUFFER_SIZE: usize = 64 * 1024;
/// The time without accepting after an error of the system, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that listens. [`run`](Self::run) answers its clients.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on the addresses of `options`.
    ///
    /// # Errors
    /// `Code::Usage` if an address cannot be bound or has no clients that are allowed, and for invalid options.
    pub async fn bind(options: ServeOptions) -> Result<Self, Error> {
        let (mut listeners, mut addresses) = (Vec::new(), Vec::new());
        for address in &options.listen {
            if !address.ip().is_loopback() && options.allowed_clients.is_empty() {
                let detail = format!("{address} is not a loopback address, and no clients are allowed");
                let hint = "--allow-client ADDRESS/BITS of fetch-url serve names the network of the clients";
                return Err(Error::new(Code::Usage, Phase::Plan, detail).with_hint(hint));
            }
            let failed =
                |error| Error::new(Code::Usage, Phase::Plan, format!("cannot listen on {address}: {error}"));
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            addresses.push(listener.local_addr().map_err(failed)?);
            listeners.push(listener);
        }
        let shared = Arc::new(Shared::new(options, &addresses)?);
        Ok(Self { listeners, addresses, shared })
    }

    /// Returns the addresses on which the server listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Answers clients until `shutdown` ends. Answers that are under way then have the time of
    /// [`ServeLimits::shutdown_timeout`](crate::ServeLimits::shutdown_timeout) to end.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Self { listeners, addresses, shared } = self;
        for address in &addresses {
            shared.logs.event(|| json!({"event": "listening", "address": address.to_string()}));
        }
        let (stop, stopped) = watch::channel(());
        let mut tasks = JoinSet::new();
        let mut accepted = accept_all(listeners, &shared, &mut tasks);
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(client) = accepted.recv() => serve_client(client, &shared, stopped.clone(), &mut tasks),
                Some(_) = tasks.join_next() => {}
            }
        }
        drop((accepted, stop));
        let finish = async { while tasks.join_next().await.is_some() {} };
        let is_finished = tokio::time::timeout(shared.limits.shutdown_timeout, finish).await.is_ok();
        tasks.shutdown().await;
        shared.logs.event(|| json!({"event": "stopped", "complete": is_finished}));
    }
}

/// An accepted connection, which counts as one client until it ends.
struct Client {
    stream: TcpStream,
    peer: SocketAddr,
    permits: (OwnedSemaphorePermit, ClientPermit),
}

/// Returns the maximum number of connections of one client address: three quarters of all connections, so that a
/// client cannot keep out the others. A server without `--allow-client` has the clients of this computer only, which
/// share an address: there is no other address for which connections could be left.
fn max_clients_of_one_address(shared: &Shared) -> usize {
    let max = shared.limits.max_clients;
    if shared.allowed_clients.is_empty() { max } else { (max - max / 4).max(1) }
}

/// Accepts connections of all listeners, when there is a permit for one more client. The listeners share one task: with a
/// task for each, an idle listener would hold a permit that clients of another one wait for. A connection of a client that
/// is not allowed or that has too many is closed.
fn accept_all(
    listeners: Vec<TcpListener>,
    shared: &Arc<Shared>,
    tasks: &mut JoinSet<()>,
) -> mpsc::Receiver<Client> {
    let (sender, receiver) = mpsc::channel(1);
    let permits = Arc::new(Semaphore::new(shared.limits.max_clients.min(Semaphore::MAX_PERMITS)));
    let clients = ClientLimit::new(max_clients_of_one_address(shared));
    let shared = shared.clone();
    tasks.spawn(async move {
        let mut first = 0;
        while let Ok(permit) = permits.clone().acquire_owned().await {
            let accepted = tokio::select! {
                accepted = accept_any(&listeners, &mut first) => accepted,
                () = sender.closed() => return,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let is_allowed = is_client_allowed(peer.ip(), &shared.allowed_clients);
                    let Some(of_client) = is_allowed.then(|| clients.permit(peer.ip())).flatten() else {
                        continue;
                    };
                    if sender.send(Client { stream, peer, permits: (permit, of_client) }).await.is_err() {
                        return;
                    }
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    });
    receiver
}

/// Accepts the next connection of any listener. `first` is the listener that is asked first: they take turns.
async fn accept_any(listeners: &[TcpListener], first: &mut usize) -> io::Result<(TcpStream, SocketAddr)> {
    poll_fn(|cx| {
        for offset in 0..listeners.len() {
            let index = (*first + offset) % listeners.len();
            if let Poll::Ready(accepted) = listeners[index].poll_accept(cx) {
                *first = index + 1;
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    })
    .await
}

/// Starts the task of a connection.
fn serve_client(
    client: Client,
    shared: &Arc<Shared>,
    mut stopped: watch::Receiver<()>,
    tasks: &mut JoinSet<()>,
) {
    let Client { stream, peer, permits } = client;
    let Ok(local) = stream.local_addr() else { return };
    // Small answers are sent at once. A failure only delays them.
    let _ = stream.set_nodelay(true);
    let (heads, tunnel) = (HeadQueue::default(), TunnelSlot::default());
    let connection = Arc::new(Connection {
        shared: shared.clone(),
        heads: heads.clone(),
        tunnel: tunnel.clone(),
        local,
        peer: peer.ip().to_canonical(),
    });
    let service = service_fn(move |request| answer(connection.clone(), request));
    let stream = TokioIo::new(HeadStream::new(stream, heads, shared.limits));
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(BUFFER_SIZE)
        .serve_connection(stream, service)
        .with_upgrades();
    let half_closed_timeout = shared.limits.idle_timeout;
    tasks.spawn(async move {
        let mut http = std::pin::pin!(http);
        // A failed connection has no one who could be told: the client has left, or broke the protocol.
        tokio::select! {
            _ = &mut http => {}
            // The sender is dropped when the server stops.
            _ = stopped.changed() => {
                http.as_mut().graceful_shutdown();
                let _ = http.await;
            }
        }
        if let Some(tunnel) = tunnel.take() {
            tokio::select! {
                () = tunnel.run(half_closed_timeout) => {}
                _ = stopped.changed() => {}
            }
        }
        drop(permits);
    });
}
