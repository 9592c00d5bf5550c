//! WAIS.

mod captures;
mod coding;
mod damaged;
mod fuzz_body;
mod retrieval;
mod transcript;
