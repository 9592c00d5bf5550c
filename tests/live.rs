//! The real `fetch-url` against the real servers of `docker/`: nginx, apache and caddy on 127.0.0.1.
//!
//! `cargo xtask test` starts the servers and runs these tests; by hand:
//!
//! ```text
//! cargo build -p fetch-url-cli && cargo test -p fetch-url-tests --test live -- --ignored
//! ```

#![allow(clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod live {
    mod digest;
    mod http;
    mod peers;
    mod place;
    mod program;
    mod server;
    mod tree;
}
