//! Integration tests of the library, one file per subject.

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod complete_resume;
mod credentials;
mod custom_driver;
mod driver_contract;
mod exchange;
mod explain;
mod file_listing;
mod first_connection;
mod ftp_connections;
mod gopher_listing;
mod http2;
mod idle_connections;
mod interrupted_body;
mod listing_limit;
mod policy;
mod redirects;
mod response;
mod save;
mod shared_by_runtimes;
mod tls;
mod uploads;
