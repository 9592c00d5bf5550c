//! A relay between a client and the NATS server, which a test cuts.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A relay on a free port. Its threads end with their connections.
pub(crate) struct Relay {
    address: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_cut: AtomicBool,
    /// Bytes that contain one of these texts are held back, with those that follow them.
    held_texts: Mutex<Vec<String>>,
    is_holding: AtomicBool,
}

impl Relay {
    /// Starts a relay to this address.
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let state = Arc::<State>::default();
        let (shared, target) = (state.clone(), target.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // While the server is restarted, the client finds a connection that is closed at once.
                let Ok(server) = TcpStream::connect(&target) else { continue };
                forward(&client, &server, &shared);
                forward(&server, &client, &shared);
            }
        });
        Self { address, state }
    }

    /// Returns the address of the queue `name` through the relay.
    pub(crate) fn queue(&self, name: &str) -> String {
        format!("nats://{}/{name}", self.address)
    }

    /// Delays all bytes from now on, as a network does that loses every packet, or forwards them again.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::SeqCst);
    }

    /// Holds back messages that contain one of these texts, and those that follow them, until [`Self::release`].
    pub(crate) fn hold(&self, texts: &[&str]) {
        *self.state.held_texts.lock().expect("a lock") = texts.iter().map(ToString::to_string).collect();
    }

    /// Waits until a message is held back.
    pub(crate) fn wait_until_holding(&self) {
        super::wait_for(|| self.state.is_holding.load(Ordering::SeqCst).then_some(()));
    }

    /// Forwards the messages that were held back, and holds back no others.
    pub(crate) fn release(&self) {
        self.hold(&[]);
    }
}

/// Copies the bytes of one direction in a thread.
fn forward(from: &TcpStream, to: &TcpStream, state: &Arc<State>) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
    let state = state.clone();
    thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            while state.must_wait(&buffer[..count]) {
                thread::sleep(Duration::from_millis(10));
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

impl State {
    fn must_wait(&self, bytes: &[u8]) -> bool {
        let texts = self.held_texts.lock().expect("a lock");
        let is_held = texts.iter().any(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
        if is_held {
            self.is_holding.store(true, Ordering::SeqCst);
        }
        is_held || self.is_cut.load(Ordering::SeqCst)
    }
}
