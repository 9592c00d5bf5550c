//! Tests of the server over loopback connections, one file per subject.

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod browser;
mod cache;
mod cache_faults;
mod clients;
mod conditions;
mod confirmations;
mod connect;
mod errors;
mod fixture;
mod forms;
mod hostile_clients;
mod hostile_upstream;
mod limits;
mod logins;
mod logs;
mod memory;
mod objects;
mod pages;
mod preconditions;
mod proxies;
mod security;
mod support;
