//! The binary `fetch-url`, which fetches any URL of RFC 1738.

fn main() -> std::process::ExitCode {
    fetch_url_cli::main(std::env::args_os())
}
