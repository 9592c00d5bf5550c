//! Integration tests of the command line: they run the real binary, one folder per subject.

#![allow(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod batch;
mod everyday;
mod ftp;
mod gopher;
mod http;
mod local_files;
mod login;
mod mailto;
mod mirror;
mod network;
mod news;
mod output;
mod prospero;
#[cfg(feature = "queue")]
mod queue;
mod resume;
mod serve;
mod site;
mod support;
mod telnet;
mod terminal;
mod wais;
