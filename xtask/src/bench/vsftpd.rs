//! vsftpd for the bench: anonymous, as the current user, in the foreground.

use std::fs;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::CertFiles;

use super::delayed_network;

/// The time limit until it listens.
const START: Duration = Duration::from_secs(5);
/// The port in the other network namespace, where no other server runs.
const REMOTE_PORT: u16 = 2121;

/// A running vsftpd.
pub(super) struct Vsftpd {
    process: Child,
    pub(super) authority: String,
}

impl Vsftpd {
    /// Serves `folder` on this machine.
    pub(super) fn local(folder: &Path) -> Result<Self> {
        Self::on_loopback(folder, "")
    }

    /// Serves `folder` on this machine, with implicit TLS.
    pub(super) fn local_tls(folder: &Path, cert: &CertFiles) -> Result<Self> {
        let settings = format!(
            "ssl_enable=YES\nimplicit_ssl=YES\nallow_anon_ssl=YES\nforce_anon_logins_ssl=YES\nforce_anon_data_ssl=YES\n\
             require_ssl_reuse=NO\nssl_tlsv1=YES\nrsa_cert_file={}\nrsa_private_key_file={}\n",
            cert.cert.display(),
            cert.key.display()
        );
        Self::on_loopback(folder, &settings)
    }

    fn on_loopback(folder: &Path, settings: &str) -> Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let command = command(folder, "127.0.0.1", port, settings)?;
        let this = Self::start(command, format!("127.0.0.1:{port}"))?;
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if began.elapsed() > START {
                return Err(Error::other(format!("vsftpd does not answer on 127.0.0.1:{port}")));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(this)
    }

    /// Serves `folder` in the other network namespace.
    pub(super) fn remote(folder: &Path) -> Result<Self> {
        let command = command(folder, delayed_network::REMOTE_ADDRESS, REMOTE_PORT, "")?;
        let this = Self::start(
            delayed_network::in_remote_namespace(&command),
            format!("{}:{REMOTE_PORT}", delayed_network::REMOTE_ADDRESS),
        )?;
        // It cannot be checked from this namespace whether the server listens.
        thread::sleep(Duration::from_millis(300));
        Ok(this)
    }

    fn start(mut command: Command, authority: String) -> Result<Self> {
        let process = command.stdin(Stdio::null()).spawn()?;
        Ok(Self { process, authority })
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn command(folder: &Path, address: &str, port: u16, settings: &str) -> Result<Command> {
    let config = folder.join(format!("vsftpd-{port}.conf"));
    let text = format!(
        "listen=YES\nbackground=NO\nlisten_address={address}\nlisten_port={port}\nanonymous_enable=YES\n\
         local_enable=NO\nanon_root={}\nrun_as_launching_user=YES\nseccomp_sandbox=NO\nxferlog_enable=NO\n\
         max_clients=0\nmax_per_ip=0\n{settings}",
        folder.display()
    );
    fs::write(&config, text)?;
    let mut command = Command::new("vsftpd");
    command.arg(config);
    Ok(command)
}
