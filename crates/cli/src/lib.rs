//! The command line of fetch-url: options are converted into an `Invocation`, which is run, and the results are printed.
//! It is a library only so that `xtask` and the tests can read the option definitions.

#![forbid(unsafe_code)]

mod ask;
mod completions;
mod config;
mod error;
pub mod flags;
mod job;
mod render;
mod report;
mod run;
mod signal;
mod stall;
mod stdin;
mod verbs;

pub use completions::completion_script;
pub use run::main;
