//! The three HTTP servers: their ports and logs.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// The CA of the servers' certificates.
pub(crate) const CA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/tls/ca.pem");
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docker/run/log");

/// A server of `docker/`.
#[derive(Clone, Copy)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    port: u16,
    tls_port: u16,
}

pub(crate) const NGINX: Server = Server { name: "nginx", port: 17080, tls_port: 17443 };
pub(crate) const APACHE: Server = Server { name: "apache", port: 17081, tls_port: 17447 };
pub(crate) const CADDY: Server = Server { name: "caddy", port: 17082, tls_port: 17448 };
pub(crate) const ALL: [Server; 3] = [NGINX, APACHE, CADDY];

impl Server {
    /// Returns the `http:` URL of a path that begins with `/`.
    pub(crate) fn http(self, path: &str) -> String {
        format!("http://{}{path}", self.authority())
    }

    /// Returns the `https:` URL of a path that begins with `/`.
    pub(crate) fn https(self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.tls_port)
    }

    pub(crate) fn authority(self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the log line that contains `key`, which is written just after the response.
    #[track_caller]
    pub(crate) fn logged(self, key: &str) -> String {
        let path = format!("{LOGS}/{}.log", self.name);
        for _ in 0..100 {
            let text = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let text = String::from_utf8_lossy(&text);
            if let Some(line) = text.lines().rev().find(|line| line.contains(key)) {
                return line.to_owned();
            }
            sleep(Duration::from_millis(20));
        }
        panic!("{} has logged nothing of {key}", self.name);
    }
}

/// Defines one test for each server: `each_server! { name, … }` calls `name(server)`.
macro_rules! each_server {
    ($($test:ident),+ $(,)?) => {
        mod nginx { $(crate::live::server::each_server!(@one $test NGINX);)+ }
        mod apache { $(crate::live::server::each_server!(@one $test APACHE);)+ }
        mod caddy { $(crate::live::server::each_server!(@one $test CADDY);)+ }
    };
    (@one $test:ident $server:ident) => {
        #[test]
        #[ignore = "needs the servers of docker/"]
        fn $test() {
            super::$test(crate::live::server::$server);
        }
    };
}
pub(crate) use each_server;
