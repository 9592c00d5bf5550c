//! Wildcards in the last part of an FTP URL of the command line, such as `ftp://host/pub/*.txt`: the directory is listed,
//! and each file that matches is fetched.

use std::sync::Arc;

use fetch_url::ftp::FtpOptions;
use fetch_url::mirror::{EntryList, Glob};
use fetch_url::url::{FtpPath, PercentEncoded, Url, charset, parse};
use fetch_url::{Code, EntryKind, Error, Phase, Request};

use super::context::Run;
use super::work::PlannedTransfer;

/// A URL that is split at the pattern.
struct Pattern<'a> {
    /// The URL of the directory, with a slash at its end.
    directory: &'a str,
    glob: Glob,
    /// The transfer type, such as `;type=a`, or nothing.
    transfer_type: &'a str,
}

/// Lists the files that match, or returns `None` if the transfer is one object: it is not an FTP URL with a pattern, or
/// the directory has an entry with the name of the pattern, because RFC 1738 has no wildcards.
pub(super) async fn expand_wildcard(
    run: &Run,
    planned: &PlannedTransfer,
) -> Result<Option<Arc<[Url<'static>]>>, Error> {
    let Some(url) = planned.url().filter(|_| planned.transfer.is_pattern) else { return Ok(None) };
    let Url::Ftp(ftp) = url else { return Ok(None) };
    let Some(name) = ftp.path().map(FtpPath::name).filter(|name| name.as_str().contains('*')) else {
        return Ok(None);
    };
    let text = url.to_string();
    let (path, transfer_type) = text.split_at(text.rfind(";type=").unwrap_or(text.len()));
    let directory = path.strip_suffix(name.as_str()).unwrap_or(path);
    let pattern = Pattern { directory, glob: Glob::new(&glob_text(&name))?, transfer_type };
    let entries = list_matching(run, planned, &pattern).await?;
    if entries.iter().any(|entry| entry.name == *name.decode()) {
        return Ok(None);
    }
    let matches = file_urls(entries, &pattern)?;
    if matches.is_empty() {
        let detail = format!("no file matches {name}");
        return Err(
            Error::new(Code::NotFound, Phase::Request, detail).with_hint("-g takes * and ? literally")
        );
    }
    Ok(Some(matches.into()))
}

/// Returns the entries of the directory that match.
async fn list_matching(
    run: &Run,
    planned: &PlannedTransfer,
    pattern: &Pattern<'_>,
) -> Result<EntryList, Error> {
    let mut options =
        planned.request.as_ref().ok().and_then(|request| request.extra::<FtpOptions>()).cloned();
    let options = options.get_or_insert_default();
    (options.force_listing, options.prefetch_port) = (true, false);
    let request = Request::new(pattern.directory)?.with_extra(options.clone());
    let listing = run.fetcher.list_matching(&request, |entry| pattern.matches(&entry.name)).await?;
    listing.limit_error.map_or(Ok(listing.entries), Err)
}

impl Pattern<'_> {
    fn matches(&self, name: &[u8]) -> bool {
        let is_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/');
        is_name && self.glob.matches(&String::from_utf8_lossy(name))
    }
}

/// Returns the URLs of the files.
fn file_urls(entries: EntryList, pattern: &Pattern<'_>) -> Result<Vec<Url<'static>>, Error> {
    let files = entries.into_iter().filter(|entry| entry.kind != EntryKind::Directory);
    let mut urls = Vec::new();
    for entry in files {
        let name = PercentEncoded::encode(&entry.name, charset::UCHAR);
        let text = format!("{}{name}{}", pattern.directory, pattern.transfer_type);
        urls.push(parse(&text)?.into_owned().url);
    }
    Ok(urls)
}

/// Returns the pattern for names of the last part of a URL. `%2A` is a star of the name.
fn glob_text(name: &PercentEncoded<'_>) -> String {
    let piece =
        |text: PercentEncoded<'_>| text.split('?').map(|text| literal(&text)).collect::<Vec<_>>().join("?");
    name.split('*').map(piece).collect::<Vec<_>>().join("*")
}

/// Returns the pattern that matches a text only.
fn literal(text: &PercentEncoded<'_>) -> String {
    let escape = |c: char| if matches!(c, '*' | '?' | '[' | ']') { format!("[{c}]") } else { c.to_string() };
    String::from_utf8_lossy(&text.decode()).chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_is_a_wildcard_and_an_encoded_star_is_not() {
        for (url, name, is_match) in [
            ("ftp://h/d/*.txt", "a.txt", true),
            ("ftp://h/d/*.txt", "a.txt.gz", false),
            ("ftp://h/d/*.t?t;type=a", "a.tzt", true),
            ("ftp://h/%2A*", "*x", true),
            ("ftp://h/%2A*", "ax", false),
            ("ftp://h/%5Ba%5D*", "[a]1", true),
            ("ftp://h/%3F*", "ab", false),
        ] {
            let Url::Ftp(ftp) = parse(url).expect("a URL").into_owned().url else { panic!("{url}") };
            let glob = Glob::new(&glob_text(&ftp.path().expect("a path").name())).expect("a pattern");
            assert_eq!(glob.matches(name), is_match, "{url} {name}");
        }
    }
}
