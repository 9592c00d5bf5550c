//! `fetch-url`: retrieve any URL that RFC 1738 can write.

fn main() -> std::process::ExitCode {
    fetch_url_cli::main(std::env::args_os())
}
