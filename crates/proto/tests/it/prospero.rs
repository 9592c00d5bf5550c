//! Prospero.

mod access;
mod captures;
mod damaged;
mod fuzz_body;
mod machines;
pub(crate) mod transcript;
