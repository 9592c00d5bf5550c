//! The sub-commands without network access: `explain`, `extract` and `completions`.

use std::io::Read as _;
use std::path::Path;

use fetch_url::driver::Explained;
use fetch_url::url::{Dialect, Parsed, find_urls, parse_with};
use fetch_url::{Code, Error, Fetcher, Phase, Policy, Request};

use crate::completions::completion_script;
use crate::flags::{DialectName, ExplainFlags, ExtractFlags, GatewayFlags};
use crate::{job, render};

/// Maximum size of the text for `extract`, in bytes.
const MAX_TEXT: u64 = 256 * 1024 * 1024;

/// Explains each URL. Returns the exit status of the first URL that failed, or 0.
pub(crate) fn explain(flags: &ExplainFlags) -> u8 {
    let dialect = match flags.dialect {
        DialectName::Lenient => Dialect::Lenient,
        DialectName::Rfc1738 => Dialect::Rfc1738,
        DialectName::Cern1993 => Dialect::Cern1993,
    };
    let fetcher = match explaining_fetcher(flags) {
        Ok(fetcher) => fetcher,
        Err(error) => return render::print_error(&error, None),
    };
    let mut first_failure = 0;
    for text in &flags.urls {
        let completed =
            if dialect == Dialect::Lenient { job::complete_url(&flags.gateway, text) } else { None };
        let url = completed.as_deref().unwrap_or(text);
        let added = completed.as_ref().and_then(|url| url.split_once(':')).map(|(scheme, _)| scheme);
        let status = match explain_url(&fetcher, url, dialect, &flags.gateway) {
            Ok((parsed, explained)) if flags.json => {
                render::explain::print_explanation_json(&parsed, added, &explained)
            }
            Ok((parsed, explained)) => {
                render::explain::print_explanation_text(url, added, &parsed, &explained)
            }
            Err(error) if flags.json => render::print_error_json(&error, text),
            Err(error) => render::print_error(&error, Some(text)),
        };
        first_failure = if first_failure == 0 { status } else { first_failure };
    }
    first_failure
}

/// Returns a fetcher with the gateways and proxies of the flags.
fn explaining_fetcher(flags: &ExplainFlags) -> Result<Fetcher, Error> {
    let mut policy = Policy::default();
    policy.network.proxies = job::policy::proxies(&flags.proxy)?;
    Ok(Fetcher::builder().gateways(job::gateway::gateways(&flags.gateway)?).policy(policy).build())
}

/// Parses a URL and returns its parts and the commands that would be sent. The inner error explains why the URL cannot
/// be fetched.
fn explain_url<'t>(
    fetcher: &Fetcher,
    text: &'t str,
    dialect: Dialect,
    gateways: &GatewayFlags,
) -> Result<(Parsed<'t>, Result<Explained, Error>), Error> {
    let parsed = parse_with(text, dialect).map_err(|error| job::with_typed_url_hint(error.into(), text))?;
    let mut request = Request::from_url(parsed.url.clone().into_owned());
    if let Some(server) = job::gateway::news_server(gateways) {
        request = request.news_server(job::news::read_server(&server, "--gateway")?);
    }
    Ok((parsed, fetcher.explain(&request)))
}

/// Prints the URLs found in a text, one per line. Returns the exit status.
pub(crate) fn extract(flags: &ExtractFlags) -> u8 {
    let text = match read_text(flags.file.as_deref()) {
        Ok(text) => text,
        Err(error) => return render::print_error(&error, None),
    };
    render::print_found_urls(find_urls(&text), flags.json)
}

/// Reads the text for `extract`. Bytes that are not UTF-8 are replaced by U+FFFD.
fn read_text(path: Option<&Path>) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let read = match path.filter(|path| path.as_os_str() != "-") {
        None => std::io::stdin().take(MAX_TEXT + 1).read_to_end(&mut bytes),
        Some(path) => {
            std::fs::File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes))
        }
    };
    let name = path.map_or("standard input".into(), |path| path.display().to_string());
    read.map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { Code::NotFound } else { Code::Denied };
        Error::new(code, Phase::Plan, format!("{name}: {error}"))
    })?;
    if bytes.len() as u64 > MAX_TEXT {
        return Err(Error::new(
            Code::LimitReached,
            Phase::Plan,
            format!("{name} is larger than {MAX_TEXT} bytes"),
        ));
    }
    // A text without errors is not copied.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Prints the completion script for a shell. Returns the exit status.
pub(crate) fn completions(shell: clap_complete::Shell) -> u8 {
    render::status_of_print(render::print_stdout(&completion_script(shell)), 0)
}
