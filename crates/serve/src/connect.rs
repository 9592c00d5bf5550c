//! The tunnel of a CONNECT request (RFC 9110 §9.3.6).

use std::sync::{Arc, Mutex, PoisonError};

use fetch_url::driver::ServerStream;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

use crate::memory::MemoryPermit;

/// The size of the buffer of each direction, in bytes.
const BUFFER_SIZE: usize = 16 * 1024;

/// A tunnel that starts when the answer to its CONNECT request is sent.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) client: OnUpgrade,
    pub(crate) server: ServerStream,
    /// Held until the tunnel ends.
    pub(crate) memory: MemoryPermit,
}

/// The place where a handler leaves the tunnel for the task of its connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct TunnelSlot(Arc<Mutex<Option<Tunnel>>>);

impl TunnelSlot {
    pub(crate) fn put(&self, tunnel: Tunnel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
    }

    pub(crate) fn take(&self) -> Option<Tunnel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Tunnel {
    /// Relays bytes until both sides have ended, or one of them fails.
    pub(crate) async fn run(self) {
        let Self { client, mut server, memory: _memory } = self;
        let Ok(client) = client.await else { return };
        let mut client = TokioIo::new(client);
        // A lost connection ends the tunnel, as it would without one.
        let _ = tokio::io::copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER_SIZE, BUFFER_SIZE)
            .await;
    }
}
