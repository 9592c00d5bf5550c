//! A server that does what arbitrary bytes say, on loopback sockets, against a real `Fetcher`. For the random tests and the
//! fuzz targets `*_exchange`.
//!
//! `script` turns the bytes into what the server does, `peer` plays it, `download` runs the fetcher and checks what holds
//! for every protocol. The other modules check the content of one protocol.

mod download;
pub(crate) mod ftp;
pub(crate) mod gopher;
pub(crate) mod http;
pub(crate) mod nntp;
mod peer;
mod script;
pub(crate) mod wais;

#[cfg(test)]
mod tests;
