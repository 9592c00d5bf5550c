//! The binary `fetch-url`, which fetches any URL of RFC 1738.

mod closed_stdout;

use std::process::ExitCode;

/// The exit status of `sink_failed`.
const SINK_FAILED: u8 = 23;

fn main() -> ExitCode {
    match closed_stdout::reject_writes() {
        Ok(()) => fetch_url_cli::main(std::env::args_os()),
        Err(_) => ExitCode::from(SINK_FAILED),
    }
}
