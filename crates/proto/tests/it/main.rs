//! Integration tests of the protocol state machines, one folder per protocol.

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod ardp;
mod ftp;
mod gopher;
mod machine_contract;
mod nntp;
mod prospero;
mod proxy;
mod wais;
