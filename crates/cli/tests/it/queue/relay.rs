//! A relay between a worker and the NATS server, which a test cuts.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A relay on a free port. Its threads end with their connections.
pub(crate) struct Relay {
    address: String,
    is_cut: Arc<AtomicBool>,
}

impl Relay {
    /// Starts a relay to this address.
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (cut, target) = (is_cut.clone(), target.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // While the server is restarted, the client finds a connection that is closed at once.
                let Ok(server) = TcpStream::connect(&target) else { continue };
                forward(&client, &server, &cut);
                forward(&server, &client, &cut);
            }
        });
        Self { address, is_cut }
    }

    /// Returns the address of the queue `name` through the relay.
    pub(crate) fn queue(&self, name: &str) -> String {
        format!("nats://{}/{name}", self.address)
    }

    /// Delays all bytes from now on, as a network does that loses every packet, or forwards them again.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

/// Copies the bytes of one direction in a thread.
fn forward(from: &TcpStream, to: &TcpStream, is_cut: &Arc<AtomicBool>) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
    let is_cut = is_cut.clone();
    thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            while is_cut.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(10));
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}
