//! What can be done with URLs besides fetching them: no network is touched.

use std::io::Read as _;
use std::path::Path;

use fetch_url::url::{Dialect, Parsed, find_urls, parse_with};
use fetch_url::{Code, Error, Explained, Fetcher, Phase, Request};

use crate::flags::{self, DialectName, Explain, Extract, Gateway};
use crate::{job, render};

/// The largest text that is searched for URLs.
const MAX_TEXT: u64 = 256 * 1024 * 1024;

/// Shows each URL; the first failure's status is ours.
pub(crate) fn explain(flags: &Explain) -> u8 {
    let dialect = match flags.dialect {
        DialectName::Lenient => Dialect::Lenient,
        DialectName::Rfc1738 => Dialect::Rfc1738,
        DialectName::Cern1993 => Dialect::Cern1993,
    };
    let fetcher = match job::gateway::gateways(&flags.gateway) {
        Ok(gateways) => Fetcher::builder().gateways(gateways).build(),
        Err(error) => return render::error(&error, None),
    };
    let mut first_failure = 0;
    for text in &flags.urls {
        let status = match explained(&fetcher, text, dialect, &flags.gateway) {
            Ok((parsed, explained)) if flags.json => render::explain::as_json(&parsed, &explained),
            Ok((parsed, explained)) => render::explain::as_text(text, &parsed, &explained),
            Err(error) if flags.json => render::error_as_json(&error, text),
            Err(error) => render::error(&error, Some(text)),
        };
        first_failure = if first_failure == 0 { status } else { first_failure };
    }
    first_failure
}

/// The parse, and what would be done; a refusal to send it is part of the explanation.
fn explained<'t>(
    fetcher: &Fetcher,
    text: &'t str,
    dialect: Dialect,
    gateways: &Gateway,
) -> Result<(Parsed<'t>, Result<Explained, Error>), Error> {
    let parsed = parse_with(text, dialect)?;
    let mut request = Request::from_url(parsed.url.clone().into_owned());
    if let Some(server) = job::gateway::news_server(gateways) {
        request = request.news_server(job::news::read_server(&server, "--gateway")?);
    }
    Ok((parsed, fetcher.explain(&request)))
}

/// Prints the URLs of a text, one a line.
pub(crate) fn extract(flags: &Extract) -> u8 {
    let text = match read(flags.file.as_deref()) {
        Ok(text) => text,
        Err(error) => return render::error(&error, None),
    };
    render::found(find_urls(&text), flags.json)
}

/// A text that is not UTF-8 is searched all the same.
fn read(path: Option<&Path>) -> Result<String, Error> {
    let mut octets = Vec::new();
    let read = match path.filter(|path| path.as_os_str() != "-") {
        None => std::io::stdin().take(MAX_TEXT + 1).read_to_end(&mut octets),
        Some(path) => {
            std::fs::File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut octets))
        }
    };
    let name = path.map_or("standard input".into(), |path| path.display().to_string());
    read.map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { Code::NotFound } else { Code::Denied };
        Error::new(code, Phase::Plan, format!("{name}: {error}"))
    })?;
    if octets.len() as u64 > MAX_TEXT {
        return Err(Error::new(
            Code::LimitReached,
            Phase::Plan,
            format!("{name} has more than {MAX_TEXT} octets"),
        ));
    }
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

/// Prints what makes `shell` complete our options.
pub(crate) fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut flags::command(), "fetch-url", &mut script);
    if render::print(&String::from_utf8_lossy(&script)) { 0 } else { 23 }
}
