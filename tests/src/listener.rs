//! A loopback listener: a thread that accepts, a thread per connection, and an end to all of them on drop.

use std::io::Result;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::wire::Wire;

/// The listening half of every server here.
#[derive(Debug)]
pub(crate) struct Listener {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens on a free port of 127.0.0.1 and calls `serve` with the number of each connection, from 0.
    pub(crate) fn start(
        patience: Duration,
        serve: impl Fn(usize, Wire) + Send + Sync + 'static,
    ) -> Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = socket.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let accepted = Arc::new(AtomicUsize::new(0));
        let (flag, counter) = (Arc::clone(&stop), Arc::clone(&accepted));
        let thread = Builder::new()
            .name("listener".to_owned())
            .spawn(move || accept_all(&socket, patience, &flag, &counter, &Arc::new(serve)))?;
        Ok(Self { addr, stop, accepted, thread: Some(thread) })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The thread sleeps in `accept`; a connection of our own wakes it.
        let woken = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1)).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn accept_all<F: Fn(usize, Wire) + Send + Sync + 'static>(
    socket: &TcpListener,
    patience: Duration,
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
            if let Ok(wire) = Wire::new(stream, stop, patience) {
                serve(number, wire);
            }
        };
        let _ = Builder::new().name(format!("connection {number}")).spawn(run);
    }
}

/// A lock that a panicking handler does not take away from the rest.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
