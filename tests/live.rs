//! Live tests: the `fetch-url` binary against the servers of `docker/` on 127.0.0.1: nginx, apache and caddy, four FTP servers,
//! two gopher servers, two news servers, a telnetd and three proxies. Scripted servers, proxies and pseudo-terminals supply the rest.
//!
//! `cargo xtask test` starts the servers and runs these tests; by hand:
//!
//! ```text
//! cargo build -p fetch-url-cli && cargo test -p fetch-url-tests --test live -- --ignored
//! ```

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod live {
    mod coded_bodies;
    mod ftp;
    mod ftp_server;
    mod gopher;
    mod gopher_server;
    mod http;
    mod http_bodies;
    mod http_coded;
    mod http_conditions;
    mod http_connections;
    mod http_cookies;
    mod http_logins;
    mod http_proxy;
    mod http_reports;
    mod http_retry;
    mod mirror;
    mod nntp;
    mod nntp_server;
    mod peers;
    mod program;
    mod proxies;
    mod serve;
    mod server;
    mod telnet;
    mod terminal;
    mod tree;
    mod work_dir;
}
