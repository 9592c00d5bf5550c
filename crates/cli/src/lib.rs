//! The command line of fetch-url: flags become one `Job`, the job is run, and what a person
//! sees is rendered. A library only so that `xtask` and the tests can look at the flags.

mod ask;
mod config;
pub mod flags;
mod job;
mod render;
mod report;
mod run;
mod signal;
mod verbs;

pub use run::main;
