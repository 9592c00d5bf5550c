//! A TLS server that passes the bytes of each connection to another server: an https proxy in front of an HTTP proxy.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::cert::ServerCert;

/// The time after which a read gives way to the other direction.
const TURN: Duration = Duration::from_millis(3);

/// A TLS server in front of another server. It stops when dropped.
#[derive(Debug)]
pub struct TlsFront {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl TlsFront {
    /// Starts a TLS server with this certificate that passes all bytes to `target`, and those of `target` back.
    pub fn start(target: SocketAddr, cert: &ServerCert) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let config = cert.server_config()?;
        let is_over = Arc::<AtomicBool>::default();
        let stop = Arc::clone(&is_over);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (config, stop) = (Arc::clone(&config), Arc::clone(&stop));
                thread::spawn(move || serve(client, target, config, &stop));
            }
        });
        Ok(Self { address, is_over })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// Copies bytes in both directions, one after the other, until one side ends.
fn serve(client: TcpStream, target: SocketAddr, config: Arc<ServerConfig>, stop: &AtomicBool) -> Result<()> {
    let mut plain = TcpStream::connect(target)?;
    client.set_nodelay(true)?;
    plain.set_nodelay(true)?;
    client.set_read_timeout(Some(TURN))?;
    plain.set_read_timeout(Some(TURN))?;
    let session = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(session, client);
    let mut buffer = vec![0; 16 * 1024];
    while !stop.load(Ordering::SeqCst) {
        if !copy_once(&mut tls, &mut plain, &mut buffer)? {
            plain.shutdown(std::net::Shutdown::Write)?;
            return Ok(());
        }
        if !copy_once(&mut plain, &mut tls, &mut buffer)? {
            tls.conn.send_close_notify();
            return tls.flush();
        }
    }
    Ok(())
}

/// Copies the bytes that are available. Returns `false` at the end.
fn copy_once(from: &mut impl Read, to: &mut impl Write, buffer: &mut [u8]) -> Result<bool> {
    match from.read(buffer) {
        Ok(0) => Ok(false),
        Ok(count) => {
            to.write_all(&buffer[..count])?;
            to.flush()?;
            Ok(true)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(true),
        Err(error) => Err(error),
    }
}
