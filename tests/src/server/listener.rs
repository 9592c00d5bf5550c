//! A loopback listener: one thread that accepts, one thread for each connection, all stopped on drop.

use std::io::Result;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::server::tcp_connection::TcpConnection;

/// The listening socket of a TCP server.
#[derive(Debug)]
pub(crate) struct Listener {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens on a free port of `ip` and calls `serve` with the number of each connection, from 0. Threads
    /// are called `name`.
    pub(crate) fn start(
        name: &'static str,
        ip: IpAddr,
        idle_timeout: Duration,
        serve: impl Fn(usize, TcpConnection) + Send + Sync + 'static,
    ) -> Result<Self> {
        let socket = TcpListener::bind((ip, 0))?;
        let addr = socket.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let accepted = Arc::new(AtomicUsize::new(0));
        let (flag, counter) = (Arc::clone(&stop), Arc::clone(&accepted));
        let run = move || accept_all(name, &socket, idle_timeout, &flag, &counter, &Arc::new(serve));
        let thread = Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { addr, stop, accepted, thread: Some(thread) })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the number of accepted connections.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The thread blocks in `accept` until this connection wakes it.
        let woken = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn accept_all<F: Fn(usize, TcpConnection) + Send + Sync + 'static>(
    name: &str,
    socket: &TcpListener,
    idle_timeout: Duration,
    stop: &Arc<AtomicBool>,
    counter: &AtomicUsize,
    serve: &Arc<F>,
) {
    while let Ok((stream, _)) = socket.accept() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let number = counter.fetch_add(1, Ordering::Relaxed);
        let (stop, serve) = (Arc::clone(stop), Arc::clone(serve));
        let run = move || {
            if let Ok(wire) = TcpConnection::new(stream, stop, idle_timeout) {
                serve(number, wire);
            }
        };
        let _ = Builder::new().name(format!("{name} {number}")).spawn(run);
    }
}

/// Locks a mutex, even if another thread panicked while it held the lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
