//! nginx for the bench: one foreground process, so that killing this process stops all of it.

use std::fs;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::CertFiles;

use super::delayed_network;

/// The time limit for the first answer.
const START: Duration = Duration::from_secs(5);
/// The port in the other network namespace, where no other server runs.
const REMOTE_PORT: u16 = 8080;
/// The rate of each connection in the other network namespace, in the spelling of nginx.
const REMOTE_RATE: &str = "2m";

/// A running nginx.
pub(super) struct Nginx {
    process: Child,
    pub(super) ports: Ports,
}

/// The ports of a local nginx.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) http: u16,
    pub(super) https: u16,
    pub(super) http2: u16,
}

impl Nginx {
    /// Serves `folder` on this machine.
    pub(super) fn local(folder: &Path, cert: &CertFiles) -> Result<Self> {
        // All are held until all are known, so that no two are the same.
        let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let held = [free()?, free()?, free()?];
        let port = |held: &TcpListener| held.local_addr().map(|address| address.port());
        let ports = Ports { http: port(&held[0])?, https: port(&held[1])?, http2: port(&held[2])? };
        drop(held);
        let Ports { http, https, http2 } = ports;
        let servers = format!(
            "ssl_certificate {};\nssl_certificate_key {};\nserver {{ listen 127.0.0.1:{http}; }}\n\
             server {{ listen 127.0.0.1:{https} ssl; }}\nserver {{ listen 127.0.0.1:{http2} ssl http2; }}\n",
            cert.cert.display(),
            cert.key.display()
        );
        let mut process = spawn(&mut command(folder, "nginx", &servers)?)?;
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, http)).is_err() {
            if began.elapsed() > START {
                let _ = process.kill().and_then(|()| process.wait());
                return Err(Error::other(format!("nginx does not answer on 127.0.0.1:{http}")));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { process, ports })
    }

    /// Serves `folder` in the other network namespace, each connection with a limited rate.
    pub(super) fn remote(folder: &Path) -> Result<Self> {
        let address = delayed_network::REMOTE_ADDRESS;
        let servers = format!("server {{ listen {address}:{REMOTE_PORT}; limit_rate {REMOTE_RATE}; }}\n");
        let command = command(folder, "remote-nginx", &servers)?;
        let process = spawn(&mut delayed_network::in_remote_namespace(&command))?;
        // It cannot be checked from this namespace whether the server listens.
        thread::sleep(Duration::from_millis(300));
        Ok(Self { process, ports: Ports { http: REMOTE_PORT, https: 0, http2: 0 } })
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.stdin(Stdio::null()).spawn()
}

/// Returns the command for nginx with these servers. Its own files have names that begin with `name`.
fn command(folder: &Path, name: &str, servers: &str) -> Result<Command> {
    let config = folder.join(format!("{name}.conf"));
    let root = folder.display();
    let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let scratch: String = scratch.map(|kind| format!("{kind}_temp_path {root}/{name}-{kind};\n")).concat();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {root}/{name}.pid;\nevents {{}}\n\
         http {{\naccess_log off;\nsendfile on;\ntcp_nopush on;\ngzip_static on;\nautoindex on;\n{scratch}\
         keepalive_requests 100000;\nroot {root};\n{servers}}}\n"
    );
    fs::write(&config, text)?;
    let mut command = Command::new("nginx");
    let log = folder.join(format!("{name}-error.log"));
    command.arg("-p").arg(folder).arg("-c").arg(&config).arg("-e").arg(log);
    Ok(command)
}
